#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/accurate_ecn.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/disturbance.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/endpoint_state.hpp"
#include "dataplane/tcp/output.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/rtt.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/tcp/send_queue.hpp"
#include "dataplane/tcp/state.hpp"
#include "dataplane/units/by_value.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// One TCP connection as a value (RFC 9293): no I/O, no clock, no allocation but what its DisturbanceStore does. Lives
/// in place; closed when constructed.
///
/// Three doors: receive() takes a segment in, emit() sends whatever is due, next_deadline() says when on_timer() must
/// be called (followed by emit()). Nothing is sent but by emit(), so a caller decides once per burst. Payload stays in
/// the packets it came in, linked through their notes. Not thread-safe; EndpointConfig must outlive the connection.
class Endpoint {
 public:
  Endpoint() = default;
  ~Endpoint() { drop_disturbance(); }
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
  /// payload_sum set; its checksum has been verified and nobody else holds the buffer. It is empty afterwards: what
  /// is not kept is dropped. Returns is_plausible(segment), as it was before. `news`, where given, is told what the
  /// segment acknowledges, when that is anything.
  bool receive(const Segment& segment, packet::Packet&& payload, Instant now, AckNews* news = nullptr);
  /// The same of a segment without payload that acknowledges something on a connection that is not repairing,
  /// reordering or closing anything. False, and nothing has happened, where it is not such a one.
  bool hear(const Segment& segment, Instant now, AckNews* news = nullptr);
  /// Whether a segment brings the next data and no other news, on a connection that is not repairing, reordering or
  /// closing anything, and whose window is open.
  [[nodiscard]] bool takes_next(const Segment& segment) const;
  /// Takes the payloads of a train (packet::follows()) whose first segment takes_next() and which advertised() has room
  /// for; `last` is the last segment. receive() would do the same with each of them.
  void receive_train(const Segment& last, std::span<packet::Packet> payloads, Instant now);
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
  [[nodiscard]] bool peer_finished() const { return bits_.fin_received && in_order_.empty(); }
  /// Bytes beyond the first unread one that we are willing to hold (so with everything read: beyond RCV.NXT). Stays in
  /// force: the right edge follows as data is read. The edge is max(old edge, first unread + room), fixed whenever an
  /// acknowledgement is sent, and never retracted. An update is scheduled when it can move by min(2 MSS, room / 2)
  /// (RFC 9293 section 3.8.6.2.2; see WindowUpdates) or away from a closed window. Default 65535.
  void set_receive_room(Bytes room, WindowUpdates updates = WindowUpdates::sparing);
  [[nodiscard]] Bytes receive_room() const { return Bytes(room_); }
  /// There is room for `bytes` more than there was, which is nothing that the peer need be told by itself. False, and
  /// nothing has happened, where set_receive_room() has to say: where it is worth telling, where the peer has used half
  /// of its window and may soon wait for more, where there was perhaps less than no room, and under other WindowUpdates
  /// than sparing ones.
  bool regain_room(std::uint32_t bytes);
  /// From now on only what acknowledge_up_to() allows is acknowledged, nothing by itself.
  void hold_acknowledgements();
  /// From now on what is received is acknowledged again without being asked.
  void acknowledge_freely();
  [[nodiscard]] bool holds_acknowledgements() const { return bits_.acks_held; }
  /// Acknowledges what was received up to `limit`. Requires hold_acknowledgements().
  void acknowledge_up_to(SeqNum limit);
  /// What the peer was told, or is told next, that we have.
  [[nodiscard]] SeqNum acknowledged() const { return rcv_.last_ack_sent; }
  /// What the next segment to the peer acknowledges. By its bits, as later() chooses.
  [[nodiscard]] SeqNum next_acknowledgement() const {
    return SeqNum(bits_.acks_held ? rcv_.last_ack_sent.raw() : rcv_.nxt.raw());
  }
  /// Something was received and not acknowledged yet.
  [[nodiscard]] bool owes_acknowledgement() const { return bits_.ack_now || rcv_.last_ack_sent != rcv_.nxt; }
  /// The next data that comes in is acknowledged at once (RFC 5681 section 4.2), or something before it.
  [[nodiscard]] bool acknowledges_next() const { return bits_.ack_now || bits_.unacked_segments != 0; }
  /// An acknowledgement that waits to be worth a segment goes out with the next emit().
  void hurry_acknowledgement() { bits_.ack_now = bits_.ack_now || rcv_.last_ack_sent != rcv_.nxt; }
  /// The peer asks whether anybody is there (a keep-alive, RFC 9293 section 3.8.4) while nothing is under way here, or
  /// whether its window is still closed (section 3.8.6.1). True once for each. Only where the configuration
  /// leaves the answers to the owner: answer_keepalive().
  [[nodiscard]] bool take_keepalive() {
    const bool asked = bits_.keepalive_pending;
    bits_.keepalive_pending = false;
    return asked;
  }
  /// We are here: an acknowledgement goes out with the next emit().
  void answer_keepalive() { bits_.ack_now = true; }
  /// The peer has announced urgent data that was not read yet; it ends before urgent_end() (RFC 9293 section 3.8.5).
  [[nodiscard]] bool urgent_ahead() const { return bits_.urgent_in; }
  [[nodiscard]] SeqNum urgent_end() const { return disturbance().rcv_up; }
  /// When the first of what came before its turn came in: so long its hole has not been filled. never when there is
  /// none.
  [[nodiscard]] Instant out_of_order_since() const {
    return disturbed() ? disturbance().reassembly.waits_since() : never;
  }
  /// Somebody else has advertised a window up to there to the peer: what lies in it is in the window. Never moves back.
  void note_advertised(SeqNum edge) { rcv_.edge = later(rcv_.edge, edge); }
  /// Drops what came before its turn. It may have been reported, so this is the reneging of RFC 2018 section 8.
  void forget_out_of_order() {
    if (disturbed()) disturb().reassembly.clear();
  }

