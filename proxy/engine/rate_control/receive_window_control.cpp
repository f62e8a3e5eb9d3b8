// Receive windows of split connections. The window for the UE follows the buffer quota. While a rate controller runs, a
// second control loop computes the window for the server (the second loop of the paper,
// control/smvs/receive_window_loop.hpp). SplitFlows and the pure-ACK path call it. Invariants: a right edge never moves
// left, and no window exceeds the quota of RelayBufferQuota by more than one unit of the window scale.
#include "proxy/engine/rate_control/receive_window_control.hpp"

#include <algorithm>
#include <utility>

#include "control/decision_log/decision_log.hpp"
#include "dataplane/units/by_value.hpp"
#include "proxy/engine/rate_control/radio_view.hpp"
#include "proxy/engine/relay/leg_output.hpp"
#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {
namespace {

using LoopCalls = control::RecordedController<control::ReceiveWindowLoop>;
using SlidingCalls = control::RecordedController<control::Smvs>;

/// Returns the identity of a connection's controller for the decision log: the connection and the controller's
/// parameters.
template <typename Parameters>
control::ControllerIdentity<Parameters> identity_of(const flow::FlowKey& key, const Parameters& parameters) {
  return {control::ControllerOwner{key.ue, key.ue_port, key.server, key.server_port}, parameters};
}

/// True if the window advertised to the host behind `from` must be updated. Until the host has sent data, the window
/// from the handshake suffices if it is at least two segments. An update would then only cost a packet.
bool window_matters(const Flow& flow, Side from) {
  if (flow.leg(from).has_sent_data) return true;
  const tcp::Endpoint& endpoint = flow.leg(from).endpoint;
  return endpoint.rcv_nxt() != flow.first_byte_from(from) ||
         Bytes(endpoint.rcv_adv() - endpoint.rcv_nxt()) < relay::min_window;
}

/// Returns the window to advertise to the host behind `in`: at most `most`, and at most the larger one of two numbers.
/// One is the number of bytes that the host has sent so far, the other is the window that the other host advertises.
/// While a connection carries little data, no host thus gets a larger window than the other host offers. Such a
/// connection can be handed back to its hosts at any time.
Bytes advertise_to(const Flow& flow, Side in, Bytes most) {
  const Bytes sent = flow.sent_from(in, flow.leg(in).endpoint.rcv_nxt());
  return lesser(most, greater(sent, flow.leg(opposite(in)).endpoint.snd_window()));
}

/// Returns how far the right edge of the window must have moved before the proxy sends the server an ACK only to
/// advertise it. Under the ACK-based controller, this is up to eight segments, which costs no throughput. With Node-B
/// reports it is up to two segments, which costs 0.1 % if the server is 120 ms away. Eight segments would cost up to
/// 0.7 %.
tcp::WindowUpdates updates_of(const Bearer& bearer) {
  return bearer.rate_control().is_ack_based() ? tcp::WindowUpdates::prompt_for_its_size : tcp::WindowUpdates::prompt;
}

/// Sets FlowShare::window_closed of the flow, and updates the bearer's number of such flows. While the flag is set,
/// each Node-B report updates the window advertised to the server.
[[gnu::cold, gnu::noinline]] void change_window_closed(Flow& flow, Bearer& bearer, bool window_closed) {
  const FlowShare before = flow.share;
  flow.share.window_closed = window_closed;
  bearer.load.change(before, flow.share);
}

/// Sets FlowShare::window_closed of the flow to `window_closed`, if it has another value. While it is true, each Node-B
/// report updates the window advertised to the server.
void record_window_closed(Flow& flow, Bearer& bearer, bool window_closed) {
  if (flow.share.window_closed != window_closed) [[unlikely]]
    change_window_closed(flow, bearer, window_closed);
}

/// Duration of the unsent data for the UE above which the server gets no minimum window (two segments). The duration is
/// measured at the flow's part of the link's rate. That much data keeps the link busy while the server has no window,
/// pauses, and restarts with ten segments.
constexpr Duration ample_backlog_time = std::chrono::seconds(1);

/// Factor for the part of the link's rate that cross traffic (packets of no tracked connection, such as QUIC) is
/// measured to use. The product is reserved for cross traffic when the window advertised to the server is computed. The
/// factor is below 1, because senders of cross traffic react to drops and then send less than on average.
constexpr double kept_beside_cross_traffic = 0.8;

/// True if the unsent data for the UE lasts longer than `ample_backlog_time` at the flow's part of the link's rate. The
/// server then gets no minimum window (two segments). A pause of the server costs nothing in this case, while two
/// segments per 100 ms (`closed_for`) could exceed the rate of a slow link.
bool has_ample_backlog(const Flow& flow, const Bearer& bearer) {
  const Bytes held = flow.leg(Side::radio).endpoint.unsent() * std::max(bearer.load.transferring_flows, 1U);
  const Rate rate = bearer.mean_rate();
  return rate > Rate() && rate.time_for(held) > ample_backlog_time;
}

/// Returns an upper bound of the rate of a flow whose bottleneck is another link than the radio link: its bytes in
/// flight and two segments per round trip. Data that arrived faster would wait in the proxy.
Rate rate_elsewhere(const Flow& flow) {
  const Leg& radio = flow.leg(Side::radio);
  return Rate::of(flight_on_wire(radio) + segment_on_wire(radio) * 2, radio.endpoint.srtt());
}

/// Returns `radio` with rates of at most `most`.
RadioView limited_to(Rate most, const RadioView& radio) {
  return {radio.error, control::OnWire(std::min(radio.mean.amount(), most)),
          control::OnWire(std::min(radio.best.amount(), most))};
}

}  // namespace

