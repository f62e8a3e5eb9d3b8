#pragma once

#include <optional>

#include "emulator/aqm/line.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/token_bucket.hpp"
#include "emulator/random.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// One direction of a hop between hosts and Node-B: a delay line, or a router's queue and line, with an optional
/// policer (a token bucket that drops) in front of it.
class Hop final : public Element {
 public:
  /// Makes a hop that sends packets to `next`. `random` is for queue disciplines that use random numbers; `way` is the
  /// direction, which selects the delay steps. Throws std::invalid_argument if a parameter is out of range.
  Hop(EventLoop& loop, const HopSpec& spec, Random random, Element& next, StepDirection way = StepDirection::down);

  void receive(packet::Packet packet, Instant now) override;
  /// Returns the counters of the router's queue; null if the hop has no such queue.
  [[nodiscard]] const DisciplineCounters* queue() const {
    return router_ ? &router_->discipline().counters() : nullptr;
  }
  /// Returns the bytes in the router's queue; nothing if the hop has no such queue.
  [[nodiscard]] std::optional<Bytes> queued() const {
    return router_ ? std::optional(router_->discipline().bytes()) : std::nullopt;
  }
  /// True if the hop can drop packets: it has a policer, a router or a limited buffer.
  [[nodiscard]] bool bounded() const { return policer_ || router_ || bounded_; }
  /// Returns the number of packets dropped by the policer, by a full buffer or by active queue management.
  [[nodiscard]] std::uint64_t dropped() const {
    return policed_ + (router_ ? queue()->dropped() : line_->counters().dropped);
  }

 private:
  std::optional<TokenBucket> policer_;
  std::uint64_t policed_ = 0;  ///< packets that the policer dropped because they exceeded its rate
  /// Line that applies the delay and, without a router's queue, also rate and buffer. Empty if there is a router's
  /// queue and the delay is constant, because `router_` then applies the delay.
  std::optional<DelayLine> line_;
  std::optional<QueueLine> router_;
  bool bounded_;
};

}  // namespace sluice::emulator
