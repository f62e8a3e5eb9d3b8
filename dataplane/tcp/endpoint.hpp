#pragma once

#include <cstdint>
#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/handshake.hpp"
#include "dataplane/tcp/output.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Counters of one endpoint. A 16-bit counter that has reached its largest value stays there.
struct EndpointCounters : SenderCounters {
  std::uint16_t out_of_order = 0;  ///< number of segments received out of order
  /// Number of segments discarded because their data was old, beyond the receive window, or could not be stored.
  std::uint16_t discarded = 0;
};

/// One TCP connection as a value (RFC 9293). Closed when constructed, and not movable. Reads no clock, does no I/O, and
/// allocates no memory; only its RecoveryStatePool may allocate.
///
/// Use of an endpoint: receive() processes one segment, emit() sends everything that is due, and next_deadline()
/// returns when on_timer() must be called. The caller calls emit() after on_timer(). Only emit() sends, so a caller can
/// process a burst of segments and send once. Received payload stays in its packets, which are linked through their
/// metadata (PacketNote). Not thread-safe. EndpointConfig must outlive the connection.
///
/// The endpoint has no data members. Its base classes Timers, Receiver, Sender and Handshake contain the state and the
/// rest of the interface. Endpoint passes segments, timers and calls of emit() to them. It contains what needs several
/// of them: which segments are acceptable, the fast path, and the end of a connection.
class Endpoint : public Handshake {
 public:
  // --- receiving ---

  /// Processes one segment. Returns true if the segment's numbers fitted the connection, so that a forged segment is
  /// unlikely (is_plausible() before the call). `payload` is empty, or contains exactly segment.payload_len bytes, with
  /// note().payload_len and payload_sum set. The checksum of the payload must be verified, and its buffer must have no
  /// other reference. After the call `payload` is empty, because bytes that are not kept are dropped. If `ack_sample`
  /// is not null and the segment acknowledges data, fills in the sample.
  bool receive(const Segment& segment, packet::Packet&& payload, Instant now, AckSample* ack_sample = nullptr);
  /// Fast path for a pure ACK that acknowledges new data on an established connection without loss, reordering or a
  /// pending FIN (header prediction). Equivalent to receive(). Returns false and changes nothing if the segment does
  /// not qualify.
  bool receive_pure_ack(const Segment& segment, Instant now, AckSample* ack_sample = nullptr);
  /// True if the segment carries the next data in order, acknowledges nothing new and offers an open window. Also
  /// requires an established connection without loss, reordering or a pending FIN.
  [[nodiscard]] bool is_plain_next_segment(const Segment& segment) const;
  /// Receives the payloads of a GRO run (packet::is_contiguous()). is_plain_next_segment() must be true for its first
  /// segment, and its bytes must fit advertised(). `last` is the last segment. Equivalent to receive() with each
  /// segment in turn.
  void receive_run(const Segment& last, std::span<packet::Packet> payloads, Instant now);
  /// Processes one segment whose payload could not be stored, because no memory is free. The header is processed, and
  /// the payload counts as lost on the path. Returns true if the segment's numbers fitted the connection
  /// (is_plausible() before the call).
  bool receive_without_payload(const Segment& segment, Instant now, AckSample* ack_sample = nullptr);
  /// True if the segment's numbers fit this connection. A sender that cannot observe the connection is unlikely to
  /// guess them (RFC 5961 section 1). So a caller may also trust other parts of the segment, such as its IP header. A
  /// reset fits if accepts_reset_at() is true for its sequence number. For other segments all these conditions must
  /// hold:
  /// - The sequence number lies in the receive window, or at most max(receive room, 1 MiB) below RCV.NXT, where
  ///   retransmissions begin. The receive room is the number of bytes accepted beyond the first unread one.
  /// - The timestamp is not older than TS.Recent.
  /// - The segment acknowledges outstanding data, or repeats the newest acknowledgement.
  ///
  /// The result is false for a SYN, and always false during the handshake.
  [[nodiscard]] bool is_plausible(const Segment& segment) const;
  /// True if a reset with sequence number `seq` ends the connection: exactly RCV.NXT (RFC 5961 section 3.2). After the
  /// peer's FIN the number of the FIN is accepted, too, because some hosts send a reset with it. Linux accepts both.
  [[nodiscard]] bool accepts_reset_at(SeqNum seq) const {
    const bool after_fin = state() == State::close_wait || state() == State::closing || state() == State::last_ack;
    return seq == rcv_nxt() || (after_fin && seq + 1 == rcv_nxt());
  }

  // --- data between the two endpoints of a relay ---

  /// Moves all in-order data of `from` to this endpoint's send queue; equivalent to read() and write() in turn. The
  /// bytes still count against the receive window of `from`, because they still use memory, until set_receive_room()
  /// grants space again. With WindowUpdates::sparing the move causes no window update. Otherwise one is scheduled if
  /// reading the bytes would make it due. Requires that both endpoints are on the fast path. Also requires that
  /// received and sent data have equal sequence numbers.
  void splice_from(Endpoint& from);

  // --- cut-through: a data segment that `from`, the other endpoint of a relay, receives is forwarded to this
  // endpoint's peer in its own frame (cut_through.cpp)

