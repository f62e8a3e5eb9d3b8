#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Timer of the period in which short flows of a UE have priority: set while a short flow is active. Thread: the
/// shard's.
class ShortFlowTimer {
 public:
  /// Starts or extends the period of short-flow priority, because a short flow begins or makes progress at `now`.
  void begin(Instant now) { until_ = tcp::tick::ms(now) + tcp::tick::ms(patience); }
  /// Ends the period in which short flows have priority at once.
  void end(Instant now) { until_ = tcp::tick::ms(now) - 1; }
  /// True while the period lasts in which short flows have priority.
  [[nodiscard]] bool lasts(Instant now) const { return until_ - tcp::tick::ms(now) <= tcp::tick::ms(patience); }

 private:
  /// Length of the period of short-flow priority after the last activity. A sender without an answer retransmits its
  /// first segment after 1 s (RFC 6298 section 2). A longer wait is therefore not caused by the radio queue.
  static constexpr Duration patience = std::chrono::seconds(1);

  std::uint32_t until_ = 0;  ///< end of the period in tick::ms, wraps around
};

}  // namespace sluice::proxy
