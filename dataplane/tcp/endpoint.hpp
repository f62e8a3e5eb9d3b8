#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/accurate_ecn.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/endpoint_state.hpp"
#include "dataplane/tcp/output.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/recovery_state.hpp"
#include "dataplane/tcp/rtt.hpp"
#include "dataplane/tcp/send_queue.hpp"
#include "dataplane/tcp/state.hpp"
#include "dataplane/units/by_value.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// One TCP connection as a value (RFC 9293). Closed when constructed, and not movable. Reads no clock, does no I/O, and
/// allocates no memory itself; only its RecoveryStatePool may.
///
/// Use of an endpoint: receive() takes one segment, emit() sends everything that is due, and next_deadline() returns
/// when on_timer() must be called next. The caller calls emit() after on_timer(). Only emit() sends, so a caller can
/// process a burst of segments and send once. Received payload stays in its packets, which are linked through their
/// notes. Not thread-safe. EndpointConfig must outlive the connection.
class Endpoint {
 public:
  Endpoint() = default;
  ~Endpoint() { drop_recovery_state(); }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- opening: from closed; receive room, timestamp and window source that were set before are kept ---

  /// Opens actively: the next emit() sends the SYN with initial sequence number `iss` and the options `ours`.
  void connect(const EndpointConfig& config, SeqNum iss, const SynOptions& ours, Instant now);
  /// Opens passively, in answer to `syn`: the next emit() sends the SYN-ACK with those options of `ours` that the SYN
  /// also offered.
  void accept(const EndpointConfig& config, const Segment& syn, SeqNum iss, const SynOptions& ours, Instant now);
  /// Enters ESTABLISHED directly, without a handshake. The receive room (bytes accepted beyond the first unread one) is
  /// the window already advertised until set_receive_room() changes it.
  void establish_at(const EndpointConfig& config, const EstablishedState& state, Instant now);

  // --- receiving ---

