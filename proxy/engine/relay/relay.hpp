#pragma once

#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/by_value.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// Functions that relay between the two legs of a split connection: payload, FIN, RST, urgent pointer, newest timestamp
/// and keep-alives. Other functions return the state of the relay, or advertise windows.
namespace relay {

/// Smallest window that counts as open: two segments of 1460 bytes plus 256 bytes. Less than 256 bytes are lost when
/// the window field is rounded down to a unit of 256 bytes (window scale 8).
inline constexpr Bytes min_window{2 * 1460 + 256};

/// Returns the bytes that the proxy has received for the host behind `out` and that this host has not acknowledged yet.
[[nodiscard]] inline Bytes held_towards(const Flow& flow, Side out) {
  return flow.leg(out).endpoint.held();
}

/// Returns the right edge of the window that the host behind `side` has advertised.
[[nodiscard]] tcp::SeqNum granted_edge(const Flow& flow, Side side);

/// Returns the bytes that the proxy has acknowledged to the host behind `in` and that the other host has not
/// acknowledged yet.
[[nodiscard]] std::uint32_t exposed_to(const Flow& flow, Side in);

/// Records that the host behind `out` makes progress: it has acknowledged new data, or data for it arrived while the
/// proxy held none.
inline void record_progress(Flow& flow, Side out, Instant now) {
  flow.leg(out).progress = tcp::tick::ms268(now);
}

/// Returns how long the host behind `out` has acknowledged none of the data held for it; zero if none is held. The
/// resolution is 0.27 s. The maximum is 4.9 hours, which exceeds every configurable limit.
[[nodiscard]] Duration stall_time(const Flow& flow, Side out, Instant now);

/// True if a host has got an ACK for data that the other host has not acknowledged, or gets one with the next segment.
[[nodiscard]] inline bool exposing(const Flow& flow) {
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  const tcp::Endpoint& core = flow.leg(Side::core).endpoint;
  // What hosts have acknowledged to each other during a handback exposes nothing.
  const auto next = [](const tcp::Endpoint& of) { return tcp::earlier(of.next_acknowledgement(), of.rcv_nxt()); };
  return next(radio) != core.snd_una() || next(core) != radio.snd_una();
}

/// True if the connection would break without the proxy. That is so if the proxy has acknowledged bytes or a FIN of one
/// host that the other host has not acknowledged. It is also so if a reset is still to be sent, or if one leg ended
/// abnormally while the other one is open.
[[nodiscard]] bool owes(const Flow& flow);

/// Moves all received payload, the newest timestamps and the urgent pointers of each leg to the other leg. Takes little
/// time if there is nothing to move.
void pump(Flow& flow);

/// Moves received payload to the leg of the host behind `out`. Requires the fast path: both legs open, without loss or
/// reordering. Timestamps are not moved, because they are copied when segments arrive.
void pump_fast_path(Flow& flow, Side out);

/// Forwards a host's keep-alive: sends a keep-alive to the other host, whose answer is then passed back. If data is
/// held for that other host, the proxy answers itself, because retransmissions already probe that host.
void pass_keepalives(Flow& flow);

/// True if the leg to the host behind `side` ended abnormally: by a reset, a timeout or an abort.
[[nodiscard]] bool is_broken(const Flow& flow, Side side);

/// True if both legs are on the fast path: open, without loss or reordering. In that state no FIN or RST waits to be
/// forwarded.
[[nodiscard]] inline bool on_fast_path(const Flow& flow) {
  return flow.leg(Side::radio).endpoint.on_fast_path() && flow.leg(Side::core).endpoint.on_fast_path();
}

/// Forwards a FIN or RST to the other host once all data before it is delivered. Does nothing if both legs are on the
/// fast path (open, no loss or reordering), because no FIN or RST waits then.
void pass_ends(Flow& flow);

/// True if one leg has ended abnormally (by a reset, a timeout or an abort) and the other leg has not been reset yet.
/// pass_ends() then resets it.
[[nodiscard]] bool has_unrelayed_end(const Flow& flow);

/// Advertises a window of `room` bytes after RCV.NXT to the host behind `in`. Never moves the right edge to the left.
/// `updates` selects by how much the right edge must move so that a separate ACK advertises it.
inline void open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing) {
  tcp::Endpoint& endpoint = flow.leg(in).endpoint;
  room = greater(room, Bytes{});
  if (room != endpoint.receive_room()) endpoint.set_receive_room(room, updates);
}

/// Aborts the connection on both sides, records `reason`, and drops the bytes held for it. The next emit() of each leg
/// sends a RST.
void abandon(Flow& flow, ResetReason reason);

/// Returns the reason why the proxy has reset the connection's hosts, or has forwarded the abnormal end of one leg.
/// Returns `none` if the connection has not ended abnormally.
[[nodiscard]] ResetReason reset_reason(const Flow& flow);

/// True if both legs are closed, so that the flow can be removed.
[[nodiscard]] bool finished(const Flow& flow);

/// True if both legs are closed or in TIME-WAIT, so that a new connection may use the same addresses and ports.
[[nodiscard]] bool both_legs_closed(const Flow& flow);

/// True if both legs are established and hold no data, not even out of order. The hosts could then continue without the
/// proxy.
[[nodiscard]] bool empty(const Flow& flow);

}  // namespace relay

}  // namespace sluice::proxy
