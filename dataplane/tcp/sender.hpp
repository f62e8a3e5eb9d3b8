#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/output.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/receiver.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::tcp {

enum class Recovery : std::uint8_t { none, fast, timeout };
/// Progress of the test whether a retransmission was spurious. `none`: no test runs. `retransmission_due`: nothing was
/// retransmitted yet. `retransmission_sent`: the first retransmission was sent. `retransmission_answered`: the first
/// retransmission was acknowledged (RFC 5682, after timeouts only).
enum class SpuriousCheck : std::uint8_t { none, retransmission_due, retransmission_sent, retransmission_answered };

/// Counters of the sending half. A 16-bit counter that has reached its largest value stays there.
struct SenderCounters {
  std::uint32_t retransmitted = 0;    ///< segments retransmitted
  std::uint16_t duplicate_acks = 0;   ///< duplicate ACKs received
  std::uint16_t timeouts = 0;         ///< retransmission timeouts
  std::uint16_t fast_recoveries = 0;  ///< fast recoveries, that is, loss recoveries that began without a timeout
  std::uint16_t tail_probes = 0;      ///< tail loss probes sent (RFC 8985 section 7)
};

/// Sending half of a connection (RFC 9293 section 3.8.6.2, RFC 5681, RFC 6675, RFC 8985): data in flight, the peer's
/// window, loss recovery, congestion control, segment size and pacing. Every segment of an open connection is built
/// here.
///
/// Invariants: SND.UNA <= SND.NXT, and the send queue is contiguous from SND.UNA to the end of the written data. New
/// data is sent only while the bytes in flight fit the peer's window. They must also fit cwnd or the allowance (bytes
/// that the caller of emit() permits). A timer is armed while data is outstanding or waits for the peer's window.
class Sender : public Receiver {
 public:
  /// Appends the payload of a packet to the send queue, at the next sequence numbers. The payload is the last
  /// note().payload_len bytes of the packet; note().payload_sum must contain its checksum. Drops the packet if finish()
  /// was called or the connection cannot send any more.
  void write(packet::Packet&& payload);
  /// Sends a FIN after everything that was written.
  void finish();
  /// Announces to the peer that urgent data ends before `end`, which may lie beyond the written data. Until the peer
  /// has acknowledged data up to `end`, every segment carries the urgent pointer. If no other segment is due, an ACK
  /// carries it at once (RFC 9293 section 3.8.5). `end` never moves back.
  void announce_urgent(SeqNum end);
  /// Sends a keep-alive. Any segment from the peer counts as the answer, and no timer waits for it. Has no effect while
  /// data is outstanding, because the peer acknowledges that data in any case.
  void send_keepalive();

  /// True if there is lost or unsent data, and the peer's window and cwnd allow some of it to be sent now.
  [[nodiscard]] bool can_send_now() const { return !(on_fast_path() && !queue().unsent()) && can_send_now_slow(); }
  /// True if a payload of this size in bytes can be forwarded in the frame in which it was received (cut-through). The
  /// payload must fit one segment, and be too large to share a buffer with the data after it.
  [[nodiscard]] bool cuts_through_size(std::uint32_t payload) const {
    return payload >= SendQueue::small && payload <= mtu_.mss;
  }

  /// Sets the TSval of all segments sent from now on (RFC 7323). The caller chooses the clock: a split connection sends
  /// the timestamps of the host on its other leg.
  void set_timestamp(std::uint32_t ts_value) { ts_value_ = ts_value; }
  /// Changes what limits the sender while the connection runs: cwnd, or the bytes that the caller of emit() permits
  /// (its allowance). After a change back to cwnd, the sender is in congestion avoidance with a cwnd of `seed_cwnd`
  /// bytes, at least two segments. BBR uses `seed_cwnd` as the bandwidth-delay product.
  void set_window_source(WindowSource source, Bytes seed_cwnd);

