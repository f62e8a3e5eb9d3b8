#pragma once

#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/by_value.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// Moves data between the two legs of a split connection. Also moves FIN, RST, urgent pointer, newest timestamp, and
/// the window that the proxy can still advertise.
namespace relay {

/// Smallest open window: two segments of 1460 bytes, plus what a window scale of 256 may round off. A smaller window
/// counts as closed.
inline constexpr Bytes min_window{2 * 1460 + 256};

/// Returns the bytes that the proxy has received for the host behind `out` and that this host has not acknowledged.
[[nodiscard]] inline Bytes held_towards(const Flow& flow, Side out) {
  return flow.leg(out).endpoint.held();
}

/// Returns the right edge of the window that the host behind `side` has granted.
[[nodiscard]] tcp::SeqNum granted_edge(const Flow& flow, Side side);

/// Returns the bytes that the proxy has acknowledged to the host behind `in` and that the other host has not
/// acknowledged.
[[nodiscard]] std::uint32_t exposed_to(const Flow& flow, Side in);

/// Records progress of the host behind `out`: it acknowledged new data, or data for it arrived while the proxy held
/// none.
inline void record_progress(Flow& flow, Side out, Instant now) {
  flow.leg(out).progress = tcp::tick::ms268(now);
}

/// Returns for how long the host behind `out` has acknowledged none of the data that the proxy holds for it; zero if
/// none is held. Resolution is 0.25 s and the maximum 4.9 hours, which no configured limit exceeds.
[[nodiscard]] Duration stall_time(const Flow& flow, Side out, Instant now);

/// True if a host has received, or will receive with the next segment, an ACK for data that the other host has not
/// acknowledged.
[[nodiscard]] inline bool exposing(const Flow& flow) {
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  const tcp::Endpoint& core = flow.leg(Side::core).endpoint;
  return radio.next_acknowledgement() != core.snd_una() || core.next_acknowledgement() != radio.snd_una();
}

/// True if one host has received something that the other host has not: an ACK for bytes, an ACK for a FIN, or a reset.
[[nodiscard]] bool owes(const Flow& flow);

/// Moves all received payload and the newest timestamps of each leg to the other leg. Cheap if there is nothing to
/// move.
void pump(Flow& flow);

/// Moves the payload that goes to `out` between the legs on the fast path. Timestamps are not moved, because they are
/// copied as segments arrive.
void pump_fast_path(Flow& flow, Side out);

/// If a host has sent a keep-alive, sends one to the other host, so that the other host's answer is returned. While
/// data for the other host is held, the proxy answers itself, because retransmissions already probe that host.
void pass_keepalives(Flow& flow);

/// True if the leg of the host behind `side` ended abnormally: by a reset, a timeout or an abort.
[[nodiscard]] bool is_broken(const Flow& flow, Side side);

/// True if both legs are on the fast path: open, without loss or reordering. No FIN or RST can be pending then.
[[nodiscard]] inline bool on_fast_path(const Flow& flow) {
  return flow.leg(Side::radio).endpoint.on_fast_path() && flow.leg(Side::core).endpoint.on_fast_path();
}

/// Forwards a FIN or RST if all earlier data is delivered. Does nothing on the fast path.
void pass_ends(Flow& flow);

/// True if one leg (side of the connection) ended abnormally and the other one has not been reset yet; pass_ends()
/// resets it.
[[nodiscard]] bool has_news_of_end(const Flow& flow);

/// Advertises a window of `room` bytes beyond RCV.NXT to the host behind `in`. Never moves the right edge back.
inline void open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing) {
  tcp::Endpoint& endpoint = flow.leg(in).endpoint;
  room = greater(room, Bytes{});
  if (room != endpoint.receive_room()) endpoint.set_receive_room(room, updates);
}

/// Aborts the connection on both sides and drops the bytes that the proxy holds. The next emit() of each leg sends a
/// RST.
void abandon(Flow& flow, ResetReason reason);

/// Returns why the proxy resets, or would have to reset, a host of the connection; `none` while the connection has not
/// ended abnormally.
[[nodiscard]] ResetReason reset_reason(const Flow& flow);

/// True if both legs are closed, so the flow can be removed.
[[nodiscard]] bool finished(const Flow& flow);

/// True if both legs are closed or in TIME-WAIT, so a new connection may use the addresses.
[[nodiscard]] bool both_legs_closed(const Flow& flow);

/// True if both legs are established and hold no data, so that the hosts could continue without the proxy now.
[[nodiscard]] bool empty(const Flow& flow);

}  // namespace relay

}  // namespace sluice::proxy
