#include "proxy/engine/shard/flow_walk.hpp"

#include <algorithm>
#include <utility>

namespace sluice::proxy {
namespace {

/// Number of flows that one step of the scan visits. It is limited, so that packets are processed between the steps.
constexpr std::uint32_t flows_at_once = 128;

}  // namespace

void FlowWalk::step(Instant now) {
  flow::Slab<Flow>& flows = shard_.registry.flows();
  const std::uint32_t end = std::min(next_ + flows_at_once, flows.high_watermark());
  for (; next_ < end; ++next_) {
    if (!flows.contains(next_)) continue;
    if (!ends_) {
      flows_.request_release(flows[next_], next_, reason_);
    } else if (!flows_.end_now(flows[next_], next_, now)) {
      again_ = true;
    }
  }
  if (next_ < flows.high_watermark()) return;
  active_ = std::exchange(again_, false);
  next_ = 0;
}

}  // namespace sluice::proxy