  /// True if sequence number `quoted` lies in outstanding data. RFC 5927 requires at least this check for the segment
  /// that an ICMP error quotes.
  [[nodiscard]] bool is_outstanding(SeqNum quoted) const {
    return state() >= State::established && quoted >= snd_.una && quoted < snd_.nxt;
  }
  /// Applies a path MTU that a router reported in an ICMP error (RFC 1191, RFC 8201). `payload` is the largest payload
  /// per segment that the path carries. `quoted` is the sequence number of this endpoint's segment that the error
  /// quotes. Returns true if the report is accepted, which requires that the quoted segment is outstanding and larger
  /// segments are in use. Larger segments are then marked lost and retransmitted in pieces of at least min_payload
  /// bytes; the caller then calls emit(). After 687 s at least (RFC 1191 section 6.3), larger segments are probed one
  /// at a time (RFC 8899 section 5.3).
  bool path_carries(SeqNum quoted, Bytes payload, Instant now);
  /// Applies a changed MTU of the local port. `port_mss` is the MSS that fits the new MTU; `peer_mss` is the MSS option
  /// of the peer. Everything sent from now on fits, including retransmissions. The caller then calls emit().
  void port_carries(std::uint16_t peer_mss, std::uint16_t port_mss, Instant now);
  /// Smallest payload in bytes that an ICMP error can impose on segments.
  static constexpr std::uint32_t min_payload = 512;

  [[nodiscard]] SeqNum snd_una() const { return snd_.una; }
  [[nodiscard]] SeqNum snd_nxt() const { return snd_.nxt; }
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
  /// True if the oldest segment is due for the retransmission that begins or continues a recovery. This retransmission
  /// needs no space in cwnd (RFC 6582 section 3.2, RFC 6675 section 5 step 4.3). But it must fit the allowance (bytes
  /// that the caller of emit() permits).
  [[nodiscard]] bool retransmits_first() const {
    return bits_.retransmit_first && queue().front_lost() && !queue().front_retransmitted();
  }
  /// Returns the smoothed round-trip time. During loss recovery, returns the round-trip time of the segment that was
  /// delivered last (RACK.rtt, RFC 8985 section 5.2). Retransmissions give no samples (Karn's algorithm), so the
  /// smoothed time may then be outdated.
  [[nodiscard]] Duration recent_rtt() const {
    const std::uint32_t newest = in_recovery() && has_recovery_state() ? recovery_state().rack.rtt() : 0;
    return newest != 0 ? tick::us_duration(newest) : srtt();
  }
  /// Returns the largest payload of a segment in bytes: what the peer's MSS, the path and the local port permit, less
  /// TCP options (RFC 6691).
  [[nodiscard]] std::uint32_t effective_mss() const { return mtu_.mss; }
  /// Returns how many bytes loss detection has marked lost since the last call, and resets that count.
  [[nodiscard]] std::uint32_t take_losses();
  [[nodiscard]] bool in_recovery() const { return bits_.recovery != Recovery::none; }
  /// Returns the number of ACKs that ended inside a segment, although a receiver accepts only whole segments. An ACK of
  /// new data also counts if one of its SACK blocks ends inside a segment. The count stays at its largest value.
  [[nodiscard]] std::uint16_t misplaced_acks() const { return misplaced_acks_; }
  /// True if misplaced_acks() shows that the peer acknowledges segments before they arrive (optimistic ACKs). From then
  /// on ACKs that end inside a segment are ignored, and so are all SACK blocks.
  [[nodiscard]] bool suspects_optimistic_acks() const { return misplaced_acks_ >= max_misplaced_acks; }
  static constexpr std::uint16_t max_misplaced_acks = 16;

 protected:
  // --- opening and ending ---