  /// Processes one segment. Returns the result of is_plausible(segment) before the call. `payload` is empty, or holds
  /// exactly segment.payload_len bytes with note().payload_len and payload_sum set. Its checksum has been verified and
  /// no other reference to the buffer exists. After the call `payload` is empty, because bytes that are not kept are
  /// dropped. If `ack_sample` is not null and the segment acknowledges data, the sample is filled in.
  bool receive(const Segment& segment, packet::Packet&& payload, Instant now, AckSample* ack_sample = nullptr);
  /// Fast path for a pure ACK that acknowledges new data on an established connection without loss, reordering or a
  /// pending FIN (header prediction). Equivalent to receive(). Returns false and changes nothing if the segment does
  /// not qualify.
  bool receive_pure_ack(const Segment& segment, Instant now, AckSample* ack_sample = nullptr);
  /// True if the segment carries the next data in order, acknowledges nothing new and offers an open window. The
  /// connection must be established, without loss, reordering or a pending FIN.
  [[nodiscard]] bool takes_next(const Segment& segment) const;
  /// Takes the payloads of a GRO run (packet::is_contiguous()) whose first segment fulfils takes_next() and whose bytes
  /// fit advertised(). `last` is the last segment. Equivalent to receive() with each segment in turn.
  void receive_run(const Segment& last, std::span<packet::Packet> payloads, Instant now);
  /// Processes one segment whose payload could not be stored for lack of memory: its header counts, its payload is
  /// treated as lost on the path. Returns is_plausible() as receive() does.
  bool receive_without_payload(const Segment& segment, Instant now, AckSample* ack_sample = nullptr);
  /// True if the segment's numbers fit this connection. A sender that cannot observe the connection is unlikely to
  /// guess them (RFC 5961 section 1). A caller may then use more of the segment than its data, such as its IP header.
  /// The sequence number lies in the window or at most max(receive room, 1 MiB) below RCV.NXT, where retransmissions
  /// begin. The timestamp is not older than TS.Recent. The segment acknowledges outstanding data or repeats the newest
  /// acknowledgement. A reset must carry exactly RCV.NXT. Always false during the handshake.
  [[nodiscard]] bool is_plausible(const Segment& segment) const;
  /// Removes and returns the next payload in order (note().seq, payload_len and payload_sum valid), or an empty handle.
  /// Data received before a reset stays readable.
  [[nodiscard]] packet::Packet read();
  /// True if the peer's FIN arrived and every byte before it was read.
  [[nodiscard]] bool peer_finished() const { return bits_.fin_received && in_order_.empty(); }
  /// Sets how many bytes beyond the first unread one the endpoint accepts, 0 to 2^30; the default is 65535. The right
  /// edge of the window becomes max(old edge, first unread byte + room) whenever an ACK is sent. The edge thus follows
  /// as data is read and is never retracted. A window update is scheduled when the edge can move by min(2 MSS, room /
  /// 2). From a closed window, any useful move schedules one (RFC 9293 section 3.8.6.2.2). `updates` changes that
  /// threshold.
  void set_receive_room(Bytes room, WindowUpdates updates = WindowUpdates::sparing);
  [[nodiscard]] Bytes receive_room() const { return Bytes(room_); }
  /// Adds `bytes` to the receive room (bytes accepted beyond the first unread one) without a window update. Returns
  /// false and changes nothing if set_receive_room() must be called instead, because a window update may be due. A
  /// window update may be due in three cases: the peer has used half of its window, the room is zero, or the edge can
  /// move far enough. Other WindowUpdates than `sparing` always return false.
  bool add_receive_space(std::uint32_t bytes);
  /// Withholds acknowledgements: from this call on, only acknowledge_up_to() moves the acknowledgement number. In-order
  /// data then triggers no ACK by itself.
  void defer_acks();
  /// Ends defer_acks(): received data is acknowledged automatically again, at once if some was held back.
  void stop_deferring_acks();
  [[nodiscard]] bool defers_acks() const { return bits_.acks_deferred; }
  /// Acknowledges received data up to `limit` with the next emit(). Requires defer_acks().
  void acknowledge_up_to(SeqNum limit);
  /// Returns the acknowledgement number that the peer has been sent, or is sent with the next emit().
  [[nodiscard]] SeqNum acknowledged() const { return rcv_.last_ack_sent; }
  /// Returns the acknowledgement number of the next segment to the peer. The function selects between raw bits, because
  /// compilers select between objects through memory.
  [[nodiscard]] SeqNum next_acknowledgement() const {
    return SeqNum(bits_.acks_deferred ? rcv_.last_ack_sent.raw() : rcv_.nxt.raw());
  }
  /// True if received data is not acknowledged yet, or an ACK is due for another reason.
  [[nodiscard]] bool owes_acknowledgement() const { return bits_.ack_now || rcv_.last_ack_sent != rcv_.nxt; }
  /// True if the next data segment is acknowledged at once (RFC 5681 section 4.2), or an ACK is due already.
  [[nodiscard]] bool acknowledges_next() const { return bits_.ack_now || bits_.unacked_segments != 0; }
  /// Sends a delayed ACK with the next emit() instead of waiting for its timer.
  void send_ack_now() { bits_.ack_now = bits_.ack_now || rcv_.last_ack_sent != rcv_.nxt; }
  /// Returns true once for each keep-alive of the peer while nothing is in flight here (RFC 9293 section 3.8.4). Also
  /// returns true for each probe of a closed window (section 3.8.6.1). Only used if EndpointConfig::answers_keepalives
  /// is false; the owner then answers with answer_keepalive().
  [[nodiscard]] bool take_keepalive() {
    const bool asked = bits_.keepalive_pending;
    bits_.keepalive_pending = false;
    return asked;
  }
  /// Answers a keep-alive or a window probe: an ACK leaves with the next emit().
  void answer_keepalive() { bits_.ack_now = true; }
  /// True if the peer has announced urgent data that was not read yet. The urgent data ends before urgent_end() (RFC
  /// 9293 section 3.8.5).
  [[nodiscard]] bool urgent_ahead() const { return bits_.urgent_in; }
  [[nodiscard]] SeqNum urgent_end() const { return recovery_state().rcv_up; }
  /// Returns when the first out-of-order segment that is held arrived, since when its hole has been open; `never` if
  /// none is held.
  [[nodiscard]] Instant out_of_order_since() const {
    return has_recovery_state() ? recovery_state().reassembly.waits_since() : never;
  }
  /// Records that another component has advertised a window up to `edge` to the peer, so data up to there is inside the
  /// window. Never moves the edge back.
  void record_advertised(SeqNum edge) { rcv_.adv = later(rcv_.adv, edge); }
  /// Drops all out-of-order data. If it was reported in SACK blocks, this is the reneging that RFC 2018 section 8
  /// permits.
  void drop_out_of_order() {
    if (has_recovery_state()) ensure_recovery_state().reassembly.clear();
  }

  // --- sending ---

  /// Appends to the send queue the note().payload_len bytes at the end of the packet, at the next sequence numbers.
  /// Requires payload_sum. Drops the packet if finish() was called or the connection cannot send any more.
  void write(packet::Packet&& payload);
  /// Moves all in-order data of `from` to this endpoint's send queue; equivalent to read() and write() in turn. The
  /// bytes still count against the receive window of `from`, because this endpoint holds them now, until
  /// set_receive_room() grants space again. No window update is sent for them, except under prompt WindowUpdates, where
  /// one may be scheduled first. Requires that both endpoints are on the fast path and that received and written data
  /// have the same sequence numbers.
  void splice_from(Endpoint& from);

  // --- cut-through: a data segment that `from`, the other endpoint of a relay, receives is forwarded to this
  // endpoint's peer in its own frame (cut_through.cpp)

