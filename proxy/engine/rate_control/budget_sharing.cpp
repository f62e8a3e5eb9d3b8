// Split connections under the ACK-based controller: builds ACK samples, and divides the bearer's window among its
// flows. The pure-ACK path and the slow path call on_ack(), transmission calls budget() and update_inflight(), and
// cut-through calls budget_to_pass(). Invariant: the controller's bytes in flight and waiting flows equal the sums over
// the flows' shares.
#include "proxy/engine/rate_control/budget_sharing.hpp"

#include <algorithm>

#include "dataplane/units/by_value.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/rate_control/cross_traffic_sender.hpp"
#include "proxy/engine/relay/leg_output.hpp"

namespace sluice::proxy {

namespace {

/// Excess delay above which a flow's bottleneck is assumed to be another link than the radio link. The excess is the
/// flow's smoothed RTT minus its minimum RTT, minus twice the delay of the UE's other flows. All flows share the wait
/// in the radio queue and the delay of ACKs on the uplink.
constexpr Duration queued_elsewhere = std::chrono::milliseconds(20);
/// Factor for the bytes in flight of a flow whose bottleneck is not the radio link. The limit is this factor × rate of
/// the flow × longest RTT with which its bottleneck is not detected, plus `segments_elsewhere` full segments. The
/// factor exceeds 1, so that the flow can use a bottleneck that becomes faster. The limit also keeps its RTT above that
/// longest one, so that its bottleneck stays detected.
constexpr double gain_elsewhere = 1.25;
constexpr std::int64_t segments_elsewhere = 2;

/// Restarts the estimate of the UE's TCP timestamp clock with the timestamp `ticks` of an ACK that arrived at `now`.
/// Returns by how long the UE delayed the ACK according to the new estimate, at most `most`.
[[gnu::noinline, gnu::cold]] Duration begin_again(control::TimestampOneWayDelay& clock, Instant now,
                                                  std::uint32_t ticks, Duration most) {
  clock.reject();
  return clock.excess_delay(now, ticks, Duration::zero(), most);
}

/// Largest part of a UE's round trips that rtt_of_others() attributes to one flow. With a larger part, the round trips
/// of the others are hardly known.
constexpr double max_part = 0.5;

/// Returns the mean round trip of the UE's other flows: the smoothed round trip of all flows, without the part of one
/// flow. That flow has `flight` bytes in flight and the smoothed round trip `round_trip`. Its part of all samples is
/// assumed to be its part of the rate, because each ACK acknowledges about as many bytes.
Duration rtt_of_others(Bytes flight, Duration round_trip, const control::DelayBasedController& law) {
  const double all = static_cast<double>(law.rate().in(round_trip).count());
  const double part = all > 0 ? std::min(static_cast<double>(flight.count()) / all, max_part) : max_part;
  return std::chrono::duration_cast<Duration>((law.srtt() - round_trip * part) / (1 - part));
}

}  // namespace

Duration possible_ack_delay(control::TimestampOneWayDelay& clock, const control::DelayBasedController& law, Instant now,
                            std::uint32_t ticks, Duration round_trip) {
  const Duration most = law.ack_delay_bound(round_trip);
  const Duration late = clock.excess_delay(now, ticks, law.ack_delay(), most);
  if (late > round_trip && round_trip > Duration::zero()) [[unlikely]]
    return begin_again(clock, now, ticks, most);
  return late;
}

Bytes part_of(Bytes window, std::uint32_t waiting, std::uint32_t short_flows, bool is_short_flow) {
  if (short_flows == 0 || short_flows >= waiting) return window / std::max(waiting, 1U);
  const double even = static_cast<double>(short_flows) / waiting;
  const double theirs = std::max(short_flow_share, even);
  const double part = is_short_flow ? theirs / short_flows : (1 - theirs) / (waiting - short_flows);
  return Bytes(static_cast<double>(window.count()) * part);
}

Competitors competitors_for(const Bearer& bearer) {
  return competitors_for(bearer, bearer.ack_controller());
}

Competitors competitors_for(const Bearer& bearer, const AckController& controller) {
  return {bearer.load.backlogged_flows + controller.end_to_end.waiting + controller.cross_traffic_flows,
          controller.short_flows_waiting() + controller.end_to_end.short_flows};
}

control::AckSample make_ack_sample(const Bearer& bearer, const AckController& controller, Instant now) {
  const std::uint32_t competitors = competitors_for(bearer, controller).all;
  control::AckSample ack_sample;
  ack_sample.now = now;
  ack_sample.in_flight = controller.flight();
  ack_sample.flows = std::max(competitors, 1U);
  ack_sample.window_limited = competitors > 0;
  ack_sample.reference_factor = bearer.reference_factor(now);
  return ack_sample;
}

/// Updates the UE's bytes in flight by the change in the bytes in flight of this flow. `share` contains the bytes that
/// were counted for the flow at the last update. Returns early if they are unchanged, which is frequent.
inline void BudgetSharing::follow_flight(Share& share, const Flow& flow, AckController& controller) {
  const Leg& radio = flow.leg(Side::radio);
  const auto payload = static_cast<std::uint32_t>(radio.endpoint.in_flight().count());
  if (payload == share.payload && radio.endpoint.on_fast_path()) return;
  share.payload = payload;
  const auto now = static_cast<std::uint32_t>(on_wire(radio, Bytes(payload)).count());
  const std::uint32_t before = share.flight;
  share.flight = now & max_flight;
  controller.add_flight(Bytes(share.flight) - Bytes(before));
}

/// Updates whether the flow has data that waits for the controller's window, and whether it waits as a short flow (less
/// than smvs.short_flow sent). Returns early if both are unchanged, which is frequent.
inline void BudgetSharing::follow_waits(Share& share, bool waits, const Flow& flow, const Bearer& bearer,
                                        AckController& controller) {
  const bool short_flow_waits = waits && bearer.is_short(flow.sent_to_radio);
  if (waits == (share.waits != 0) && short_flow_waits == (share.short_flow_waits != 0)) return;
  controller.count_waiting(share.waits, waits);
  share.waits = waits;
  controller.count_short_flows(share.short_flow_waits, short_flow_waits);
  share.short_flow_waits = short_flow_waits;
}

/// Returns how many more bytes the flow may have in flight if its bottleneck is not the radio link. An example is a
/// Wi-Fi link behind a UE that is a hot spot. More bytes would only fill that link's queue, so other flows of the UE
/// get the rest of the controller's window. Returns Bytes::max() if the radio link is the bottleneck.
inline Bytes BudgetSharing::budget_elsewhere(const Share& share, const Flow& flow, const Bearer& bearer,
                                             const AckController& controller) {
  if (bearer.load.transferring_flows <= 1) [[likely]]
    return Bytes::max();
  return budget_beside_others(share, flow, controller);
}

/// Computes the result of budget_elsewhere() for a flow that shares its UE with other active flows: how many more bytes
/// its own bottleneck allows in flight. `share` contains the flow's bytes in flight.
Bytes BudgetSharing::budget_beside_others(const Share& share, const Flow& flow, const AckController& controller) {
  const tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  const control::DelayBasedController& law = controller.law();
  const Duration took = endpoint.srtt();
  const Duration least = endpoint.min_rtt();
  if (law.base_delay() <= Duration::zero() || law.in_slow_start()) return Bytes::max();
  // The endpoint's round trips include the delay of ACKs on the uplink, those of the controller do not. The greatest
  // delay is limited by the bytes in flight, so with few of them the newest one may exceed it.
  const Duration uplink = std::max(law.max_ack_delay(), law.ack_delay());
  const Duration others = rtt_of_others(Bytes(share.flight), std::max(took - uplink, least), law);
  // The base delay may contain the wait of ACKs on the uplink. The shortest round trip of this flow does not then.
  const Duration common = std::max(others - std::min(law.base_delay(), least), Duration::zero());
  const Duration longest = least + 2 * (common + uplink) + queued_elsewhere;
  if (took <= longest) return Bytes::max();
  // In a recovery the mean may be that of an outage, because retransmissions give no samples. If ACKs come late now,
  // but no later than the uplink makes them, no other bottleneck shows.
  const Duration late = endpoint.recent_rtt() - least;
  if (late > queued_elsewhere && late <= 2 * uplink) return Bytes::max();
  const double kept = gain_elsewhere * to_seconds(longest) / to_seconds(took);
  const Bytes most = Bytes(static_cast<double>(share.flight) * std::min(kept, 1.0)) +
                     segment_on_wire(flow.leg(Side::radio)) * segments_elsewhere;
  return std::max(most - Bytes(share.flight), Bytes{});
}

/// Updates the flow's bytes in flight and whether it waits for the controller's window. Returns how many more bytes its
/// own bottleneck (budget_elsewhere()) allows in flight. If that is zero, the flow does not count as waiting, because
/// its bottleneck limits it, and not the controller's window.
inline Bytes BudgetSharing::follow(Share& share, const Flow& flow, const Bearer& bearer, AckController& controller) {
  follow_flight(share, flow, controller);
  const Bytes elsewhere = budget_elsewhere(share, flow, bearer, controller);
  const bool can_send = flow.terminated() && flow.leg(Side::radio).endpoint.can_send_now();
  follow_waits(share, can_send && elsewhere > Bytes{}, flow, bearer, controller);
  return elsewhere;
}

void BudgetSharing::update_inflight(const Flow& flow, FlowId id, Bearer& bearer) {
  follow(shares_[id], flow, bearer, bearer.ack_controller());
}

void BudgetSharing::on_ack(Flow& flow, FlowId id, Bearer& bearer, const tcp::AckSample& ack_sample, Instant now) {
  AckController& controller = bearer.ack_controller();
  Share& share = shares_[id];
  const Bytes elsewhere = follow(share, flow, bearer, controller);
  const bool limited_elsewhere = elsewhere != Bytes::max() && flow.share.transferring;
  if (limited_elsewhere != flow.limited_elsewhere) [[unlikely]]
    record_bottleneck(flow, bearer, limited_elsewhere);
  const Duration round_trip = greater(ack_sample.rtt, Duration::zero());
  tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  const Duration late = endpoint.uses_timestamps() ? possible_ack_delay(share.clock, controller.law(), now,
                                                                        endpoint.newest_ts_value(), round_trip)
                                                   : Duration(-1);
  Bytes delivered = on_wire(flow.leg(Side::radio), Bytes(ack_sample.delivered));
  if (bearer.has_cross_traffic_queue()) [[unlikely]]
    delivered += take_delivered_cross_traffic(bearer, delivered, round_trip, now);
  control::AckSample sample = make_ack_sample(bearer, controller, now);
  sample.delivered = delivered;
  sample.round_trip = round_trip;
  sample.ack_delay = late;
  if (endpoint.has_recovery_state()) sample.lost = on_wire(flow.leg(Side::radio), Bytes(endpoint.take_losses()));
  controller.on_ack(sample);
}

Bytes BudgetSharing::budget(const Flow& flow, FlowId id, Bearer& bearer, bool beyond_its_part, Instant now) {
  AckController& controller = bearer.ack_controller();
  Share& share = shares_[id];
  const Bytes elsewhere = follow(share, flow, bearer, controller);
  controller.resume(now);
  const Bytes budget = lesser(elsewhere, controller.budget(now));
  const Competitors competitors = competitors_for(bearer, controller);
  const std::uint32_t waiting = competitors.all + (flow.share.backlog == 0 ? 1U : 0U);
  if (beyond_its_part || waiting <= 1) return budget;
  return part_of_budget(share, budget, competitors, waiting, flow, controller, now);
}

Bytes BudgetSharing::budget_to_pass(const Flow& flow, FlowId id, Bearer& bearer, Bytes least, Instant now) {
  AckController& controller = bearer.ack_controller();
  Share& share = shares_[id];
  follow_flight(share, flow, controller);
  controller.resume(now);
  const Bytes budget = lesser(budget_elsewhere(share, flow, bearer, controller), controller.budget(now));
  const std::uint32_t waiting = competitors_for(bearer, controller).all + (flow.share.backlog == 0 ? 1U : 0U);
  // The waiting state is updated only if the flow has to wait, because it is not read before.
  if (waiting <= 1 && budget >= least) [[likely]]
    return budget;
  follow_waits(share, true, flow, bearer, controller);
  if (waiting <= 1) return budget;
  return part_of_budget(share, budget, competitors_for(bearer, controller), waiting, flow, controller, now);
}

void BudgetSharing::record_passed(const Flow& flow, FlowId id, Bearer& bearer) {
  AckController& controller = bearer.ack_controller();
  follow_flight(shares_[id], flow, controller);
  follow_waits(shares_[id], false, flow, bearer, controller);
}

/// Returns how many bytes the flow may send of `budget`, which the controller allows to all flows of the UE together.
/// The flow's part of the controller's window is at least one segment, because a flow sends no smaller unit. During a
/// drain it is at least two segments. A drain is a phase in which the controller empties the radio queue to measure the
/// base delay, the round trip without a queue. A single segment could falsify this measurement, because the UE may
/// delay its ACK.
Bytes BudgetSharing::part_of_budget(const Share& share, Bytes budget, Competitors competitors, std::uint32_t waiting,
                                    const Flow& flow, const AckController& controller, Instant now) {
  const bool in_pairs = controller.law().draining();
  const Bytes least = segment_on_wire(flow.leg(Side::radio)) * (in_pairs ? 2 : 1);
  if (in_pairs && share.flight == 0 && budget < least) return Bytes{};
  const Bytes mine =
      part_of(controller.law().window(now), waiting, competitors.short_flows, share.short_flow_waits != 0);
  const Bytes part = std::max(mine, least) - Bytes(share.flight);
  return std::clamp(part, Bytes{}, budget);
}

void BudgetSharing::record_bottleneck(Flow& flow, Bearer& bearer, bool limited_elsewhere) {
  bearer.load.flows_limited_elsewhere += (limited_elsewhere ? 1U : 0U) - (flow.limited_elsewhere ? 1U : 0U);
  flow.limited_elsewhere = limited_elsewhere;
}

void BudgetSharing::forget(FlowId id, Bearer& bearer) {
  const Share share = std::exchange(shares_[id], Share{});
  if (share.flight == 0 && share.waits == 0 && share.short_flow_waits == 0) return;
  bearer.ack_controller().add_flight(-Bytes(share.flight));
  bearer.ack_controller().count_waiting(share.waits, false);
  bearer.ack_controller().count_short_flows(share.short_flow_waits, false);
}

}  // namespace sluice::proxy