  /// Resets everything for a new connection except the timestamp and the choice of what limits the sender
  /// (WindowSource).
  void reset();
  /// Sets the initial sequence number to `iss`, which is the number of the SYN.
  void begin_sending(SeqNum iss);
  /// Continues a stream that another host has begun, from sequence number `nxt` on. `una_is_acked` is true if the peer
  /// has acknowledged everything before `nxt`.
  void continue_stream(SeqNum nxt, bool una_is_acked);
  /// Sets the peer's window, in bytes after scaling, from a segment with sequence number `seq`.
  void set_window(SeqNum seq, std::uint32_t window);
  /// Sets the segment sizes that follow from the MSS of the peer and of the local port.
  void set_segment_size(std::uint16_t peer_mss, std::uint16_t port_mss);
  void start_sending(Instant now);
  /// Records that the SYN or SYN-ACK was sent.
  void syn_went_out(Instant now);
  /// Records that the peer has acknowledged the SYN with `segment`.
  void syn_acknowledged(const Segment& segment, Instant now);
  [[nodiscard]] unsigned retries() const { return loss_recovery_.retries; }
  [[nodiscard]] std::uint32_t ts_value() const { return ts_value_; }
  /// Drops all data, sent or not. SND.NXT stays, because the peer may have received the data that was sent.
  void clear_queue();
  /// Cancels all probes, resets and FINs that are due, because the connection is closed.
  void stop_sending();
  /// True if a SYN or SYN-ACK must be sent.
  [[nodiscard]] bool syn_is_due() const { return bits_.syn_due; }
  void request_syn() { bits_.syn_due = true; }
  void cancel_syn() { bits_.syn_due = false; }
  /// Schedules a reset in place of all other segments.
  void request_reset();
  [[nodiscard]] bool reset_is_due() const { return bits_.reset_due; }
  /// Sends the reset. Returns true if the output has sent it.
  [[nodiscard]] bool emit_reset(Instant now, Output& output);
  /// True if urgent data is not acknowledged yet.
  [[nodiscard]] bool urgent_is_out() const { return bits_.urgent_out; }
  void forget_urgent_out() { bits_.urgent_out = false; }

  // --- acknowledgements that arrive ---

  void acknowledge(SeqNum ack, Instant now, AckSample* ack_sample);
  bool process_ack(const Segment& segment, Instant now, AckSample* ack_sample);
  [[nodiscard]] bool answers_all(const Segment& segment) const;
  /// Records that the peer acknowledged new data in order. The count of duplicate ACKs restarts.
  void on_in_order_ack() {
    bits_.peer_responded = false;
    loss_recovery_.duplicate_acks = 0;
  }
  void update_window(const Segment& segment, SeqNum una_before);
  void take_window(const Segment& segment);
  /// True if the peer has acknowledged the FIN.
  [[nodiscard]] bool fin_is_acknowledged() const { return bits_.fin_sent && snd_.una > snd_.end; }
  void stop_fin() { bits_.fin_due_again = false; }

  // --- timers; false if the connection must be given up, because too many transmissions were not answered ---

  [[nodiscard]] bool on_retransmission_timeout(Instant now);
  [[nodiscard]] bool on_persist();
  void on_reordering_timeout(Instant now);
  void on_probe_timeout(Instant now);
  [[nodiscard, gnu::cold]] Instant pacing_deadline() const;

  // --- emission ---

  /// True if a reset, a window probe or a tail loss probe is due.
  [[nodiscard]] bool probe_or_reset_is_due() const {
    return bits_.probe_due || bits_.reset_due || bits_.tail_probe_due;
  }
  [[nodiscard]] bool held_by_pacing(Instant now) const;
  [[nodiscard]] bool fin_can_go() const;
  [[nodiscard, gnu::noinline]] bool needs_persist_timer() const;
  [[nodiscard]] bool needs_probe_timer() const;
  [[nodiscard]] bool sends_plainly() const;
  [[nodiscard]] bool sends_in_order() const;
  void update_urgent_out();
  void release_recovery_state();
  Bytes emit_plainly(Instant now, Output& output, Bytes allowance);
  Bytes emit_everything(Instant now, Output& output, Bytes allowance);
  void emit_new(Instant now, Output& output, Bytes& left);
  void emit_ack(Instant now, Output& output);
  /// True if no property of the connection excludes the fast paths, which process segments in order and without loss.
  /// Pacing, accurate ECN, queued payloads that may exceed a segment, and suspected optimistic ACKs exclude them.
  [[nodiscard]] bool may_go_fast() const {
    return !bits_.small_path && !paced() && !uses_accurate_ecn() && !suspects_optimistic_acks();
  }

