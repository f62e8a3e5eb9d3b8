#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/cell/flow_classes.hpp"
#include "emulator/cell/queue_ledger.hpp"
#include "emulator/cell/radio_qdisc.hpp"

namespace sluice::emulator {

/// Unit in which the limit of a radio queue is counted.
enum class BufferUnit : std::uint8_t { frames, bytes, packets };

/// Order in which a UE's packets leave the queue.
enum class QueueOrder : std::uint8_t {
  fifo,
  /// Sends short flows before long ones (SFP; Chan and Ramjee, INFOCOM 2004). A short flow's packet that finds the
  /// buffer full evicts the newest packets of long flows.
  short_flows_first
};

/// Active queue management (AQM) that keeps the queue short before it is full.
enum class QueueManagement : std::uint8_t {
  none,
  codel,  ///< CoDel, RFC 8289

  /// Manages the queue by FQ-CoDel (RFC 8290), with one queue per flow. When the buffer is full, the longest queue
  /// loses its oldest packet; QueueConfig::drop is ignored.
  fq_codel,

  /// Manages the queue by DualPI2 (RFC 9332), with one queue for L4S and one for other traffic. QueueConfig::drop is
  /// ignored, because arrivals are dropped at a full buffer.
  dualpi2,

  /// Manages the queue as a router of ABC (Accel-Brake Control, NSDI 2020). offer() reports to it what the link could
  /// carry.
  abc
};

/// Configuration of one radio queue.
struct QueueConfig {
  /// Size of a radio frame (MAC-d PDU). A packet is sent in whole frames, and the last one is padded. 0: packets are
  /// sent byte by byte without frames.
  Bytes frame{40};
  BufferUnit unit = BufferUnit::frames;  ///< unit in which the limit of the buffer is given

  /// Buffer size in frames, bytes or packets (see `unit`); 0: unlimited. A limit in frames includes the unsent part of
  /// the packet in transit. A limit in bytes or packets does not include that packet (as in Mahimahi).
  std::uint64_t limit = 200;
  DropPolicy drop = DropPolicy::tail;  ///< packet that is dropped when the buffer is full
  QueueOrder order = QueueOrder::fifo;
  FlowClassParameters flows{};  ///< definition of short flows, used if the order is short_flows_first

  /// Size of a full packet, which converts a limit in packets to bytes. It is also CoDel's MTU and FQ-CoDel's quantum.
  Bytes packet{1500};
  QueueManagement management = QueueManagement::none;  ///< active queue management; requires order fifo
  CodelParameters codel{};      ///< parameters of CoDel; the member max_packet is set to the size of a full packet
  DualPi2Parameters dualpi2{};  ///< parameters of DualPI2; the member max_packet is set to the size of a full packet
  AbcParameters abc{};          ///< parameters of ABC

  /// Returns the bytes that a packet of `length` IP bytes takes on the radio link, with padding to whole radio frames.
  [[nodiscard]] Bytes on_air(Bytes length) const;
  /// Returns how much of the buffer's limit a packet of `length` IP bytes uses, in frames, bytes or packets.
  [[nodiscard]] std::uint64_t taken_by(Bytes length) const;
  /// Returns the size of the buffer in bytes with padding of radio frames; 0: unlimited. A limit in frames is
  /// multiplied by the frame size, and a limit in packets by the size of a full packet.
  [[nodiscard]] Bytes buffer() const;
};

/// A packet that has left the radio queue.
struct Departed {
  packet::Packet packet;
  Bytes length;         ///< IP bytes
  Bytes air;            ///< size of the packet in bytes, with padding of radio frames
  Instant enqueued{};   ///< when the packet arrived
  Duration queueing{};  ///< time from the packet's arrival to the departure of its last byte
};

/// The packet that a radio queue is transmitting, if there is one, and how much of it was sent. Padding is sent last.
class PacketInTransit {
 public:
  [[nodiscard]] explicit operator bool() const { return packet_.has_value(); }
  /// Starts the transmission of `packet`; empty: none is in transit.
  void begin(std::optional<QueuedPacket> packet) {
    packet_ = std::move(packet);
    sent_ = Bytes(0);
  }
  // The following functions require a packet in transit.
  [[nodiscard]] const QueuedPacket& packet() const { return *packet_; }
  /// Returns the bytes that are not sent yet, with padding of radio frames.
  [[nodiscard]] Bytes air_left() const { return Bytes(packet_->air) - sent_; }
  /// Returns the IP bytes that are not sent yet.
  [[nodiscard]] Bytes left() const { return std::max(Bytes(0), size_of(*packet_) - sent_); }
  /// Sends `air` bytes (with padding of radio frames), at most air_left(). Returns the IP bytes among them.
  Bytes send(Bytes air) {
    const Bytes before = left();
    sent_ += air;
    return before - left();
  }
  /// Removes and returns the packet, so none is in transit.
  [[nodiscard]] QueuedPacket take() {
    QueuedPacket gone = std::move(*packet_);
    packet_.reset();
    return gone;
  }

