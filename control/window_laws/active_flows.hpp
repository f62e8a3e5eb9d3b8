#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Counts the flows observed within a sliding time window, in constant memory. The window has 16 slices, each with the
/// number of flows last observed in it. A flow expires with its slice, so the window is exact to 1/16. Each flow's
/// owner stores a Mark for it, such as in an entry of a 5-tuple table. Reads no clock; thread: its owner's.
class ActiveFlows {
 public:
  /// State of one flow: the slice of the counting interval in which it was last observed.
  class Mark {
    friend class ActiveFlows;
    Duration::rep slice_ = none;
    double weight_ = 0;
  };

  /// Counts flows that were observed within the last `window` > 0.
  explicit ActiveFlows(Duration window);

  /// Records a packet of the flow. Times before the latest recorded one count as the latest. `weight` ≥ 0 is what the
  /// flow adds to weight() from now on.
  void seen(Instant now, Mark& mark, double weight = 1);
  /// Stops counting a flow, because it has ended.
  void left(Mark& mark);
  /// Returns the number of flows observed within the window that ends at `now`.
  [[nodiscard]] std::uint32_t count(Instant now) const;
  /// Returns the sum of the weights of the flows observed within the window that ends at `now`.
  [[nodiscard]] double weight(Instant now) const;

 private:
  static constexpr std::size_t slices = 16;
  static constexpr Duration::rep none = std::numeric_limits<Duration::rep>::min();
  struct Slice {
    Duration::rep number = none;
    std::uint32_t flows = 0;
    double weight = 0;
  };

  /// Returns the slice of the window with that number, or null if it has expired.
  [[nodiscard]] Slice* find(Duration::rep number);
  [[nodiscard]] static std::size_t index(Duration::rep number);
  [[nodiscard]] bool is_within(const Slice& slice, Instant now) const;

  Duration slice_;
  std::array<Slice, slices> ring_{};
  Duration::rep newest_ = none;
};

}  // namespace sluice::control
