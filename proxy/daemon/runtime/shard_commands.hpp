#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "dataplane/units/ip_address.hpp"
#include "proxy/daemon/status/shard_requests.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Sends operator commands to all shards and replies when every shard has completed the command. Commands are processed
/// one after the other. Thread: the control thread.
class ShardCommands {
 public:
  /// Keeps references to its arguments. `wake` makes every poll thread check its channel soon.
  ShardCommands(boost::asio::io_context& context, StatusSource& status_source, std::function<void()> wake)
      : status_source_(status_source), wake_(std::move(wake)), requests_(context, status_source) {}

  /// Returns the split connections of one UE, or of all UEs, to their hosts, so that they are forwarded unchanged.
  void release(std::optional<IpAddress> ue, admin::Reply reply);
  /// Requests that connections of one UE, or of all UEs, which are no longer split are split again, each as soon as it
  /// is idle.
  void split_again(std::optional<IpAddress> ue, admin::Reply reply);
  /// If `on` is true, starts a drain, in which split connections are handed back and no new ones are split. Otherwise
  /// ends the drain. Replies when it is done.
  void drain(bool on, admin::Reply reply);
  /// Ends every connection that is still split (see Shard::abort_all()), and replies.
  void abort_all(admin::Reply reply);
  /// Replies with the progress of a drain, without a command to the shards.
  void look(admin::Reply reply);

 private:
  void add(ShardCommand command, admin::Reply reply);
  /// Returns the summary of a command's results. Returns a failure if the command names a UE of which no shard has a
  /// connection.
  [[nodiscard]] admin::Answer outcome(const ShardCommand& command) const;
  void post(const ShardCommand& command);
  [[nodiscard]] admin::Answer summary() const;

  StatusSource& status_source_;
  std::function<void()> wake_;
  ShardRequests requests_;
};

}  // namespace sluice::proxy
