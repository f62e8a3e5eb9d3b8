#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Timer of the priority that short flows (less than smvs.short_flow sent) have over the downloads of a UE. It runs
/// while a short flow is active. Thread: the shard's.
class ShortFlowTimer {
 public:
  /// Starts or extends the priority of short flows over downloads, because a short flow begins or makes progress at
  /// `now`.
  void begin(Instant now) { until_ = tcp::tick::ms(now) + tcp::tick::ms(extension); }
  /// Ends the priority of short flows over downloads at once.
  void end(Instant now) { until_ = tcp::tick::ms(now) - 1; }
  /// True while short flows (less than smvs.short_flow sent) have priority over downloads.
  [[nodiscard]] bool lasts(Instant now) const { return until_ - tcp::tick::ms(now) <= tcp::tick::ms(extension); }

 private:
  /// Time for which short flows keep their priority after their last activity. It is the initial retransmission timeout
  /// (RFC 6298 section 2), because a flow that is silent for longer does not wait for the radio queue.
  static constexpr Duration extension = std::chrono::seconds(1);

  std::uint32_t until_ = 0;  ///< end of the priority in tick::ms (about 1 ms); the value wraps around
};

}  // namespace sluice::proxy
