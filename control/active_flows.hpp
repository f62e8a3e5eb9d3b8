#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// How many flows have been seen within a sliding window of time, in constant space: the window is cut into sixteenths,
/// each counts the flows last seen in it, and a flow is forgotten with its sixteenth, so the window is right to 1/16.
/// A flow is whatever keeps a mark, such as an entry of a table by 5-tuple. No clock inside; thread: its owner's.
class ActiveFlows {
 public:
  /// What a flow keeps here: when it was last seen. A new one has not been.
  class Mark {
    friend class ActiveFlows;
    Duration::rep slice_ = none;
    double weight_ = 0;
  };

  /// `window` > 0: how long a flow may be silent and still counts.
  explicit ActiveFlows(Duration window);

  /// A packet of the flow passed. Instants that run backwards count as the latest. `weight`, ≥ 0: what it counts for in
  /// weight(), from now on.
  void seen(Instant now, Mark& mark, double weight = 1);
  /// The flow has ended: it no longer counts.
  void left(Mark& mark);
  /// Flows seen within the window that ends at `now`.
  [[nodiscard]] std::uint32_t count(Instant now) const;
  /// The sum of what they count for.
  [[nodiscard]] double weight(Instant now) const;

 private:
  static constexpr std::size_t slices = 16;
  static constexpr Duration::rep none = std::numeric_limits<Duration::rep>::min();
  struct Slice {
    Duration::rep number = none;
    std::uint32_t flows = 0;
    double weight = 0;
  };

  /// The slice with that number, if it is still remembered.
  [[nodiscard]] Slice* find(Duration::rep number);
  [[nodiscard]] static std::size_t index(Duration::rep number);
  [[nodiscard]] bool is_within(const Slice& slice, Instant now) const;

  Duration slice_;
  std::array<Slice, slices> ring_{};
  Duration::rep newest_ = none;
};

}  // namespace sluice::control
