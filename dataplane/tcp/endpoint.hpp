#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/output.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/rate_reduction.hpp"
#include "dataplane/tcp/reassembly.hpp"
#include "dataplane/tcp/rtt.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/tcp/send_queue.hpp"
#include "dataplane/tcp/state.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// What one endpoint counts. All but `retransmitted` stop at their limit.
struct EndpointCounters {
  std::uint32_t retransmitted = 0;    ///< segments sent again
  std::uint16_t duplicate_acks = 0;   ///< received
  std::uint16_t out_of_order = 0;     ///< segments that came before their turn
  std::uint16_t discarded = 0;        ///< segments whose data was old, beyond the window or beyond memory
  std::uint16_t timeouts = 0;         ///< retransmission timeouts
  std::uint16_t fast_recoveries = 0;  ///< loss recoveries that did not need the timer
  std::uint16_t tail_probes = 0;      ///< segments sent to learn of a lost tail (RFC 8985 section 7)
};

/// One TCP connection as a value (RFC 9293): no I/O, no clock, no allocation. Lives in place; closed when constructed.
///
/// Three doors: receive() takes a segment in, emit() sends whatever is due, next_deadline() says when on_timer() must
/// be called (followed by emit()). Nothing is sent but by emit(), so a caller decides once per burst. Payload stays in
/// the packets it came in, linked through their notes. Not thread-safe; EndpointConfig must outlive the connection.
class Endpoint {
 public:
  Endpoint() = default;
  ~Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- opening: from closed; room, timestamp and window source set before are kept ---

  /// Active open: emit() sends the SYN with `iss` and `ours`.
  void connect(const EndpointConfig& config, SeqNum iss, const SynOptions& ours, Instant now);
  /// Passive open, in answer to `syn`: emit() sends the SYN-ACK, with those of `ours` that the SYN offered too.
  void accept(const EndpointConfig& config, const Segment& syn, SeqNum iss, const SynOptions& ours, Instant now);
  /// Straight to established. The receive room is what was advertised until set_receive_room() says otherwise.
  void establish_at(const EndpointConfig& config, const EstablishedState& state, Instant now);

  // --- receiving ---

