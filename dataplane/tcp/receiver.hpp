#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/reassembly.hpp"
#include "dataplane/tcp/timers.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::tcp {

/// Receiving half of a connection (RFC 9293 section 3.8.6, RFC 5681 section 4.2, RFC 7323): data in order and out of
/// order, the advertised window, and when to acknowledge.
///
/// Invariants: RCV.NXT <= rcv_adv() once the window was advertised, and the right edge rcv_adv() never moves back. The
/// unread bytes end at RCV.NXT, or one before it once the peer's FIN was received. While acknowledgements are deferred,
/// only acknowledge_up_to() changes acknowledged(), which never exceeds RCV.NXT. While urgent data is pending, the
/// connection has a RecoveryState, which stores where that data ends.
class Receiver : public Timers {
 public:
  /// Removes the next payload from the in-order data and returns its packet, or an empty handle if there is none. The
  /// packet's note() has valid seq, payload_len and payload_sum. Data that arrived before the peer's reset can still be
  /// read.
  [[nodiscard]] packet::Packet read();
  /// True if the peer's FIN arrived and every byte before it was read.
  [[nodiscard]] bool peer_finished() const { return bits_.fin_received && in_order_.empty(); }
  /// True if the peer may still send data, because it has sent no FIN and the connection is not closed.
  [[nodiscard]] bool expects_data() const { return !bits_.fin_received && state() != State::closed; }
  /// Sets how many bytes beyond the first unread one the endpoint accepts (the receive room), 0 to 2^30; the default is
  /// 65535. Whenever an ACK is sent, the right edge of the window moves up to (first unread byte + room). A move of
  /// less than a segment is postponed, and the edge is never retracted. A window update is scheduled when the edge can
  /// move by min(2 MSS, room / 2); `updates` changes this threshold. If no segment fits the window, a smaller move
  /// suffices if one segment or half the room fits afterwards (RFC 9293 section 3.8.6.2.2).
  void set_receive_room(Bytes room, WindowUpdates updates = WindowUpdates::sparing);
  [[nodiscard]] Bytes receive_room() const { return Bytes(room_); }
  /// Adds `bytes` to the receive room (bytes accepted beyond the first unread one) without a window update. Returns
  /// false and changes nothing if a window update may be due; the caller must then call set_receive_room(). An update
  /// may be due if the rest of the peer's window is at most half the receive room. It may also be due if the room is
  /// zero, or if the right edge can move by two segments or half the room. Always returns false with WindowUpdates
  /// other than `sparing`.
  bool add_receive_space(std::uint32_t bytes);
  /// Withholds acknowledgements: from this call on, only acknowledge_up_to() moves the acknowledgement number. In-order
  /// data then triggers no ACK by itself.
  void defer_acks();
  /// Ends defer_acks(): received data is acknowledged automatically again. If acknowledgements were withheld, the next
  /// emit() sends an ACK.
  void stop_deferring_acks();
  [[nodiscard]] bool defers_acks() const { return bits_.acks_deferred; }
  /// Acknowledges received data up to `limit` with the next emit(). Requires defer_acks().
  void acknowledge_up_to(SeqNum limit);
  /// Returns up to which sequence number data that this endpoint has received was acknowledged to the peer, or will be
  /// with the next emit().
  [[nodiscard]] SeqNum acknowledged() const { return earlier(rcv_.last_ack_sent, rcv_.nxt); }
  /// Returns the acknowledgement number of the next segment to the peer, normally RCV.NXT. It may be lower while
  /// acknowledgements are deferred. It may be higher after pass_acknowledgement(), because the host behind this
  /// endpoint has then acknowledged more data itself.
  [[nodiscard]] SeqNum next_acknowledgement() const {
    // Compilers produce slower code for a choice between two SeqNum objects than for one between integers.
    const bool is_passed = static_cast<std::int32_t>(rcv_.last_ack_sent.raw() - rcv_.nxt.raw()) > 0;
    return SeqNum(bits_.acks_deferred || is_passed ? rcv_.last_ack_sent.raw() : rcv_.nxt.raw());
  }
  /// Makes further segments carry the acknowledgement number `ack`, although this endpoint has not received the data
  /// before it. The host in whose name the endpoint acts has acknowledged that data itself. With a lower number the
  /// peer would discard the segments as too old (RFC 5961 section 5.2), retransmissions included. The newest call
  /// counts, also if its number is lower. So a forged number lasts only until the host's next segment. Has no effect if
  /// `ack` is not beyond RCV.NXT, or while received data is not acknowledged.
  void pass_acknowledgement(SeqNum ack) {
    if (ack <= rcv_.nxt || rcv_.last_ack_sent < rcv_.nxt) return;
    rcv_.last_ack_sent = ack;
    rcv_.adv = later(rcv_.adv, ack);
  }
  /// True if received data is not acknowledged yet, or an ACK is due for another reason.
  [[nodiscard]] bool owes_acknowledgement() const { return bits_.ack_now || rcv_.last_ack_sent < rcv_.nxt; }
  /// True if the next data segment is acknowledged at once (RFC 5681 section 4.2), or an ACK is due already.
  [[nodiscard]] bool acknowledges_next() const { return bits_.ack_now || bits_.segment_unacked; }
  /// Sends a delayed ACK with the next emit() instead of waiting for its timer.
  void send_ack_now() { bits_.ack_now = bits_.ack_now || rcv_.last_ack_sent < rcv_.nxt; }
  /// Returns true once for each keep-alive of the peer that arrives while this endpoint has nothing in flight (RFC 9293
  /// section 3.8.4). Also returns true for each probe of a closed window (section 3.8.6.1). Only used if
  /// EndpointConfig::answers_keepalives is false; the endpoint's owner then answers with answer_keepalive().
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
  /// Returns the arrival time of the packet right after the lowest hole, which shows how long the hole has been open.
  /// Returns `never` if nothing is stored out of order.
  [[nodiscard]] Instant out_of_order_since() const {
    return has_recovery_state() ? recovery_state().reassembly.waits_since() : never;
  }
  /// Records that another component has advertised a window up to `edge` to the peer. Data up to `edge` is accepted
  /// from then on. Never moves the edge back.
  void record_advertised(SeqNum edge) { rcv_.adv = later(rcv_.adv, edge); }
  /// Drops all out-of-order data. If it was reported in SACK blocks, this is the reneging that RFC 2018 section 8
  /// permits.
  void drop_out_of_order() {
    if (has_recovery_state()) ensure_recovery_state().reassembly.clear();
  }

