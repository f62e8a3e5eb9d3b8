#pragma once

#include "dataplane/packet/segment.hpp"
#include "proxy/engine/base/release_reason.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy::handback {

/// Functions that hand a split connection back to its hosts, even during a transfer. Sequence numbers are the hosts'
/// own, so none is translated. Each direction gets a handback point: the sequence number up to which the proxy has
/// acknowledged. The proxy delivers the bytes before that point, and retransmits them until they are acknowledged.
/// Bytes after the point are forwarded unchanged, and so is every ACK that covers all of the proxy's bytes. The flow is
/// removed when the proxy's bytes are delivered.
///
/// The hosts cannot notice the handback, because:
///  - every acknowledged byte is delivered before the flow is removed;
///  - the proxy sent only timestamps of the other host and none newer than its newest, so the host's next timestamps
///    are not older;
///  - the right edge of a window stays until the other host's own window has reached it (HandbackBlocker::window);
///  - nothing is held out of order, so no data reported by SACK is discarded.

/// True if a stop of the proxy would break the connection. This is so if a byte or FIN is acknowledged to one host and
/// not by the other, or if a RST is pending. All other held bytes would be retransmitted by their sender.
[[nodiscard]] bool breaks_without_us(const Flow& flow);

/// Returns what prevents the handback of the flow from starting, or, once it has started, from completing.
[[nodiscard]] HandbackBlocker find_blocker(const Flow& flow);

/// Limits the window of each host to what the other host accepts, as the first step of a handback. The proxy holds at
/// most `from_ue` bytes towards the core and `from_server` bytes towards the radio.
void advertise_no_more(Flow& flow, Bytes from_ue, Bytes from_server);

/// Sets the handback points (sequence numbers up to which the proxy delivers) and enters FlowPhase::handing_back.
/// Requires that all received payload was moved to the other leg, and that each leg is open in at least one direction.
void begin(Flow& flow);

/// Returns how many bytes the server may be ahead of the UE when the flow becomes an end-to-end connection. While the
/// flow is split the server may be further ahead, and would otherwise send all these bytes into the radio queue.
[[nodiscard]] Bytes max_for_successor(const Flow& flow);
/// Sets the handback points (sequence numbers up to which the proxy delivers) of a flow that an end-to-end connection
/// replaces. The window advertised to the server stays, and the end-to-end connection opens it.
void begin_with_successor(Flow& flow);
/// Advertises more window to the server as the UE acknowledges the proxy's bytes, until only the end-to-end connection
/// remains. At most `most` bytes are between the two hosts. Returns the right edge.
tcp::SeqNum make_room(Flow& flow, Bytes most);

/// Returns the state from which tracking starts after the handback points (where the proxy's bytes end): numbers, edges
/// and FINs of each direction. Requires begin().
[[nodiscard]] KnownConnection known(const flow::FlowKey& key, const Flow& flow);

/// True if all bytes held by the proxy are delivered and acknowledged in both directions.
[[nodiscard]] bool delivered(const Flow& flow);

/// True if the proxy holds nothing in either direction and no leg is closed. Apart from the advertised windows, the
/// hosts could then continue without the proxy.
[[nodiscard]] bool at_rest(const Flow& flow);

/// Decision how a segment is processed while a connection is handed back to its hosts.
struct Verdict {
  bool forward = false;  ///< true if the segment is forwarded unchanged
  bool feed = false;     ///< true if the part `ours` of the segment is delivered to the proxy's leg

  /// True if the payload is passed to the leg as well, because it retransmits acknowledged bytes.
  bool whole = false;
  /// True if the segment's numbers are the host's own, so that its window for the bytes after the proxy's is valid.
  bool is_valid = false;
  tcp::Segment ours;  ///< part of the segment that concerns the proxy's leg
};
/// Decides how a segment that arrived on `in` is processed while the connection is handed back to its hosts. `edge`:
/// right edge of the widest window advertised to the host behind `in`. A segment outside of the windows is forwarded
/// and updates nothing.
[[nodiscard]] Verdict judge(const Flow& flow, Side in, const tcp::Segment& segment, tcp::SeqNum edge);
/// Records that the window of a forwarded and valid segment, which arrived on `in`, is advertised to the other host.
void record_advertised(Flow& flow, Side in, const tcp::Segment& segment);

}  // namespace sluice::proxy::handback