 private:
  std::optional<QueuedPacket> packet_;
  Bytes sent_;  ///< bytes sent so far, with padding of radio frames
};

/// Callback that does nothing, for callers that ignore dropped packets.
struct IgnoreDropped {
  void operator()(const packet::Packet& /*packet*/, Bytes /*length*/) const {}
};

/// Radio queue of one UE with a limited buffer. The packet in transit is neither evicted nor dropped by queue
/// management.
class UeQueue {
 public:
  /// Creates an empty queue. Throws std::invalid_argument if the frame size is negative, or if it is 0 and the limit is
  /// in frames. Also throws if active queue management has an invalid parameter or an order other than fifo.
  explicit UeQueue(const QueueConfig& config);

  /// Queues a packet of `length` IP bytes (>= 1). Returns false if the packet was dropped because the buffer had no
  /// space. `dropped(packet, length)` is called for each dropped packet: packets that are evicted for the new one, or
  /// the new packet itself.
  template <typename Dropped = IgnoreDropped>
  bool push(packet::Packet&& packet, Bytes length, Instant now, Dropped&& dropped = IgnoreDropped{}) {
    QueuedPacket waiting = arrive(std::move(packet), length, now);
    while (!has_space(length) && qdisc_->may_evict(waiting)) {
      const QueuedPacket gone = qdisc_->evict();
      drop(gone, now);
      dropped(gone.packet, size_of(gone));
    }
    if (has_space(length)) {
      admit(std::move(waiting), now);
      return true;
    }
    refuse(waiting);
    dropped(waiting.packet, length);
    return false;
  }
  /// Transmits up to `grant` bytes, with padding of radio frames, of packets that arrived before `now`. A packet that
  /// arrives exactly at `now` is not sent. `depart(Departed)` is called for each packet whose last byte is sent.
  /// `dropped(packet, length)` is called for each packet that active queue management drops. Returns the bytes used.
  template <typename Depart, typename Dropped = IgnoreDropped>
  Bytes serve(Bytes grant, Instant now, Depart&& depart, Dropped&& dropped = IgnoreDropped{}) {
    Bytes left = grant;
    qdisc_->offer(grant, now, now);
    while (left > Bytes(0) && begin(now, dropped)) {
      left -= transmit(left, now);
      if (head_.air_left() == Bytes(0)) depart(take(now));
    }
    ledger_.carried(grant - left);
    return grant - left;
  }
  /// Reports that the queue was empty between `since` and `now` and the link could have carried `bytes`; ABC uses it.
  void offer(Bytes bytes, Instant since, Instant now) { qdisc_->offer(bytes, since, now); }
  /// Drops the packets that a lost block of `grant` bytes (with padding of radio frames) would have completed.
  /// `dropped(packet, length)` is called for each. A packet that the block would have begun or continued, but not
  /// completed, stays. The CLAMP paper (Andrew, Hanly and Mukhtar, TMC 2008) does this after the last transmission of a
  /// block.
  template <typename Dropped>
  void discard(Bytes grant, Instant now, Dropped&& dropped) {
    while (ready(now)) {
      const Bytes first = head_ ? head_.air_left() : Bytes(qdisc_->front(now).air);
      if (first > grant) return;
      grant -= first;
      const QueuedPacket gone = drop_head(now);
      dropped(gone.packet, size_of(gone));
    }
  }

