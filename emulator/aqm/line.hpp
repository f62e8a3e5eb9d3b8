#pragma once

#include <cstdint>
#include <memory>

#include "dataplane/units/rate.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Outgoing link of a router in one direction, with a queue discipline, a rate and a propagation delay. Packets are
/// sent in the order that the discipline chooses. Thread: the event loop's.
class QueueLine final : public Element, public EventTarget {
 public:
  /// Creates an idle link. Throws std::invalid_argument unless `rate` > 0, `delay` >= 0 and there is a discipline.
  QueueLine(EventLoop& loop, Rate rate, Duration delay, std::unique_ptr<QueueDiscipline> discipline, Element& next);

  /// Queues a packet, and sends it at once if the line is idle.
  void receive(packet::Packet packet, Instant now) override;
  /// Handles the end of a packet's transmission, or its arrival at the far end. The event loop calls it.
  void on_event(std::uint64_t tag, Instant now) override;
  [[nodiscard]] const QueueDiscipline& discipline() const { return *discipline_; }

 private:
  enum Tag : std::uint64_t { sent_tag, arrived_tag };
  /// A packet on its way to the far end of the link, and its arrival time.
  struct InFlight {
    packet::Packet packet;
    Instant due{};
  };
  /// Starts the transmission of the next packet, if any.
  void send_next(Instant now);
  /// Schedules the event at which the next packet in flight arrives at the far end, if none is scheduled.
  void arm();

  EventLoop& loop_;
  Rate rate_;
  Duration delay_;
  std::unique_ptr<QueueDiscipline> discipline_;
  Element& next_;
  packet::Packet sending_;  ///< packet being transmitted; empty if the line is idle
  Ring<InFlight> in_flight_;
  bool armed_ = false;  ///< true if an event for the first packet in flight is set
};

}  // namespace sluice::emulator