Bytes ReceiveWindowControl::first(const Bearer& bearer, Side from) const {
  const PolicySettings& settings = bearer.settings();
  const Bytes most = buffer_quota_.first_limit(bearer);
  const bool rate_controlled = needs_feedback(settings.mode) && from == Side::core;
  return rate_controlled ? std::min(most, settings.smvs.receive_window.initial) : most;
}

inline void ReceiveWindowControl::open_uncontrolled_window(Flow& flow, Side in, Bytes limit, Bytes held,
                                                           Bytes most_unused) const {
  const Bytes most = advertise_to(flow, in, limit);
  Leg& leg = flow.leg(in);
  leg.limited_by_quota = most == limit && !buffer_quota_.follows_demand(flow, in);
  leg.space_added = false;
  const bool is_limited = most_unused < most - held;
  const Bytes room = without_closing(flow, in, is_limited ? most_unused : most - held, held);
  ack_limit_.open_window(flow, in, room, is_limited ? tcp::WindowUpdates::prompt : tcp::WindowUpdates::sparing);
}

void ReceiveWindowControl::update_of_ue(Flow& flow, const Bearer& bearer, Instant now) {
  if (!window_matters(flow, Side::radio)) return;
  const Bytes held = relay::held_towards(flow, Side::core);
  const Bytes limit = buffer_quota_.limit(flow, bearer, Side::radio, held, now);
  Bytes most_unused = Bytes::max();
  if (UploadLimits::applies_to(flow, bearer)) {
    most_unused = uploads_.window(flow, bearer, now);
  } else if (bearer.rate_control().uses_ack_feedback() && !bearer.rate_control().is_ack_based()) {
    uploads_.forget(flow);  // reports control the UE now, and what was measured grows old
  }
  open_uncontrolled_window(flow, Side::radio, limit, held, most_unused);
}

