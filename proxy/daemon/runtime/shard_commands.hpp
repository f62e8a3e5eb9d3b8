#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "dataplane/units/ip_address.hpp"
#include "proxy/daemon/status/shard_requests.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Sends an operator's command to all shards and replies to the operator when every shard has completed it. Processes
/// one command at a time. Thread: the control thread.
class ShardCommands {
 public:
  /// Keeps references to `context` and `status_source`. Calls `wake` after it has sent a command, which wakes every
  /// poll thread, so that it checks its channel.
  ShardCommands(boost::asio::io_context& context, StatusSource& status_source, std::function<void()> wake)
      : status_source_(status_source), wake_(std::move(wake)), requests_(context, status_source) {}

  /// Hands the split connections of one UE, or of all UEs, back to their hosts. The proxy then forwards their segments
  /// unchanged.
  void release(std::optional<IpAddress> ue, admin::Reply reply);
  /// Requests that connections which are no longer split are split again, each as soon as it is idle. Applies to one
  /// UE, or to all UEs.
  void split_again(std::optional<IpAddress> ue, admin::Reply reply);
  /// If `on` is true, starts a drain: split connections are handed back to their hosts, and no new ones are split. If
  /// `on` is false, ends the drain. Replies when every shard has done so.
  void drain(bool on, admin::Reply reply);
  /// Ends every connection that is still split (see Shard::abort_all()), then replies.
  void abort_all(admin::Reply reply);
  /// Replies with the number of connections that are still split, and with what delays their handback to the hosts.
  /// Changes nothing in the shards.
  void look(admin::Reply reply);

 private:
  void add(ShardCommand command, admin::Reply reply);
  /// Returns a summary of the results of all shards. Returns a failure if the command names a UE and no shard has a
  /// connection of it.
  [[nodiscard]] admin::Answer outcome(const ShardCommand& command) const;
  void post(const ShardCommand& command);
  [[nodiscard]] admin::Answer summary() const;

  StatusSource& status_source_;
  std::function<void()> wake_;
  ShardRequests requests_;
};

}  // namespace sluice::proxy
