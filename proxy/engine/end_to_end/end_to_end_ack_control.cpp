// ACK-based controller for connections that pass end to end: derives ACK samples from segments that pass in both
// directions. EndToEndFlows calls it for data and ACKs, AckRewriter for the window. Invariant: bytes in flight and
// waiting flows in the bearer's controller include the sums over watched flows.
#include "proxy/engine/end_to_end/end_to_end_ack_control.hpp"

#include <algorithm>

#include "proxy/engine/rate_control/cross_traffic_sender.hpp"

namespace sluice::proxy {
namespace {

/// Time without an ACK after which an end-to-end connection with data in flight loses its share of the controller's
/// window for the UE.
constexpr Duration silence = std::chrono::seconds(2);
/// Minimum receive window of a UE, in segments, for which measured round-trip times are used as samples. With a smaller
/// window, ACKs wait until the application at the UE reads, and too little data is in flight to fill the radio queue.
constexpr std::int64_t min_timed_segments = 4;

}  // namespace

EndToEndAckControl::Watched::Watched(Instant now, const EndToEndFlow& flow)
    : estimator(now, {flow.towards(Side::radio).acked, flow.towards(Side::radio).sent}, flow.core_trip), last_rx(now) {}

Bytes EndToEndAckControl::Watched::on_wire(Bytes amount) const {
  return Bytes(amount.count() * packet / payload);
}

Bytes EndToEndAckControl::Watched::payload_of(Bytes wire) const {
  return Bytes(static_cast<double>(wire.count()) * payload / packet);
}

/// Returns by how long the UE delayed an ACK with timestamp `ts_value`. The result is negative if the delay is unknown,
/// for example because an ACK with a newer timestamp has overtaken this one.
Duration EndToEndAckControl::Watched::ack_delay(Instant now, std::uint32_t ts_value,
                                                const control::DelayBasedController& law, Duration round_trip) {
  const bool overtaken = timed && static_cast<std::int32_t>(ts_value - newest_ts) < 0;
  if (overtaken) return Duration(-1);
  timed = true;
  newest_ts = ts_value;
  return possible_ack_delay(clock, law, now, ts_value, round_trip);
}

void EndToEndAckControl::begin(EndToEndFlow& flow, Bearer& bearer, Instant now) {
  flow.ack_control = flows_.emplace(now, flow);
  const DataWay& way = flow.towards(Side::radio);
  if (way.acked > Bytes{}) bearer.ack_controller().adopt_in_flight(way.sent - way.acked);
}

void EndToEndAckControl::forget(EndToEndFlow& flow, Bearer& bearer) {
  if (!watches(flow)) return;
  release_share(flow, bearer);
  flows_.erase(flow.ack_control);
  flow.ack_control = no_id;
}

void EndToEndAckControl::count(Watched& watched, AckController& controller, Bytes flight, bool waits, bool short_flow) {
  const bool elsewhere = !waits && flight > Bytes{};
  const bool elsewhere_before = !watched.waits && watched.counted > Bytes{};
  controller.add_flight(flight - watched.counted);
  controller.end_to_end.limited_elsewhere += (elsewhere ? 1U : 0U) - (elsewhere_before ? 1U : 0U);
  controller.flight_elsewhere += (elsewhere ? flight : Bytes{}) - (elsewhere_before ? watched.counted : Bytes{});
  controller.end_to_end.waiting += (waits ? 1U : 0U) - (watched.waits ? 1U : 0U);
  controller.end_to_end.short_flows += (short_flow ? 1U : 0U) - (watched.short_flow ? 1U : 0U);
  watched.counted = flight;
  watched.waits = waits;
  watched.short_flow = short_flow;
}

/// True if the end-to-end connection waits for the window that the controller computes for the UE. The connection then
/// uses the advertised window fully, and that window is the controller's and not the UE's own. In mode observe no
/// server is limited by that window. Every flow with data in flight then counts as waiting.
bool EndToEndAckControl::competes(const Watched& watched, const Bearer& bearer) {
  if (bearer.settings().observes()) return watched.estimator.in_flight() > Bytes{};
  return watched.estimator.window_limited() && !watched.has_ue_window;
}

void EndToEndAckControl::on_data(const EndToEndFlow& flow, Bearer& bearer, const packet::Parsed& data, Bytes end,
                                 Instant now) {
  Watched& watched = flows_[flow.ack_control];
  if (end <= watched.estimator.sent()) {
    watched.estimator.on_retransmission();
    return;
  }
  const std::uint16_t payload = data.segment.payload_len;
  if (payload > watched.payload && data.ip_length > payload) {
    watched.payload = payload;
    watched.packet = data.ip_length;
  }
  AckController& controller = bearer.ack_controller();
  controller.resume(now);
  if (watched.counted <= Bytes{}) watched.last_rx = now;
  watched.estimator.on_data(now, end);
  const bool waits = watched.waits || (bearer.settings().observes() && competes(watched, bearer));
  count(watched, controller, watched.on_wire(watched.estimator.in_flight()), waits,
        waits == watched.waits ? watched.short_flow : bearer.is_short(flow.towards(Side::radio).sent));
}

/// Returns the data that a segment of the UE newly acknowledges. Returns at most one segment if the UE only reports
/// that one more segment arrived out of order. The UE reports this by SACK blocks, or without SACK by a duplicate ACK
/// (RFC 5681 section 2).
control::EndToEndFlowEstimator::Acked EndToEndAckControl::read_ack(Watched& watched, const EndToEndFlow& flow,
                                                                   const tcp::Segment& segment, Bytes ack,
                                                                   Instant now) {
  const bool repeats = segment.payload_len == 0 && segment.window == watched.offered;
  watched.offered = segment.window;
  if (ack > watched.estimator.acked()) return watched.estimator.on_ack(now, ack);
  const bool out_of_order = ack == watched.estimator.acked() && (uses_sack(flow) ? segment.sack_count > 0 : repeats);
  return out_of_order ? watched.estimator.on_duplicate(Bytes(flow.segment)) : control::EndToEndFlowEstimator::Acked{};
}

bool EndToEndAckControl::on_ack(const EndToEndFlow& flow, Bearer& bearer, const tcp::Segment& segment, Bytes ack,
                                Instant now) {
  Watched& watched = flows_[flow.ack_control];
  AckController& controller = bearer.ack_controller();
  watched.last_rx = now;
  const control::EndToEndFlowEstimator::Acked acked = read_ack(watched, flow, segment, ack, now);
  const bool waits = competes(watched, bearer);
  count(watched, controller, watched.on_wire(watched.estimator.in_flight()), waits,
        waits && bearer.is_short(flow.towards(Side::radio).sent));
  if (acked.delivered <= Bytes{}) return false;
  Bytes delivered = watched.on_wire(acked.delivered);
  if (bearer.has_cross_traffic_queue()) [[unlikely]]
    delivered += take_delivered_cross_traffic(bearer, delivered, acked.round_trip, now);
  control::AckSample ack_sample = make_ack_sample(bearer, controller, now);
  ack_sample.delivered = delivered;
  if (!watched.has_tiny_window) ack_sample.round_trip = acked.round_trip;
  if (segment.has_timestamps && !watched.has_tiny_window) {
    ack_sample.ack_delay = watched.ack_delay(now, segment.ts_value, controller.law(), ack_sample.round_trip);
  }
  ack_sample.control_loop_delay = watched.estimator.control_loop_delay();
  if (bearer.settings().observes()) {
    // The window is not in force, and a drain would not empty the queue. If the window counted as the limit, that queue
    // would look like a longer path.
    ack_sample.window_limited = false;
    if (!bearer.settings().controls_end_to_end()) ack_sample.control_loop_delay = Duration::zero();
  }
  controller.on_ack(ack_sample);
  return waits && watched.counted <= Bytes{};
}

Bytes EndToEndAckControl::window(const EndToEndFlow& flow, const Bearer& bearer) const {
  const Watched& watched = flows_[flow.ack_control];
  const control::DelayBasedController& law = bearer.ack_controller().law();
  const bool short_flow = bearer.is_short(flow.towards(Side::radio).sent);
  Competitors competitors = competitors_for(bearer);
  competitors.all += watched.waits ? 0U : 1U;
  competitors.short_flows += short_flow && !watched.short_flow ? 1U : 0U;
  Bytes whole = law.window() + law.upstream_bytes(watched.estimator.control_loop_delay());
  // Cross traffic that waits counts as competitors. One that takes less than its part leaves the rest.
  if (bearer.has_cross_traffic_queue() && bearer.ack_controller().cross_traffic_flows == 0)
    whole = Bytes(static_cast<double>(whole.count()) * (1 - bearer.cross_traffic_share()));
  Bytes part = part_of(whole, competitors.all, competitors.short_flows, short_flow);
  // Flows that do not wait get what they use, and the waiting ones share the rest (max-min fairness). No flow gets less
  // than an equal part, because flows that do not wait yet may use all of the window.
  const AckController& controller = bearer.ack_controller();
  const bool elsewhere = !watched.waits && watched.counted > Bytes{};
  if (const std::uint32_t others = controller.end_to_end.limited_elsewhere - (elsewhere ? 1U : 0U); others != 0) {
    const Bytes used = controller.flight_elsewhere - (elsewhere ? watched.counted : Bytes{});
    const double share =
        static_cast<double>(used.count()) / static_cast<double>(std::max(law.window(), Bytes(1)).count());
    const Bytes rest = Bytes(static_cast<double>(whole.count()) * std::max(1 - share, 0.0));
    part = std::max(part_of(whole, competitors.all + others, competitors.short_flows, short_flow),
                    part_of(rest, competitors.all, competitors.short_flows, short_flow));
  }
  const Bytes window = watched.payload_of(part);
  return uses_sack(flow) ? window + watched.estimator.out_of_order() : window;
}

void EndToEndAckControl::on_window(const EndToEndFlow& flow, Bearer& bearer, Bytes edge, Bytes window, Bytes offered,
                                   Instant now) {
  Watched& watched = flows_[flow.ack_control];
  watched.estimator.on_window(now, edge, Bytes(watched.payload));
  watched.has_ue_window = offered <= window;
  watched.has_tiny_window = offered < Bytes(flow.segment) * min_timed_segments;
  // A flow without data in flight does not begin to wait, because no timer would end that.
  const bool waits = competes(watched, bearer) && (watched.waits || watched.counted > Bytes{});
  if (waits != watched.waits)
    count(watched, bearer.ack_controller(), watched.counted, waits,
          waits && bearer.is_short(flow.towards(Side::radio).sent));
}

Instant EndToEndAckControl::due(const EndToEndFlow& flow) const {
  const Watched& watched = flows_[flow.ack_control];
  if (watched.counted > Bytes{}) return watched.last_rx + silence;
  return watched.waits ? watched.last_rx + watched.estimator.response_timeout() : never;
}

void EndToEndAckControl::release_share(const EndToEndFlow& flow, Bearer& bearer) {
  Watched& watched = flows_[flow.ack_control];
  watched.estimator.on_silence();
  count(watched, bearer.ack_controller(), Bytes{}, false, false);
}

}  // namespace sluice::proxy
