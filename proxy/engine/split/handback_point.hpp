#pragma once

#include "dataplane/packet/segment.hpp"
#include "proxy/engine/base/release_reason.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/flow/flow.hpp"

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
///  - nothing is held out of order, so no data reported by SACK is discarded;
///  - with accurate ECN (RFC 9768), each host's count of CE packets continues from the value that the proxy reported to
///    the other host. Until a count has reached that value, the ACE field of forwarded segments keeps it
///    (HandbackBlocker::marks). The proxy marks packets CE to the host that counts less.
namespace sluice::proxy::handback {

/// True if a stop of the proxy would break the connection. One reason is a byte or FIN that was acknowledged to one
/// host and not by the other. Other reasons are a pending RST, or a leg that has ended abnormally. Other held bytes are
/// not lost, because their sender would retransmit them.
[[nodiscard]] bool would_break_on_stop(const Flow& flow);

/// Returns what prevents the start of the flow's handback to its hosts, or its completion if it has started.
[[nodiscard]] HandbackBlocker find_blocker(const Flow& flow);

/// Lowers the windows that the proxy advertises, because the hosts are to continue without the proxy. No host is
/// advertised more than the other host's window. In addition, no window lets the proxy hold more than `from_ue` bytes
/// for the server, or `from_server` bytes for the UE.
void lower_windows(Flow& flow, Bytes from_ue, Bytes from_server);

/// Sets the handback points, the sequence numbers up to which the proxy delivers data, and enters
/// FlowPhase::handing_back. All received payload must have been moved to the other leg. Each leg must be open in at
/// least one direction.
void begin(Flow& flow);

/// Returns how many bytes beyond the UE's acknowledgements the server may have sent when the flow becomes an end-to-end
/// connection. It is the number of bytes in flight to the UE, but at least ten segments. A split flow may allow the
/// server more, because the proxy holds these bytes. End to end they would all enter the radio queue at once.
[[nodiscard]] Bytes max_for_successor(const Flow& flow);
/// Sets the handback points, the sequence numbers up to which the proxy delivers data, for a flow that becomes an
/// end-to-end connection. The window advertised to the server stays unchanged here. make_room() increases it during
/// the handback.
void begin_with_successor(Flow& flow);
/// Increases the window advertised to the server during a handback to an end-to-end connection, while the proxy still
/// holds data for the UE. The window opens by the bytes that the UE acknowledges, so that at most `most` bytes are
/// between the two hosts. Returns the right edge of the window.
tcp::SeqNum make_room(Flow& flow, Bytes most);

/// Returns the state from which a connection is tracked after it was handed back to its hosts: sequence numbers, window
/// edges and FINs of both directions at the handback points. Requires begin().
[[nodiscard]] KnownConnection known(const flow::FlowKey& key, const Flow& flow);

/// True if a host's count of ECN marks (RFC 9768) differs from the count that the proxy has reported to the other host.
[[nodiscard]] bool marks_differ(const Flow& flow);
/// Makes a leg send ACKs marked CE to its host while the connection is handed back to its hosts. The host then counts
/// as many ECN marks as the proxy has reported to the other host in its name. Does nothing for a host to which data was
/// forwarded: this data is beyond the leg's sequence numbers, so the host would not count the leg's ACK. Requests the
/// host's count again if the host has not answered. Returns true if a leg has something to send now.
[[nodiscard]] bool level_marks(Flow& flow, Instant now);
/// Returns when level_marks() must be called again if no segment arrives; `never` if there is no need.
[[nodiscard]] Instant next_question(const Flow& flow);

/// True if all bytes that the proxy holds, in both directions, have been delivered and acknowledged, and the proxy owes
/// no ACK.
[[nodiscard]] bool delivered(const Flow& flow);

/// True if the proxy holds no bytes in either direction and no leg is closed. The hosts can then continue without the
/// proxy, unless the advertised windows prevent it (HandbackBlocker::window).
[[nodiscard]] bool at_rest(const Flow& flow);

/// Decision on how to process a segment of a connection that is being handed back to its hosts.
struct Verdict {
  bool forward = false;  ///< true if the segment is forwarded unchanged
  /// True if the proxy's leg must process the part of the segment that `ours` contains.
  bool is_for_proxy = false;

  /// true if the payload must be passed to the leg too, because the segment retransmits bytes that the proxy has
  /// acknowledged
  bool whole = false;
  /// True if the segment lies in the window of the other host and acknowledges only data that was sent. Only if the
  /// segment is valid are its window and its acknowledgement recorded as sent to the other host.
  bool is_valid = false;
  /// part of the segment that the proxy's leg must process: the acknowledgement of bytes that the proxy has sent
  tcp::Segment ours;
};
/// Decides how a segment that arrived on `in` is processed while its connection is handed back to its hosts. A segment
/// whose sequence or ACK number is not plausible for its host is forwarded and changes no state. `advertised` is the
/// rightmost window edge that was advertised to that host, by the proxy or by the other host itself.
[[nodiscard]] Verdict judge(const Flow& flow, Side in, const tcp::Segment& segment, tcp::SeqNum advertised);
/// Records that the end of forwarded data moved to sequence number `end`, because a segment that arrived on `in` was
/// forwarded to the other host.
void record_sent(Flow& flow, Side in, tcp::SeqNum end);
/// Records that the window in a segment which arrived on `in` was advertised to the other host. The segment must be
/// valid and be forwarded.
void record_advertised(Flow& flow, Side in, const tcp::Segment& segment);
/// Records the acknowledgement number of a valid segment that arrived on `in` and is forwarded to the other host. The
/// proxy's retransmissions to that host then carry this number.
void record_acknowledged(Flow& flow, Side in, const tcp::Segment& segment);

}  // namespace sluice::proxy::handback