  // --- sending ---

  /// Appends to the send queue: all note().payload_len bytes at the end of the packet; payload_sum must be set. Takes
  /// its place in sequence space. Ignored (dropped) when finish() was called or the connection cannot send any more.
  void write(packet::Packet&& payload);
  /// What read() and write() in turn come to, for all that `from` has in order, except that it goes on taking room of
  /// the window of `from`: this endpoint holds it now, and set_receive_room() says when there is room again. Under
  /// prompt WindowUpdates the peer is told as if it had been read, and then it takes room; else nobody is told, since
  /// nothing has become free. Both are on the fast path, and what `from` receives has the same place in sequence space
  /// as what is written here.
  void take_over(Endpoint& from);

  // --- cut-through: data of `from`, the other endpoint of a relay, goes on to this one's peer in its frame (pass.cpp)

  /// A segment that `from` takes next may go on at once: neither endpoint holds anything that goes before it, both are
  /// on the fast path, and the windows allow it.
  [[nodiscard]] bool may_pass(const Endpoint& from, const Segment& segment, Instant now);
  /// How many bytes may, where one may.
  [[nodiscard]] Bytes passage(const Endpoint& from) const;
  /// Such segments are passed on now, by pass() for each and end_passing() with the outermost of them and their number;
  /// those behind the first are of its train (packet::follows()) and fit passage(). That is what receive(), take_over()
  /// and emit() come to in turn, but that segments keep their frames and PSH flags. Returns what their headers are to
  /// say (write_passed()).
  [[nodiscard]] PassedHeader begin_passing();
  /// The caller sends `frame`, whose note() has payload_len and payload_sum, which is kept here to be repeated.
  void pass(const Segment& segment, packet::Packet&& frame, Instant now);
  /// The acknowledgement by `from` goes out with its next emit().
  void end_passing(Endpoint& from, const Segment& first, const Segment& last, std::uint32_t count, Instant now);
  /// Payload of this size may: a segment takes it, and it is not so little that what follows may be joined to it.
  [[nodiscard]] bool passes_size(std::uint32_t payload) const {
    return payload >= SendQueue::small && payload <= mtu_.mss;
  }

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
  /// The same where something may be due (nothing_to_emit() has said so).
  Bytes emit_due(Instant now, Output& output, Bytes allowance);
  /// An open connection that is not repairing, reordering, probing or closing anything.
  [[nodiscard]] bool on_fast_path() const { return bits_.on_fast_path; }
  /// emit() is certain to do nothing. Cheap; false proves nothing.
  [[nodiscard]] bool nothing_to_emit(Instant now) const {
    if (bits_.ack_now || now >= rcv_.ack_deadline) return false;
    return bits_.on_fast_path ? !send_.unsent() : is_over();
  }
  /// Both FINs are acknowledged, or the connection has ended otherwise: all that can still be sent is an
  /// acknowledgement.
  [[nodiscard]] bool is_over() const { return bits_.state == State::time_wait || bits_.state == State::closed; }
  /// Both FINs are acknowledged.
  [[nodiscard]] bool has_finished() const {
    return bits_.state == State::time_wait ||
           (bits_.state == State::closed && bits_.close_reason == CloseReason::finished);
  }
  /// The peer may still send data: it has sent no FIN, and is not gone.
  [[nodiscard]] bool expects_data() const { return !bits_.fin_received && bits_.state != State::closed; }
  /// emit() would have something to do. Under WindowSource::allowance it is assumed that the allowance suffices.
  [[nodiscard]] bool wants_to_send(Instant now) const;
  /// There is lost or unsent data that the windows would allow now.
  [[nodiscard]] bool can_send_now() const {
    return !(bits_.on_fast_path && !send_.unsent()) && finds_something_to_send();
  }