  // --- cut-through and splicing ---

  [[nodiscard]] bool can_forward(const Segment& segment) const;
  [[nodiscard]] bool has_window_for(std::uint32_t length, Instant now);
  [[nodiscard]] std::int64_t usable_window(std::int32_t offered) const;
  void forwarded_up_to(SeqNum end, Instant now);
  void write_all(packet::Queue& payloads, std::uint32_t bytes);

  [[nodiscard]] const SenderCounters& sender_counters() const { return counters_; }

 private:
  // --- defined in ack_processing.cpp ---
  void advance_una(SeqNum ack, AckEvent& event);
  [[nodiscard]] bool is_duplicate_ack(const Segment& segment) const;
  [[nodiscard]] bool window_may_grow(const AckEvent& event, Recovery repairing) const;
  [[nodiscard]] PathView path(Instant now) const;
  /// Returns `pipe` of RFC 6675. Without SACK each duplicate ACK stands for one segment that has left the network.
  [[nodiscard]] std::uint32_t pipe() const {
    if (loss_recovery_.duplicate_acks == 0 || ignores_duplicates()) [[likely]]
      return queue().in_flight();
    const std::uint32_t left = std::uint32_t{loss_recovery_.duplicate_acks} * mtu_.mss;
    return queue().in_flight() > left ? queue().in_flight() - left : 0;
  }
  [[nodiscard]] SeqNum window_edge() const { return snd_.una + snd_.wnd; }

  // --- defined in recovery.cpp ---
  void recover(AckEvent& event, const Delivery& delivery);
  void recover_by_time(AckEvent& event, const Delivery& delivery);
  void count_losses(const AckEvent& event);
  void detect_overdue(AckEvent& event);
  void suspect_reneging(Instant now);
  void end_backoff_by_sack(const AckEvent& event);
  void shape_reduction(const AckEvent& event);
  [[nodiscard]] std::uint32_t reordering_window() const;
  void on_duplicate_ack(AckEvent& event);
  [[nodiscard]] bool ignores_duplicates() const {
    return bits_.recovery == Recovery::none && is_configured() && config().classic_reno;
  }
  void on_partial_ack(AckEvent& event);
  /// True if the sender does not know which segments to retransmit, and cwnd does not limit the retransmissions. This
  /// is the case without SACK while the caller's limit on the bytes to send (its allowance) replaces cwnd.
  [[nodiscard]] bool retransmits_blindly() const {
    return bits_.window_source == WindowSource::allowance && !uses_sack();
  }
  void on_ack_after_timeout(AckEvent& event);
  [[nodiscard]] std::int32_t segments_beyond_recovery() const;
  void forget_duplicates(std::uint32_t acked);
  void forget_old_flight(Instant now);
  [[nodiscard]] std::uint32_t first_estimate() const;
  [[nodiscard]] std::uint32_t still_missing();
  void retransmit_missing(std::uint32_t segments, AckEvent& event);
  void enter_fast_recovery(Instant now);
  void leave_recovery(const AckEvent& event);
  /// True if a partial acknowledgement must not restart the retransmission timer. RFC 6582 section 3.2 step 3 restarts
  /// the timer only for the first partial acknowledgement of a recovery. A recovery fills one hole per round trip, so
  /// the timer ends a recovery with many holes. If the caller's allowance (bytes permitted to send) replaces cwnd and
  /// there is no SACK, every partial acknowledgement restarts the timer.
  [[nodiscard]] bool keeps_timer() const {
    return bits_.partially_acked && snd_.una < loss_recovery_.point && !retransmits_blindly();
  }
  [[nodiscard]] bool retransmission_waits() const;
  [[nodiscard]] bool must_guard_flight() const;
  [[nodiscard]] Instant lost_before(Instant now) const;

