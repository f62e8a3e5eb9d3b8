#include "proxy/engine/shard/memory_relief.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Minimum time between two attempts to free packet buffers.
constexpr Duration period = std::chrono::milliseconds(100);

/// Number of flows that one step of a scan over all flows visits. It is limited, so that packets are processed between
/// the steps.
constexpr std::uint32_t flows_per_step = 128;

/// Minimum time without an ACK from a host after which its connection may be reset to free packet buffers.
constexpr Duration no_progress = std::chrono::seconds(5);

}  // namespace

void MemoryRelief::read_free_buffers(Instant now) {
  if (!flows_.buffer_quota().look(now) || now - last_relief_at_ < period) return;
  if (shard_.budget.used() > shard_.config.limits.release_flows_at && !flow_walk_.active()) {
    last_relief_at_ = now;
    flow_walk_.begin(ReleaseReason::released_memory);
  }
  if (shard_.budget.is_low() && !walk_.active) {
    last_relief_at_ = now;
    begin();
  }
}

void MemoryRelief::begin() {
  // The first walk resets nothing, because its threshold is not known yet.
  walk_ = {0, Bytes{}, walk_.largest > Bytes{} ? walk_.largest / 2 : Bytes::max(), true};
}

void MemoryRelief::step(Instant now) {
  flow::Slab<Flow>& flows = shard_.registry.flows();
  const std::uint32_t end = std::min(walk_.next + flows_per_step, flows.high_watermark());
  for (; walk_.next < end && shard_.budget.is_low(); ++walk_.next) {
    if (flows.contains(walk_.next) && flows[walk_.next].terminated()) reclaim_from(flows[walk_.next], walk_.next, now);
  }
  walk_.active = walk_.next < flows.high_watermark() && shard_.budget.is_low();
  if (!shard_.budget.is_low()) walk_ = {};
}

void MemoryRelief::reclaim_from(Flow& flow, FlowId id, Instant now) {
  for (Leg& leg : flow.legs) {
    if (!leg.endpoint.reassembling()) continue;
    leg.endpoint.drop_out_of_order();
    shard_.counters.add(Counter::out_of_order_dropped);
  }
  for (const Side out : {Side::radio, Side::core}) {
    if (relay::stall_time(flow, out, now) < no_progress) continue;
    const Bytes held = relay::held_towards(flow, out);
    walk_.largest = std::max(walk_.largest, held);
    if (held < walk_.take_from) continue;
    shard_.counters.add(Counter::flows_reset_memory);
    relay::abandon(flow, ResetReason::reset_memory);
    flows_.schedule(flow, id, StreamEvents::all);
    return;
  }
}

}  // namespace sluice::proxy