  [[nodiscard]] SeqNum rcv_nxt() const { return rcv_.nxt; }
  /// Returns how many bytes the peer may still send into the window that was advertised to it.
  [[nodiscard]] Bytes advertised() const {
    const std::int32_t open = rcv_.adv - rcv_.nxt;
    return Bytes(open > 0 && (on_fast_path() || expects_data()) ? open : 0);
  }
  /// Returns the right edge of the window advertised to the peer.
  [[nodiscard]] SeqNum rcv_adv() const { return rcv_.adv; }
  /// Returns the newest TSval received from the peer; 0 without timestamps.
  [[nodiscard]] std::uint32_t newest_ts_value() const { return rcv_.newest_ts; }
  /// Returns the number of in-order bytes that were not read yet.
  [[nodiscard]] Bytes unread() const { return Bytes(rcv_.unread); }
  /// True if out-of-order segments are held.
  [[nodiscard]] bool reassembling() const { return has_recovery_state() && !recovery_state().reassembly.empty(); }

 protected:
  // --- opening and ending ---

  /// Resets everything for a new connection except the receive room (bytes accepted beyond the first unread one) and
  /// the choice of WindowUpdates.
  void reset();
  /// Sets the MSS that this endpoint announces, and permits the first challenge ACK at once.
  void start_receiving(std::uint16_t local_mss, Instant now);
  /// Starts the received stream at sequence number `nxt`, with an advertised window up to `adv`.
  void begin_stream(SeqNum nxt, SeqNum adv);
  /// Sets the receive room (bytes accepted beyond the first unread one) to the window that is already advertised.
  void accept_advertised() { room_ = static_cast<std::uint32_t>(rcv_.adv - rcv_.nxt); }
  void set_rcv_shift(unsigned shift) { bits_.rcv_shift = shift & 15U; }
  /// Stores the TSval of the peer's SYN.
  void begin_timestamps(std::uint32_t ts_value, Instant now);
  /// Drops the data that was not read.
  void clear_unread() {
    in_order_.clear();
    rcv_.unread = 0;
  }
  void forget_urgent_in() { bits_.urgent_in = false; }
  [[nodiscard]] std::uint8_t rcv_shift() const { return bits_.rcv_shift; }
  /// Returns the window field of a SYN, which is not scaled.
  [[nodiscard]] std::uint16_t syn_window() const {
    return static_cast<std::uint16_t>(std::min(room_, largest_window_field));
  }