  /// True if this endpoint can forward to its peer, without queueing, the data segment that `from` expects next. Both
  /// endpoints must be on the fast path (established, no loss or reordering). `from` must have no unread data and this
  /// endpoint no unsent data, and the windows must permit the segment.
  [[nodiscard]] bool can_cut_through(const Endpoint& from, const Segment& segment, Instant now);
  /// Returns how many bytes of segments that `from` receives can be forwarded without queueing. Requires that
  /// can_cut_through() is true.
  [[nodiscard]] Bytes cut_through_bytes(const Endpoint& from) const;
  /// Begins to forward a run of segments without queueing them. Returns the header fields to rewrite in each frame
  /// (write_cut_through()). The caller then calls cut_through() for each segment, and end_cut_through() once. Each
  /// later segment must continue the GRO run (packet::is_contiguous()). The run must have at most cut_through_bytes()
  /// bytes. The three calls together are equivalent to receive(), splice_from() and emit() in turn, except that
  /// segments keep their frames and PSH flags.
  [[nodiscard]] CutThroughHeader begin_cut_through();
  /// Takes one segment of a run that is forwarded in the frames in which it was received. Called between
  /// begin_cut_through() and end_cut_through(), in order. `segment` is the header of `frame` as received by the other
  /// endpoint. Keeps a reference to `frame` for retransmission; the caller sends the frame. The frame's note() must
  /// have payload_len and payload_sum.
  void cut_through(const Segment& segment, packet::Packet&& frame, Instant now);
  /// Completes the forwarding of a run of `count` segments from `first` to `last`, after cut_through() was called for
  /// each. Counts them as received by `from` and sent by this endpoint. The next emit() of `from` sends their ACK.
  void end_cut_through(Endpoint& from, const Segment& first, const Segment& last, std::uint32_t count, Instant now);

  // --- sending ---

  /// Drops all data queued for sending. The next emit() sends a RST and closes the connection.
  void abort();

  /// Sends everything due: retransmissions, new data, FIN, ACKs and probes. Returns the IP bytes of the data segments
  /// sent. A data segment or retransmission is sent only if the size of its IP packet fits the rest of `allowance`,
  /// whatever the WindowSource. Segments without data do not count against the allowance. If the output refuses a
  /// segment, a later call sends it. With a finite allowance the caller sets the rate, so the endpoint does not pace.
  Bytes emit(Instant now, Output& output, Bytes allowance = Bytes::max()) {
    return nothing_to_emit(now) ? Bytes() : emit_due(now, output, allowance);
  }
  /// Sends everything due, as emit() does, but does not check nothing_to_emit() first. Intended for callers that have
  /// already checked nothing_to_emit().
  Bytes emit_due(Instant now, Output& output, Bytes allowance);
  /// True if emit() has nothing to send. This quick test reads only a few members, so false does not mean that
  /// something is due.
  [[nodiscard]] bool nothing_to_emit(Instant now) const {
    if (ack_is_due() || now >= ack_deadline()) return false;
    return on_fast_path() ? !queue().unsent() : is_over();
  }
  /// True if emit() has something to send. If the caller's allowance (bytes permitted to send) replaces cwnd, it is
  /// assumed to be large enough.
  [[nodiscard]] bool wants_to_send(Instant now) const;

  // --- time ---

  /// Handles the timers that have expired at `now`, if any. The caller then calls emit().
  void on_timer(Instant now);
  /// Returns the deadline of the earliest armed timer, or the time at which pacing permits the next burst; `never` if
  /// there is none.
  [[nodiscard]] Instant next_deadline() const {
    if (on_fast_path() || !paced()) [[likely]]
      return earliest_deadline();
    return lesser(earliest_deadline(), pacing_deadline());
  }

  [[nodiscard]] EndpointCounters counters() const { return {sender_counters(), out_of_order(), discarded()}; }

 private:
  // --- defined in segment_arrival.cpp ---
  [[nodiscard]] bool is_expected(const Segment& segment) const;
  [[nodiscard]] bool answers_in_order(const Segment& segment) const;
  [[gnu::noinline]] bool receive_slow(const Segment& segment, packet::Packet&& payload, Instant now,
                                      AckSample* ack_sample);
  bool receive_pure_ack_in_order(const Segment& segment, Instant now, AckSample* ack_sample);
  [[gnu::noinline]] bool check(const Segment& segment, Instant now, AckSample* ack_sample);
  void receive_reset(const Segment& segment, Instant now);

  // --- defined in endpoint.cpp ---
  [[gnu::noinline]] Bytes emit_slow(Instant now, Output& output, Bytes allowance);
  [[gnu::noinline]] Bytes emit_slow_path(Instant now, Output& output, Bytes allowance);
  /// Updates whether the fast paths apply, which requires an established connection. Called wherever a condition that
  /// excludes them may have ended. Code that begins such a condition calls leave_fast_path().
  void update_fast_path();
  void update_fast_path_open();

  // --- defined in close.cpp ---
  bool handle_acknowledged_fin(Instant now);
  void give_up();
  void close(CloseReason reason);
};
static_assert(sizeof(Endpoint) <= 264);

}  // namespace sluice::tcp
