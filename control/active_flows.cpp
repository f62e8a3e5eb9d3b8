#include "control/active_flows.hpp"

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

void ActiveFlows::seen(Instant now, Mark& mark) {
  newest_ = std::max(newest_, Duration::rep{now.time_since_epoch() / slice_});
  if (mark.slice_ == newest_) return;
  left(mark);
  Slice& slice = ring_[index(newest_)];
  if (slice.number != newest_) slice = {newest_, 0};
  ++slice.flows;
  mark.slice_ = newest_;
}

void ActiveFlows::left(Mark& mark) {
  if (Slice* slice = find(mark.slice_); slice != nullptr) --slice->flows;
  mark.slice_ = none;
}

std::uint32_t ActiveFlows::count(Instant now) const {
  const Duration::rep current = std::max(newest_, Duration::rep{now.time_since_epoch() / slice_});
  std::uint32_t flows = 0;
  for (const Slice& slice : ring_) {
    if (slice.number != none && slice.number > current - Duration::rep{slices}) flows += slice.flows;
  }
  return flows;
}

}  // namespace sluice::control