void ReceiveWindowControl::update_of_server(Flow& flow, Bearer& bearer, Instant now) {
  if (!window_matters(flow, Side::core)) return;
  const Bytes held = relay::held_towards(flow, Side::radio);
  const Bytes limit = buffer_quota_.limit(flow, bearer, Side::core, held, now);
  if (!bearer.rate_control().is_rate_controlled()) {
    open_uncontrolled_window(flow, Side::core, limit, held);
    record_window_closed(flow, bearer, false);
    return;
  }
  Loop* const loop = loop_of(flow, bearer, held);
  if (loop == nullptr) {
    ack_limit_.open_window(flow, Side::core, without_closing(flow, Side::core, first(bearer, Side::core) - held, held));
    return;
  }
  // A radio link that takes all data at once and then waits for more gives no rate. Until one is known, the server's
  // measured demand limits the window, as without a controller.
  const bool sliding = loop->sliding != no_id;
  const bool is_known = sliding || loop->balance.known() || bearer.mean_rate() > Rate();
  const Bytes wanted = !is_known ? buffer_quota_.need(flow, bearer, Side::core, held, now)
                       : sliding ? held + slide(flow, bearer, sliding_[loop->sliding], now)
                                 : held + balance_window(flow, bearer, loop->balance);
  const Bytes most = limit - held;
  const Bytes room = without_closing(flow, Side::core, std::min(most, wanted - held), held);
  ack_limit_.open_window(flow, Side::core, grant_min_window(flow, bearer, *loop, room, most, now), updates_of(bearer));
  // Without data in flight nothing else would serve this flow again. The steps of the sliding-mode law are triggered by
  // reports.
  const Bytes closed_below =
      greater(Bytes(flow.leg(Side::core).endpoint.effective_mss()), window_unit(flow, Side::core));
  record_window_closed(flow, bearer, sliding || room < closed_below);
}

/// Returns the window in bytes to advertise to the server. This is `room`, which the controller has computed. Under
/// three conditions it is two segments instead, but at most `most`. The window has been less than two segments for the
/// time closed_for, gets_min_window() is true, and the proxy holds little unsent data for the UE.
Bytes ReceiveWindowControl::grant_min_window(const Flow& flow, const Bearer& bearer, Loop& loop, Bytes room, Bytes most,
                                             Instant now) {
  const Bytes few = few_segments(flow);
  if (room < few) {
    if (now - loop.open_at < closed_for || !gets_min_window(flow, bearer, now) || has_ample_backlog(flow, bearer))
      return room;
    room = std::min(most, few);
  }
  loop.open_at = now;
  return room;
}

/// Creates the controller of the window advertised to the server (the second control loop). Returns null until the
/// bytes sent by the server plus the bytes held reach half of the first window (smvs.receive_window.initial). That
/// window suffices until then. `held` is the number of bytes for the UE that the proxy holds.
ReceiveWindowControl::Loop* ReceiveWindowControl::make_loop(Flow& flow, const Bearer& bearer, Bytes held) {
  const control::SecondLoopParameters& parameters = bearer.settings().smvs.receive_window;
  const Bytes received = flow.sent_from(Side::core, flow.leg(Side::core).endpoint.rcv_nxt());
  if (held + received < parameters.initial / 2) return nullptr;
  flow.window_loop = loops_.emplace(control::ReceiveWindowLoop(parameters));
  if (flow.window_loop == no_id) return nullptr;
  Loop& loop = loops_[flow.window_loop];
  if (parameters.law == control::SecondLoopController::sliding_mode)
    loop.sliding = sliding_.emplace(control::sliding_mode(parameters));
  return &loop;
}