  /// True if the data segment, the next in order for `from`, can be forwarded to this endpoint's peer without being
  /// queued. Both endpoints are on the fast path, neither holds data that precedes it, and the windows allow it.
  [[nodiscard]] bool can_cut_through(const Endpoint& from, const Segment& segment, Instant now);
  /// Returns how many bytes can be forwarded at once, provided that can_cut_through() is true.
  [[nodiscard]] Bytes cut_through_bytes(const Endpoint& from) const;
  /// Begins the forwarding of a run of segments: cut_through() follows for each and end_cut_through() with the first,
  /// the last and their number. Every segment after the first continues its GRO run (packet::is_contiguous()), and all
  /// fit cut_through_bytes(). Equivalent to receive(), splice_from() and emit() in turn, except that segments keep
  /// their frames and PSH flags. Returns the header fields to rewrite in each frame (write_cut_through()).
  [[nodiscard]] CutThroughHeader begin_cut_through();
  /// Keeps a reference to `frame`, which the caller sends, for retransmission. Its note() must have payload_len and
  /// payload_sum.
  void cut_through(const Segment& segment, packet::Packet&& frame, Instant now);
  /// Ends the forwarding of `count` segments. The ACK of `from` leaves with its next emit().
  void end_cut_through(Endpoint& from, const Segment& first, const Segment& last, std::uint32_t count, Instant now);
  /// True if a payload of this size can be forwarded: it fits one segment, and it is too large to be joined with the
  /// data that follows it.
  [[nodiscard]] bool cuts_through_size(std::uint32_t payload) const {
    return payload >= SendQueue::small && payload <= mtu_.mss;
  }

  /// Sends a FIN after everything that was written.
  void finish();
  /// Announces to the peer that urgent data ends before `end`, which may lie beyond what was written. Every segment
  /// carries the urgent pointer until the peer has acknowledged up to `end`; an ACK carries it at once if nothing else
  /// is due (RFC 9293 section 3.8.5). `end` never moves back.
  void announce_urgent(SeqNum end);
  /// Sends a keep-alive. Any segment from the peer counts as the answer, and no timer runs for it. Has no effect while
  /// data is outstanding, because an acknowledgement of the data is expected in any case.
  void send_keepalive();
  /// Drops all data queued for sending. The next emit() sends a RST and closes the connection.
  void abort();

  /// Sends everything due: retransmissions, new data, FIN, ACKs and probes. Returns the IP bytes of the data segments
  /// sent. Data segments, including retransmissions, are sent only while their IP packet size fits `allowance`,
  /// whatever the window source. Segments without data do not count against it. What the output refuses stays due. With
  /// a finite allowance the caller sets the rate, so the endpoint does not pace.
  Bytes emit(Instant now, Output& output, Bytes allowance = Bytes::max()) {
    return nothing_to_emit(now) ? Bytes() : emit_due(now, output, allowance);
  }
  /// Sends everything due, as emit() does, but without its early exit. Intended for callers that have called
  /// nothing_to_emit() themselves.
  Bytes emit_due(Instant now, Output& output, Bytes allowance);
  /// True if the connection is established and there is no loss, reordering, probe or pending FIN.
  [[nodiscard]] bool on_fast_path() const { return bits_.on_fast_path; }
  /// True if emit() is certain to do nothing. Cheap to compute; false does not mean that something is due.
  [[nodiscard]] bool nothing_to_emit(Instant now) const {
    if (bits_.ack_now || now >= rcv_.ack_deadline) return false;
    return bits_.on_fast_path ? !send_.unsent() : is_over();
  }
  /// True if both FINs are acknowledged or the connection has ended in another way, so only an ACK can still be sent.
  [[nodiscard]] bool is_over() const { return bits_.state == State::time_wait || bits_.state == State::closed; }
  /// True if both FINs are acknowledged.
  [[nodiscard]] bool has_finished() const {
    return bits_.state == State::time_wait ||
           (bits_.state == State::closed && bits_.close_reason == CloseReason::finished);
  }
  /// True if the peer may still send data, because it has sent no FIN and the connection is not closed.
  [[nodiscard]] bool expects_data() const { return !bits_.fin_received && bits_.state != State::closed; }
  /// True if emit() has something to send. Under WindowSource::allowance a sufficient allowance is assumed.
  [[nodiscard]] bool wants_to_send(Instant now) const;
  /// True if there is lost or unsent data and the windows allow it to be sent now.
  [[nodiscard]] bool can_send_now() const {
    return !(bits_.on_fast_path && !send_.unsent()) && finds_something_to_send();
  }

  // --- time ---

  /// Handles the timers that have expired at `now`; a call before or after the deadline is harmless. The caller then
  /// calls emit().
  void on_timer(Instant now);
  /// Returns the deadline of the earliest armed timer, or the time when pacing releases the next burst; never if there
  /// is none.
  [[nodiscard]] Instant next_deadline() const {
    const Instant timers = lesser(timer_deadline_, rcv_.ack_deadline);
    if (bits_.on_fast_path || !paced()) [[likely]]
      return timers;
    return lesser(timers, pacing_deadline());
  }

  /// Sets the TSval of all segments sent from now on (RFC 7323), in the sender's own clock.
  void set_timestamp(std::uint32_t ts_value) { ts_value_ = ts_value; }
  /// Switches what limits the sender while the connection runs. A switch back to congestion control starts in
  /// congestion avoidance with `seed_cwnd` bytes, at least two segments. BBR takes `seed_cwnd` as the bandwidth-delay
  /// product.
  void set_window_source(WindowSource source, Bytes seed_cwnd);

  /// Drops all packets that the endpoint holds.
  void release_queues();

