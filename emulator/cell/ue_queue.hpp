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
#include "emulator/cell/waiting_line.hpp"

namespace sluice::emulator {

enum class BufferUnit : std::uint8_t { frames, bytes, packets };

/// In which order a UE's packets leave.
enum class QueueOrder : std::uint8_t {
  fifo,
  /// Flows that are short before those that are long (SFP of the Window Regulator paper); a packet of a short flow that
  /// finds no room evicts the newest packets of long ones.
  short_flows_first
};

/// What keeps the queue short before it is full.
enum class QueueManagement : std::uint8_t {
  none,
  codel,     ///< RFC 8289
  fq_codel,  ///< RFC 8290: a queue per flow of the UE; `drop` does not matter, the fattest loses its oldest
  dualpi2,   ///< RFC 9332: a queue for L4S, one for the rest; `drop` does not matter, what finds no room goes
  abc        ///< the router of ABC (NSDI 2020); is told of what its link could carry by offer()
};

struct QueueConfig {
  /// Radio frame (MAC-d PDU): a packet takes up whole frames, the last one padded. 0: no frames, packets are sent byte
  /// by byte.
  Bytes frame{40};
  BufferUnit unit = BufferUnit::frames;  ///< of `limit`
  /// Buffer size; 0 = unlimited. In frames, what is still to be sent of the packet in transit counts; in bytes and
  /// packets the packet in transit does not count (Mahimahi's rule).
  std::uint64_t limit = 200;
  DropPolicy drop = DropPolicy::tail;
  QueueOrder order = QueueOrder::fifo;
  FlowClassParameters flows{};  ///< what is short, for short_flows_first
  /// A full packet: what one of a limit in packets is taken for where bytes are asked, and CoDel's MTU and quantum.
  Bytes packet{1500};
  QueueManagement management = QueueManagement::none;  ///< any needs order fifo
  CodelParameters codel{};                             ///< its max_packet is `packet`
  DualPi2Parameters dualpi2{};                         ///< its max_packet is `packet`
  AbcParameters abc{};

  /// What a packet takes up on the air.
  [[nodiscard]] Bytes on_air(Bytes length) const;
  /// What it takes up of the limit, in its unit.
  [[nodiscard]] std::uint64_t taken_by(Bytes length) const;
  /// The size of the buffer in bytes on the air (frames times frame, bytes, or full packets); 0 = unlimited.
  [[nodiscard]] Bytes buffer() const;
};

/// A packet that has left the radio queue.
struct Departed {
  packet::Packet packet;
  Bytes length;         ///< IP bytes
  Bytes air;            ///< bytes on the air
  Instant enqueued{};   ///< when it came
  Duration queueing{};  ///< from coming to the departure of its last byte
};

/// The packet that a radio queue is transmitting, if there is one, and how far it is. Its padding goes last.
class PacketInTransit {
 public:
  [[nodiscard]] explicit operator bool() const { return packet_.has_value(); }
  /// Nothing of it has gone yet; nothing: none is in transit.
  void begin(std::optional<Waiting> packet) {
    packet_ = std::move(packet);
    sent_ = Bytes(0);
  }
  // These require one.
  [[nodiscard]] const Waiting& packet() const { return *packet_; }
  /// Bytes on the air, and IP bytes, that have not gone.
  [[nodiscard]] Bytes air_left() const { return Bytes(packet_->air) - sent_; }
  [[nodiscard]] Bytes left() const { return std::max(Bytes(0), size_of(*packet_) - sent_); }
  /// So many bytes on the air go, at most air_left(). Returns the IP bytes among them.
  Bytes send(Bytes air) {
    const Bytes before = left();
    sent_ += air;
    return before - left();
  }
  /// It is in transit no more.
  [[nodiscard]] Waiting take() {
    Waiting gone = std::move(*packet_);
    packet_.reset();
    return gone;
  }

