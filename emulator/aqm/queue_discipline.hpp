#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/net/line_size.hpp"

namespace sluice::emulator {

/// Packets, cumulative. arrived = departed + the three kinds of drops + what is queued.
struct DisciplineCounters {
  std::uint64_t arrived = 0;
  std::uint64_t departed = 0;
  std::uint64_t dropped_full = 0;   ///< there was no room: the one that came, or one that had to go for it
  std::uint64_t dropped_early = 0;  ///< on purpose, before the queue is full
  std::uint64_t marked = 0;         ///< told of congestion instead (ECN)
  Duration waited{};                ///< by all that departed
  Duration longest_wait{};          ///< of one of them
  [[nodiscard]] std::uint64_t dropped() const { return dropped_full + dropped_early; }
};

/// How much a queue may hold; 0 = unlimited.
struct QueueLimit {
  Bytes bytes;  ///< line_size of what waits
  std::uint32_t packets = 0;
};

/// A packet in a queue, and since when.
struct Queued {
  packet::Packet packet;
  Instant since{};
};
[[nodiscard]] inline Bytes size_of(const Queued& queued) {
  return line_size(queued.packet);
}

/// The queue of a router's outgoing line: what it takes, what it drops or marks, and whose turn it is. The packet being
/// sent is not in it. Pure: time is an argument, randomness a generator handed in.
class QueueDiscipline {
 public:
  virtual ~QueueDiscipline() = default;
  QueueDiscipline() = default;
  QueueDiscipline(const QueueDiscipline&) = delete;
  QueueDiscipline& operator=(const QueueDiscipline&) = delete;

  /// A packet comes; it or others may be dropped.
  virtual void enqueue(packet::Packet packet, Instant now) = 0;
  /// The next packet to be sent; empty when there is none (any more: some may be dropped here).
  [[nodiscard]] virtual packet::Packet dequeue(Instant now) = 0;

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t packets() const { return packets_; }
  [[nodiscard]] const DisciplineCounters& counters() const { return counters_; }

 protected:
  void came(const packet::Packet& packet) {
    ++counters_.arrived;
    ++packets_;
    bytes_ += line_size(packet);
  }
  /// Turned away at the door.
  void refused(std::uint64_t DisciplineCounters::*why) {
    ++counters_.arrived;
    ++(counters_.*why);
  }
  void dropped(const Queued& queued, std::uint64_t DisciplineCounters::*why) {
    gone(queued);
    ++(counters_.*why);
  }
  [[nodiscard]] packet::Packet departs(Queued queued, Instant now) {
    gone(queued);
    ++counters_.departed;
    const Duration waited = now - queued.since;
    counters_.waited += waited;
    if (waited > counters_.longest_wait) counters_.longest_wait = waited;
    return std::move(queued.packet);
  }
  void note_mark() { ++counters_.marked; }
  [[nodiscard]] bool fits(const packet::Packet& packet, const QueueLimit& limit) const {
    return (limit.bytes == Bytes(0) || bytes_ + line_size(packet) <= limit.bytes) &&
           (limit.packets == 0 || packets_ < limit.packets);
  }
  [[nodiscard]] bool exceeds(const QueueLimit& limit) const {
    return (limit.bytes > Bytes(0) && bytes_ > limit.bytes) || (limit.packets > 0 && packets_ > limit.packets);
  }

 private:
  void gone(const Queued& queued) {
    --packets_;
    bytes_ -= size_of(queued);
  }
  Bytes bytes_;
  std::uint32_t packets_ = 0;
  DisciplineCounters counters_;
};

}  // namespace sluice::emulator
