#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/disturbance.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/segment.hpp"

namespace sluice::tcp {

/// PacketNote::flags of a packet in a send queue.
struct SendMark {
  static constexpr std::uint8_t sacked = 0x01;         ///< the peer holds all of it
  static constexpr std::uint8_t lost = 0x02;           ///< taken for lost
  static constexpr std::uint8_t retransmitted = 0x04;  ///< a repeated copy is in flight
};

/// The packets from SND.UNA to the end of what was written, in order, and the scoreboard on them (RFC 6675, 8985):
/// every packet is unsent, in flight, sacked, lost or retransmitted, and in_flight() follows each change.
///
/// A packet is the unit of loss: it counts as sacked when one block covers all of it. Packets sent once were sent in
/// the order of the queue; those sent again are linked in the order of their copies (PacketNote::scratch64,
/// scratch64_b, a ring; scratch32, scratch64_c and, of those sent once, scratch64 are DeliveryRate's). So what was sent
/// first is always found at once, and loss by time needs no walk.
///
/// Where the scoreboard stands is part of a Disturbance. Whatever marks a packet, or sends one again, requires one.
class SendQueue {
 public:
  /// While the connection is disturbed, what is kept of that; null: nothing is marked.
  [[nodiscard]] Disturbance* disturbance() const { return disturbance_; }
  /// The scoreboard is kept there from now on. Null requires that nothing is marked.
  void disturb(Disturbance* disturbance) { disturbance_ = disturbance; }
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] packet::Cursor front() const { return packets_.front(); }
  [[nodiscard]] packet::Cursor back() const { return packets_.back(); }
  /// The first packet that was never sent.
  [[nodiscard]] packet::Cursor unsent() const { return unsent_; }
  /// Some packet was sent and not acknowledged.
  [[nodiscard]] bool outstanding() const { return packets_.front() && !(packets_.front() == unsent_); }
  /// RFC 6675 pipe: bytes sent and neither acknowledged, sacked nor taken for lost, plus retransmissions under way.
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  /// Lost bytes of which no new copy was sent yet.
  [[nodiscard]] std::uint32_t to_retransmit() const {
    return disturbance_ == nullptr ? 0 : disturbance_->scoreboard.to_retransmit;
  }

  /// Packets of fewer bytes take much more memory than they carry.
  static constexpr std::uint32_t small = 256;

  /// Copies `payload` behind the last packet when that is unsent and both come to `most` bytes at most. False when it
  /// must be pushed.
  [[nodiscard]] bool join_back(const packet::Packet& payload, std::uint32_t most);
  /// Appends; note().seq, payload_len and payload_sum must be set.
  void push(packet::Packet&& packet) {
    begin(packet.note());
    packets_.push_back(std::move(packet));
    if (!unsent_) unsent_ = packets_.back();
  }
  /// The same for all of `packets`, which is empty afterwards. Requires that there are any.
  void push_all(packet::Queue& packets) {
    for (packet::Cursor at = packets.front(); at; at = at.next()) begin(at.note());
    const packet::Cursor first = packets.front();
    packets_.push_back_all(packets);
    if (!unsent_) unsent_ = first;
  }
  /// The first unsent packet has been sent.
  void sent(Instant now) {
    packet::PacketNote& note = unsent_.note();
    note.sent = now;
    note.transmissions = 1;
    in_flight_ += note.payload_len;
    last_sent_ = unsent_;
    unsent_ = unsent_.next();
  }
  /// Appends one that has been sent. Requires that none waits to be.
  void push_sent(packet::Packet&& packet, Instant now) {
    packet::PacketNote& note = packet.note();
    begin(note);
    note.sent = now;
    note.transmissions = 1;
    in_flight_ += note.payload_len;
    packets_.push_back(std::move(packet));
    last_sent_ = packets_.back();
  }
  /// `position`, sent before, has been sent again.
  void resent(packet::Cursor position, Instant now);
  /// Puts `packet`, cut from the front of the first unsent packet, before it.
  void push_front_of_unsent(packet::Packet packet);

  /// Cuts `length` bytes off the front of a packet that is unsent or waits to be sent again, into one of their own.
  /// False when there was no buffer for them.
  bool cut(packet::Cursor position, std::uint32_t length);

  /// Drops what lies before `ack` and adds it to `event` (acked is the caller's; rtt and small here).
  void acknowledge(SeqNum ack, AckEvent& event);

  // --- what an acknowledgement of a disturbed connection tells; in this order, note_delivered() before acknowledge()