 private:
  std::optional<Waiting> packet_;
  Bytes sent_;  ///< bytes on the air that went
};

/// For callers who do not ask what was dropped.
struct NoMatter {
  void operator()(const packet::Packet& /*packet*/, Bytes /*length*/) const {}
};

/// One UE's radio queue, finite. The packet in transit is out of reach of eviction and dropping.
class UeQueue {
 public:
  /// Throws std::invalid_argument when frames are the unit but `frame` is 0, `frame` is negative, or what active queue
  /// management needs is out of its range or order.
  explicit UeQueue(const QueueConfig& config);

  /// Takes a packet of `length` IP bytes (>= 1); false when there was no room and it was dropped. `dropped(packet,
  /// length)` is called for each packet that had to go for it, and for itself when it had to.
  template <typename Dropped = NoMatter>
  bool push(packet::Packet&& packet, Bytes length, Instant now, Dropped&& dropped = NoMatter{}) {
    Waiting waiting = arrive(std::move(packet), length, now);
    while (!has_room(length) && line_->may_evict(waiting)) {
      const Waiting gone = line_->evict();
      drop(gone, now);
      dropped(gone.packet, size_of(gone));
    }
    if (has_room(length)) {
      admit(std::move(waiting), now);
      return true;
    }
    refuse(waiting);
    dropped(waiting.packet, length);
    return false;
  }
  /// Transmits up to `grant` bytes on the air of what came before `now` (strictly: a packet that comes in the instant
  /// of an opportunity misses it), and calls `depart(Departed)` for each packet whose last byte went, and
  /// `dropped(packet, length)` for each that active queue management drops where one begins. Returns the bytes used.
  template <typename Depart, typename Dropped = NoMatter>
  Bytes serve(Bytes grant, Instant now, Depart&& depart, Dropped&& dropped = NoMatter{}) {
    Bytes left = grant;
    line_->offer(grant, now, now);
    while (left > Bytes(0) && begin(now, dropped)) {
      left -= transmit(left, now);
      if (head_.air_left() == Bytes(0)) depart(take(now));
    }
    ledger_.carried(grant - left);
    return grant - left;
  }
  /// Nothing waited between `since` and `now`, and the link could have carried so much.
  void offer(Bytes bytes, Instant since, Instant now) { line_->offer(bytes, since, now); }
  /// Gives up the packets that a block of `grant` bytes on the air would have completed, calling `dropped(packet,
  /// length)` for each; one that it would only have begun or carried on stays. What the CLAMP paper does after the last
  /// attempt.
  template <typename Dropped>
  void discard(Bytes grant, Instant now, Dropped&& dropped) {
    while (ready(now)) {
      const Bytes first = head_ ? head_.air_left() : Bytes(line_->front(now).air);
      if (first > grant) return;
      grant -= first;
      const Waiting gone = drop_head(now);
      dropped(gone.packet, size_of(gone));
    }
  }

  /// Drops everything, the packet in transit included, calling `dropped(packet, length)` for each.
  template <typename Dropped>
  void clear(Instant now, Dropped&& dropped) {
    while (!empty()) {
      const Waiting gone = drop_head(now);
      dropped(gone.packet, size_of(gone));
    }
  }

  /// Hands everything on, in the order in which it would have left and the packet in transit whole, calling
  /// `taken(packet, length)` for each.
  template <typename Taken>
  void hand_on(Instant now, Taken&& taken) {
    while (!empty()) {
      Waiting gone = forward_head(now);
      taken(std::move(gone.packet), Bytes(gone.length));
    }
  }
  /// A packet comes and is handed on, or dropped, without ever having been queued.
  void pass_on(Bytes length);
  void turn_away(Bytes length);
  // As the ledger does.
  void report_change_to(std::vector<std::uint32_t>& changed, std::uint32_t number) {
    ledger_.report_change_to(changed, number);
  }
  void note_counted() { ledger_.note_counted(); }
  /// The packet that is pushed next was handed on by another Node-B.
  void take_over(Bytes length) { ledger_.taken_over(length); }
  // What becomes of a packet that left: it reaches the UE; it is lost on the air and will not come again; it is not
  // known to have reached the UE and is handed on.
  void delivered(Bytes length) { ledger_.delivered(length); }
  void lost(Bytes length) { ledger_.lost(length); }
  void recall(Bytes length) { ledger_.forwarded(length, Bytes(0), Bytes(0)); }

