// Counts connections by state and bearers by controller, a part of them in each call, for metrics and `sluicectl
// groups`. Shard calls look() ten times a second. Each call visits a bounded number of flows and bearers.
#include "proxy/engine/flow_table/flow_stats.hpp"

#include <utility>

namespace sluice::proxy {
namespace {

/// True if the bearer has the lowest id among those bearers of its UE for which the ACK-based controller runs. Only
/// this bearer's delivered bytes are added for the UE, because each bearer of a UE counts all bytes sent to the UE.
bool is_sampled_bearer(const Bearer& bearer) {
  bool is_first = true;
  bearer.for_each_sibling([&](const Bearer& other) {
    is_first = is_first && !(other.rate_control().is_ack_based() && other.id < bearer.id);
  });
  return is_first;
}

}  // namespace

FlowStateCounts& FlowStateCounts::operator+=(const FlowStateCounts& other) {
  handshakes += other.handshakes;
  split += other.split;
  handing_back += other.handing_back;
  governed += other.governed;
  ungoverned += other.ungoverned;
  cross_traffic_waiting += other.cross_traffic_waiting;
  return *this;
}

void FlowStats::look(Registry& registry, std::uint32_t most, Instant now) {
  look_at_flows(registry, most);
  look_at_bearers(registry, most, now);
}

void FlowStats::look_at_flows(Registry& registry, std::uint32_t most) {
  const flow::Slab<Flow>& flows = registry.flows();
  for (std::uint32_t i = 0; i < most && next_flow_ < flows.high_watermark(); ++i, ++next_flow_) {
    if (flows.contains(next_flow_)) count(registry, flows[next_flow_]);
  }
  if (next_flow_ < flows.high_watermark()) return;
  next_flow_ = 0;
  counts_.handshakes = std::exchange(round_.handshakes, 0);
  counts_.split = std::exchange(round_.split, 0);
  counts_.handing_back = std::exchange(round_.handing_back, 0);
}

void FlowStats::look_at_bearers(Registry& registry, std::uint32_t most, Instant now) {
  flow::Slab<Bearer>& bearers = registry.bearers();
  for (std::uint32_t i = 0; i < most && next_bearer_ < bearers.high_watermark(); ++i, ++next_bearer_) {
    if (!bearers.contains(next_bearer_)) continue;
    Bearer& bearer = bearers[next_bearer_];
    ++(bearer.rate_control().is_rate_controlled() ? round_.governed : round_.ungoverned);
    if (bearer.rate_control().is_ack_based()) sample_queue(bearer, now);
    if (bearer.has_cross_traffic_queue())
      round_.cross_traffic_waiting += static_cast<std::uint64_t>(bearer.cross_traffic_queue().queue.bytes().count());
  }
  if (next_bearer_ < bearers.high_watermark()) return;
  next_bearer_ = 0;
  counts_.governed = std::exchange(round_.governed, 0);
  counts_.ungoverned = std::exchange(round_.ungoverned, 0);
  counts_.cross_traffic_waiting = std::exchange(round_.cross_traffic_waiting, 0);
}

void FlowStats::sample_queue(Bearer& bearer, Instant now) {
  AckController& controller = bearer.ack_controller();
  // The count starts at this sample even if reports are fresh, because they count what arrives until the next one.
  const Bytes delivered = controller.take_delivered(Bytes(static_cast<std::int64_t>(bearer.sent().total())));
  const ReportState* const reported = bearer.report_state();
  const bool is_reported = reported != nullptr && reported->reports.any() && reported->trusted &&
                           now - reported->reports.last_at() < report_is_fresh_for;
  if (is_reported) return;
  GroupTotals& group = queues_[bearer.in_control_group() ? 1 : 0];
  if (is_sampled_bearer(bearer)) group.transmitted += static_cast<std::uint64_t>(delivered.count());
  if (controller.flight() <= Bytes{}) return;
  const Bytes queued = controller.law().queued(controller.flight());
  ++group.samples;
  group.queue_bytes += static_cast<double>(queued.count());
  const Rate rate = bearer.mean_rate();
  if (rate == Rate()) return;
  ++group.delay_samples;
  group.queue_delay_s += to_seconds(rate.time_for(queued));
}

void FlowStats::count(Registry& registry, const Flow& flow) {
  if (!flow.terminated()) {
    ++round_.handshakes;
    return;
  }
  ++(flow.phase == FlowPhase::split ? round_.split : round_.handing_back);
  take_times(flow, registry.bearer(flow.bearer).in_control_group());
}

/// Records the smoothed RTT to the UE and the time that its data waits in the proxy. That time is estimated from the
/// unsent bytes, assuming that the bytes in flight are sent once per round trip. `in_control_group` is true if the UE
/// is in the control group, which no rate controller limits.
void FlowStats::take_times(const Flow& flow, bool in_control_group) {
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  const Bytes in_flight = radio.in_flight();
  if (in_flight <= Bytes{} || radio.srtt() <= Duration::zero()) return;
  GroupTimes& times = times_of(times_, in_control_group);
  times.rtt.record(radio.srtt());
  const double round_trips = static_cast<double>(radio.unsent().count()) / static_cast<double>(in_flight.count());
  times.relay_sojourn.record(from_seconds(to_seconds(radio.srtt()) * round_trips));
}

}  // namespace sluice::proxy
