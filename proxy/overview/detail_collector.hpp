#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>

#include "proxy/admin/command.hpp"
#include "proxy/overview/overview.hpp"
#include "proxy/overview/shard_requests.hpp"

namespace sluice::proxy {

/// Asks the shards for lists of flows or bearers, which they only make up when asked, and answers when all have. One
/// request after the other. Thread: the control thread.
class DetailCollector {
 public:
  DetailCollector(boost::asio::io_context& context, Overview& overview)
      : overview_(overview), requests_(context, overview) {}

  /// At most `limit` entries of all shards together, 1 … most_details.
  void flows(std::uint16_t limit, admin::Reply reply);
  void bearers(std::uint16_t limit, admin::Reply reply);
  /// An object of both lists, as of the same instants.
  void both(std::uint16_t flows, std::uint16_t bearers, admin::Reply reply);

 private:
  void add(DetailRequest request, admin::Reply reply);
  void post(const DetailRequest& request);
  [[nodiscard]] admin::Answer collect(const DetailRequest& request) const;

  Overview& overview_;
  ShardRequests requests_;
};

}  // namespace sluice::proxy