  /// Every packet has a byte to send, the one in transit too.
  [[nodiscard]] bool empty() const { return ledger_.air_bytes() == Bytes(0); }
  /// A packet has begun and is not through.
  [[nodiscard]] bool in_transit() const { return static_cast<bool>(head_); }
  /// Something is there that came before `now`.
  [[nodiscard]] bool ready(Instant now) const { return head_ || line_->ready(now); }
  /// What is sent next is of a short flow; false in a FIFO queue.
  [[nodiscard]] bool short_head() const {
    if (config_.order == QueueOrder::fifo) return false;
    return head_ ? head_.packet().is_short : line_->short_front();
  }
  [[nodiscard]] std::size_t packets() const { return line_->size() + (head_ ? std::size_t{1} : std::size_t{0}); }
  // As the ledger has them.
  [[nodiscard]] Bytes bytes() const { return ledger_.bytes(); }
  [[nodiscard]] Bytes air_bytes() const { return ledger_.air_bytes(); }
  [[nodiscard]] std::uint32_t frames() const { return ledger_.frames(); }
  /// The unit of the papers: frames where there are any.
  [[nodiscard]] double frames_or_packets() const {
    return config_.frame > Bytes(0) ? frames() : static_cast<double>(packets());
  }
  [[nodiscard]] const QueueCounters& counters() const { return ledger_.counters(); }
  [[nodiscard]] QueueCounters counters(Instant now) const { return ledger_.counters(now); }
  /// The size of the buffer in bytes on the air; 0 = unlimited.
  [[nodiscard]] Bytes buffer() const { return config_.buffer(); }
  [[nodiscard]] const QueueConfig& config() const { return config_; }

 private:
  Waiting arrive(packet::Packet&& packet, Bytes length, Instant now);
  void admit(Waiting&& waiting, Instant now) {
    ledger_.entered(size_of(waiting), Bytes(waiting.air), now);
    line_->push(std::move(waiting));
  }
  void refuse(const Waiting& waiting);
  void drop(const Waiting& gone, Instant now);
  Waiting drop_head(Instant now);
  Waiting forward_head(Instant now);
  /// A packet taken out of the queue, and what had not been transmitted of it.
  struct Taken {
    Waiting waiting;
    Bytes unsent;  ///< IP bytes
    Bytes unsent_air;
  };
  Taken take_head(Instant now);
  void forget_class(const Waiting& gone) {
    if (!gone.is_short) classes_.long_gone(gone.packet.bytes());
  }
  [[nodiscard]] std::uint64_t used_buffer() const;  ///< in the unit
  [[nodiscard]] bool has_room(Bytes length) const {
    return config_.limit == 0 || used_buffer() + config_.taken_by(length) <= config_.limit;
  }
  /// A packet is in transit, the next one from here on if there was none; false when there is nothing to send.
  template <typename Dropped>
  bool begin(Instant now, Dropped& dropped) {
    if (head_ || !line_->ready(now)) return static_cast<bool>(head_);
    pull(now);
    for (const Waiting& gone : interventions_.dropped) dropped(gone.packet, size_of(gone));
    interventions_.dropped.clear();
    return static_cast<bool>(head_);
  }
  void pull(Instant now);
  /// Sends what `most` bytes on the air carry of the packet in transit. Returns the bytes used.
  Bytes transmit(Bytes most, Instant now) {
    const Bytes amount = std::min(most, head_.air_left());
    const Bytes went = head_.send(amount);
    ledger_.left(went, amount, now);
    ledger_.transmitted(went);
    return amount;
  }
  /// The packet in transit is through.
  Departed take(Instant now) {
    Waiting gone = head_.take();
    forget_class(gone);
    ledger_.transmitted_packet();
    return {std::move(gone.packet), size_of(gone), Bytes(gone.air), gone.since, now - gone.since};
  }

  QueueConfig config_;
  FlowClasses classes_;
  std::unique_ptr<WaitingLine> line_;
  PacketInTransit head_;
  Interventions interventions_;  ///< of the latest pull
  QueueLedger ledger_;
};

}  // namespace sluice::emulator