  /// Drops all packets, including the one in transit, and calls `dropped(packet, length)` for each.
  template <typename Dropped>
  void clear(Instant now, Dropped&& dropped) {
    while (!empty()) {
      const QueuedPacket gone = drop_head(now);
      dropped(gone.packet, size_of(gone));
    }
  }

  /// Forwards all packets in transmission order, including the whole packet in transit. `taken(packet, length)` is
  /// called for each.
  template <typename Taken>
  void forward_all(Instant now, Taken&& taken) {
    while (!empty()) {
      QueuedPacket gone = forward_head(now);
      taken(std::move(gone.packet), Bytes(gone.length));
    }
  }
  /// Counts a packet of `length` IP bytes that arrives and is forwarded at once without being queued.
  void pass_on(Bytes length);
  /// Counts a packet of `length` IP bytes that arrives and is dropped at once without being queued.
  void reject(Bytes length);
  /// Registers the list `changed`, which contains the numbers of queues whose contents have changed. When the contents
  /// of this queue change, its `number` is appended. It is appended again only after record_counted(). BacklogSum reads
  /// the list to count only changed queues.
  void report_change_to(std::vector<std::uint32_t>& changed, std::uint32_t number) {
    ledger_.report_change_to(changed, number);
  }
  /// Records that the list of changed queues has been read and the last change of this queue is counted. The next
  /// change of the queue's contents then appends the queue's number to the list again.
  void record_counted() { ledger_.record_counted(); }
  /// Counts the packet of the next push(), pass_on() or reject() as forwarded by another Node-B. `length` is its
  /// size in IP bytes.
  void take_over(Bytes length) { ledger_.taken_over(length); }
  /// Counts a packet of `length` IP bytes that left the queue and has reached the UE.
  void delivered(Bytes length) { ledger_.delivered(length); }
  /// Counts a packet of `length` IP bytes that left the queue and is permanently lost on the air.
  void lost(Bytes length) { ledger_.lost(length); }
  /// Counts a packet of `length` IP bytes that left the queue and is now forwarded to another Node-B. It is forwarded
  /// because the UE has not received it completely.
  void recall(Bytes length) { ledger_.forwarded(length, Bytes(0), Bytes(0)); }

  /// True if no packet is queued or in transit. A queue without bytes is empty, because every packet has at least one
  /// byte to send.
  [[nodiscard]] bool empty() const { return ledger_.air_bytes() == Bytes(0); }
  /// True if a packet has begun its transmission and is not completely sent.
  [[nodiscard]] bool in_transit() const { return static_cast<bool>(head_); }
  /// True if a packet is in transit, or one that arrived before `now` is queued.
  [[nodiscard]] bool ready(Instant now) const { return head_ || qdisc_->ready(now); }
  /// True if the next packet to be sent is of a short flow; always false in FIFO order.
  [[nodiscard]] bool short_head() const {
    if (config_.order == QueueOrder::fifo) return false;
    return head_ ? head_.packet().is_short : qdisc_->short_front();
  }
  /// Returns the number of packets queued, including the one in transit.
  [[nodiscard]] std::size_t packets() const { return qdisc_->size() + (head_ ? std::size_t{1} : std::size_t{0}); }
  /// Returns the queued IP bytes not yet transmitted.
  [[nodiscard]] Bytes bytes() const { return ledger_.bytes(); }
  /// Returns the queued bytes not yet transmitted, with padding of radio frames.
  [[nodiscard]] Bytes air_bytes() const { return ledger_.air_bytes(); }
  /// Returns the number of frames not yet completely transmitted; 0 without frames.
  [[nodiscard]] std::uint32_t frames() const { return ledger_.frames(); }
  /// Returns the backlog as a number of frames, or of packets in a queue without frames.
  [[nodiscard]] double frames_or_packets() const {
    return config_.frame > Bytes(0) ? frames() : static_cast<double>(packets());
  }
  [[nodiscard]] const QueueCounters& counters() const { return ledger_.counters(); }
  [[nodiscard]] QueueCounters counters(Instant now) const { return ledger_.counters(now); }
  /// Returns the size of the buffer in bytes, with padding of radio frames; 0: unlimited.
  [[nodiscard]] Bytes buffer() const { return config_.buffer(); }
  [[nodiscard]] const QueueConfig& config() const { return config_; }

