#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Smallest and largest sample of a sliding time window, in constant memory. The window has 16 slices of equal length.
/// All samples of a slice expire together, so a sample counts for up to 1/16 longer than the window.
class WindowedRange {
 public:
  /// Keeps the smallest and largest sample of the last `window` > 0.
  explicit WindowedRange(Duration window) : slice_(std::max<Duration>(window / slices, Duration(1))) {}

  struct Range {
    double low = 0;
    double high = 0;
  };

  void add(Instant now, double sample) {
    const auto number = now.time_since_epoch() / slice_;
    if (used_ == 0 || number != ring_[newest_].number) {
      newest_ = used_ == 0 ? 0 : (newest_ + 1) % ring_.size();
      used_ = std::min(used_ + 1, ring_.size());
      ring_[newest_] = {number, {sample, sample}};
      return;
    }
    ring_[newest_].range = both(ring_[newest_].range, {sample, sample});
  }
  /// Returns the range of the samples in the window that ends at `now`, or nothing if there are none.
  [[nodiscard]] std::optional<Range> range(Instant now) const {
    constexpr double most = std::numeric_limits<double>::infinity();
    const auto current = now.time_since_epoch() / slice_;
    Range result{most, -most};
    bool any = false;
    for (std::size_t i = 0; i < used_; ++i) {
      const Slice& slice = ring_[i];
      const bool within = slice.number <= current && current - slice.number <= Duration::rep{slices};
      // Has no branch, because which slices are within the window changes from call to call.
      result = both(result, {within ? slice.range.low : most, within ? slice.range.high : -most});
      any |= within;
    }
    return any ? std::optional(result) : std::nullopt;
  }
  void clear() { used_ = 0; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr std::size_t slices = 16;
  struct Slice {
    Duration::rep number = 0;
    Range range;

    template <typename Self, typename Visit>
    static void fields(Self& self, Visit& visit);
  };

  static Range both(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

  Duration slice_;
  std::array<Slice, slices + 1> ring_{};
  std::size_t newest_ = 0;
  std::size_t used_ = 0;
};

}  // namespace sluice::control