  // --- time ---

  /// Does what is due at `now`; may be called early or late. The caller then calls emit().
  void on_timer(Instant now);
  /// The earliest armed timer, or when a burst may leave that pacing holds back; never when none.
  [[nodiscard]] Instant next_deadline() const {
    const Instant timers = lesser(timer_deadline_, rcv_.ack_deadline);
    if (bits_.on_fast_path || !paced()) [[likely]]
      return timers;
    return lesser(timers, pacing_deadline());
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
    return bits_.state >= State::established && quoted >= snd_.una && quoted < snd_.nxt;
  }
  /// A router says that it carries no segments with more than `payload` bytes (RFC 1191, 8201), of one of ours that
  /// begins at `quoted`. Believed when that one is outstanding and the size is news; what was larger is sent again,
  /// cut. Never below least_payload. The caller then calls emit(). Returns whether it was believed. After ten minutes
  /// at least larger segments are tried again (RFC 1191 section 6.3), one at a time, in a search (RFC 8899
  /// section 5.3).
  bool path_carries(SeqNum quoted, Bytes payload, Instant now);
  /// Our own port carries another size from now on: `port_mss` as in EstablishedState, `peer_mss` as the peer has
  /// announced it. What is sent from now on fits, repetitions too. The caller then calls emit().
  void port_carries(std::uint16_t peer_mss, std::uint16_t port_mss, Instant now);
  static constexpr std::uint32_t least_payload = 512;  ///< no router may make us send less

  // --- observers ---

  [[nodiscard]] State state() const { return bits_.state; }
  [[nodiscard]] CloseReason close_reason() const { return bits_.close_reason; }
  [[nodiscard]] SeqNum snd_una() const { return snd_.una; }
  [[nodiscard]] SeqNum snd_nxt() const { return snd_.nxt; }
  [[nodiscard]] SeqNum rcv_nxt() const { return rcv_.nxt; }
  /// What the peer may still send of the window it was told.
  [[nodiscard]] Bytes advertised() const {
    const std::int32_t open = rcv_.edge - rcv_.nxt;
    return Bytes(open > 0 && (bits_.on_fast_path || expects_data()) ? open : 0);
  }
  /// Right edge of the window advertised to the peer.
  [[nodiscard]] SeqNum rcv_edge() const { return rcv_.edge; }
  /// The peer's window in bytes, from SND.UNA.
  [[nodiscard]] Bytes snd_window() const { return Bytes(snd_.wnd); }
  [[nodiscard]] Bytes cwnd() const { return Bytes(congestion_.cwnd()); }
  [[nodiscard]] Bytes ssthresh() const { return Bytes(congestion_.ssthresh()); }
  [[nodiscard]] WindowSource window_source() const { return bits_.window_source; }
  /// Sequence space sent and not acknowledged: SND.NXT - SND.UNA.
  [[nodiscard]] Bytes unacknowledged() const { return Bytes(snd_.nxt - snd_.una); }
  /// Bytes written and never sent.
  [[nodiscard]] Bytes unsent() const { return Bytes(std::max(snd_.end - snd_.nxt, 0)); }
  /// unacknowledged() and unsent() together.
  [[nodiscard]] Bytes held() const { return Bytes(later(snd_.end, snd_.nxt) - snd_.una); }
  /// RFC 6675 pipe.
  [[nodiscard]] Bytes in_flight() const { return Bytes(pipe()); }
  /// Smoothed round-trip time; zero before the first measurement.
  [[nodiscard]] Duration srtt() const { return rtt_.srtt(); }
  /// The least round-trip time of late, which is the path's without its queues; zero before the first measurement.
  [[nodiscard]] Duration least_rtt() const { return rtt_.least(); }
  /// The retransmission timeout with its present backoff.
  [[nodiscard]] Duration rto() const;
  /// Largest payload of a segment we send: the peer's MSS, or what path or port carry, less our options (RFC 6691).
  [[nodiscard]] std::uint32_t effective_mss() const { return mtu_.mss; }
  /// Newest TSval heard from the peer; 0 without timestamps.
  [[nodiscard]] std::uint32_t newest_ts_value() const { return rcv_.newest_ts; }
  [[nodiscard]] const EndpointCounters& counters() const { return counters_; }
  /// Returns how many bytes loss detection has marked lost since the last call, and resets that count.
  [[nodiscard]] std::uint32_t take_losses();
  [[nodiscard]] bool in_recovery() const { return bits_.recovery != Recovery::none; }
  /// In-order bytes not read yet.
  [[nodiscard]] Bytes unread() const { return Bytes(rcv_.unread); }
  /// Segments are held that came before their turn.
  [[nodiscard]] bool reassembling() const { return disturbed() && !disturbance().reassembly.empty(); }
  /// It keeps a Disturbance.
  [[nodiscard]] bool disturbed() const { return send_.disturbance() != nullptr; }
  /// Options both sides agreed on.
  [[nodiscard]] bool uses_timestamps() const { return bits_.use_timestamps; }
  [[nodiscard]] bool uses_sack() const { return bits_.use_sack; }
  [[nodiscard]] bool uses_ecn() const { return bits_.use_ecn; }
  [[nodiscard]] bool uses_accurate_ecn() const { return bits_.use_ecn && accurate_ecn() != nullptr; }

