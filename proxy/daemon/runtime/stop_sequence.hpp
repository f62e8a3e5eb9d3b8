#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/runtime/shard_commands.hpp"
#include "proxy/daemon/service/drain_time.hpp"
#include "proxy/daemon/status/status_source.hpp"

namespace sluice::proxy {

/// Orderly end of the program. No further connections are split, and split ones are handed back to their hosts for a
/// limited time. Those that remain are reset on both sides, because the data held for them would be lost without
/// notice. Packets are forwarded until the end. Thread: the control thread.
class StopSequence {
 public:
  /// Returns the maximum duration of the drain that begin() starts, unless the machine is suspended meanwhile.
  [[nodiscard]] static constexpr Duration most(Duration drain) { return 2 * drain; }

  /// Prepares the end. `drain` is the time in which connections are handed back to their hosts, see DrainTime. `done`
  /// is called once, when the end is complete.
  StopSequence(boost::asio::io_context& context, ShardCommands& commands, StatusSource& status_source, Duration drain,
               std::function<void()> done);

  /// Starts the drain and logs `why`. A second call ends the wait, and connections that are still split are reset at
  /// once.
  void begin(const std::string& why);
  /// Ends the split connections at once and logs `why`, without waiting for them to be handed back.
  void begin_hurried(const std::string& why);
  /// True if every split connection has been handed back or reset.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void drain();
  void look();
  /// Continues or ends the drain. This depends on how many connections the shards still split.
  void consider(const admin::Answer& answer);
  /// Logs the number of connections that the end breaks, then ends them.
  void state_and_end(const admin::Answer& answer);
  void end_connections();
  /// Keeps forwarding packets for a moment, then finishes.
  void linger();
  void finish();
  void after(Duration delay, void (StopSequence::*next)());

  ShardCommands& commands_;
  StatusSource& status_source_;
  Duration drain_;
  std::function<void()> done_;
  boost::asio::steady_timer timer_;
  std::optional<DrainTime> time_;
  bool begun_ = false;
  bool hurried_ = false;
  bool complete_ = false;
  std::uint64_t handed_back_before_ = 0;
};

}  // namespace sluice::proxy
