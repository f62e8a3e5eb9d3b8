#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/net/line_size.hpp"

namespace sluice::emulator {

/// Cumulative packet counters of a queue. At every moment arrived = departed + dropped() + queued.
struct DisciplineCounters {
  std::uint64_t arrived = 0;        ///< packets that arrived, dropped ones included
  std::uint64_t departed = 0;       ///< packets sent
  std::uint64_t dropped_full = 0;   ///< packets that found the queue full, or were evicted for an arriving packet
  std::uint64_t dropped_early = 0;  ///< packets that active queue management dropped before the queue was full
  std::uint64_t marked = 0;         ///< packets marked with ECN instead of dropped
  Duration waited{};                ///< sum of the waiting times of departed packets
  Duration longest_wait{};          ///< longest waiting time of a departed packet
  [[nodiscard]] std::uint64_t dropped() const { return dropped_full + dropped_early; }
};

/// Limits of a queue; 0: unlimited.
struct QueueLimit {
  Bytes bytes;  ///< largest sum of the queued frames' sizes, without Ethernet headers (line_size)
  std::uint32_t packets = 0;
};

/// A packet in a queue, with its arrival time.
struct Queued {
  packet::Packet packet;
  Instant since{};
};
[[nodiscard]] inline Bytes size_of(const Queued& queued) {
  return line_size(queued.packet);
}

/// Queue discipline of a router's outgoing link: accepts, drops, marks and orders packets. The packet that is being
/// sent is not in the queue. Pure: time is an argument, and random numbers come from a given generator.
class QueueDiscipline {
 public:
  virtual ~QueueDiscipline() = default;
  QueueDiscipline() = default;
  QueueDiscipline(const QueueDiscipline&) = delete;
  QueueDiscipline& operator=(const QueueDiscipline&) = delete;

  /// Handles an arriving packet: queues it, and may drop it or other packets.
  virtual void enqueue(packet::Packet packet, Instant now) = 0;
  /// Removes the next packet to be sent from the queue and returns it; empty if there is none. Active queue management
  /// may drop other packets first.
  [[nodiscard]] virtual packet::Packet dequeue(Instant now) = 0;

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t packets() const { return packets_; }
  [[nodiscard]] const DisciplineCounters& counters() const { return counters_; }

 protected:
  /// Counts a packet that enters the queue, and adds it to the numbers of packets and bytes in the queue.
  void on_enqueued(const packet::Packet& packet) {
    ++counters_.arrived;
    ++packets_;
    bytes_ += line_size(packet);
  }
  /// Counts an arriving packet that is dropped without entering the queue. `why` is the counter of drops for this
  /// reason.
  void refused(std::uint64_t DisciplineCounters::*why) {
    ++counters_.arrived;
    ++(counters_.*why);
  }
  /// Counts the drop of a queued packet. `why` is the counter of drops for this reason.
  void dropped(const Queued& queued, std::uint64_t DisciplineCounters::*why) {
    on_dequeued(queued);
    ++(counters_.*why);
  }
  /// Counts the departure of a queued packet, and returns the packet.
  [[nodiscard]] packet::Packet departs(Queued queued, Instant now) {
    on_dequeued(queued);
    ++counters_.departed;
    const Duration waited = now - queued.since;
    counters_.waited += waited;
    if (waited > counters_.longest_wait) counters_.longest_wait = waited;
    return std::move(queued.packet);
  }
  void record_mark() { ++counters_.marked; }
  /// True if `packet` fits into the queue within `limit`.
  [[nodiscard]] bool fits(const packet::Packet& packet, const QueueLimit& limit) const {
    return (limit.bytes == Bytes(0) || bytes_ + line_size(packet) <= limit.bytes) &&
           (limit.packets == 0 || packets_ < limit.packets);
  }
  /// True if the contents of the queue exceed `limit`.
  [[nodiscard]] bool exceeds(const QueueLimit& limit) const {
    return (limit.bytes > Bytes(0) && bytes_ > limit.bytes) || (limit.packets > 0 && packets_ > limit.packets);
  }

 private:
  /// Subtracts a packet that leaves the queue from the numbers of packets and bytes in the queue.
  void on_dequeued(const Queued& queued) {
    --packets_;
    bytes_ -= size_of(queued);
  }
  Bytes bytes_;
  std::uint32_t packets_ = 0;
  DisciplineCounters counters_;
};

}  // namespace sluice::emulator