 private:
  // disturbance.cpp
  [[nodiscard]] const Disturbance& disturbance() const {
    return disturbed() ? *send_.disturbance() : Disturbance::none();
  }
  /// Made where there was none.
  Disturbance& disturb() { return disturbed() ? *send_.disturbance() : begin_disturbance(); }
  [[gnu::cold, gnu::noinline]] Disturbance& begin_disturbance();
  void drop_disturbance() {
    if (disturbed()) [[unlikely]]
      end_disturbance();
  }
  [[gnu::cold, gnu::noinline]] void end_disturbance();
  void calm_down();
  [[nodiscard]] bool is_calm() const;
  /// The send queue for whoever marks its packets.
  SendQueue& scoreboard() {
    disturb();
    return send_;
  }

  // handshake.cpp
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

  // segment_arrival.cpp
  [[nodiscard]] bool is_expected(const Segment& segment) const;
  [[nodiscard]] bool answers_all(const Segment& segment) const;
  [[nodiscard]] bool answers_in_order(const Segment& segment) const;
  [[gnu::noinline]] bool receive_slow(const Segment& segment, packet::Packet&& payload, Instant now, AckNews* news);
  bool hear_last(const Segment& segment, Instant now, AckNews* news);
  [[gnu::noinline]] bool check(const Segment& segment, Instant now, AckNews* news);
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
  [[nodiscard]] bool would_join(const packet::Queue& more) const;
  void accept_out_of_order(packet::Packet&& payload);
  [[nodiscard]] Reassembly::Limits reassembly_limits() const;
  void drain_reassembly();
  /// The owner keeps back the acknowledgement of data that is in order.
  [[nodiscard]] bool holding_back() const { return bits_.acks_held && rcv_.last_ack_sent != rcv_.nxt; }
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

  // ack_processing.cpp
  void acknowledge(SeqNum ack, Instant now, AckNews* news);
  bool process_ack(const Segment& segment, Instant now, AckNews* news);
  void advance_una(SeqNum ack, AckEvent& event);
  void update_window(const Segment& segment, SeqNum una_before);
  void take_window(const Segment& segment);
  [[nodiscard]] bool is_duplicate_ack(const Segment& segment) const;
  [[nodiscard]] bool window_may_grow(const AckEvent& event, Recovery repairing) const;
  [[nodiscard]] PathView path(Instant now) const;
  /// RFC 6675 pipe. Without SACK each duplicate acknowledgement stands for a segment that has left the network.
  [[nodiscard]] std::uint32_t pipe() const {
    if (repair_.duplicate_acks == 0 || ignores_duplicates()) [[likely]]
      return send_.in_flight();
    const std::uint32_t left = std::uint32_t{repair_.duplicate_acks} * mtu_.mss;
    return send_.in_flight() > left ? send_.in_flight() - left : 0;
  }
  [[nodiscard]] SeqNum window_edge() const { return snd_.una + snd_.wnd; }