  // --- defined in path_mtu.cpp ---
  void shrink_segments(std::uint32_t payload, Instant now);
  void suspect_black_hole(Instant now);
  [[gnu::cold, gnu::noinline]] void cut_segments(Instant now, Output& output, Bytes allowance);
  [[gnu::cold, gnu::noinline]] bool cut_for_port(packet::Cursor position, Output& output);
  [[nodiscard]] bool joins_beyond_segments() const {
    return config().joins_payloads && mtu_.full_mss < SendQueue::small;
  }
  [[nodiscard]] packet::Cursor try_larger(Instant now);
  [[nodiscard]] bool may_try_larger(Instant now) const;
  void judge_larger(SeqNum ack, Instant now);
  void larger_failed(Instant now);
  [[nodiscard]] bool only_larger_lost() const;
  void end_search(Instant now);

  // --- defined in urgent.cpp ---
  [[gnu::cold, gnu::noinline]] void mark_urgent(Segment& segment) const;

  // --- defined in accurate_ecn.cpp ---
  void mark_accurately(AccurateEcn& state, Segment& segment) const;
  void emit_accurate_answer(Instant now, Output& output);
  void emit_marked_acks(AccurateEcn& state, Instant now, Output& output);
  bool handle_ace(AccurateEcn& state, const Segment& segment, const AckEvent& event);

  // --- defined in ecn.cpp ---
  [[gnu::cold, gnu::noinline]] void mark_ecn(Segment& segment);
  [[gnu::cold, gnu::noinline]] void cwr_stays_due(const Segment& segment);
  bool on_ecn_echo(const Segment& segment, const AckEvent& event);
  void reduce_at_once(const AckEvent& event);

  // --- defined in tail_probe.cpp ---
  [[nodiscard]] bool may_probe_tail() const;
  void emit_tail_probe(Instant now, Output& output, Bytes& left);
  void judge_tail_probe(const Segment& segment, const AckEvent& event);
  void arm_retransmit(Instant now);
  [[gnu::noinline]] void arm_retransmit_slow(Instant now);

  // --- defined in spurious.cpp ---
  [[nodiscard]] bool detects_spurious_retransmissions() const { return config().takes_back && !config().classic_reno; }
  void suspect_timeout();
  void on_retransmitted();
  [[nodiscard]] bool answers_original(const Segment& segment) const;
  void judge_timeout(const Segment& segment, const AckEvent& event);
  void judge_second_answer(const Segment& segment, const AckEvent& event);
  void judge_fast_recovery(bool original);
  [[nodiscard]] static bool reports_duplicate(const Segment& segment);
  void count_duplicate(const Segment& segment);
  void undo_recovery();
  [[nodiscard]] bool tests_spurious_timeout() const {
    return bits_.recovery == Recovery::timeout && bits_.spurious_check != SpuriousCheck::none;
  }

  // --- defined in persist.cpp ---
  [[nodiscard]] bool window_closed() const { return snd_.wnd == 0 && state() >= State::established; }
  void on_refusal(Instant now);
  [[nodiscard]] bool may_fit_rounding(packet::Cursor position) const;
  [[gnu::cold, gnu::noinline]] void retransmit_refused(Instant now);
  void emit_probe(Instant now, Output& output);
  [[nodiscard]] bool may_split() const { return !queue().outstanding() && may_send_partial_segment(); }
  [[nodiscard]] bool may_send_partial_segment() const;
  [[gnu::cold, gnu::noinline]] bool split_for_window();

  // --- defined in emit.cpp ---
  [[nodiscard]] Segment header(SeqNum seq);
  [[nodiscard]] SeqNum acceptable_seq() const;
  [[gnu::cold, gnu::noinline]] void emit_ack_with_more(Instant now, Output& output);
  [[gnu::cold, gnu::noinline]] void emit_all_runs(Segment segment, Instant now, Output& output) const;
  void emit_fin(Instant now, Output& output);

  // --- defined in sender.cpp ---
  [[nodiscard]] bool would_join(const packet::Queue& more) const;
  [[nodiscard]] std::uint32_t initial_window() const;