  /// True if sequence number `quoted` lies in data that is outstanding. That is the minimum check for the segment that
  /// an ICMP error quotes (RFC 5927).
  [[nodiscard]] bool is_outstanding(SeqNum quoted) const {
    return bits_.state >= State::established && quoted >= snd_.una && quoted < snd_.nxt;
  }
  /// Applies a path MTU that a router reported in an ICMP error (RFC 1191, RFC 8201). The path carries at most
  /// `payload` bytes per segment; the error quotes a segment of this endpoint at `quoted`. Returns true if the report
  /// is accepted, which requires that the quoted segment is outstanding and larger segments are in use. Larger segments
  /// are then marked lost and retransmitted in pieces of at least min_payload bytes. The caller then calls emit().
  /// After 687 s at least (RFC 1191 section 6.3), larger segments are probed one at a time (RFC 8899 section 5.3).
  bool path_carries(SeqNum quoted, Bytes payload, Instant now);
  /// Applies a changed MTU of the local port: `port_mss` as in EstablishedState, `peer_mss` as the peer announced in
  /// its MSS option. Everything sent from now on fits, including retransmissions. The caller then calls emit().
  void port_carries(std::uint16_t peer_mss, std::uint16_t port_mss, Instant now);
  /// Smallest payload in bytes that an ICMP error can impose on segments.
  static constexpr std::uint32_t min_payload = 512;

  // --- observers ---

  [[nodiscard]] State state() const { return bits_.state; }
  [[nodiscard]] CloseReason close_reason() const { return bits_.close_reason; }
  [[nodiscard]] SeqNum snd_una() const { return snd_.una; }
  [[nodiscard]] SeqNum snd_nxt() const { return snd_.nxt; }
  [[nodiscard]] SeqNum rcv_nxt() const { return rcv_.nxt; }
  /// Returns how many bytes the peer may still send into the window it was advertised.
  [[nodiscard]] Bytes advertised() const {
    const std::int32_t open = rcv_.adv - rcv_.nxt;
    return Bytes(open > 0 && (bits_.on_fast_path || expects_data()) ? open : 0);
  }
  /// Returns the right edge of the window advertised to the peer.
  [[nodiscard]] SeqNum rcv_adv() const { return rcv_.adv; }
  /// Returns the peer's window in bytes, counted from SND.UNA.
  [[nodiscard]] Bytes snd_window() const { return Bytes(snd_.wnd); }
  [[nodiscard]] Bytes cwnd() const { return Bytes(congestion_.cwnd()); }
  [[nodiscard]] Bytes ssthresh() const { return Bytes(congestion_.ssthresh()); }
  [[nodiscard]] WindowSource window_source() const { return bits_.window_source; }
  /// Returns the sequence space that is sent and not acknowledged: SND.NXT - SND.UNA.
  [[nodiscard]] Bytes unacknowledged() const { return Bytes(snd_.nxt - snd_.una); }
  /// Returns the bytes that were written and never sent.
  [[nodiscard]] Bytes unsent() const { return Bytes(std::max(snd_.end - snd_.nxt, 0)); }
  /// Returns the sum of unacknowledged() and unsent().
  [[nodiscard]] Bytes held() const { return Bytes(later(snd_.end, snd_.nxt) - snd_.una); }
  /// Returns the estimate of bytes in flight (`pipe` of RFC 6675).
  [[nodiscard]] Bytes in_flight() const { return Bytes(pipe()); }
  /// Returns the smoothed round-trip time; zero before the first measurement.
  [[nodiscard]] Duration srtt() const { return rtt_.srtt(); }
  /// Returns the smoothed round-trip time, or during loss recovery that of the segment which was delivered last
  /// (RACK.rtt, RFC 8985 section 5.2). Retransmissions give no samples (Karn), so the smoothed one may then be old.
  [[nodiscard]] Duration recent_rtt() const {
    const std::uint32_t newest = in_recovery() && has_recovery_state() ? recovery_state().rack.rtt() : 0;
    return newest != 0 ? tick::us_duration(newest) : srtt();
  }
  /// Returns the recent minimum of the round-trip time, an estimate of the path without queues; zero before the first
  /// measurement.
  [[nodiscard]] Duration min_rtt() const { return rtt_.least(); }
  /// Returns the retransmission timeout including its current backoff.
  [[nodiscard]] Duration rto() const;
  /// Returns the largest payload of a segment sent: the minimum of the peer's MSS, the path and the local port, less
  /// TCP options (RFC 6691).
  [[nodiscard]] std::uint32_t effective_mss() const { return mtu_.mss; }
  /// Returns the newest TSval received from the peer; 0 without timestamps.
  [[nodiscard]] std::uint32_t newest_ts_value() const { return rcv_.newest_ts; }
  [[nodiscard]] const EndpointCounters& counters() const { return counters_; }
  /// Returns how many bytes loss detection has marked lost since the last call, and resets that count.
  [[nodiscard]] std::uint32_t take_losses();
  [[nodiscard]] bool in_recovery() const { return bits_.recovery != Recovery::none; }
  /// Returns the number of in-order bytes that were not read yet.
  [[nodiscard]] Bytes unread() const { return Bytes(rcv_.unread); }
  /// True if out-of-order segments are held.
  [[nodiscard]] bool reassembling() const { return has_recovery_state() && !recovery_state().reassembly.empty(); }
  /// Returns the number of ACKs that ended inside a segment, although a receiver takes whole segments. It saturates.
  [[nodiscard]] std::uint16_t misplaced_acks() const { return misplaced_acks_; }
  /// True if that number shows that the peer acknowledges segments before they arrive (optimistic ACKs). Further ones
  /// are ignored.
  [[nodiscard]] bool distrusts_acks() const { return misplaced_acks_ >= max_misplaced_acks; }
  static constexpr std::uint16_t max_misplaced_acks = 16;
  /// True if the endpoint holds a RecoveryState, the state that only recovery, reordering and urgent data need.
  [[nodiscard]] bool has_recovery_state() const { return send_.recovery_state() != nullptr; }
  /// True if both sides agreed on the option in the handshake.
  [[nodiscard]] bool uses_timestamps() const { return bits_.use_timestamps; }
  [[nodiscard]] bool uses_sack() const { return bits_.use_sack; }
  [[nodiscard]] bool uses_ecn() const { return bits_.use_ecn; }
  [[nodiscard]] bool uses_accurate_ecn() const { return bits_.use_ecn && accurate_ecn() != nullptr; }

