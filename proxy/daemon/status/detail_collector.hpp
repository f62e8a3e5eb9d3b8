#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>

#include "proxy/daemon/status/shard_requests.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Requests lists of flows or bearers from all shards, which build them only on request. Replies when all shards have
/// answered. Requests are processed one after the other. Thread: the control thread.
class DetailCollector {
 public:
  DetailCollector(boost::asio::io_context& context, StatusSource& status_source)
      : status_source_(status_source), requests_(context, status_source) {}

  /// Replies with a list of at most `limit` flows of all shards together; `limit` is 1 … max_details.
  void flows(std::uint16_t limit, admin::Reply reply);
  void bearers(std::uint16_t limit, admin::Reply reply);
  /// Replies with an object that contains both lists, flows and bearers. Both lists of a shard come from the same
  /// snapshot.
  void both(std::uint16_t flows, std::uint16_t bearers, admin::Reply reply);

 private:
  void add(DetailRequest request, admin::Reply reply);
  void post(const DetailRequest& request);
  [[nodiscard]] admin::Answer collect(const DetailRequest& request) const;

  StatusSource& status_source_;
  ShardRequests requests_;
};

}  // namespace sluice::proxy