  // recovery.cpp
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
  /// Without SACK nothing tells which segments are missing, and under an allowance no congestion window bounds what is
  /// repeated blindly.
  [[nodiscard]] bool repairs_blindly() const {
    return bits_.window_source == WindowSource::allowance && !bits_.use_sack;
  }
  void on_ack_after_timeout(AckEvent& event);
  void forget_duplicates(const AckEvent& event);
  [[nodiscard]] std::uint32_t still_missing() const;
  void repeat_what_is_missing(std::uint32_t segments, AckEvent& event);
  void enter_fast_recovery(Instant now);
  void leave_recovery(const AckEvent& event);
  /// RFC 6582 section 3.2 step 3: of the partial acknowledgements of a recovery only the first restarts the timer, so
  /// that a window with many holes is not repaired at one per round trip. Under an allowance it is not in any case.
  [[nodiscard]] bool keeps_timer() const {
    return bits_.partially_acked && snd_.una < repair_.point && !repairs_blindly();
  }
  void on_retransmission_timeout(Instant now);
  [[nodiscard]] Instant lost_before(Instant now) const;

  // path_mtu.cpp
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

  // urgent.cpp
  void take_urgent_pointer(const Segment& segment);
  [[gnu::cold, gnu::noinline]] void mark_urgent(Segment& segment) const;
  void settle_urgent();

  // accurate_ecn.cpp
  /// The counters of a connection whose hosts agreed on accurate feedback; null on others.
  [[nodiscard, gnu::cold, gnu::noinline]] AccurateEcn* accurate_ecn() const;
  void mark_accurately(const AccurateEcn& state, Segment& segment) const;
  void emit_accurate_answer(Instant now, Output& output);
  void count_mark(const Segment& segment);
  bool heed_count(AccurateEcn& state, const Segment& segment, const AckEvent& event);

  // ecn.cpp
  [[gnu::cold, gnu::noinline]] void mark_ecn(Segment& segment);
  [[gnu::cold, gnu::noinline]] void cwr_stays_due(const Segment& segment);
  void heed_mark(const Segment& segment);
  bool heed_echo(const Segment& segment, const AckEvent& event);
  void reduce_at_once(const AckEvent& event);

  // tail_probe.cpp
  [[nodiscard]] bool may_probe_tail() const;
  [[nodiscard]] Duration probe_timeout() const;
  void on_probe_timeout(Instant now);
  void emit_tail_probe(Instant now, Output& output, Bytes& left);
  void judge_tail_probe(const Segment& segment, const AckEvent& event);
  [[gnu::noinline]] void arm_retransmit_slow(Instant now);

  // spurious.cpp
  [[nodiscard]] bool judges_repairs() const { return config_->takes_back && !config_->classic_reno; }
  void suspect_timeout();
  void copy_went_out();
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

  // timers.cpp
  void arm(Timer timer, Instant deadline);
  void arm_retransmit(Instant now);
  void disarm(Timer timer);

  // persist.cpp
  void on_persist();
  [[nodiscard]] bool window_closed() const { return snd_.wnd == 0 && bits_.state >= State::established; }
  [[nodiscard]] bool must_guard_refused() const;
  void on_refusal(Instant now);
  [[nodiscard]] bool may_fit_rounding(packet::Cursor position) const;
  [[gnu::cold, gnu::noinline]] void repeat_refused(Instant now);
  void emit_probe(Instant now, Output& output);
  [[nodiscard, gnu::noinline]] bool must_guard_window() const;
  [[nodiscard]] bool may_split() const { return !send_.outstanding() && small_window_will_do(); }
  [[nodiscard]] bool small_window_will_do() const;
  [[gnu::cold, gnu::noinline]] bool split_for_window();

