#include "control/window_laws/active_flows.hpp"

#include <algorithm>

namespace sluice::control {

ActiveFlows::ActiveFlows(Duration window)
    : slice_(std::max<Duration>(window / static_cast<Duration::rep>(slices), Duration(1))) {}

std::size_t ActiveFlows::index(Duration::rep number) {
  return static_cast<std::uint64_t>(number) % slices;
}

ActiveFlows::Slice* ActiveFlows::find(Duration::rep number) {
  Slice& slice = ring_[index(number)];
  return number != none && slice.number == number ? &slice : nullptr;
}

void ActiveFlows::seen(Instant now, Mark& mark, double weight) {
  newest_ = std::max(newest_, Duration::rep{now.time_since_epoch() / slice_});
  if (mark.slice_ == newest_ && mark.weight_ == weight) return;
  left(mark);
  Slice& slice = ring_[index(newest_)];
  if (slice.number != newest_) slice = {newest_, 0, 0};
  ++slice.flows;
  slice.weight += weight;
  mark.slice_ = newest_;
  mark.weight_ = weight;
}

void ActiveFlows::left(Mark& mark) {
  if (Slice* slice = find(mark.slice_); slice != nullptr) {
    --slice->flows;
    // Rounding can leave a remainder of the sum, so an empty slice is set to zero.
    slice->weight = slice->flows == 0 ? 0 : slice->weight - mark.weight_;
  }
  mark.slice_ = none;
}

bool ActiveFlows::is_within(const Slice& slice, Instant now) const {
  const Duration::rep current = std::max(newest_, Duration::rep{now.time_since_epoch() / slice_});
  return slice.number != none && slice.number > current - Duration::rep{slices};
}

std::uint32_t ActiveFlows::count(Instant now) const {
  std::uint32_t flows = 0;
  for (const Slice& slice : ring_) flows += is_within(slice, now) ? slice.flows : 0;
  return flows;
}

double ActiveFlows::weight(Instant now) const {
  double sum = 0;
  for (const Slice& slice : ring_) sum += is_within(slice, now) ? slice.weight : 0;
  return sum;
}

}  // namespace sluice::control