 private:
  QueuedPacket arrive(packet::Packet&& packet, Bytes length, Instant now);
  /// Puts a packet into the queue and counts it.
  void admit(QueuedPacket&& waiting, Instant now) {
    ledger_.entered(size_of(waiting), Bytes(waiting.air), now);
    qdisc_->push(std::move(waiting));
  }
  void refuse(const QueuedPacket& waiting);
  void drop(const QueuedPacket& gone, Instant now);
  /// Takes out the head packet and counts it as dropped.
  QueuedPacket drop_head(Instant now);
  /// Takes out the head packet and counts it as forwarded.
  QueuedPacket forward_head(Instant now);
  /// A packet taken out of the queue, and the number of its bytes that were not transmitted.
  struct Taken {
    QueuedPacket waiting;
    Bytes unsent;      ///< IP bytes not transmitted
    Bytes unsent_air;  ///< bytes not transmitted, with padding of radio frames
  };
  /// Takes out the packet in transit, or the next one if none is in transit.
  Taken take_head(Instant now);
  /// Informs the flow classification that a packet left the queue, if the packet belongs to a long flow.
  void forget_class(const QueuedPacket& gone) {
    if (!gone.is_short) classes_.on_long_removed(gone.packet.bytes());
  }
  /// Returns how much of the buffer is in use, in the unit of the limit (frames, bytes or packets).
  [[nodiscard]] std::uint64_t used_buffer() const;
  [[nodiscard]] bool has_space(Bytes length) const {
    return config_.limit == 0 || used_buffer() + config_.taken_by(length) <= config_.limit;
  }
  /// Starts the transmission of the next packet if none is in transit. Returns false if there is nothing to send.
  template <typename Dropped>
  bool begin(Instant now, Dropped& dropped) {
    if (head_ || !qdisc_->ready(now)) return static_cast<bool>(head_);
    pull(now);
    for (const QueuedPacket& gone : aqm_actions_.dropped) dropped(gone.packet, size_of(gone));
    aqm_actions_.dropped.clear();
    return static_cast<bool>(head_);
  }
  void pull(Instant now);
  /// Sends at most `most` bytes, with padding of radio frames, of the packet in transit. Returns the bytes used.
  Bytes transmit(Bytes most, Instant now) {
    const Bytes amount = std::min(most, head_.air_left());
    const Bytes went = head_.send(amount);
    ledger_.left(went, amount, now);
    ledger_.transmitted(went);
    return amount;
  }
  /// Ends the transit of a packet that is completely sent, and returns it.
  Departed take(Instant now) {
    QueuedPacket gone = head_.take();
    forget_class(gone);
    ledger_.transmitted_packet();
    return {std::move(gone.packet), size_of(gone), Bytes(gone.air), gone.since, now - gone.since};
  }

  QueueConfig config_;
  FlowClasses classes_;
  std::unique_ptr<RadioQdisc> qdisc_;
  PacketInTransit head_;
  AqmActions aqm_actions_;  ///< packets dropped and marked by active queue management in the latest call of pull()
  QueueLedger ledger_;
};

}  // namespace sluice::emulator
