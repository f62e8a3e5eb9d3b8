#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>

#include "proxy/daemon/status/shard_requests.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Requests lists of flows or bearers from all shards, because a shard lists them only on request. Replies when all
/// shards have answered. Processes one request at a time. Thread: the control thread.
class DetailCollector {
 public:
  DetailCollector(boost::asio::io_context& context, StatusSource& status_source)
      : status_source_(status_source), requests_(context, status_source) {}

  /// Replies with a list of at most `limit` flows: those of the first shard, then of the next one, until the limit is
  /// reached. `limit` must be 1 … max_details.
  void flows(std::uint16_t limit, admin::Reply reply);
  void bearers(std::uint16_t limit, admin::Reply reply);
  /// Replies with an object that contains a list of flows and a list of bearers. For each shard, both lists are from
  /// one snapshot.
  void both(std::uint16_t flows, std::uint16_t bearers, admin::Reply reply);

 private:
  void add(DetailRequest request, admin::Reply reply);
  void post(const DetailRequest& request);
  [[nodiscard]] admin::Answer collect(const DetailRequest& request) const;

  StatusSource& status_source_;
  ShardRequests requests_;
};

}  // namespace sluice::proxy
