#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// A stretch of time in which every packet takes longer (a handover, a route change).
struct DelayJump {
  Instant from{};
  Instant until{};
  Duration extra{};  ///< >= 0
};

/// Probabilities per packet, 0 … 1.
struct ImpairmentConfig {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  ///< held back by `reorder_delay` while later ones overtake
  Duration reorder_delay = std::chrono::milliseconds(5);
  double corrupt = 0;              ///< `corrupt_bits` random bits behind the Ethernet header are inverted
  std::uint32_t corrupt_bits = 1;  ///< >= 1
  std::vector<DelayJump> jumps;
};

struct ImpairmentCounters {
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t delayed = 0;    ///< by a jump
  std::uint64_t no_buffer = 0;  ///< copies that the pool had no room for
};

/// Everything that can go wrong on a wire, from a seeded generator. Without reordering it keeps order, whatever the
/// jumps.
class Impairment final : public Element, public EventTarget {
 public:
  /// `pool`: for duplicates and for shared packets that must be changed. Throws std::invalid_argument when a
  /// probability is outside 0 … 1.
  Impairment(EventLoop& loop, packet::PacketPool& pool, ImpairmentConfig config, Random random, Element& next);

  void set_next(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] const ImpairmentCounters& counters() const { return counters_; }

 private:
  struct Held {
    packet::Packet packet;
    Instant due{};
    std::uint64_t order = 0;
  };
  static bool later(const Held& a, const Held& b) { return a.due != b.due ? a.due > b.due : a.order > b.order; }
  void duplicate(const packet::Packet& packet, Instant now);
  void pass(packet::Packet packet, Instant now);
  void hold(packet::Packet packet, Instant due);
  /// False when the packet had to be copied and could not be.
  bool corrupt(packet::Packet& packet);
  [[nodiscard]] Duration jump(Instant now) const;

  EventLoop& loop_;
  packet::PacketPool& pool_;
  ImpairmentConfig config_;
  Random random_;
  Element* next_;
  std::vector<Held> held_;  ///< a heap, earliest first
  std::uint64_t order_ = 0;
  Instant in_order_until_{};  ///< nothing in order may leave before
  ImpairmentCounters counters_;
};

}  // namespace sluice::emulator
