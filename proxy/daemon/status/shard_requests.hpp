#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>

#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Request to all shards. Each shard publishes its answer in its snapshot.
struct ShardRequest {
  /// sends the request to all shards by their channels; `id` is never 0
  std::function<void(std::uint32_t id)> post;
  /// returns the id of the newest request of this kind that the snapshot's shard has answered
  std::function<std::uint32_t(const ShardSnapshot&)> answered;
  /// returns the answer for the client; called when all shards' snapshots contain their answers
  std::function<admin::Answer()> collect;
  /// removes the request from the channels, even if some shards have not answered; may be empty
  std::function<void()> withdraw;
  admin::Reply reply;
};

/// Sends a request to all shards. Replies when every shard has answered, or with a failure after two seconds. Processes
/// one request at a time. Thread: the control thread.
class ShardRequests {
 public:
  ShardRequests(boost::asio::io_context& context, StatusSource& status_source)
      : status_source_(status_source), timer_(context) {}

  void add(ShardRequest request);

 private:
  void begin();
  void wait();
  void check();
  void finish(const admin::Answer& answer);

  StatusSource& status_source_;
  boost::asio::steady_timer timer_;
  std::deque<ShardRequest> requests_;  ///< requests in order of arrival; the first one is being processed
  std::uint32_t id_ = 0;               ///< id of the request that is being processed
  boost::asio::steady_timer::time_point deadline_;
};

}  // namespace sluice::proxy
