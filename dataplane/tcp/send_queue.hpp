#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/recovery_state.hpp"

namespace sluice::tcp {

/// Bits of PacketNote::flags for a packet in a send queue.
struct SendMark {
  /// Set if a SACK block has reported the whole packet as received.
  static constexpr std::uint8_t sacked = 0x01;
  static constexpr std::uint8_t lost = 0x02;           ///< set if the packet is considered lost
  static constexpr std::uint8_t retransmitted = 0x04;  ///< set if a retransmission of the packet is in flight
};

/// Packets from SND.UNA to the end of written data, in order, with the SACK scoreboard (RFC 6675, RFC 8985). Every
/// packet is unsent, in flight, sacked, lost or retransmitted. in_flight() is updated with each change.
///
/// Losses are tracked per packet: a packet counts as sacked when one block covers all of it. Packets sent once were
/// sent in queue order. Retransmitted packets form a ring in the order of their retransmission (PacketNote::scratch64,
/// scratch64_b). So the packet with the oldest transmission is found without a search. DeliveryRate uses scratch32,
/// scratch64_c and, for packets sent once, scratch64.
///
/// The SACK scoreboard of a queue is part of a RecoveryState. Functions that mark or retransmit a packet require a
/// RecoveryState.
class SendQueue {
 public:
  /// Returns the recovery state that holds the scoreboard; null while nothing is marked.
  [[nodiscard]] RecoveryState* recovery_state() const { return recovery_state_; }
  /// Attaches the recovery state that holds the scoreboard. Null detaches it, which requires that nothing is marked.
  void set_recovery_state(RecoveryState* recovery_state) { recovery_state_ = recovery_state; }
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] packet::Cursor front() const { return packets_.front(); }
  [[nodiscard]] packet::Cursor back() const { return packets_.back(); }
  /// Returns the first packet that was never sent; empty if there is none.
  [[nodiscard]] packet::Cursor unsent() const { return unsent_; }
  /// True if some packet was sent and not acknowledged.
  [[nodiscard]] bool outstanding() const { return packets_.front() && !(packets_.front() == unsent_); }
  /// Returns `pipe` of RFC 6675 in bytes: sent and neither acknowledged, sacked nor marked lost, plus retransmissions
  /// in flight.
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  /// Returns the bytes that are marked lost and not retransmitted yet.
  [[nodiscard]] std::uint32_t to_retransmit() const {
    return recovery_state_ == nullptr ? 0 : recovery_state_->scoreboard.to_retransmit;
  }

  /// Payload size in bytes below which a packet is small: its buffer then takes much more memory than its payload.
  static constexpr std::uint32_t small = 256;

  /// Copies `payload` to the end of the last packet if that packet is unsent and both together have at most `most`
  /// bytes. Returns false and changes nothing otherwise; the caller must then call push().
  [[nodiscard]] bool join_back(const packet::Packet& payload, std::uint32_t most);
  /// Appends a packet; note().seq, payload_len and payload_sum must be set.
  void push(packet::Packet&& packet) {
    begin(packet.note());
    packets_.push_back(std::move(packet));
    if (!unsent_) unsent_ = packets_.back();
  }
  /// Appends all of `packets`, which is empty afterwards and must not be empty before.
  void push_all(packet::Queue& packets) {
    for (packet::Cursor at = packets.front(); at; at = at.next()) begin(at.note());
    const packet::Cursor first = packets.front();
    packets_.push_back_all(packets);
    if (!unsent_) unsent_ = first;
  }
  /// Records that the first unsent packet was sent at `now`.
  void sent(Instant now) {
    packet::PacketNote& note = unsent_.note();
    note.sent = now;
    note.transmissions = 1;
    in_flight_ += note.payload_len;
    last_sent_ = unsent_;
    unsent_ = unsent_.next();
  }
  /// Appends a packet that was already sent. Requires that no packet is unsent.
  void push_sent(packet::Packet&& packet, Instant now) {
    packet::PacketNote& note = packet.note();
    begin(note);
    note.sent = now;
    note.transmissions = 1;
    in_flight_ += note.payload_len;
    packets_.push_back(std::move(packet));
    last_sent_ = packets_.back();
  }
  /// Records that `position`, a packet sent before, was retransmitted.
  void resent(packet::Cursor position, Instant now);
  /// Inserts `packet` before the first unsent packet, from whose front its bytes were cut.
  void push_front_of_unsent(packet::Packet packet);

  /// Splits the first `length` bytes off a packet that is unsent or due for retransmission, as a separate packet.
  /// Returns false if there is no buffer.
  bool cut(packet::Cursor position, std::uint32_t length);

  /// True if one of the sent packets ends at sequence number `ack`, or if all of them end before it. To limit its work,
  /// the search stops after a number of packets (max_steps); the result is then true.
  [[nodiscard]] bool ends_packet(SeqNum ack) const;
  /// Removes everything before `ack`. Sets the members `rtt`, `small` and `misplaced` of `event`; the caller sets
  /// `acked`.
  void acknowledge(SeqNum ack, AckEvent& event);

  // --- scoreboard updates of one acknowledgement on a connection with a RecoveryState; record_delivered() precedes
  // acknowledge()