  /// Takes one segment. `payload` is empty, or exactly segment.payload_len bytes with note().payload_len and
  /// payload_sum set; its checksum has been verified and nobody else holds the buffer. Returns is_plausible(segment),
  /// as it was before. `news`, where given, is told what it acknowledges, when that is anything.
  bool receive(const Segment& segment, packet::Packet&& payload, Instant now, AckNews* news = nullptr);
  /// Takes one segment whose payload there was no memory for: all it tells is heard, its payload counts as lost on the
  /// way. Returns the same.
  bool receive_without_payload(const Segment& segment, Instant now, AckNews* news = nullptr);
  /// Its numbers are the peer's: it begins in the window or not far behind RCV.NXT (where repetitions begin), has no
  /// older timestamp, and acknowledges what is outstanding or repeats the newest acknowledgement. A reset: it is exact.
  /// Whoever cannot see the connection does not hit that (RFC 5961 section 1), so what concerns more than this segment
  /// (headers, idleness) may be learned from it. Not in a handshake.
  [[nodiscard]] bool is_plausible(const Segment& segment) const;
  /// The next payload in order (note().seq, payload_len and payload_sum valid), or an empty handle. What was received
  /// before a reset stays readable.
  [[nodiscard]] packet::Packet read();
  /// The peer's FIN arrived and every byte before it was read.
  [[nodiscard]] bool peer_finished() const { return fin_received_ && in_order_.empty(); }
  /// Bytes beyond the first unread one that we are willing to hold (so with everything read: beyond RCV.NXT). Stays in
  /// force: the right edge follows as data is read. The edge is max(old edge, first unread + room), fixed whenever an
  /// acknowledgement is sent, and never retracted. An update is scheduled when it can move by min(2 MSS, room / 2)
  /// (RFC 9293 section 3.8.6.2.2; prompt: 1 MSS) or away from a closed window. Default 65535.
  void set_receive_room(Bytes room, WindowUpdates updates = WindowUpdates::sparing);
  [[nodiscard]] Bytes receive_room() const { return Bytes(room_); }
  /// From now on only what acknowledge_up_to() allows is acknowledged, nothing by itself. Costs the fast paths.
  void hold_acknowledgements();
  /// From now on what is received is acknowledged again without being asked.
  void acknowledge_freely();
  [[nodiscard]] bool holds_acknowledgements() const { return acks_held_; }
  /// Acknowledges what was received up to `limit`. Requires hold_acknowledgements().
  void acknowledge_up_to(SeqNum limit);
  /// What the peer was told, or is told next, that we have.
  [[nodiscard]] SeqNum acknowledged() const { return last_ack_sent_; }
  /// What the next segment to the peer acknowledges.
  [[nodiscard]] SeqNum next_acknowledgement() const { return acks_held_ ? last_ack_sent_ : rcv_nxt_; }
  /// Something was received and not acknowledged yet.
  [[nodiscard]] bool owes_acknowledgement() const { return ack_now_ || last_ack_sent_ != rcv_nxt_; }
  /// An acknowledgement that waits to be worth a segment goes out with the next emit().
  void hurry_acknowledgement() { ack_now_ = ack_now_ || last_ack_sent_ != rcv_nxt_; }
  /// The peer asks whether anybody is there (a keep-alive, RFC 9293 section 3.8.4) while nothing is under way here, or
  /// whether its window is still closed (section 3.8.6.1). True once for each. Only where the configuration
  /// leaves the answers to the owner: answer_keepalive().
  [[nodiscard]] bool take_keepalive() {
    const bool asked = keepalive_pending_;
    keepalive_pending_ = false;
    return asked;
  }
  /// We are here: an acknowledgement goes out with the next emit().
  void answer_keepalive() { ack_now_ = true; }
  /// The peer has announced urgent data that was not read yet; it ends before urgent_end() (RFC 9293 section 3.8.5).
  [[nodiscard]] bool urgent_ahead() const { return urgent_in_; }
  [[nodiscard]] SeqNum urgent_end() const { return rcv_up_; }
  /// When the first of what came before its turn came in: so long its hole has not been filled. never when there is
  /// none.
  [[nodiscard]] Instant out_of_order_since() const { return reassembly_.waits_since(); }
  /// Somebody else has advertised a window up to there to the peer: what lies in it is in the window. Never moves back.
  void note_advertised(SeqNum edge) { rcv_edge_ = later(rcv_edge_, edge); }
  /// Drops what came before its turn. It may have been reported, so this is the reneging of RFC 2018 section 8.
  void forget_out_of_order() { reassembly_.clear(); }

  // --- sending ---

  /// Appends to the send queue: all note().payload_len bytes at the end of the packet; payload_sum must be set. Takes
  /// its place in sequence space. Ignored (dropped) when finish() was called or the connection cannot send any more.
  void write(packet::Packet&& payload);
  /// FIN after everything written.
  void finish();
  /// Urgent data ends before `end`, which may lie beyond what was written: the peer is told with everything that leaves
  /// until it has acknowledged so much, at once if there is nothing else (RFC 9293 section 3.8.5). Never moves back.
  void announce_urgent(SeqNum end);
  /// Asks the peer whether it is there, as a keep-alive does; whatever comes from it is the answer. Nothing follows
  /// when none comes. Does nothing while something is outstanding: that asks already.
  void send_keepalive();
  /// Drops everything queued for sending; the next emit() sends a RST and closes.
  void abort();