  /// An empty report; its clock and timestamps are the caller's to fill.
  [[nodiscard]] Delivery begin_delivery(SeqNum una) const;
  /// Adds the packets before `ack`, which are about to go, to `delivery`.
  void note_delivered(SeqNum ack, Delivery& delivery) const;
  /// Marks what the blocks cover; those outside [una, nxt] are ignored. Adds newly_sacked and rtt to `event`.
  ///
  /// The way to a block begins at the nearest place before it where a block was found, because a receiver repeats its
  /// blocks and extends them. A peer may report anything, so at most `most_steps` packets that are not news are passed
  /// on the way to all the blocks. What lies farther is not marked this time, which is safe because a report is advice
  /// (RFC 2018 section 8). The way passed is kept, so the next report of the block continues from there. The newest
  /// packet is marked in any case: the answer to a loss probe reports that alone, however many are missing before it.
  void mark_sacked(std::span<const SackBlock> blocks, SeqNum una, SeqNum nxt, AckEvent& event, Delivery& delivery);
  static constexpr int most_steps = 1000;
  /// Marks what `rack` gives up (RFC 8985 section 6.2 step 5), copies too, and adds newly_lost to `event`. Returns the
  /// ticks (tick::micro) until the next one may be given up; zero when none is waited for. A packet overtaken waits
  /// at most `window` beyond the round-trip time. The timer is for the first one, where RFC 8985 has the last.
  /// `rate`, here and below, is told of every packet lost, where samples are taken.
  std::uint32_t mark_overdue(const Rack& rack, std::uint32_t now, std::uint32_t window, AckEvent& event,
                             DeliveryRate* rate = nullptr);

  /// Marks the oldest outstanding packet as lost, unless it is already or was sacked.
  void mark_front_lost(AckEvent& event, DeliveryRate* rate = nullptr);
  /// Marks the outstanding packets that end at or before `end` as lost, unless they are already or were sacked. Goes on
  /// from where it came to since the last repair.
  void mark_lost_before(SeqNum end, AckEvent& event, DeliveryRate* rate = nullptr);
  /// The retransmission timer expired: the oldest packet is lost, and of the others, copies too, what was not sent
  /// after `before` (RFC 8985 section 6.3).
  void mark_lost_by_timeout(Instant before, AckEvent& event, DeliveryRate* rate = nullptr);
  /// The largest payload of the outstanding packets that end at or before `end`; 0 when there is none.
  [[nodiscard]] std::uint32_t largest_before(SeqNum end) const;
  /// Outstanding packets of more than `payload` bytes cannot have arrived.
  void mark_lost_above(std::uint32_t payload, AckEvent& event);
  /// Nothing was lost after all: everything outstanding and not sacked is on its way, once.
  void unmark_lost();
  /// The peer has dropped data it had sacked (RFC 2018 section 8): no packet is sacked any more.
  void forget_sacks();

  /// NextSeg() rule 1 of RFC 6675: the first packet that is lost and has no new copy; nothing when none.
  [[nodiscard]] packet::Cursor next_retransmission() const;
  /// The outstanding packet with the highest sequence number; nothing when none.
  [[nodiscard]] packet::Cursor last_sent() const { return outstanding() ? last_sent_ : packet::Cursor(); }
  [[nodiscard]] bool front_sacked() const;
  /// It was sent before something of `delivery`, which packets that leave in order are not: one was sent again.
  [[nodiscard]] bool front_overtaken(const Delivery& delivery) const;
  /// The oldest outstanding packet is taken for lost.
  [[nodiscard]] bool front_lost() const;
  /// A copy of the oldest outstanding packet is in flight.
  [[nodiscard]] bool front_repeated() const;
  /// Outstanding packets that were sacked.
  [[nodiscard]] unsigned sacked() const { return disturbance_ == nullptr ? 0 : disturbance_->scoreboard.sacked; }

  void clear();

 private:
  static void begin(packet::PacketNote& note) {
    note.flags = 0;
    note.transmissions = 0;
    note.scratch64_b = 0;
  }
  [[nodiscard]] Scoreboard& scoreboard() {
    assert(disturbance_ != nullptr);
    return disturbance_->scoreboard;
  }
  void pop_acknowledged(AckEvent& event);
  [[gnu::cold, gnu::noinline]] void unmark(packet::Cursor at, AckEvent& event);
  [[gnu::cold, gnu::noinline]] void trim_front(SeqNum ack, AckEvent& event);
  void sample(const packet::PacketNote& note, AckEvent& event) const;
  void lose(packet::Cursor at, AckEvent& event, DeliveryRate* rate);
  void mark_sacked(packet::Cursor position, AckEvent& event, Delivery& delivery);
  void mark_block(const SackBlock& block, int& steps, AckEvent& event, Delivery& delivery);
  void mark_newest(const SackBlock& block, AckEvent& event, Delivery& delivery);
  [[nodiscard]] packet::Cursor nearest_before(SeqNum place) const;
  void note_found(packet::Cursor at);
  [[gnu::cold, gnu::noinline]] void forget_place(packet::Cursor at);
  void link_copy(packet::Cursor at);
  void unlink_copy(packet::Cursor at);

  packet::Queue packets_;
  packet::Cursor unsent_;
  packet::Cursor last_sent_;  ///< in front of `unsent_`, while something is outstanding
  Disturbance* disturbance_ = nullptr;
  std::uint32_t in_flight_ = 0;
};

}  // namespace sluice::tcp