 private:
  // --- defined in recovery_state.cpp ---
  [[nodiscard]] const RecoveryState& recovery_state() const {
    return has_recovery_state() ? *send_.recovery_state() : RecoveryState::none();
  }
  /// Returns the RecoveryState of this connection and takes one from the pool if there is none.
  RecoveryState& ensure_recovery_state() {
    return has_recovery_state() ? *send_.recovery_state() : take_recovery_state();
  }
  [[gnu::cold, gnu::noinline]] RecoveryState& take_recovery_state();
  void drop_recovery_state() {
    if (has_recovery_state()) [[unlikely]]
      give_back_recovery_state();
  }
  [[gnu::cold, gnu::noinline]] void give_back_recovery_state();
  void release_recovery_state();
  [[nodiscard]] bool can_release_recovery_state() const;
  /// Returns the send queue for a change of its scoreboard, which requires a RecoveryState.
  SendQueue& scoreboard() {
    ensure_recovery_state();
    return send_;
  }

  // --- defined in handshake.cpp ---
  void reset_connection(const EndpointConfig& config, SeqNum iss);
  [[gnu::cold, gnu::noinline]] void forget_connection();
  void negotiate(const SynOptions& ours, const SynOptions& theirs, std::uint16_t port_mss = UINT16_MAX);
  [[nodiscard]] std::uint16_t payload_within(std::uint16_t mss) const;
  [[nodiscard]] std::uint16_t beside_options(std::uint16_t mss) const;
  [[nodiscard]] SynOptions offer() const;
  [[nodiscard]] std::uint16_t ecn_offer(bool answer) const;
  void receive_syn(const Segment& syn, const SynOptions& ours, Instant now);
  void receive_in_syn_sent(const Segment& segment, Instant now);
  bool complete_handshake(const Segment& segment, Instant now);
  void establish(const Segment& segment, Instant now);
  void start_sending(Instant now);
  [[nodiscard]] std::uint32_t initial_window() const;
  void emit_handshake(Instant now, Output& output);

  // --- defined in segment_arrival.cpp ---
  [[nodiscard]] bool is_expected(const Segment& segment) const;
  [[nodiscard]] bool answers_all(const Segment& segment) const;
  [[nodiscard]] bool answers_in_order(const Segment& segment) const;
  [[gnu::noinline]] bool receive_slow(const Segment& segment, packet::Packet&& payload, Instant now,
                                      AckSample* ack_sample);
  bool receive_pure_ack_in_order(const Segment& segment, Instant now, AckSample* ack_sample);
  [[gnu::noinline]] bool check(const Segment& segment, Instant now, AckSample* ack_sample);
  bool check_sequence(const Segment& segment, Instant now);
  [[nodiscard]] bool is_keepalive(const Segment& segment) const;
  [[nodiscard]] bool owner_answers() const;
  [[nodiscard]] bool probes_window() const;
  bool check_timestamp(const Segment& segment, Instant now);
  void remember_timestamp(const Segment& segment, Instant now);
  void receive_reset(const Segment& segment, Instant now);
  void receive_late_syn(const Segment& segment, Instant now);
  void challenge(Instant now);

  // --- defined in receive_data.cpp ---
  void accept_data(const Segment& segment, packet::Packet&& payload, Instant now);
  void accept_payload(SeqNum seq, packet::Packet&& payload, Instant now);
  void append_in_order(packet::Packet&& payload);
  [[nodiscard]] bool would_join(const packet::Queue& more) const;
  void accept_out_of_order(packet::Packet&& payload);
  [[nodiscard]] Reassembly::Limits reassembly_limits() const;
  void drain_reassembly();
  /// True if the owner withholds the acknowledgement of in-order data.
  [[nodiscard]] bool holding_back() const { return bits_.acks_deferred && rcv_.last_ack_sent != rcv_.nxt; }
  void report_duplicate(SeqNum left, SeqNum right);
  void schedule_ack(std::uint32_t segments, Instant now);
  [[nodiscard]] std::int32_t edge_gain() const;
  [[nodiscard]] bool is_slight(std::int32_t gain) const;
  [[nodiscard]] bool edge_may_move(std::uint32_t step) const;
  [[nodiscard]] std::uint32_t window_update_step() const;
  [[nodiscard, gnu::noinline]] bool worth_moving(std::int32_t gain) const;
  void consider_window_update();
  void let_pass(std::uint32_t before, std::uint32_t last);
  [[nodiscard]] std::uint16_t advertise();