/// Returns the window to advertise to the server, computed by the balance controller (control::ReceiveWindowLoop),
/// which is the default one. Its inputs are unsent data for the UE, advertised bytes, the radio link's rate, and by how
/// much the radio queue exceeds its target.
Bytes ReceiveWindowControl::balance_window(const Flow& flow, const Bearer& bearer,
                                           control::ReceiveWindowLoop& loop) const {
  const tcp::Endpoint& server = flow.leg(Side::core).endpoint;
  const Bytes advertised = advertised_to_server(flow);
  RadioView radio = radio_view_of(bearer);
  const std::uint32_t flows = bearer.load.transferring_flows + (flow.share.transferring ? 0U : 1U);
  // A flow whose bottleneck is another link leaves most of its part of the radio link to the others.
  // If all flows seem to have another bottleneck, they have shared an outage of the radio link.
  const std::uint32_t elsewhere = bearer.load.flows_limited_elsewhere;
  const bool is_elsewhere = flow.limited_elsewhere && elsewhere < flows;
  const std::uint32_t sharing = flow.limited_elsewhere || elsewhere >= flows ? flows : flows - elsewhere;
  if (sharing > 1 || bearer.has_cross_traffic_queue()) [[unlikely]] {
    const double part = (1 - kept_beside_cross_traffic * bearer.cross_traffic_share()) / sharing;
    radio = {control::OnWire(radio.error.amount() / sharing), control::OnWire(radio.mean.amount() * part),
             control::OnWire(radio.best.amount() * part)};
    if (is_elsewhere && flow.share.backlog != 0) radio = limited_to(rate_elsewhere(flow), radio);
  }
  // Unacknowledged data at the UE belongs to the first loop; the second one covers unsent data only.
  // Each call gets an object of its own, so that the usual call needs none in memory.
  const auto observe = [&] {
    return control::ReceiveWindowObservation{.buffered = flow.leg(Side::radio).endpoint.unsent(),
                                             .advertised = advertised,
                                             .radio_error = radio.error,
                                             .drain = radio.mean,
                                             .server_rtt = server.srtt(),
                                             .framing = bearer.framing,
                                             .best = radio.best};
  };
  if (bearer.trace != nullptr) [[unlikely]]
    return advertised + traced_advance(flow, bearer, loop, observe());
  return advertised + loop.advance(observe());
}

Bytes ReceiveWindowControl::traced_advance(const Flow& flow, const Bearer& bearer, control::ReceiveWindowLoop& loop,
                                           const control::ReceiveWindowObservation& seen) const {
  const auto identify = [&] { return identity_of(registry_.key_of(flow), loop.parameters()); };
  return control::traced<LoopCalls::Advance>(bearer.trace, loop, identify, seen);
}

/// Returns the window to advertise to the server, computed by the sliding-mode controller. The right edge of the window
/// advances only when a time step of this controller is due.
Bytes ReceiveWindowControl::slide(const Flow& flow, const Bearer& bearer, Sliding& sliding, Instant now) const {
  const tcp::Endpoint& server = flow.leg(Side::core).endpoint;
  const Bytes advertised = advertised_to_server(flow);
  if (now < sliding.next) return advertised;
  const Duration step = sliding.law.parameters().step;
  sliding.next = now - sliding.next < step ? sliding.next + step : now + step;
  const Bytes buffered = flow.leg(Side::radio).endpoint.unsent();
  const control::SmvsObservation seen =
      control::as_queue({.now = now,
                         .buffered = buffered,
                         .advertised = advertised,
                         .received = static_cast<std::uint64_t>(flow.sent_from(Side::core, server.rcv_nxt()).count()),
                         .server_rtt = server.srtt()});
  const auto identify = [&] { return identity_of(registry_.key_of(flow), sliding.law.parameters()); };
  const Bytes granted = control::traced<SlidingCalls::Step>(bearer.trace, sliding.law, identify, seen);
  const Bytes most = bearer.settings().smvs.receive_window.maximum - buffered - advertised;
  return advertised + std::clamp(granted, Bytes{}, std::max(most, Bytes{}));
}

void ReceiveWindowControl::forget(Flow& flow, const Bearer& bearer) {
  uploads_.forget(flow);
  if (flow.window_loop == no_id) return;
  const Loop& loop = loops_[flow.window_loop];
  if (bearer.trace != nullptr) [[unlikely]] {
    bearer.trace->left(&loop.balance);
    if (loop.sliding != no_id) bearer.trace->left(&sliding_[loop.sliding].law);
  }
  if (loop.sliding != no_id) sliding_.erase(loop.sliding);
  loops_.erase(flow.window_loop);
  flow.window_loop = no_id;
}

}  // namespace sluice::proxy
