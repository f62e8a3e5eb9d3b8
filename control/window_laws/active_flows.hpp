#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Counts the flows that had a packet within a sliding time window, in constant memory. The window consists of 16
/// slices of equal length. Each slice counts the flows whose latest packet it contains. A slice expires as a whole, so
/// a flow counts for up to 1/16 less than the window's length. The owner of a flow stores a Mark for it, for example in
/// a table of 5-tuples. Reads no clock. Not thread-safe.
class ActiveFlows {
 public:
  /// State of one flow: the slice of the time window that contains its latest packet.
  class Mark {
    friend class ActiveFlows;
    Duration::rep slice_ = none;
    double weight_ = 0;
  };

  /// Counts flows that had a packet within the last `window` > 0.
  explicit ActiveFlows(Duration window);

  /// Records a packet of the flow whose state is `mark`; the flow's owner stores one Mark for each flow. If `now` is
  /// before the latest recorded time, that latest time is used. `weight` ≥ 0 is the amount that the flow adds to
  /// weight() from now on.
  void seen(Instant now, Mark& mark, double weight = 1);
  /// Stops counting the flow whose state is `mark`, because the flow has ended.
  void left(Mark& mark);
  /// Returns the number of flows that had a packet within the window that ends at `now`.
  [[nodiscard]] std::uint32_t count(Instant now) const;
  /// Returns the sum of the weights of the flows that had a packet within the window that ends at `now`.
  [[nodiscard]] double weight(Instant now) const;

 private:
  static constexpr std::size_t slices = 16;
  static constexpr Duration::rep none = std::numeric_limits<Duration::rep>::min();
  struct Slice {
    Duration::rep number = none;
    std::uint32_t flows = 0;
    double weight = 0;
  };

  /// Returns the slice of the window with the number `number`, or null if that slice has expired.
  [[nodiscard]] Slice* find(Duration::rep number);
  [[nodiscard]] static std::size_t index(Duration::rep number);
  [[nodiscard]] bool is_within(const Slice& slice, Instant now) const;

  Duration slice_;
  std::array<Slice, slices> ring_{};
  Duration::rep newest_ = none;
};

}  // namespace sluice::control