  // --- defined in ack_processing.cpp ---
  void acknowledge(SeqNum ack, Instant now, AckSample* ack_sample);
  bool process_ack(const Segment& segment, Instant now, AckSample* ack_sample);
  void advance_una(SeqNum ack, AckEvent& event);
  void update_window(const Segment& segment, SeqNum una_before);
  void take_window(const Segment& segment);
  [[nodiscard]] bool is_duplicate_ack(const Segment& segment) const;
  [[nodiscard]] bool window_may_grow(const AckEvent& event, Recovery repairing) const;
  [[nodiscard]] PathView path(Instant now) const;
  /// Returns `pipe` of RFC 6675. Without SACK each duplicate ACK stands for one segment that has left the network.
  [[nodiscard]] std::uint32_t pipe() const {
    if (loss_recovery_.duplicate_acks == 0 || ignores_duplicates()) [[likely]]
      return send_.in_flight();
    const std::uint32_t left = std::uint32_t{loss_recovery_.duplicate_acks} * mtu_.mss;
    return send_.in_flight() > left ? send_.in_flight() - left : 0;
  }
  [[nodiscard]] SeqNum window_edge() const { return snd_.una + snd_.wnd; }

  // --- defined in recovery.cpp ---
  void recover(AckEvent& event, const Delivery& delivery);
  void recover_by_time(AckEvent& event, const Delivery& delivery);
  void count_losses(const AckEvent& event);
  void detect_overdue(AckEvent& event);
  void shape_reduction(const AckEvent& event);
  [[nodiscard]] std::uint32_t reordering_window() const;
  void on_reordering_timeout(Instant now);
  void on_duplicate_ack(AckEvent& event);
  [[nodiscard]] bool ignores_duplicates() const {
    return bits_.recovery == Recovery::none && config_ != nullptr && config_->classic_reno;
  }
  void on_partial_ack(AckEvent& event);
  /// True if retransmission has to guess: without SACK the missing segments are unknown, and under an allowance no
  /// congestion window limits the retransmissions.
  [[nodiscard]] bool retransmits_blindly() const {
    return bits_.window_source == WindowSource::allowance && !bits_.use_sack;
  }
  void on_ack_after_timeout(AckEvent& event);
  void forget_duplicates(const AckEvent& event);
  [[nodiscard]] std::uint32_t still_missing() const;
  void retransmit_missing(std::uint32_t segments, AckEvent& event);
  void enter_fast_recovery(Instant now);
  void leave_recovery(const AckEvent& event);
  /// True if a partial acknowledgement must not restart the retransmission timer. RFC 6582 section 3.2 step 3 restarts
  /// it only for the first one of a recovery. Without this rule a window with many holes would be repaired at one hole
  /// per round trip. Under an allowance without SACK, every partial acknowledgement restarts the timer.
  [[nodiscard]] bool keeps_timer() const {
    return bits_.partially_acked && snd_.una < loss_recovery_.point && !retransmits_blindly();
  }
  void on_retransmission_timeout(Instant now);
  [[nodiscard]] Instant lost_before(Instant now) const;

  // --- defined in path_mtu.cpp ---
  void shrink_segments(std::uint32_t payload, Instant now);
  void suspect_black_hole(Instant now);
  [[gnu::cold, gnu::noinline]] void cut_segments(Instant now, Output& output, Bytes allowance);
  [[gnu::cold, gnu::noinline]] bool cut_for_port(packet::Cursor position, Output& output);
  [[nodiscard]] bool joins_beyond_segments() const {
    return config_->joins_payloads && mtu_.full_mss < SendQueue::small;
  }
  [[nodiscard]] packet::Cursor try_larger(Instant now);
  [[nodiscard]] bool may_try_larger(Instant now) const;
  void judge_larger(SeqNum ack, Instant now);
  void larger_failed(Instant now);
  [[nodiscard]] bool only_larger_lost() const;
  void end_search(Instant now);

  // --- defined in urgent.cpp ---
  void take_urgent_pointer(const Segment& segment);
  [[gnu::cold, gnu::noinline]] void mark_urgent(Segment& segment) const;
  void update_fast_path_urgent();

  // --- defined in accurate_ecn.cpp ---
  /// Returns the ECN counters of a connection that agreed on accurate ECN feedback (RFC 9768); null on others.
  [[nodiscard, gnu::cold, gnu::noinline]] AccurateEcn* accurate_ecn() const;
  void mark_accurately(const AccurateEcn& state, Segment& segment) const;
  void emit_accurate_answer(Instant now, Output& output);
  void count_mark(const Segment& segment);
  bool handle_ace(AccurateEcn& state, const Segment& segment, const AckEvent& event);