  // emit.cpp
  [[gnu::noinline]] Bytes emit_slow(Instant now, Output& output, Bytes allowance);
  [[nodiscard]] bool sends_plainly() const;
  [[gnu::noinline]] Bytes emit_troubled(Instant now, Output& output, Bytes allowance);
  /// Decides whether the fast paths apply. Called wherever what keeps them from it may have ended; what begins such a
  /// thing clears bits_.on_fast_path. Where the connection is not open, and nothing has to be put away, they do not.
  void settle() {
    bits_.on_fast_path = false;
    if (bits_.state == State::established || disturbed() || bits_.urgent_in || bits_.urgent_out) settle_open();
  }
  void settle_open();
  /// Nothing that was agreed on or configured keeps the connection from the fast paths.
  [[nodiscard]] bool may_go_fast() const { return !bits_.small_path && !paced() && !uses_accurate_ecn(); }
  [[nodiscard]] Segment header(SeqNum seq);
  [[nodiscard]] SeqNum acceptable_seq() const;
  void acknowledged_up_to(SeqNum ack);
  void ack_went_out(const Segment& segment);
  void emit_ack(Instant now, Output& output);
  [[gnu::cold, gnu::noinline]] void emit_ack_with_more(Instant now, Output& output);
  [[gnu::cold, gnu::noinline]] void emit_all_runs(Segment segment, Instant now, Output& output) const;
  void emit_fin(Instant now, Output& output);
  [[nodiscard]] bool fin_can_go() const;

  // emit_data.cpp
  /// What several payloads in one buffer come to at most: a segment's. Where that is small, they are cut again.
  [[nodiscard]] std::uint32_t most_joined() const { return mtu_.full_mss < SendQueue::small ? least_joined : mtu_.mss; }
  [[nodiscard]] bool fits_cwnd(std::uint32_t length) const { return fits_cwnd(length, pipe()); }
  [[nodiscard]] bool fits_cwnd(std::uint32_t length, std::uint32_t in_flight) const;
  [[nodiscard]] bool may_send_new() const;
  [[nodiscard]] bool may_retransmit(packet::Cursor position) const;
  [[nodiscard]] bool finds_something_to_send() const;
  [[nodiscard]] packet::Cursor next_repair() const;
  Bytes emit_data(Instant now, Output& output, Bytes allowance);
  void emit_new(Instant now, Output& output, Bytes& left);
  void note_use_of_cwnd(std::uint32_t in_flight);
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
  void undo_model();
  /// What is told of each segment that is lost; nothing where none is wanted.
  [[nodiscard]] DeliveryRate* samples() const;

  // close.cpp
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
  static constexpr std::uint8_t copies_unknown = UINT8_MAX;
  static constexpr std::uint32_t most_blindly_repeated = UINT8_MAX;  ///< segments
  static constexpr std::uint8_t most_duplicates_due = 31;
  /// Segments of less than SendQueue::small bytes in flight. A further one waits for an acknowledgement, and is joined
  /// by what is written meanwhile: Nagle's rule (RFC 9293 section 3.7.4) with more than one segment, to spare buffers.
  static constexpr std::uint8_t most_small = 128;
  static constexpr std::uint32_t least_joined = 1024;     ///< bytes; payloads that wait are joined up to this at least
  static constexpr std::uint8_t backoff_limit = 16;       ///< what RttEstimator::timeout() tells apart
  static constexpr std::uint32_t challenge_spacing = 12;  ///< tick::rough: 100 ms

  // What every segment touches comes first. The order leaves no padding: what ends in the middle of a word is followed
  // by what needs no more than the rest of it.
  const EndpointConfig* config_ = nullptr;
  [[no_unique_address]] SendQueue send_;
  EndpointBits bits_;
  std::uint16_t last_challenge_ = 0;  ///< tick::rough
  SendState snd_;
  SeqNum fin_seq_;  ///< the peer's FIN, once fin_known
  [[no_unique_address]] ReceiveState rcv_;
  packet::Queue in_order_;
  Instant timer_deadline_ = never;
  [[no_unique_address]] RttEstimator rtt_;
  ReorderingWindow reordering_;
  RepairState repair_;
  PathMtuState mtu_;
  std::uint16_t ts_recent_at_ = 0;  ///< when it was heard, tick::slow
  [[no_unique_address]] CongestionControl congestion_;
  std::uint8_t small_out_ = 0;  ///< segments of less than SendQueue::small bytes in flight
  EndpointCounters counters_;
  std::uint32_t room_ = 65535;
  std::uint32_t ts_value_ = 0;
};
static_assert(sizeof(Endpoint) <= 264);

}  // namespace sluice::tcp
