#pragma once

#include "dataplane/tcp/segment.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/handback/release_reason.hpp"

namespace sluice::proxy::handback {

/// Handing a split connection back to its hosts, in the middle of a transfer too. Numbers are the hosts' own, so there
/// is nothing to translate: each direction gets a seam at what we have acknowledged. Bytes before it are ours: our legs
/// deliver and repeat them until they are acknowledged. Bytes behind it pass untouched, and so does every
/// acknowledgement that covers all of ours. When nothing of ours is left the connection needs us no longer.
///
/// Why nobody can tell:
///  - what was acknowledged is delivered, before the flow goes;
///  - timestamps we sent are the other host's own, none newer than what it had sent: its next ones are not older;
///  - the right edge of a window stands still until what the other host takes has reached it (Obstacle::window);
///  - nothing is held out of order, so no sender believes it had been reported something that is forgotten.

/// A stop of the proxy would break the connection: a byte or a FIN was acknowledged to one host and not by the other,
/// or a reset is still on its way. Whatever else is held its sender repeats.
[[nodiscard]] bool breaks_without_us(const Flow& flow);

/// What keeps the flow here: from beginning the handback while it is split, from ending it afterwards.
[[nodiscard]] Obstacle obstacle(const Flow& flow);

/// Advertises to a host no more than the other one takes, nor than a relay of `from_ue` bytes towards the core and one
/// of `from_server` towards the radio hold: first step of a flow that is to go.
void advertise_no_more(Flow& flow, Bytes from_ue, Bytes from_server);

/// Sets the seams. Requires a flow whose legs are both open one way at least, and that nothing is unread.
void begin(Flow& flow);

/// How far the server may be ahead of the UE where a flow goes on end to end with a successor. It may be farther while
/// it is split; handed back so, it would send into the radio queue all that the relay has kept from it.
[[nodiscard]] Bytes most_for_successor(const Flow& flow);
/// begin() for such a flow: the window advertised to the server stands, the successor opens it.
void begin_with_successor(Flow& flow);
/// Until the successor is alone: advertises more to the server as the UE takes what is ours, `most` bytes between the
/// two at most. Returns the right edge.
tcp::SeqNum make_room(Flow& flow, Bytes most);

/// What follows the connection behind the seams begins with: what is before them is ours. Requires begin().
[[nodiscard]] KnownConnection known(const flow::FlowKey& key, const Flow& flow);

/// Everything of ours has arrived and is acknowledged both ways.
[[nodiscard]] bool delivered(const Flow& flow);

/// Nothing is held either way, on a connection that both hosts may still use: plain forwarding could take over now, but
/// for what was advertised as window.
[[nodiscard]] bool at_rest(const Flow& flow);

/// What becomes of a segment while the handback lasts.
struct Verdict {
  bool forward = false;   ///< it passes untouched
  bool feed = false;      ///< our leg is to see `ours`
  bool whole = false;     ///< with its payload: it repeats what we have acknowledged
  bool believed = false;  ///< what it tells of what lies behind the seams is the host's own word
  tcp::Segment ours;      ///< as far as it concerns us
};
/// `edge`: right edge of the widest window that the host behind `in` was told, by whomever. What lies outside the
/// windows is for the other host to judge, and changes nothing here.
[[nodiscard]] Verdict judge(const Flow& flow, Side in, const tcp::Segment& segment, tcp::SeqNum edge);
/// A segment that came in on `in` passes, and is believed: the window that it grants is advertised to the other host.
void note_advertised(Flow& flow, Side in, const tcp::Segment& segment);

}  // namespace sluice::proxy::handback
