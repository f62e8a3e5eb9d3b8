#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "dataplane/units/ip_address.hpp"
#include "proxy/admin/command.hpp"
#include "proxy/overview/overview.hpp"
#include "proxy/overview/shard_requests.hpp"

namespace sluice::proxy {

/// Gives orders to all shards and answers when every one has carried them out. One after the other. Thread: the control
/// thread.
class ShardOrders {
 public:
  /// `wake`: makes sure that every poll thread looks at its channel soon.
  ShardOrders(boost::asio::io_context& context, Overview& overview, std::function<void()> wake)
      : overview_(overview), wake_(std::move(wake)), requests_(context, overview) {}

  /// Hands connections back to plain forwarding: a UE's, or all.
  void release(std::optional<IpAddress> ue, admin::Reply reply);
  /// Splits connections again that were handed back, each when it is quiet.
  void split_again(std::optional<IpAddress> ue, admin::Reply reply);
  /// Begins or ends draining.
  void drain(bool on, admin::Reply reply);
  /// Ends what is still split: see Shard::abort_all().
  void abort_all(admin::Reply reply);
  /// How far it is.
  void look(admin::Reply reply);

 private:
  void add(ShardOrder order, admin::Reply reply);
  void post(const ShardOrder& order);
  [[nodiscard]] admin::Answer summary() const;

  Overview& overview_;
  std::function<void()> wake_;
  ShardRequests requests_;
};

}  // namespace sluice::proxy
