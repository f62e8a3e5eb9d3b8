#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/cell/flow_classes.hpp"
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
  codel,    ///< RFC 8289
  fq_codel  ///< RFC 8290: a queue per flow of the UE; `drop` does not matter, the fattest loses its oldest
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
  QueueManagement management = QueueManagement::none;  ///< codel and fq_codel need order fifo
  CodelParameters codel{};                             ///< its max_packet is `packet`
};

/// Cumulative since the start. Bytes are IP bytes. At every moment arrived = transmitted + dropped + (forwarded -
/// recalled) + what is queued.
struct QueueCounters {
  std::uint64_t arrived_bytes = 0;  ///< that reached the queue, dropped ones included
  std::uint64_t arrived_packets = 0;
  std::uint64_t arrived_air = 0;          ///< the same in bytes on the air, padding of the last frame included
  std::uint64_t transmitted_bytes = 0;    ///< that left over the air, those of a packet in transit included
  std::uint64_t transmitted_packets = 0;  ///< that left whole
  std::uint64_t delivered_bytes = 0;      ///< that reached the UE: of whole packets
  std::uint64_t delivered_packets = 0;
  std::uint64_t dropped_bytes = 0;  ///< found no room, were evicted, given up unsent or dropped early
  std::uint64_t dropped_packets = 0;
  std::uint64_t early_packets = 0;   ///< of the dropped ones, those that active queue management chose
  std::uint64_t marked_packets = 0;  ///< told of congestion by it instead (ECN)
  std::uint64_t lost_bytes = 0;      ///< of packets that left and were lost on the air for good
  std::uint64_t lost_packets = 0;
  std::uint64_t forwarded_bytes = 0;  ///< handed on to another Node-B, whole packets
  std::uint64_t forwarded_packets = 0;
  std::uint64_t forwarded_air = 0;     ///< bytes on the air that this Node-B was spared by it
  std::uint64_t recalled_bytes = 0;    ///< of the forwarded bytes those that had been transmitted, in vain
  std::uint64_t taken_over_bytes = 0;  ///< of the bytes that arrived those that another Node-B had handed on
  std::uint64_t taken_over_packets = 0;
  std::uint64_t carried = 0;   ///< bytes on the air, padding of the last frame included
  std::uint64_t most_air = 0;  ///< the largest backlog, bytes on the air
  double air_seconds = 0;      ///< the backlog integrated over time; its difference over the time between is the mean
};

/// A packet that has left the radio queue.
struct Departed {
  packet::Packet packet;
  Bytes length;         ///< IP bytes
  Bytes air;            ///< bytes on the air
  Instant enqueued{};   ///< when it came
  Duration queueing{};  ///< from coming to the departure of its last byte
};

/// One UE's radio queue, finite. The packet in transit is out of reach of eviction and dropping.
class UeQueue {
 public:
  /// Throws std::invalid_argument when frames are the unit but `frame` is 0, `frame` is negative, or what active queue
  /// management needs is out of its range or order.
  explicit UeQueue(const QueueConfig& config);

