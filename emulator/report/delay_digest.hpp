#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// A delay as counters have it, microseconds; a negative one is none.
[[nodiscard]] inline std::uint64_t whole_microseconds(Duration span) {
  return static_cast<std::uint64_t>(std::max(span, Duration()) / std::chrono::microseconds(1));
}

/// How long things took, as a histogram of fixed relative precision: microsecond steps up to about 2 ms, then 2048
/// steps per doubling, so a percentile is wrong by less than 0.1 %. Its memory does not depend on how many delays were
/// added. Range: 0 to about 1.2 hours; what is longer counts as the longest, what is negative as 0.
class DelayDigest {
 public:
  void add(Duration delay);
  void merge(const DelayDigest& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The smallest recorded delay that `fraction` of all do not exceed; 0 when nothing was added. Range: 0 < fraction
  /// ≤ 1.
  [[nodiscard]] Duration percentile(double fraction) const;
  [[nodiscard]] Duration mean() const;
  [[nodiscard]] Duration max() const { return max_; }

 private:
  static constexpr unsigned step_bits = 11;  ///< 2^11 steps per doubling
  static constexpr std::uint64_t steps = 1U << step_bits;
  static constexpr std::uint64_t longest_us = (std::uint64_t{1} << 32) - 1;

  [[nodiscard]] static std::size_t slot_of(std::uint64_t microseconds);
  [[nodiscard]] static std::uint64_t upper_end_of(std::size_t slot);

  std::vector<std::uint64_t> slots_;  ///< grows to the largest slot used
  std::size_t newest_ = 0;  ///< of the delay added last: counted when the next comes and memory has been fetched
  std::uint64_t count_ = 0;
  Duration sum_{};
  Duration max_{};
};

/// What is printed of a digest. Milliseconds; meaningful when count > 0.
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