  // --- an arriving segment ---

  [[nodiscard]] std::uint32_t ts_recent() const { return rcv_.ts_recent; }
  /// True if the TSval of the segment is older than TS.Recent, which PAWS rejects (RFC 7323 section 5.3).
  [[nodiscard]] bool has_old_timestamp(const Segment& segment) const {
    return static_cast<std::int32_t>(segment.ts_value - rcv_.ts_recent) < 0;
  }
  /// True if the sequence number lies in the receive window, or below RCV.NXT by at most max(receive room, 1 MiB).
  /// Retransmissions begin there. The receive room is the number of bytes accepted beyond the first unread one.
  [[nodiscard]] bool is_near_window(SeqNum seq) const {
    return seq + std::max(room_, min_repeated) >= rcv_.nxt && seq <= later(rcv_.adv, rcv_.nxt);
  }
  void remember_timestamp(const Segment& segment, Instant now);
  bool check_timestamp(const Segment& segment, Instant now);
  bool check_sequence(const Segment& segment, bool idle, Instant now);
  /// Schedules a challenge ACK, rate-limited as RFC 5961 section 7 requires.
  void challenge(Instant now);
  void count_mark(const Segment& segment);
  void take_urgent_pointer(const Segment& segment);
  void accept_data(const Segment& segment, packet::Packet&& payload, Instant now);
  void append_in_order(packet::Packet&& payload);
  void schedule_ack(std::uint32_t segments, Instant now);

  // --- data that leaves without being read ---

  [[nodiscard]] packet::Queue& in_order() { return in_order_; }
  [[nodiscard]] const packet::Queue& in_order() const { return in_order_; }
  std::uint32_t hand_over_unread();
  void receive_cut_through(const Segment& first, const Segment& last, std::uint32_t count, Instant now);

  // --- acknowledgements ---

  /// True if the next emit() must send an ACK.
  [[nodiscard]] bool ack_is_due() const { return bits_.ack_now; }
  void request_ack() { bits_.ack_now = true; }
  void cancel_ack() { bits_.ack_now = false; }
  /// Makes a delayed ACK due now if its deadline has passed.
  void expire_delayed_ack(Instant now) {
    if (ack_deadline() <= now) bits_.ack_now = true;
  }
  /// True if the endpoint's owner withholds the acknowledgement of data that was received in order.
  [[nodiscard]] bool holding_back() const { return bits_.acks_deferred && rcv_.last_ack_sent < rcv_.nxt; }
  /// Returns the number of duplicate ACKs due for out-of-order segments, without SACK.
  [[nodiscard]] unsigned duplicates_due() const { return bits_.duplicates_due; }
  void clear_duplicates() { bits_.duplicates_due = 0; }
  /// True while every ACK echoes a congestion mark (RFC 3168 section 6.1.3).
  [[nodiscard]] bool echoes_mark() const { return bits_.ece_due; }
  [[nodiscard]] std::uint16_t advertise();
  void acknowledged_up_to(SeqNum ack);
  void ack_went_out(const Segment& segment);
  /// True if SACK blocks are due: out-of-order or duplicate data is to be reported.
  [[nodiscard]] bool has_sack_blocks() const {
    return has_recovery_state() && !recovery_state().reassembly.sack_generator().empty();
  }
  [[nodiscard]] const SackGenerator& sack_generator() const { return recovery_state().reassembly.sack_generator(); }

  /// Clears the urgent flag once the urgent data was read.
  void update_urgent_in() {
    if (bits_.urgent_in && urgent_end() <= rcv_.nxt - rcv_.unread) bits_.urgent_in = false;
  }
  /// True if the receiver permits the fast paths for segments in order without loss: no FIN and no urgent data was
  /// received, and no keep-alive waits for an answer.
  [[nodiscard]] bool receives_plainly() const {
    return !bits_.fin_known && !bits_.urgent_in && !bits_.keepalive_pending;
  }
  /// Returns the number of segments whose data was discarded, because it was old, beyond the window, or could not be
  /// stored.
  [[nodiscard]] std::uint16_t discarded() const { return discarded_; }
  [[nodiscard]] std::uint16_t out_of_order() const { return out_of_order_; }