  /// Takes a packet of `length` IP bytes (>= 1); false when there was no room and it was dropped. `dropped(packet,
  /// length)` is called for each packet that had to go for it, and for itself when it had to.
  template <typename Dropped>
  bool push(packet::Packet packet, Bytes length, Instant now, Dropped&& dropped) {
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
  bool push(packet::Packet packet, Bytes length, Instant now) {
    return push(std::move(packet), length, now, [](const packet::Packet&, Bytes) {});
  }
  /// Transmits up to `grant` bytes on the air of what came before `now` (strictly: a packet that comes in the instant
  /// of an opportunity misses it), and calls `depart(Departed)` for each packet whose last byte went, and
  /// `dropped(packet, length)` for each that active queue management drops where one begins. Returns the bytes used.
  template <typename Depart, typename Dropped>
  Bytes serve(Bytes grant, Instant now, Depart&& depart, Dropped&& dropped) {
    Bytes left = grant;
    while (left > Bytes(0) && begin(now, dropped)) {
      left -= transmit(left, now);
      if (head_left() == Bytes(0)) depart(take(now));
    }
    const Bytes used = grant - left;
    counters_.carried += static_cast<std::uint64_t>(used.count());
    return used;
  }
  template <typename Depart>
  Bytes serve(Bytes grant, Instant now, Depart&& depart) {
    return serve(grant, now, depart, [](const packet::Packet&, Bytes) {});
  }
  /// Gives up the packets that a block of `grant` bytes on the air would have completed, calling `dropped(packet,
  /// length)` for each; one that it would only have begun or carried on stays. What the CLAMP paper does after the last
  /// attempt.
  template <typename Dropped>
  void discard(Bytes grant, Instant now, Dropped&& dropped) {
    while (ready(now)) {
      const Bytes first = serving_ ? head_left() : Bytes(line_->front(now).air);
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
  /// A packet that left, and of which it is not known that it reached the UE, is handed on.
  void recall(Bytes length);
  /// The packet that is pushed next was handed on by another Node-B.
  void take_over(Bytes length) {
    ++counters_.taken_over_packets;
    counters_.taken_over_bytes += static_cast<std::uint64_t>(length.count());
  }

  [[nodiscard]] bool empty() const { return !serving_ && line_->size() == 0; }
  /// Something is there that came before `now`.
  [[nodiscard]] bool ready(Instant now) const { return serving_ || line_->ready(now); }
  /// What is sent next is of a short flow; false in a FIFO queue.
  [[nodiscard]] bool short_head() const {
    if (config_.order == QueueOrder::fifo) return false;
    return serving_ ? serving_->is_short : line_->short_front();
  }
  [[nodiscard]] std::size_t packets() const { return line_->size() + (serving_ ? std::size_t{1} : std::size_t{0}); }
  /// IP bytes not yet transmitted.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// Bytes on the air not yet transmitted: whole frames where there are frames.
  [[nodiscard]] Bytes air_bytes() const { return air_bytes_; }
  /// Frames not yet wholly transmitted; 0 where there are none.
  [[nodiscard]] std::uint32_t frames() const { return frames_; }
  /// The size of the buffer in bytes on the air (frames times frame, bytes, or full packets); 0 = unlimited.
  [[nodiscard]] Bytes buffer() const;
  [[nodiscard]] const QueueCounters& counters() const { return counters_; }
  /// The counters with the backlog integrated up to `now`.
  [[nodiscard]] QueueCounters counters(Instant now) const;
  /// A packet that left has reached the UE.
  void delivered(Bytes length) {
    ++counters_.delivered_packets;
    counters_.delivered_bytes += static_cast<std::uint64_t>(length.count());
  }
  /// A packet that left is lost on the air and will not come again.
  void lost(Bytes length) {
    ++counters_.lost_packets;
    counters_.lost_bytes += static_cast<std::uint64_t>(length.count());
  }
  [[nodiscard]] const QueueConfig& config() const { return config_; }

 private:
  void count_arrival(Bytes length);
  Waiting arrive(packet::Packet packet, Bytes length, Instant now);
  void admit(Waiting waiting, Instant now);
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
  [[nodiscard]] Bytes on_air(Bytes length) const;
  [[nodiscard]] std::uint64_t used_buffer() const;  ///< in the unit
  [[nodiscard]] bool has_room(Bytes length) const;
  // Of the packet in transit; requires one.
  [[nodiscard]] Bytes head_left() const { return Bytes(serving_->air) - head_sent_; }
  [[nodiscard]] Bytes head_bytes_left() const;  ///< IP bytes; padding goes last
  /// A packet is in transit, the next one from here on if there was none; false when there is nothing to send.
  template <typename Dropped>
  bool begin(Instant now, Dropped& dropped) {
    if (serving_ || !line_->ready(now)) return serving_.has_value();
    pull(now);
    for (const Waiting& gone : interventions_.dropped) dropped(gone.packet, size_of(gone));
    interventions_.dropped.clear();
    return serving_.has_value();
  }
  void pull(Instant now);
  Bytes transmit(Bytes most, Instant now);
  Departed take(Instant now);
  void integrate(Instant now);
  void change_air(Bytes by);

  QueueConfig config_;
  FlowClasses classes_;
  std::unique_ptr<WaitingLine> line_;
  std::optional<Waiting> serving_;  ///< the packet in transit
  Interventions interventions_;     ///< of the latest pull
  Bytes head_sent_;                 ///< bytes on the air of the packet in transit that went
  Bytes bytes_;
  Bytes air_bytes_;
  std::uint32_t frames_ = 0;  ///< of air_bytes_; asked for more often than it changes
  Instant integrated_{};
  QueueCounters counters_;
};

}  // namespace sluice::emulator