  /// Sends everything due: retransmissions, new data, FIN, acknowledgements, probes. Returns the IP bytes of the data
  /// segments sent. Data segments (retransmissions too) are sent only while their wire size fits `allowance`, whatever
  /// the window source; segments without data never count. What the output refuses stays due. Who gives an allowance
  /// decides how fast to send: pacing then keeps nothing back.
  Bytes emit(Instant now, Output& output, Bytes allowance = Bytes::max()) {
    return nothing_to_emit(now) ? Bytes() : emit_due(now, output, allowance);
  }
  /// An open connection that is not repairing, reordering, probing or closing anything.
  [[nodiscard]] bool on_fast_path() const { return on_fast_path_; }
  /// emit() is certain to do nothing. Cheap; false proves nothing.
  [[nodiscard]] bool nothing_to_emit(Instant now) const {
    return on_fast_path_ && !ack_now_ && !send_.unsent() && now < delayed_ack_deadline_;
  }
  /// emit() would have something to do. Under WindowSource::allowance it is assumed that the allowance suffices.
  [[nodiscard]] bool wants_to_send(Instant now) const;
  /// There is lost or unsent data that the windows would allow now.
  [[nodiscard]] bool can_send_now() const;

  // --- time ---

  /// Does what is due at `now`; may be called early or late. The caller then calls emit().
  void on_timer(Instant now);
  /// The earliest armed timer, or when a burst may leave that pacing holds back; never when none.
  [[nodiscard]] Instant next_deadline() const {
    const Instant timers = std::min(timer_deadline_, delayed_ack_deadline_);
    return on_fast_path_ ? timers : std::min(timers, pacing_deadline());
  }

  /// TSval of what is sent from now on (RFC 7323), in the sender's own clock.
  void set_timestamp(std::uint32_t ts_value) { ts_value_ = ts_value; }
  /// Switches what limits the sender, on a running connection. Back to congestion control starts from `seed_cwnd`
  /// (at least two segments), in congestion avoidance; BBR takes it for the bandwidth-delay product.
  void set_window_source(WindowSource source, Bytes seed_cwnd);

  /// Drops all packets held.
  void release_queues();

  /// A segment of ours that begins there is outstanding: the least that a router's quote has to be (RFC 5927).
  [[nodiscard]] bool is_outstanding(SeqNum quoted) const {
    return state_ >= State::established && quoted >= snd_una_ && quoted < snd_nxt_;
  }
  /// A router says that it carries no segments with more than `payload` bytes (RFC 1191, 8201), of one of ours that
  /// begins at `quoted`. Believed when that one is outstanding and the size is news; what was larger is sent again,
  /// cut. Never below least_payload. The caller then calls emit(). Returns whether it was believed. After ten minutes
  /// at least larger segments are tried again (RFC 1191 section 6.3), one at a time, in a search (RFC 8899
  /// section 5.3).
  bool path_carries(SeqNum quoted, Bytes payload, Instant now);
  static constexpr std::uint32_t least_payload = 512;  ///< no router may make us send less

