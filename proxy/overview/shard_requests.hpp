#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>

#include "proxy/admin/command.hpp"
#include "proxy/overview/overview.hpp"

namespace sluice::proxy {

/// Something that is asked of every shard, each of which answers in its snapshots.
struct ShardRequest {
  /// Puts the request into all channels, under a number that is never 0.
  std::function<void(std::uint32_t id)> post;
  /// The number of the last such request that a shard has answered.
  std::function<std::uint32_t(const ShardSnapshot&)> answered;
  /// Makes the answer of what the shards' snapshots hold, when all have answered.
  std::function<admin::Answer()> collect;
  /// Takes back what was posted, whether all have answered or not; may be empty.
  std::function<void()> withdraw;
  admin::Reply reply;
};

/// Asks all shards and replies when every one has answered, or with a failure when one has not in two seconds. One
/// request after the other. Thread: the control thread.
class ShardRequests {
 public:
  ShardRequests(boost::asio::io_context& context, Overview& overview) : overview_(overview), timer_(context) {}

  void add(ShardRequest request);

 private:
  void begin();
  void wait();
  void check();
  void finish(const admin::Answer& answer);

  Overview& overview_;
  boost::asio::steady_timer timer_;
  std::deque<ShardRequest> requests_;  ///< the first is under way
  std::uint32_t id_ = 0;               ///< of the one that is under way
  boost::asio::steady_timer::time_point deadline_;
};

}  // namespace sluice::proxy