  // --- defined in emit_data.cpp ---
  /// Returns the largest payload, in bytes, to which several writes are joined in one buffer. This is one segment, or
  /// min_joined bytes if segments are smaller than SendQueue::small. In the latter case the payload is cut into
  /// segments again when it is sent.
  [[nodiscard]] std::uint32_t max_joined() const { return mtu_.full_mss < SendQueue::small ? min_joined : mtu_.mss; }
  [[nodiscard]] bool fits_cwnd(std::uint32_t length) const { return fits_cwnd(length, pipe()); }
  [[nodiscard]] bool fits_cwnd(std::uint32_t length, std::uint32_t in_flight) const;
  [[nodiscard]] bool may_send_new() const;
  [[nodiscard]] bool may_retransmit(packet::Cursor position) const;
  [[nodiscard]] std::uint32_t piece_inside_window(packet::Cursor position) const;
  [[nodiscard]] bool can_send_now_slow() const;
  [[nodiscard]] bool new_data_waits() const;
  [[nodiscard]] packet::Cursor next_retransmission() const;
  Bytes emit_data(Instant now, Output& output, Bytes allowance);
  void record_use_of_cwnd(std::uint32_t in_flight);
  bool emit_next(Segment& segment, Instant now, Output& output, Bytes& left);
  bool retransmit(packet::Cursor position, Instant now, Output& output, Bytes& left);
  bool transmit(Segment& segment, packet::Cursor position, Instant now, Output& output, Bytes& left);
  bool emit_retransmission(packet::Cursor position, Instant now, Output& output, Bytes& left);
  void restart_after_idle(Instant now);
  [[gnu::cold, gnu::noinline]] void fill_sacks(Segment& segment) const;

  // --- defined in segment_boundary.cpp ---
  /// Returns a sequence number in units of 4096 bytes, modulo 2^16.
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
  [[gnu::noinline]] void fin_went_out();
  [[nodiscard]] bool fin_outstanding() const { return bits_.fin_sent && snd_.una <= snd_.end; }

  static constexpr std::uint8_t retransmissions_unknown = UINT8_MAX;
  /// Number of new segments that the F-RTO test sends (RFC 5682 section 2.1 step 2b).
  static constexpr int frto_segments = 2;
  /// Largest number of segments that may be retransmitted together on a connection without SACK.
  static constexpr std::uint32_t max_blind_retransmissions = UINT8_MAX;
  /// Largest number of small segments (less than SendQueue::small bytes) in flight. Further small data waits for an
  /// acknowledgement, and is joined with data that is written meanwhile. This is Nagle's rule (RFC 9293 section 3.7.4)
  /// with more than one segment, because tiny payloads waste buffers.
  static constexpr std::uint8_t max_small = 128;
  /// Largest payload in bytes to which several writes are joined in one buffer, on paths whose MSS is less than
  /// SendQueue::small. The payload is cut into segments again when it is sent. See max_joined().
  static constexpr std::uint32_t min_joined = 1024;

  /// Flags and small numbers, in an order that keeps every field inside one byte.
  struct Bits {
    WindowSource window_source : 1 = WindowSource::congestion_control;
    bool urgent_out : 1 = false;  ///< true if urgent data up to RecoveryState::snd_up is not acknowledged yet
    bool cwnd_limited : 1 = false;
    bool probe_due : 1 = false;
    /// True if a part of a segment must be sent, because the peer's window stays smaller than a segment. This is the
    /// override timeout of silly window avoidance (RFC 9293 section 3.8.6.2.1).
    bool split_due : 1 = false;
    bool cwr_due : 1 = false;  ///< true if the next new data must carry CWR
    /// True from a reduction of cwnd for an ECN echo until all data sent before it is acknowledged. Meanwhile cwnd is
    /// not reduced for another echo.
    bool reduced : 1 = false;
    bool reset_due : 1 = false;

    Recovery recovery : 2 = Recovery::none;
    SpuriousCheck spurious_check : 2 = SpuriousCheck::none;
    bool retransmit_first : 1 = false;  ///< true if the next retransmission is sent even if cwnd does not permit it
    bool partially_acked : 1 = false;   ///< true if a fast recovery without SACK has received a partial acknowledgement
    bool peer_responded : 1 = false;    ///< true if the peer has sent a segment since the retransmission timer expired
    bool tail_probe_due : 1 = false;    ///< true if a tail loss probe is due (RFC 8985 section 7)

