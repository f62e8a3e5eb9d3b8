#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Returns a duration in whole microseconds; a negative one is 0.
[[nodiscard]] inline std::uint64_t whole_microseconds(Duration span) {
  return static_cast<std::uint64_t>(std::max(span, Duration()) / std::chrono::microseconds(1));
}

/// Histogram of delays with fixed relative precision: slots of a microsecond up to about 4 ms, then 2048 slots for each
/// doubling of the delay. A percentile is therefore wrong by less than 0.1 %. Memory does not depend on the number of
/// delays. Range: 0 to about 1.2 hours; longer delays count as the longest, negative ones as 0.
class DelayDigest {
 public:
  void add(Duration delay);
  void merge(const DelayDigest& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Returns the smallest recorded delay that a share `fraction` of all does not exceed; 0 if there are none. Range: 0
  /// < fraction ≤ 1.
  [[nodiscard]] Duration percentile(double fraction) const;
  [[nodiscard]] Duration mean() const;
  [[nodiscard]] Duration max() const { return max_; }

 private:
  static constexpr unsigned step_bits = 11;  ///< 2^11 slots per doubling
  static constexpr std::uint64_t steps = 1U << step_bits;
  static constexpr std::uint64_t longest_us = (std::uint64_t{1} << 32) - 1;

  [[nodiscard]] static std::size_t slot_of(std::uint64_t microseconds);
  [[nodiscard]] static std::uint64_t upper_end_of(std::size_t slot);

  std::vector<std::uint64_t> slots_;  ///< number of delays in each slot; grows to the largest slot used
  /// Slot of the latest delay. This delay is counted at the next add(), so that the memory of its slot can be
  /// prefetched in between.
  std::size_t newest_ = 0;
  std::uint64_t count_ = 0;
  Duration sum_{};
  Duration max_{};
};

/// Summary of a digest in milliseconds; valid if count > 0.
struct DelaySummary {
  std::uint64_t count = 0;
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  double mean_ms = 0;
  double max_ms = 0;
};
[[nodiscard]] DelaySummary summarize(const DelayDigest& digest);

}  // namespace sluice::emulator
