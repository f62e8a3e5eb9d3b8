#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Least and greatest of the samples of a sliding window of time, in constant space: the window is cut into sixteenths
/// and a sample is forgotten with its sixteenth, so the window is right to 1/16.
class SlidingExtremes {
 public:
  /// `window` > 0.
  explicit SlidingExtremes(Duration window) : slice_(std::max<Duration>(window / slices, Duration(1))) {}

  void add(Instant now, double sample) {
    const auto number = now.time_since_epoch() / slice_;
    if (used_ == 0 || number != ring_[newest_].number) {
      newest_ = used_ == 0 ? 0 : (newest_ + 1) % ring_.size();
      used_ = std::min(used_ + 1, ring_.size());
      ring_[newest_] = {number, sample, sample};
      return;
    }
    ring_[newest_].low = std::min(ring_[newest_].low, sample);
    ring_[newest_].high = std::max(ring_[newest_].high, sample);
  }
  /// Nothing when no sample lies within the window that ends at `now`.
  [[nodiscard]] std::optional<double> low(Instant now) const {
    return fold(
        now, [](const Slice& slice) { return slice.low; }, [](double a, double b) { return std::min(a, b); });
  }
  [[nodiscard]] std::optional<double> high(Instant now) const {
    return fold(
        now, [](const Slice& slice) { return slice.high; }, [](double a, double b) { return std::max(a, b); });
  }
  void clear() { used_ = 0; }

 private:
  static constexpr std::size_t slices = 16;
  struct Slice {
    Duration::rep number = 0;
    double low = 0;
    double high = 0;
  };

  template <typename Pick, typename Combine>
  [[nodiscard]] std::optional<double> fold(Instant now, Pick pick, Combine combine) const {
    const auto current = now.time_since_epoch() / slice_;
    std::optional<double> result;
    for (std::size_t i = 0; i < used_; ++i) {
      const Slice& slice = ring_[i];
      if (slice.number > current || current - slice.number > Duration::rep{slices}) continue;
      result = result ? combine(*result, pick(slice)) : pick(slice);
    }
    return result;
  }

  Duration slice_;
  std::array<Slice, slices + 1> ring_{};
  std::size_t newest_ = 0;
  std::size_t used_ = 0;
};

}  // namespace sluice::control
