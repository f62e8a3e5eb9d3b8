// Moves payload, FIN, RST, urgent pointer and timestamps between the two legs of a split connection. SplitFlows calls
// it when it serves a flow; handback, stalls and memory relief use its predicates. Invariant: acknowledged bytes reach
// the other host before a FIN or RST does, and are dropped only with a reset to both hosts.
#include "proxy/engine/relay/relay.hpp"

#include <utility>

namespace sluice::proxy::relay {
namespace {

/// True if the endpoint is in state CLOSED.
bool is_closed(const tcp::Endpoint& endpoint) {
  return endpoint.state() == tcp::State::closed;
}

/// True if the endpoint was closed by a reset, a timeout or an abort instead of FINs.
bool broken(const tcp::Endpoint& endpoint) {
  return is_closed(endpoint) && endpoint.close_reason() != tcp::CloseReason::finished;
}

/// Moves payload that leg `from` has received to the send queue of leg `to`. Drops it if that leg is closed.
void move_payload(Leg& from, Leg& to) {
  const bool deliverable = !is_closed(to.endpoint);
  while (packet::Packet payload = from.endpoint.read()) {
    if (deliverable) to.endpoint.write(std::move(payload));
  }
}

/// Returns the sequence number before which the proxy must deliver all data of the endpoint's host to the other host.
/// While ACKs are withheld, it is the highest number acknowledged to the host. Otherwise it is RCV.NXT, because the
/// next segment acknowledges it.
tcp::SeqNum answered_for(const tcp::Endpoint& endpoint) {
  return endpoint.defers_acks() ? endpoint.acknowledged() : endpoint.rcv_nxt();
}

/// Forwards a reset that leg `from` has received to the host of leg `to`. First that host must acknowledge the bytes
/// that the proxy has acknowledged to the other host. Bytes that the proxy has not acknowledged are dropped, as they
/// would be without the proxy.
void pass_reset(const Leg& from, Leg& to) {
  if (!to.reset_pending && broken(from.endpoint) && !is_closed(to.endpoint)) to.reset_pending = true;
  if (!to.reset_pending) return;
  if (answered_for(from.endpoint) <= to.endpoint.snd_una()) {
    to.endpoint.abort();
    to.reset_pending = false;
  }
}

/// Moves received payload, the newest timestamp and the urgent pointer from leg `from` to leg `to`.
void pass(Leg& from, Leg& to) {
  to.endpoint.set_timestamp(from.endpoint.newest_ts_value());
  if (from.endpoint.urgent_ahead()) to.endpoint.announce_urgent(from.endpoint.urgent_end());
  if (from.endpoint.unread() > 0_B) move_payload(from, to);
}

/// Forwards a FIN or reset that arrived on leg `from` to leg `to`.
void pass_end(Leg& from, Leg& to) {
  if (from.endpoint.peer_finished()) to.endpoint.finish();
  if (is_closed(from.endpoint) || to.reset_pending) pass_reset(from, to);
}

}  // namespace

bool is_broken(const Flow& flow, Side side) {
  return broken(flow.leg(side).endpoint);
}

tcp::SeqNum granted_edge(const Flow& flow, Side side) {
  const tcp::Endpoint& endpoint = flow.leg(side).endpoint;
  return endpoint.snd_una() + static_cast<std::uint32_t>(endpoint.snd_window().count());
}

std::uint32_t exposed_to(const Flow& flow, Side in) {
  const std::int32_t ahead = flow.leg(in).endpoint.acknowledged() - flow.leg(opposite(in)).endpoint.snd_una();
  return ahead > 0 ? static_cast<std::uint32_t>(ahead) : 0;
}

Duration stall_time(const Flow& flow, Side out, Instant now) {
  if (is_closed(flow.leg(out).endpoint) || held_towards(flow, out).count() == 0) return {};
  const std::uint16_t since = flow.leg(out).progress;
  return tcp::tick::ms268_duration(static_cast<std::uint16_t>(tcp::tick::ms268(now) - since));
}

bool owes(const Flow& flow) {
  return exposed_to(flow, Side::radio) != 0 || exposed_to(flow, Side::core) != 0 || has_unrelayed_end(flow) ||
         flow.leg(Side::radio).reset_pending || flow.leg(Side::core).reset_pending;
}

void pump_fast_path(Flow& flow, Side out) {
  tcp::Endpoint& from = flow.leg(opposite(out)).endpoint;
  if (from.unread() > 0_B) flow.leg(out).endpoint.splice_from(from);
}

void pump(Flow& flow) {
  pass(flow.leg(Side::core), flow.leg(Side::radio));
  pass(flow.leg(Side::radio), flow.leg(Side::core));
}

void pass_ends(Flow& flow) {
  pass_end(flow.leg(Side::core), flow.leg(Side::radio));
  pass_end(flow.leg(Side::radio), flow.leg(Side::core));
}

void pass_keepalives(Flow& flow) {
  for (const Side side : {Side::radio, Side::core}) {
    Leg& asking = flow.leg(side);
    if (!asking.endpoint.take_keepalive()) continue;
    Leg& asked = flow.leg(opposite(side));
    // Data held for the other host probes it already, and a host that does not take it is detected as gone.
    asking.keepalive_passed = held_towards(flow, opposite(side)).count() == 0 && !is_closed(asked.endpoint);
    if (asking.keepalive_passed) {
      asked.endpoint.send_keepalive();
    } else {
      asking.endpoint.answer_keepalive();
    }
  }
}

bool has_unrelayed_end(const Flow& flow) {
  const auto unreported = [](const Leg& from, const Leg& to) {
    return broken(from.endpoint) && !is_closed(to.endpoint) && !to.reset_pending;
  };
  return unreported(flow.leg(Side::radio), flow.leg(Side::core)) ||
         unreported(flow.leg(Side::core), flow.leg(Side::radio));
}

void abandon(Flow& flow, ResetReason reason) {
  flow.reset_reason = reason;
  for (Leg& leg : flow.legs) {
    leg.reset_pending = false;
    leg.endpoint.abort();
  }
}

ResetReason reset_reason(const Flow& flow) {
  if (flow.reset_reason != ResetReason::none || !flow.terminated()) return flow.reset_reason;
  const auto ended_by = [&flow](tcp::CloseReason reason) {
    return flow.leg(Side::radio).endpoint.close_reason() == reason ||
           flow.leg(Side::core).endpoint.close_reason() == reason;
  };
  if (ended_by(tcp::CloseReason::timed_out)) return ResetReason::reset_timed_out;
  return ended_by(tcp::CloseReason::reset_by_peer) ? ResetReason::reset_relayed : ResetReason::none;
}

bool finished(const Flow& flow) {
  return is_closed(flow.leg(Side::radio).endpoint) && is_closed(flow.leg(Side::core).endpoint);
}

bool both_legs_closed(const Flow& flow) {
  const auto over = [](const Leg& leg) {
    return is_closed(leg.endpoint) || leg.endpoint.state() == tcp::State::time_wait;
  };
  return over(flow.leg(Side::radio)) && over(flow.leg(Side::core));
}

bool empty(const Flow& flow) {
  for (const Side side : {Side::radio, Side::core}) {
    if (flow.leg(side).endpoint.state() != tcp::State::established) return false;
    if (held_towards(flow, side).count() != 0) return false;
    if (flow.leg(side).endpoint.reassembling()) return false;
  }
  return true;
}

}  // namespace sluice::proxy::relay