  /// Returns an empty Delivery, the record of what one ACK delivers. The caller sets its members `now`, `min_rtt`,
  /// `originals` and `rate`. The argument `una` is SND.UNA.
  [[nodiscard]] Delivery begin_delivery(SeqNum una) const;
  /// Adds the packets before `ack`, which acknowledge() is about to remove, to `delivery`.
  void record_delivered(SeqNum ack, Delivery& delivery) const;
  /// Marks the packets that the SACK blocks cover and adds newly_sacked and rtt to `event`. Blocks outside [una, nxt]
  /// are ignored.
  ///
  /// The search for the packets of a SACK block starts at the nearest earlier packet at which a search ended before. A
  /// receiver repeats and extends its blocks, so that packet is close. But a hostile peer may report any block. So at
  /// most `max_steps` packets are passed without marking one, for all blocks together. Packets farther away stay
  /// unmarked this time, which is safe because SACK is advisory (RFC 2018 section 8). The next SACK continues from the
  /// packet that was reached. The newest packet is marked in any case, because the answer to a tail loss probe may
  /// report only that packet.
  void mark_sacked(std::span<const SackBlock> blocks, SeqNum una, SeqNum nxt, AckEvent& event, Delivery& delivery);
  static constexpr int max_steps = 1000;
  /// Marks packets and retransmissions that `rack` considers lost (RFC 8985 section 6.2 step 5) and adds newly_lost to
  /// `event`. A packet counts as lost if one sent after it was delivered, and it has not arrived within the round-trip
  /// time plus `window`. Returns the ticks of 1.02 µs (tick::us) until the first of the other packets may become lost;
  /// zero if none can. RFC 8985 arms its timer for the last such packet instead. If `rate` is not null, every lost
  /// packet is reported to it.
  std::uint32_t mark_overdue(const Rack& rack, std::uint32_t now, std::uint32_t window, AckEvent& event,
                             DeliveryRate* rate = nullptr);

  /// Marks the oldest outstanding packet lost, unless it is lost or sacked already.
  void mark_front_lost(AckEvent& event, DeliveryRate* rate = nullptr);
  /// Marks the outstanding packets that end at or before `end` lost, unless they are lost or sacked already. The search
  /// starts where the last search of the current recovery ended.
  void mark_lost_before(SeqNum end, AckEvent& event, DeliveryRate* rate = nullptr);
  /// Marks packets lost after a retransmission timeout: the oldest one, and all packets and retransmissions sent at or
  /// before `before` (RFC 8985 section 6.3).
  void mark_lost_by_timeout(Instant before, AckEvent& event, DeliveryRate* rate = nullptr);
  /// Returns the largest payload of the outstanding packets that end at or before `end`; 0 if there is none.
  [[nodiscard]] std::uint32_t largest_before(SeqNum end) const;
  /// Marks outstanding packets with more than `payload` bytes lost, because the path carries no such packets.
  void mark_lost_above(std::uint32_t payload, AckEvent& event);
  /// Removes all loss marks, because a recovery was spurious: everything outstanding and not sacked counts as in flight
  /// once.
  void unmark_lost();
  /// Clears all SACK marks after the peer dropped data it had sacked (RFC 2018 section 8).
  void forget_sacks();

  /// Returns the first packet that is lost and not retransmitted (NextSeg() rule 1 of RFC 6675); empty if there is
  /// none.
  [[nodiscard]] packet::Cursor next_retransmission() const;
  /// Returns the outstanding packet with the highest sequence number; empty if there is none.
  [[nodiscard]] packet::Cursor last_sent() const { return outstanding() ? last_sent_ : packet::Cursor(); }
  [[nodiscard]] bool front_sacked() const;
  /// True if the oldest outstanding packet was sent before the newest packet that `delivery` acknowledges. The oldest
  /// packet is then lost or reordered, or `delivery` acknowledges a retransmission.
  [[nodiscard]] bool front_overtaken(const Delivery& delivery) const;
  /// True if the oldest outstanding packet is marked lost.
  [[nodiscard]] bool front_lost() const;
  /// True if a retransmission of the oldest outstanding packet is in flight.
  [[nodiscard]] bool front_retransmitted() const;
  /// Returns the number of outstanding packets that are sacked.
  [[nodiscard]] unsigned sacked() const { return recovery_state_ == nullptr ? 0 : recovery_state_->scoreboard.sacked; }

  void clear();

 private:
  static void begin(packet::PacketNote& note) {
    note.flags = 0;
    note.transmissions = 0;
    note.scratch64_b = 0;
  }
  [[nodiscard]] Scoreboard& scoreboard() {
    assert(recovery_state_ != nullptr);
    return recovery_state_->scoreboard;
  }
  void pop_acknowledged(AckEvent& event);
  [[gnu::cold, gnu::noinline]] void unmark(packet::Cursor at, AckEvent& event);
  [[gnu::cold, gnu::noinline]] void trim_front(SeqNum ack, AckEvent& event);
  void sample(const packet::PacketNote& note, AckEvent& event) const;
  void lose(packet::Cursor at, AckEvent& event, DeliveryRate* rate);
  void mark_sacked(packet::Cursor position, AckEvent& event, Delivery& delivery);
  bool mark_block(const SackBlock& block, int& steps, AckEvent& event, Delivery& delivery);
  void mark_newest(const SackBlock& block, AckEvent& event, Delivery& delivery);
  [[nodiscard]] packet::Cursor nearest_before(SeqNum place) const;
  void record_found(packet::Cursor at);
  [[gnu::cold, gnu::noinline]] void forget_place(packet::Cursor at);
  void link_retransmission(packet::Cursor at);
  void unlink_retransmission(packet::Cursor at);

  packet::Queue packets_;
  packet::Cursor unsent_;
  /// Outstanding packet with the highest sequence number, valid while something is outstanding.
  packet::Cursor last_sent_;
  RecoveryState* recovery_state_ = nullptr;
  std::uint32_t in_flight_ = 0;
};

}  // namespace sluice::tcp