  // --- observers ---

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] CloseReason close_reason() const { return close_reason_; }
  [[nodiscard]] SeqNum snd_una() const { return snd_una_; }
  [[nodiscard]] SeqNum snd_nxt() const { return snd_nxt_; }
  [[nodiscard]] SeqNum rcv_nxt() const { return rcv_nxt_; }
  /// What the peer may still send of the window it was told.
  [[nodiscard]] Bytes advertised() const {
    const std::int32_t open = rcv_edge_ - rcv_nxt_;
    return Bytes(open > 0 && !fin_received_ && state_ != State::closed ? open : 0);
  }
  /// Right edge of the window advertised to the peer.
  [[nodiscard]] SeqNum rcv_edge() const { return rcv_edge_; }
  /// The peer's window in bytes, from SND.UNA.
  [[nodiscard]] Bytes snd_window() const { return Bytes(snd_wnd_); }
  [[nodiscard]] Bytes cwnd() const { return Bytes(congestion_.cwnd()); }
  [[nodiscard]] Bytes ssthresh() const { return Bytes(congestion_.ssthresh()); }
  [[nodiscard]] WindowSource window_source() const { return window_source_; }
  /// Sequence space sent and not acknowledged: SND.NXT - SND.UNA.
  [[nodiscard]] Bytes unacknowledged() const { return Bytes(snd_nxt_ - snd_una_); }
  /// Bytes written and never sent.
  [[nodiscard]] Bytes unsent() const;
  /// RFC 6675 pipe.
  [[nodiscard]] Bytes in_flight() const { return Bytes(pipe()); }
  /// Smoothed round-trip time; zero before the first measurement.
  [[nodiscard]] Duration srtt() const { return rtt_.srtt(); }
  /// The least round-trip time of late, which is the path's without its queues; zero before the first measurement.
  [[nodiscard]] Duration least_rtt() const { return rtt_.least(); }
  /// The retransmission timeout with its present backoff.
  [[nodiscard]] Duration rto() const;
  /// Largest payload of a segment we send: the peer's MSS less our options (RFC 6691).
  [[nodiscard]] std::uint32_t effective_mss() const { return mss_; }
  /// Newest TSval heard from the peer; 0 without timestamps.
  [[nodiscard]] std::uint32_t newest_ts_value() const { return newest_ts_; }
  [[nodiscard]] const EndpointCounters& counters() const { return counters_; }
  [[nodiscard]] bool in_recovery() const { return recovery_ != Recovery::none; }
  /// In-order bytes not read yet.
  [[nodiscard]] Bytes unread() const { return Bytes(unread_); }
  /// Segments are held that came before their turn.
  [[nodiscard]] bool reassembling() const { return !reassembly_.empty(); }
  /// Options both sides agreed on.
  [[nodiscard]] bool uses_timestamps() const { return use_timestamps_; }
  [[nodiscard]] bool uses_sack() const { return use_sack_; }
  [[nodiscard]] bool uses_ecn() const { return use_ecn_; }

 private:
  /// From `reorder` on something is outstanding (RFC 8985 section 8: one timer, in this order as things get worse).
  enum class Timer : std::uint8_t { none, persist, time_wait, reorder, probe, retransmit };
  enum class Recovery : std::uint8_t { none, fast, timeout };
  /// Whether a repair was needed: no doubt, or no longer; nothing was repeated yet; the first copy was sent; it was
  /// answered (RFC 5682, after timeouts only).
  enum class Doubt : std::uint8_t { none, copy_due, copy_sent, copy_answered };

  // handshake.cpp
  void reset_connection(const EndpointConfig& config, SeqNum iss);
  void negotiate(const SynOptions& ours, const SynOptions& theirs);
  [[nodiscard]] std::uint16_t payload_within(std::uint16_t mss) const;
  [[nodiscard]] SynOptions offer() const;
  void receive_syn(const Segment& syn, const SynOptions& ours, Instant now);
  void receive_in_syn_sent(const Segment& segment, Instant now);
  bool complete_handshake(const Segment& segment, Instant now);
  void establish(const Segment& segment, Instant now);
  void start_sending(Instant now);
  [[nodiscard]] std::uint32_t initial_window() const;
  void emit_handshake(Instant now, Output& output);

  // segment_arrival.cpp
  [[nodiscard]] bool is_expected(const Segment& segment) const;
  [[gnu::cold, gnu::noinline]] void receive_slow(const Segment& segment, packet::Packet&& payload, Instant now,
                                                 AckNews* news);
  bool check_sequence(const Segment& segment, Instant now);
  [[nodiscard]] bool is_keepalive(const Segment& segment) const;
  [[nodiscard]] bool owner_answers() const;
  [[nodiscard]] bool probes_window() const;
  bool check_timestamp(const Segment& segment, Instant now);
  void remember_timestamp(const Segment& segment, Instant now);
  void receive_reset(const Segment& segment, Instant now);
  void receive_late_syn(const Segment& segment, Instant now);
  void challenge(Instant now);

  // receive_data.cpp
  void accept_data(const Segment& segment, packet::Packet&& payload, Instant now);
  void accept_payload(SeqNum seq, packet::Packet&& payload, Instant now);
  void append_in_order(packet::Packet&& payload);
  void accept_out_of_order(packet::Packet&& payload);
  [[nodiscard]] Reassembly::Limits reassembly_limits() const;
  void drain_reassembly();
  /// The owner keeps back the acknowledgement of data that is in order.
  [[nodiscard]] bool holding_back() const { return acks_held_ && last_ack_sent_ != rcv_nxt_; }
  void report_duplicate(SeqNum left, SeqNum right);
  void schedule_ack(Instant now);
  [[nodiscard]] std::int32_t edge_gain() const;
  [[nodiscard]] bool edge_may_move(std::uint32_t step) const;
  [[nodiscard, gnu::noinline]] bool worth_moving(std::int32_t gain) const;
  void consider_window_update();
  [[nodiscard]] std::uint16_t advertise();

  // ack_processing.cpp
  void acknowledge(SeqNum ack, Instant now, AckNews* news);
  bool process_ack(const Segment& segment, Instant now, AckNews* news);
  void advance_una(SeqNum ack, AckEvent& event);
  void update_window(const Segment& segment, SeqNum una_before);
  [[nodiscard]] bool is_duplicate_ack(const Segment& segment) const;
  [[nodiscard]] bool window_may_grow(const AckEvent& event, Recovery repairing) const;
  [[nodiscard]] PathView path(Instant now) const;
  /// RFC 6675 pipe. Without SACK each duplicate acknowledgement stands for a segment that has left the network.
  [[nodiscard]] std::uint32_t pipe() const {
    const std::uint32_t left = std::uint32_t{duplicate_acks_} * mss_;
    return send_.in_flight() > left ? send_.in_flight() - left : 0;
  }
  [[nodiscard]] SeqNum window_edge() const { return snd_una_ + snd_wnd_; }

  // recovery.cpp
  void recover(AckEvent& event, const Delivery& delivery);
  void recover_by_time(AckEvent& event, const Delivery& delivery);
  void detect_overdue(AckEvent& event);
  void shape_reduction(const AckEvent& event);
  [[nodiscard]] std::uint32_t reordering_window() const;
  void on_reordering_timeout(Instant now);
  void on_duplicate_ack(AckEvent& event);
  void on_partial_ack(AckEvent& event);
  void enter_fast_recovery(Instant now);
  void leave_recovery(Instant now);
  /// RFC 6582 section 3.2 step 3: of the partial acknowledgements of a recovery only the first restarts the timer, so
  /// that a window with many holes is not repaired at one per round trip.
  [[nodiscard]] bool keeps_timer() const { return partially_acked_ && snd_una_ < recovery_point_; }
  void on_retransmission_timeout(Instant now);
  [[nodiscard]] Instant lost_before(Instant now) const;

  // path_mtu.cpp
  void shrink_segments(std::uint32_t payload, Instant now);
  void suspect_black_hole(Instant now);
  [[gnu::cold, gnu::noinline]] void cut_segments(Instant now, Output& output, Bytes allowance);
  [[nodiscard]] packet::Cursor try_larger(Instant now);
  [[nodiscard]] bool may_try_larger(Instant now) const;
  void judge_larger(SeqNum ack, Instant now);
  void larger_failed(Instant now);
  [[nodiscard]] bool only_larger_lost() const;
  void end_search(Instant now);

  // urgent.cpp
  void take_urgent_pointer(const Segment& segment);
  [[gnu::cold, gnu::noinline]] void mark_urgent(Segment& segment) const;
  void settle_urgent();

  // ecn.cpp
  [[gnu::cold, gnu::noinline]] void mark_ecn(Segment& segment);
  void heed_mark(const Segment& segment);
  void heed_echo(const Segment& segment, const AckEvent& event);

  // tail_probe.cpp
  [[nodiscard]] bool may_probe_tail() const;
  [[nodiscard]] Duration probe_timeout() const;
  void on_probe_timeout(Instant now);
  void emit_tail_probe(Instant now, Output& output, Bytes& left);
  void judge_tail_probe(const Segment& segment, const AckEvent& event);
  [[gnu::cold, gnu::noinline]] void arm_retransmit_slow(Instant now);

  // spurious.cpp
  void suspect_timeout();
  void copy_went_out();
  [[nodiscard]] bool answers_original(const Segment& segment) const;
  void judge_timeout(const Segment& segment, const AckEvent& event);
  void judge_second_answer(const Segment& segment, const AckEvent& event);
  void judge_fast_recovery(bool original);
  [[nodiscard]] static bool reports_duplicate(const Segment& segment);
  void count_duplicate(const Segment& segment);
  void undo_recovery();
  [[nodiscard]] bool timeout_in_doubt() const { return recovery_ == Recovery::timeout && doubt_ != Doubt::none; }

  // timers.cpp
  void arm(Timer timer, Instant deadline);
  void arm_retransmit(Instant now);
  void disarm(Timer timer);

  // persist.cpp
  void on_persist();
  [[nodiscard]] bool window_closed() const { return snd_wnd_ == 0 && state_ >= State::established; }
  [[nodiscard]] bool must_guard_refused() const;
  void on_refusal(Instant now);
  [[nodiscard]] bool may_fit_rounding(packet::Cursor position) const;
  [[gnu::cold, gnu::noinline]] void repeat_refused(Instant now);
  void emit_probe(Instant now, Output& output);
  [[nodiscard, gnu::cold, gnu::noinline]] bool must_guard_window() const;
  [[nodiscard]] bool may_split() const { return !send_.outstanding() && small_window_will_do(); }
  [[nodiscard]] bool small_window_will_do() const;
  [[gnu::cold, gnu::noinline]] bool split_for_window();

  // emit.cpp
  Bytes emit_due(Instant now, Output& output, Bytes allowance);
  [[gnu::cold, gnu::noinline]] Bytes emit_slow(Instant now, Output& output, Bytes allowance);
  void settle();
  [[nodiscard]] Segment header(SeqNum seq);
  [[nodiscard]] SeqNum acceptable_seq() const;
  void ack_went_out(const Segment& segment);
  void emit_ack(Instant now, Output& output);
  [[gnu::cold, gnu::noinline]] void emit_all_runs(Segment segment, Instant now, Output& output) const;
  void emit_fin(Instant now, Output& output);
  [[nodiscard]] bool fin_can_go() const;

  // emit_data.cpp
  /// What several payloads in one buffer come to at most: a segment's. Where that is small, they are cut again.
  [[nodiscard]] std::uint32_t most_joined() const { return full_mss_ < SendQueue::small ? least_joined : mss_; }
  [[nodiscard]] bool fits_cwnd(std::uint32_t length) const;
  [[nodiscard]] bool may_send_new() const;
  [[nodiscard]] bool may_retransmit(packet::Cursor position) const;
  [[nodiscard]] packet::Cursor next_repair() const;
  Bytes emit_data(Instant now, Output& output, Bytes allowance);
  void emit_new(Instant now, Output& output, Bytes& left);
  bool emit_next(Segment& segment, Instant now, Output& output, Bytes& left);
  bool emit_again(packet::Cursor position, Instant now, Output& output, Bytes& left);
  bool transmit(Segment& segment, packet::Cursor position, Instant now, Output& output, Bytes& left);
  bool repeat(packet::Cursor position, Instant now, Output& output, Bytes& left);
  void restart_after_idle(Instant now);
  [[gnu::cold, gnu::noinline]] void fill_sacks(Segment& segment) const;

  // paced.cpp
  [[nodiscard]] bool paced() const { return config_ != nullptr && config_->paced != nullptr; }
  [[nodiscard, gnu::cold]] Instant pacing_deadline() const;
  [[nodiscard]] bool held_by_pacing(Instant now) const;
  void begin_pacing(Instant now);
  void pace_window();
  void resume_pacing();
  void note_sent(packet::Cursor position, Instant now);
  void follow_model(const AckEvent& event);
  [[nodiscard]] Bytes burst_allowance(Instant now, const Output& output, Bytes allowance) const;
  void note_burst(Instant now, Bytes sent, Bytes allowance);
  void restart_model(Instant now);

  // close.cpp
  void receive_fin(Instant now);
  void fin_acknowledged(Instant now);
  [[gnu::cold, gnu::noinline]] void fin_went_out();
  void enter_time_wait(Instant now);
  void emit_reset(Instant now, Output& output);
  void give_up();
  void close(CloseReason reason);
  [[nodiscard]] bool fin_outstanding() const { return fin_sent_ && snd_una_ <= snd_end_; }

  static void count(std::uint16_t& counter) {
    if (counter < UINT16_MAX) ++counter;
  }

  static constexpr std::uint32_t largest_window_field = 65535;
  static constexpr std::uint8_t copies_unknown = UINT8_MAX;
  static constexpr std::uint8_t most_duplicates_due = 31;
  /// Segments of less than SendQueue::small bytes in flight. A further one waits for an acknowledgement, and is joined
  /// by what is written meanwhile: Nagle's rule (RFC 9293 section 3.7.4) with more than one segment, to spare buffers.
  static constexpr std::uint8_t most_small = 128;
  static constexpr std::uint32_t least_joined = 1024;     ///< bytes; payloads that wait are joined up to this at least
  static constexpr std::uint8_t backoff_limit = 16;       ///< what RttEstimator::timeout() tells apart
  static constexpr std::uint32_t challenge_spacing = 12;  ///< tick::rough: 100 ms

  // What every segment touches comes first.
  const EndpointConfig* config_ = nullptr;
  [[no_unique_address]] SendQueue send_;
  std::uint16_t duplicate_acks_ = 0;  ///< in the queue's padding
  std::uint32_t copy_ts_ = 0;         ///< TSval of the first copy of a repair in doubt
  SeqNum snd_una_;
  SeqNum snd_nxt_;
  SeqNum snd_end_;             ///< end of what was written; the FIN's place
  SeqNum snd_wl1_;             ///< RFC 9293: sequence number of the segment that last updated the window
  std::uint32_t snd_wnd_ = 0;  ///< peer's window, bytes
  std::uint32_t max_wnd_ = 0;  ///< largest it ever was
  SeqNum recovery_point_;      ///< RFC 6675 RecoveryPoint; with tail_out_ the end of what the probe asks for
  std::uint16_t mss_ = 536;    ///< effective
  State state_ : 4 = State::closed;
  bool urgent_in_ : 1 = false;          ///< the peer has announced urgent data up to rcv_up_, which was not read yet
  bool urgent_out_ : 1 = false;         ///< ours, up to snd_up_, is not acknowledged yet
  bool trying_larger_ : 1 = false;      ///< a segment larger than mss_ is out, to see whether it arrives
  bool keepalive_pending_ : 1 = false;  ///< the peer's keep-alive waits for the owner
  Timer timer_ : 3 = Timer::none;
  std::uint8_t duplicates_due_ : 5 = 0;  ///< acknowledgements owed to a peer without SACK for segments out of order
  CloseReason close_reason_ : 3 = CloseReason::none;
  std::uint8_t backoff_ : 5 = 0;           ///< doublings of the RTO or persist timer, at most backoff_limit
  std::uint8_t snd_shift_ : 4 = 0;         ///< peer's window scale
  std::uint8_t rcv_shift_ : 4 = 0;         ///< ours
  std::uint8_t search_step_ : 2 = 0;       ///< of the search for a larger size: by how much of the way it is tried
  std::uint8_t shrunk_at_ : 6 = 0;         ///< when segments became smaller or the last search ended, tick::slow
  std::uint8_t unacked_segments_ : 7 = 0;  ///< data segments received since the last acknowledgement
  WindowUpdates window_updates_ : 1 = WindowUpdates::sparing;

  WindowSource window_source_ : 1 = WindowSource::congestion_control;
  Recovery recovery_ : 2 = Recovery::none;
  Doubt doubt_ : 2 = Doubt::none;
  bool on_fast_path_ : 1 = false;  ///< the fast paths apply, see settle()
  bool use_timestamps_ : 1 = false;
  bool use_sack_ : 1 = false;
  bool use_scale_ : 1 = false;
  bool small_path_ : 1 = false;  ///< what waits to be sent may be larger than a segment: it is cut when it is sent
  bool heard_ : 1 = false;       ///< the peer was, since the retransmission timer expired
  bool use_ecn_ : 1 = false;
  bool ece_due_ : 1 = false;  ///< the peer is told of congestion until it answers with CWR
  bool cwr_due_ : 1 = false;  ///< the next new data carries CWR
  bool reduced_ : 1 = false;  ///< the window was reduced for an echo; up to recovery_point_ there is no second time
  bool ack_now_ : 1 = false;
  bool acks_held_ : 1 = false;  ///< the owner decides what is acknowledged; last_ack_sent_ is as far as it did
  bool syn_due_ : 1 = false;
  bool probe_due_ : 1 = false;
  bool reset_due_ : 1 = false;
  bool cwnd_limited_ : 1 = false;
  bool fin_wanted_ : 1 = false;
  bool fin_sent_ : 1 = false;
  bool fin_due_again_ : 1 = false;     ///< the FIN must be retransmitted
  bool fin_known_ : 1 = false;         ///< the peer's FIN was seen, perhaps before its turn
  bool fin_received_ : 1 = false;      ///< and taken in order
  bool tail_due_ : 1 = false;          ///< a loss probe is to be sent (RFC 8985 section 7)
  bool tail_out_ : 1 = false;          ///< and it was, and was not answered
  bool tail_repeated_ : 1 = false;     ///< it repeated old data
  bool split_due_ : 1 = false;         ///< SWS override: send what the small window takes
  bool retransmit_first_ : 1 = false;  ///< the next retransmission does not wait for cwnd
  bool partially_acked_ : 1 = false;   ///< a fast recovery without SACK has seen a partial acknowledgement

  SeqNum rcv_nxt_;
  SeqNum rcv_edge_;
  SeqNum last_ack_sent_;
  SeqNum rcv_up_;  ///< RFC 9293 RCV.UP, with urgent_in_
  SeqNum snd_up_;  ///< RFC 9293 SND.UP, with urgent_out_
  std::uint32_t unread_ = 0;
  std::uint32_t room_ = 65535;
  SeqNum fin_seq_;               ///< the peer's FIN, once fin_known_
  std::uint32_t last_sent_ = 0;  ///< last new data segment, tick::fine
  packet::Queue in_order_;
  Instant timer_deadline_ = never;
  Instant delayed_ack_deadline_ = never;
  [[no_unique_address]] RttEstimator rtt_;
  std::uint16_t last_challenge_ = 0;  ///< tick::rough; in the padding before it
  [[no_unique_address]] Rack rack_;
  std::uint16_t local_mss_ = 536;  ///< what we announce; in the padding before it
  RateReduction reduction_;
  [[no_unique_address]] CongestionControl congestion_;
  std::uint8_t copies_ = 0;     ///< sent by the last repair and not known to have been duplicates
  std::uint8_t retries_ = 0;    ///< transmissions in a row without an answer
  std::uint8_t small_out_ = 0;  ///< segments of less than SendQueue::small bytes in flight
  std::uint32_t ts_value_ = 0;
  std::uint32_t ts_recent_ = 0;
  std::uint16_t ts_recent_at_ = 0;  ///< when it was heard, tick::slow
  std::uint16_t full_mss_ = 536;    ///< what the handshake agreed on
  EndpointCounters counters_;
  [[no_unique_address]] Reassembly reassembly_;
  std::uint32_t newest_ts_ = 0;  ///< in the reassembly's padding
};
static_assert(sizeof(Endpoint) <= 352);

}  // namespace sluice::tcp
