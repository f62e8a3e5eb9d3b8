#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates the round trip to a UE without a queue from the round trips of probes (datagrams sent while the radio
/// queue is empty). The result is the second shortest of the last 16. The shortest one may be too short, because an
/// answer to an older datagram may have been taken for the answer to a probe. Not thread-safe.
class ProbeRoundTrips {
 public:
  void add(Duration round_trip) {
    last_[next_] = round_trip;
    next_ = static_cast<std::uint8_t>((next_ + 1) % last_.size());
    count_ = static_cast<std::uint8_t>(std::min<std::size_t>(count_ + 1U, last_.size()));
    const std::span<const Duration> recent = std::span(last_).first(count_);
    const auto shortest = std::min_element(recent.begin(), recent.end());
    base_delay_ = Duration::max();
    for (auto it = recent.begin(); it != recent.end(); ++it) {
      if (it != shortest || recent.size() < 3) base_delay_ = std::min(base_delay_, *it);
    }
  }
  /// Discards the round trips, because the path has become shorter. base_delay() keeps its value until the next round
  /// trip of a probe is added.
  void restart() { count_ = next_ = 0; }
  /// Returns the round trip without a queue, estimated from the round trips of probes (datagrams sent while the radio
  /// queue is empty); zero while unknown.
  [[nodiscard]] Duration base_delay() const { return base_delay_; }

 private:
  std::array<Duration, 16> last_{};
  Duration base_delay_{};
  std::uint8_t count_ = 0;  ///< number of valid elements of `last_`
  std::uint8_t next_ = 0;   ///< element of `last_` that the next round trip replaces
};

}  // namespace sluice::control
