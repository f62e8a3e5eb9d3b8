#pragma once

#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/by_value.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/flow.hpp"

namespace sluice::proxy {

/// Moves what one side of a split connection has received to the other side's send queue, with everything that must
/// follow it: FIN, reset, urgent pointer, the newest timestamp, and the window that the relay can still advertise.
///
/// The rules it keeps:
///  - payload changes hands, never memory;
///  - a FIN or reset passes only behind every byte acknowledged before it;
///  - the window advertised to one side never exceeds what the relay may hold, so acknowledged bytes are never dropped.
namespace relay {

/// Two segments of the usual size, as the host sees them that rounds the window down to a scale of 256: less window
/// than this is none.
inline constexpr Bytes least_window{2 * 1460 + 256};

/// Bytes taken from the sender on the far side of `out` that the host behind `out` has not acknowledged.
[[nodiscard]] inline Bytes held_towards(const Flow& flow, Side out) {
  return flow.leg(out).endpoint.held();
}

/// Returns the right edge of the window that the host behind `side` has granted.
[[nodiscard]] tcp::SeqNum granted_edge(const Flow& flow, Side side);

/// Bytes acknowledged to the host behind `in` that the other one has not acknowledged.
[[nodiscard]] std::uint32_t exposed_to(const Flow& flow, Side in);

/// The host behind `out` has acknowledged something new, or what comes in now is the first that is held for it.
inline void note_progress(Flow& flow, Side out, Instant now) {
  flow.leg(out).progress = tcp::tick::coarse(now);
}

/// For how long the host behind `out` has acknowledged nothing of what is held for it; zero where nothing is. To a
/// quarter of a second, and right up to 4.9 hours, which no limit exceeds.
[[nodiscard]] Duration stalled_for(const Flow& flow, Side out, Instant now);

/// A host was told, or is told with the next segment, that we have something that the other one has not acknowledged.
[[nodiscard]] inline bool exposing(const Flow& flow) {
  const tcp::Endpoint& radio = flow.leg(Side::radio).endpoint;
  const tcp::Endpoint& core = flow.leg(Side::core).endpoint;
  return radio.next_acknowledgement() != core.snd_una() || core.next_acknowledgement() != radio.snd_una();
}

/// One host was told something that the other one does not know yet: bytes or a FIN acknowledged to it, or a reset.
[[nodiscard]] bool owes(const Flow& flow);

/// Moves the payload that can be moved now, both ways, and the newest timestamps. Cheap when there is nothing.
void pump(Flow& flow);

/// The same for one stream of a flow on the fast path; timestamps are passed on as segments come.
void pump_undisturbed(Flow& flow, Side out);

/// A host's keep-alive goes on to the other host, as long as there is nothing on the way to that one: only its answer
/// is one (answered by what comes in: split_arrivals, hearing).
void pass_keepalives(Flow& flow);

/// The host behind `side` is no longer there, or has said so: its leg ended other than by the book.
[[nodiscard]] bool is_broken(const Flow& flow, Side side);

/// Neither leg is ending, or has anything else out of the ordinary: no end can have to be passed on.
[[nodiscard]] inline bool on_fast_path(const Flow& flow) {
  return flow.leg(Side::radio).endpoint.on_fast_path() && flow.leg(Side::core).endpoint.on_fast_path();
}

/// Passes on a FIN or a reset whose turn has come. Nothing to do on a flow that is on the fast path.
void pass_ends(Flow& flow);

/// One leg has ended otherwise than by the book and the other does not know yet: pass_ends() would tell it.
[[nodiscard]] bool has_news_of_end(const Flow& flow);

/// Advertises `room` more bytes beyond what was received to the host behind `in`. Never takes a window back.
inline void open_window(Flow& flow, Side in, Bytes room, tcp::WindowUpdates updates = tcp::WindowUpdates::sparing) {
  tcp::Endpoint& endpoint = flow.leg(in).endpoint;
  room = greater(room, Bytes{});
  if (room != endpoint.receive_room()) endpoint.set_receive_room(room, updates);
}

/// Ends the connection on both sides, whatever is held: the next emit() of each leg tells its host by a reset.
void abandon(Flow& flow, ResetReason reason);

/// Returns why the proxy resets a host of the connection, or would if it had to; none while nothing has ended it.
[[nodiscard]] ResetReason reset_reason(const Flow& flow);

/// Both legs are closed and nothing is held: the flow can go.
[[nodiscard]] bool finished(const Flow& flow);

/// Both legs are closed or only wait out old duplicates: the addresses may be used again.
[[nodiscard]] bool both_legs_closed(const Flow& flow);

/// Nothing is held either way and both legs are synchronised: plain forwarding could take over this instant.
[[nodiscard]] bool empty(const Flow& flow);

}  // namespace relay

}  // namespace sluice::proxy
