#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>

#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Request that is sent to all shards, which answer it in their snapshots.
struct ShardRequest {
  /// Writes the request into all channels, with an id that is never 0.
  std::function<void(std::uint32_t id)> post;
  /// Returns the id of the last request of this kind that the shard has answered.
  std::function<std::uint32_t(const ShardSnapshot&)> answered;
  /// Returns the answer for the client, built from the shards' snapshots once all have answered.
  std::function<admin::Answer()> collect;
  /// Withdraws the request from the channels, whether or not all shards have answered; may be empty.
  std::function<void()> withdraw;
  admin::Reply reply;
};

/// Sends requests to all shards. Replies when every shard has answered, or with a failure after two seconds. Requests
/// are processed one after the other. Thread: the control thread.
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