  // --- defined in ecn.cpp ---
  [[gnu::cold, gnu::noinline]] void mark_ecn(Segment& segment);
  [[gnu::cold, gnu::noinline]] void cwr_stays_due(const Segment& segment);
  void on_ce_mark(const Segment& segment);
  bool on_ecn_echo(const Segment& segment, const AckEvent& event);
  void reduce_at_once(const AckEvent& event);

  // --- defined in tail_probe.cpp ---
  [[nodiscard]] bool may_probe_tail() const;
  [[nodiscard]] Duration probe_timeout() const;
  void on_probe_timeout(Instant now);
  void emit_tail_probe(Instant now, Output& output, Bytes& left);
  void judge_tail_probe(const Segment& segment, const AckEvent& event);
  [[gnu::noinline]] void arm_retransmit_slow(Instant now);

  // --- defined in spurious.cpp ---
  [[nodiscard]] bool detects_spurious_retransmissions() const { return config_->takes_back && !config_->classic_reno; }
  void suspect_timeout();
  void on_retransmitted();
  [[nodiscard]] bool answers_original(const Segment& segment) const;
  void judge_timeout(const Segment& segment, const AckEvent& event);
  void judge_second_answer(const Segment& segment, const AckEvent& event);
  void judge_fast_recovery(bool original);
  [[nodiscard]] static bool reports_duplicate(const Segment& segment);
  void count_duplicate(const Segment& segment);
  void undo_recovery();
  [[nodiscard]] bool timeout_in_doubt() const {
    return bits_.recovery == Recovery::timeout && bits_.doubt != Doubt::none;
  }

  // --- defined in timers.cpp ---
  void arm(Timer timer, Instant deadline);
  void arm_retransmit(Instant now);
  void disarm(Timer timer);

  // --- defined in persist.cpp ---
  void on_persist();
  [[nodiscard]] bool window_closed() const { return snd_.wnd == 0 && bits_.state >= State::established; }
  [[nodiscard]] bool must_guard_refused() const;
  void on_refusal(Instant now);
  [[nodiscard]] bool may_fit_rounding(packet::Cursor position) const;
  [[gnu::cold, gnu::noinline]] void retransmit_refused(Instant now);
  void emit_probe(Instant now, Output& output);
  [[nodiscard, gnu::noinline]] bool must_guard_window() const;
  [[nodiscard]] bool may_split() const { return !send_.outstanding() && small_window_will_do(); }
  [[nodiscard]] bool small_window_will_do() const;
  [[gnu::cold, gnu::noinline]] bool split_for_window();

  // --- defined in emit.cpp ---
  [[gnu::noinline]] Bytes emit_slow(Instant now, Output& output, Bytes allowance);
  [[nodiscard]] bool sends_plainly() const;
  [[gnu::noinline]] Bytes emit_slow_path(Instant now, Output& output, Bytes allowance);
  /// Recomputes whether the fast paths apply. Called wherever a condition that excludes them may have ended. Code that
  /// begins such a condition clears bits_.on_fast_path itself. The fast paths never apply to a connection that is not
  /// established.
  void update_fast_path() {
    bits_.on_fast_path = false;
    if (bits_.state == State::established || has_recovery_state() || bits_.urgent_in || bits_.urgent_out)
      update_fast_path_open();
  }
  void update_fast_path_open();
  /// True if no negotiated option and no configuration excludes the fast paths.
  [[nodiscard]] bool may_go_fast() const {
    return !bits_.small_path && !paced() && !uses_accurate_ecn() && !distrusts_acks();
  }
  [[nodiscard]] Segment header(SeqNum seq);
  [[nodiscard]] SeqNum acceptable_seq() const;
  void acknowledged_up_to(SeqNum ack);
  void ack_went_out(const Segment& segment);
  void emit_ack(Instant now, Output& output);
  [[gnu::cold, gnu::noinline]] void emit_ack_with_more(Instant now, Output& output);
  [[gnu::cold, gnu::noinline]] void emit_all_runs(Segment segment, Instant now, Output& output) const;
  void emit_fin(Instant now, Output& output);
  [[nodiscard]] bool fin_can_go() const;

  // --- defined in emit_data.cpp ---
  /// Returns the largest payload, in bytes, that several writes may share in one buffer. That is one segment; on paths
  /// with tiny segments it is min_joined, and the payload is cut again when it is sent.
  [[nodiscard]] std::uint32_t max_joined() const { return mtu_.full_mss < SendQueue::small ? min_joined : mtu_.mss; }
  [[nodiscard]] bool fits_cwnd(std::uint32_t length) const { return fits_cwnd(length, pipe()); }
  [[nodiscard]] bool fits_cwnd(std::uint32_t length, std::uint32_t in_flight) const;
  [[nodiscard]] bool may_send_new() const;
  [[nodiscard]] bool may_retransmit(packet::Cursor position) const;
  [[nodiscard]] bool finds_something_to_send() const;
  [[nodiscard]] packet::Cursor next_retransmission() const;
  Bytes emit_data(Instant now, Output& output, Bytes allowance);
  void emit_new(Instant now, Output& output, Bytes& left);
  void record_use_of_cwnd(std::uint32_t in_flight);
  bool emit_next(Segment& segment, Instant now, Output& output, Bytes& left);
  bool retransmit(packet::Cursor position, Instant now, Output& output, Bytes& left);
  bool transmit(Segment& segment, packet::Cursor position, Instant now, Output& output, Bytes& left);
  bool emit_retransmission(packet::Cursor position, Instant now, Output& output, Bytes& left);
  void restart_after_idle(Instant now);
  [[gnu::cold, gnu::noinline]] void fill_sacks(Segment& segment) const;