 private:
  // --- defined in receive_data.cpp ---
  void accept_payload(SeqNum seq, packet::Packet&& payload, Instant now);
  void accept_out_of_order(packet::Packet&& payload);
  [[nodiscard]] Reassembly::Limits reassembly_limits() const;
  void drain_reassembly();
  void report_duplicate(SeqNum left, SeqNum right);
  [[nodiscard]] std::int32_t edge_gain() const;
  [[nodiscard]] bool is_too_small_update(std::int32_t gain) const;
  [[nodiscard]] bool edge_may_move(std::uint32_t step) const;
  [[nodiscard]] std::uint32_t window_update_step() const;
  [[nodiscard, gnu::noinline]] bool is_window_update_due(std::int32_t gain) const;
  void consider_window_update();
  void account_cut_through(std::uint32_t before, std::uint32_t last);

  // --- defined in receiver_checks.cpp ---
  [[nodiscard]] bool is_keepalive(const Segment& segment, bool idle) const;
  [[nodiscard]] bool owner_answers() const;
  [[nodiscard]] bool probes_window() const;

  void receive_fin(Instant now);            // defined in close.cpp
  void on_ce_mark(const Segment& segment);  // defined in ecn.cpp

  static constexpr std::uint8_t max_duplicates_due = 31;
  /// Shortest time between challenge ACKs (100 ms), in ticks of 8.4 ms (tick::ms8).
  static constexpr std::uint32_t challenge_spacing = 12;
  /// Bytes below RCV.NXT in which a retransmission is plausible even if the receive room is smaller. A peer retransmits
  /// such old data if acknowledgements were lost.
  static constexpr std::uint32_t min_repeated = 1U << 20;

  struct Bits {
    std::uint8_t rcv_shift : 4 = 0;  ///< shift count of the window fields that this endpoint sends (RFC 7323)
    WindowUpdates window_updates : 2 = WindowUpdates::sparing;
    bool ack_now : 1 = false;
    bool acks_deferred : 1 = false;       ///< true if the endpoint's owner decides which data is acknowledged
    bool segment_unacked : 1 = false;     ///< true if a data segment was received since the last acknowledgement
    bool ece_due : 1 = false;             ///< true while every ACK carries ECE, until the peer answers with CWR
    bool urgent_in : 1 = false;           ///< true if the peer has announced urgent data that was not read yet
    std::uint8_t duplicates_due : 5 = 0;  ///< number of duplicate ACKs due for out-of-order segments, without SACK
    /// True if the endpoint's owner must answer a keep-alive or window probe of the peer.
    bool keepalive_pending : 1 = false;
    bool fin_known : 1 = false;     ///< true if the peer's FIN was received, perhaps out of order
    bool fin_received : 1 = false;  ///< true if the peer's FIN was received in order
  };
  /// Receive sequence variables (RFC 9293 section 3.3.1) and timestamps (RFC 7323).
  struct Sequence {
    SeqNum nxt;
    SeqNum adv;  ///< right edge of the window advertised to the peer
    /// Acknowledgement number of the last segment sent. acknowledge_up_to() moves it forward, at most to `nxt`, and
    /// pass_acknowledgement() to a number beyond `nxt`. The next segment then carries it.
    SeqNum last_ack_sent;
    std::uint32_t unread = 0;
    std::uint32_t ts_recent = 0;
    std::uint32_t newest_ts = 0;
  };

  Bits bits_;
  std::uint16_t ts_recent_at_ = 0;  ///< time at which TS.Recent was received, in ticks of 137 s (tick::s137)
  Sequence rcv_;
  std::uint32_t room_ = 65535;
  packet::Queue in_order_;
  SeqNum fin_seq_;  ///< sequence number of the peer's FIN, valid if a FIN was received
  std::uint16_t discarded_ = 0;
  std::uint16_t out_of_order_ = 0;
  std::uint16_t last_challenge_ = 0;  ///< time of the last challenge ACK, in ticks of 8.4 ms (tick::ms8)
};

}  // namespace sluice::tcp