    bool tail_probe_outstanding : 1 = false;  ///< true if a tail loss probe was sent and is not answered
    bool tail_retransmitted : 1 = false;      ///< true if the tail loss probe retransmitted old data
    bool fin_requested : 1 = false;
    bool fin_sent : 1 = false;
    bool fin_due_again : 1 = false;  ///< true if the FIN must be retransmitted
    bool trying_larger : 1 = false;  ///< true if a probe segment larger than mss is in flight (path MTU search)
    /// True if queued payloads may exceed one segment, because segments became smaller or have less than
    /// SendQueue::small bytes. Such payloads are cut when they are sent.
    bool small_path : 1 = false;
    bool syn_due : 1 = false;

    /// Step of the search for a larger segment size. Step n tries a size that is larger by 1/2^n of the distance to the
    /// full size.
    std::uint8_t search_step : 2 = 0;
    /// Time at which segments became smaller or the last search ended, in ticks of 137 s (tick::s137).
    std::uint8_t shrunk_at : 6 = 0;
  };
  static_assert(sizeof(Bits) == 4);

  /// Send sequence variables (RFC 9293 section 3.3.1).
  struct Sequence {
    SeqNum una;
    SeqNum nxt;
    SeqNum end;                   ///< sequence number after the last byte written; the FIN has this number
    SeqNum wl1;                   ///< sequence number of the segment that last updated the peer's window (SND.WL1)
    std::uint32_t wnd = 0;        ///< peer's window, bytes
    std::uint32_t max_wnd = 0;    ///< largest window of the peer so far, bytes
    std::uint32_t last_sent = 0;  ///< time of the last new data segment, in ticks of 1.05 ms (tick::ms)
  };

  struct LossRecovery {
    /// RecoveryPoint of RFC 6675. While a tail loss probe is not answered, this is the value that SND.NXT had when the
    /// probe was sent.
    SeqNum point;
    std::uint16_t duplicate_acks = 0;  ///< number of consecutive duplicate ACKs

    /// With SACK: number of retransmissions of the last recovery that are not known to be spurious. Without SACK:
    /// number of segments from SND.UNA on that are retransmitted together, see next_retransmission(). The latter is
    /// used only if the caller's allowance (bytes permitted to send) replaces cwnd.
    std::uint8_t retransmissions = 0;
    /// Number of consecutive timeouts (of data, the SYN or window probes) without an answer of the peer.
    std::uint8_t retries = 0;
  };

  /// Limits of the segment size, in bytes of payload.
  struct PathMtu {
    std::uint16_t mss = 536;          ///< effective segment size
    std::uint16_t full_mss = 536;     ///< segment size that the handshake agreed on and the local port carries
    std::uint16_t port = UINT16_MAX;  ///< segment size that the local port carries, independent of the handshake
  };

  // Members that every segment touches come first. The order leaves no padding, because a member that ends inside a
  // word is followed by one that fits the rest of it.
  std::uint16_t misplaced_acks_ = 0;  ///< number of ACKs that ended inside a segment, see misplaced_acks()
  Bits bits_;
  Sequence snd_;
  LossRecovery loss_recovery_;
  PathMtu mtu_;
  ReorderingWindow reordering_;
  std::uint32_t ts_value_ = 0;
  SenderCounters counters_;
  [[no_unique_address]] CongestionControl congestion_;
  std::uint8_t small_in_flight_ = 0;  ///< number of segments with less than SendQueue::small bytes that are in flight
  /// Sequence number, in units of 4096 bytes (boundary_tick()), from which on the sender moves the next boundary
  /// between two segments. The peer cannot predict a moved boundary, so it cannot acknowledge data before it arrives
  /// (segment_boundary.cpp).
  std::uint16_t boundary_at_ = 0;
};

}  // namespace sluice::tcp
