#pragma once

#include <optional>

#include "emulator/aqm/line.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/token_bucket.hpp"
#include "emulator/random.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// One direction of a hop of the scenario: a plain delay line, or a router's queue before one; a policer before that.
class Hop final : public Element {
 public:
  /// `random`: for queues that draw. `way`: which steps of the delay are meant, down or up. Throws
  /// std::invalid_argument when a parameter is out of its range.
  Hop(EventLoop& loop, const HopSpec& spec, Random random, Element& next, StepWay way = StepWay::down);

  void receive(packet::Packet packet, Instant now) override;
  /// The queue's counters; null for a plain delay line.
  [[nodiscard]] const DisciplineCounters* queue() const {
    return router_ ? &router_->discipline().counters() : nullptr;
  }
  /// What waits in the queue; nothing for a plain delay line.
  [[nodiscard]] std::optional<Bytes> queued() const {
    return router_ ? std::optional(router_->discipline().bytes()) : std::nullopt;
  }
  /// Whether it may drop: a policer, a router, or a line that holds so much only.
  [[nodiscard]] bool bounded() const { return policer_ || router_ || bounded_; }
  /// Packets that exceeded the policer, found no room, or were dropped before there was none.
  [[nodiscard]] std::uint64_t dropped() const {
    return policed_ + (router_ ? queue()->dropped() : line_->counters().dropped);
  }

 private:
  std::optional<TokenBucket> policer_;
  std::uint64_t policed_ = 0;      ///< packets that exceeded it
  std::optional<DelayLine> line_;  ///< behind the router where the delay of a router's line has steps
  std::optional<QueueLine> router_;
  bool bounded_;
};

}  // namespace sluice::emulator