  // --- defined in segment_boundary.cpp ---
  /// Returns the upper bits of a sequence number, in units of 4096 bytes.
  [[nodiscard]] static std::uint16_t boundary_tick(SeqNum seq) { return static_cast<std::uint16_t>(seq.raw() >> 12U); }
  [[nodiscard]] bool boundary_due() const {
    return static_cast<std::int16_t>(boundary_tick(snd_.nxt) - boundary_at_) >= 0;
  }
  void plan_boundary();
  void postpone_boundary(std::uint32_t bytes);
  [[gnu::cold, gnu::noinline]] void move_boundary(Output& output);
  [[nodiscard]] bool cut_before_boundary(std::uint32_t count, Output& output);
  [[nodiscard]] bool take_from_next(std::uint32_t count);
  [[gnu::cold, gnu::noinline]] void record_misplaced_ack(std::uint32_t acked);

  // --- defined in paced.cpp ---
  [[nodiscard]] bool paced() const { return config_ != nullptr && config_->paced != nullptr; }
  [[nodiscard, gnu::cold]] Instant pacing_deadline() const;
  [[nodiscard]] bool held_by_pacing(Instant now) const;
  void begin_pacing(Instant now);
  void pace_window();
  void resume_pacing();
  void record_sent(packet::Cursor position, Instant now);
  void follow_model(const AckEvent& event);
  [[nodiscard]] Bytes burst_allowance(Instant now, const Output& output, Bytes allowance) const;
  void record_burst(Instant now, Bytes sent, Bytes allowance);
  void restart_model(Instant now);
  void undo_model();
  /// Returns the delivery-rate sampler that is notified of each lost segment; null if no samples are taken.
  [[nodiscard]] DeliveryRate* samples() const;

  // --- defined in close.cpp ---
  void receive_fin(Instant now);
  void fin_acknowledged(Instant now);
  [[gnu::noinline]] void fin_went_out();
  void enter_time_wait(Instant now);
  void emit_reset(Instant now, Output& output);
  void give_up();
  void close(CloseReason reason);
  [[nodiscard]] bool fin_outstanding() const { return bits_.fin_sent && snd_.una <= snd_.end; }

  static void count(std::uint16_t& counter) {
    if (counter < UINT16_MAX) ++counter;
  }

  static constexpr std::uint32_t largest_window_field = 65535;
  static constexpr std::uint8_t retransmissions_unknown = UINT8_MAX;
  /// Largest number of segments marked lost at once.
  static constexpr std::uint32_t max_blind_retransmissions = UINT8_MAX;
  static constexpr std::uint8_t max_duplicates_due = 31;
  /// Largest number of segments of less than SendQueue::small bytes in flight. A further one waits for an
  /// acknowledgement and is joined with data written meanwhile. This is Nagle's rule (RFC 9293 section 3.7.4) with more
  /// than one segment, because tiny payloads waste buffers.
  static constexpr std::uint8_t max_small = 128;
  /// Size in bytes up to which waiting payloads are joined even if segments are smaller.
  static constexpr std::uint32_t min_joined = 1024;
  static constexpr std::uint8_t backoff_limit = 16;  ///< number of RTO doublings beyond which timeout() does not grow
  static constexpr std::uint32_t challenge_spacing = 12;  ///< shortest time between challenge ACKs, tick::ms8 (100 ms)

  // Members that every segment touches come first. The order leaves no padding, because a member that ends inside a
  // word is followed by one that fits the rest of it.
  const EndpointConfig* config_ = nullptr;
  [[no_unique_address]] SendQueue send_;
  EndpointBits bits_;
  std::uint16_t last_challenge_ = 0;  ///< time of the last challenge ACK, tick::ms8
  SendState snd_;
  SeqNum fin_seq_;  ///< sequence number of the peer's FIN, valid with fin_known
  [[no_unique_address]] ReceiveState rcv_;
  packet::Queue in_order_;
  Instant timer_deadline_ = never;
  [[no_unique_address]] RttEstimator rtt_;
  ReorderingWindow reordering_;
  LossRecovery loss_recovery_;
  PathMtuState mtu_;
  std::uint16_t ts_recent_at_ = 0;    ///< time at which ts_recent was received, tick::s137
  std::uint16_t misplaced_acks_ = 0;  ///< value of misplaced_acks()
  [[no_unique_address]] CongestionControl congestion_;
  std::uint8_t small_out_ = 0;     ///< number of segments of less than SendQueue::small bytes in flight
  std::uint16_t boundary_at_ = 0;  ///< boundary_tick() from which on the next boundary of two segments is moved
  EndpointCounters counters_;
  std::uint32_t room_ = 65535;
  std::uint32_t ts_value_ = 0;
};
static_assert(sizeof(Endpoint) <= 264);

}  // namespace sluice::tcp
