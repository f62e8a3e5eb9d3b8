#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// A period in which every packet is delayed longer, as in a handover or a route change.
struct DelayJump {
  Instant from{};
  Instant until{};
  Duration extra{};  ///< additional delay, >= 0
};

/// Impairments of a wire: probabilities per packet, 0 … 1, and delay jumps.
struct ImpairmentConfig {
  double loss = 0;       ///< probability that a packet is lost
  double duplicate = 0;  ///< probability that a packet is sent twice
  double reorder = 0;    ///< probability that a packet is delayed, so that later packets overtake it
  Duration reorder_delay = std::chrono::milliseconds(5);
  double corrupt = 0;              ///< probability that random bits after the Ethernet header are inverted
  std::uint32_t corrupt_bits = 1;  ///< inverted bits per corrupted packet, >= 1
  std::vector<DelayJump> jumps;    ///< periods with additional delay
};

/// Cumulative packet counters of an impairment.
struct ImpairmentCounters {
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t delayed = 0;    ///< packets that a delay jump delayed
  std::uint64_t no_buffer = 0;  ///< packet copies that failed because the pool was exhausted
};

/// A wire with random loss, duplication, reordering, corruption and delay jumps, from a seeded generator. Packets keep
/// their order unless they are reordered on purpose. Thread: the event loop's.
class Impairment final : public Element, public EventTarget {
 public:
  /// Creates the wire. `pool` provides the buffers for duplicates, and for copies of shared packets that must be
  /// changed. Throws std::invalid_argument if a probability is outside 0 … 1 or a delay is negative.
  Impairment(EventLoop& loop, packet::PacketPool& pool, ImpairmentConfig config, Random random, Element& next);

  void set_next(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] const ImpairmentCounters& counters() const { return counters_; }

 private:
  /// A delayed packet.
  struct Held {
    packet::Packet packet;
    Instant due{};
    std::uint64_t order = 0;
  };
  /// True if `a` is sent after `b`. Of packets that are due at one time, the packet that was stored first is sent
  /// first.
  static bool later(const Held& a, const Held& b) { return a.due != b.due ? a.due > b.due : a.order > b.order; }
  void duplicate(const packet::Packet& packet, Instant now);
  /// Forwards a packet in order: it is delayed by the active delay jumps, and never leaves before an earlier packet.
  void pass(packet::Packet packet, Instant now);
  /// Keeps a packet and forwards it at `due`.
  void hold(packet::Packet packet, Instant due);
  /// Inverts random bits. Returns false if the packet had to be copied and the pool was exhausted.
  bool corrupt(packet::Packet& packet);
  /// Returns the additional delay of the jumps active at `now`.
  [[nodiscard]] Duration jump(Instant now) const;

  EventLoop& loop_;
  packet::PacketPool& pool_;
  ImpairmentConfig config_;
  Random random_;
  Element* next_;
  std::vector<Held> held_;  ///< delayed packets as a heap, earliest first
  std::uint64_t order_ = 0;
  Instant in_order_until_{};  ///< earliest time at which the next packet may be sent, because packets keep their order
  ImpairmentCounters counters_;
};

}  // namespace sluice::emulator
