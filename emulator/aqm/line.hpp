#pragma once

#include <cstdint>
#include <memory>

#include "dataplane/units/rate.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// A router's outgoing line: a queue discipline, a rate, a propagation delay. One direction, in the order in which the
/// discipline lets packets go.
class QueueLine final : public Element, public EventTarget {
 public:
  /// Throws std::invalid_argument unless rate > 0, delay >= 0 and there is a discipline.
  QueueLine(EventLoop& loop, Rate rate, Duration delay, std::unique_ptr<QueueDiscipline> discipline, Element& next);

  void receive(packet::Packet packet, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] const QueueDiscipline& discipline() const { return *discipline_; }

 private:
  enum Tag : std::uint64_t { sent_tag, arrived_tag };
  struct InFlight {
    packet::Packet packet;
    Instant due{};
  };
  void send_next(Instant now);
  void arm();

  EventLoop& loop_;
  Rate rate_;
  Duration delay_;
  std::unique_ptr<QueueDiscipline> discipline_;
  Element& next_;
  packet::Packet sending_;
  Ring<InFlight> in_flight_;
  bool armed_ = false;  ///< an event for the first in flight is set
};

}  // namespace sluice::emulator
