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

/// Orderly stop of the program. No more connections are split, and split ones are handed back to their hosts within a
/// limited time. Connections still split after that are reset on both sides if the proxy holds bytes for them, which
/// would otherwise be lost silently. All others pass unchanged. Packets are forwarded until the end. Thread: the
/// control thread.
class StopSequence {
 public:
  /// Returns the maximum duration of the drain, in which split connections are handed back to their hosts. `drain` is
  /// its configured duration, which DrainTime may extend to twice that value. Time in which the machine is suspended
  /// does not count.
  [[nodiscard]] static constexpr Duration most(Duration drain) { return 2 * drain; }

  /// Prepares the stop. `drain` is the time for handing connections back to their hosts (see DrainTime). `done` is
  /// called once, when the stop is complete.
  StopSequence(boost::asio::io_context& context, ShardCommands& commands, StatusSource& status_source, Duration drain,
               std::function<void()> done);

  /// Starts the drain (split connections are handed back to their hosts) and logs `why`. If called again during the
  /// drain, ends the drain at once; see Shard::abort_all() for the connections that are still split.
  void begin(const std::string& why);
  /// Ends all split connections at once (see Shard::abort_all()) and logs `why`. Does not wait until they are handed
  /// back to their hosts.
  void begin_immediate(const std::string& why);
  /// True if no connection is split any more: each was handed back to its hosts, ended or reset.
  [[nodiscard]] bool complete() const { return complete_; }
  /// True if the stop has reset connections. Their hosts may not have received the resets, so the next run must find
  /// these connections in the state file.
  [[nodiscard]] bool resets_connections() const { return status_source_.count(Counter::flows_reset_by_stop) != 0; }

 private:
  void drain();
  void look();
  /// Continues or ends the drain, in which connections are handed back to their hosts. `answer` contains how many
  /// connections are still split.
  void consider(const admin::Answer& answer);
  /// Logs how many connections are still split, and how many of these will be reset. Then ends all of them.
  void state_and_end(const admin::Answer& answer);
  void end_connections();
  /// Keeps forwarding packets for 200 ms, so that hosts can answer a reset, and then completes the stop. Completes it
  /// without a wait if the stop must be immediate, see begin_immediate().
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
  bool is_immediate_ = false;
  bool complete_ = false;
  std::uint64_t handed_back_before_ = 0;
};

}  // namespace sluice::proxy
