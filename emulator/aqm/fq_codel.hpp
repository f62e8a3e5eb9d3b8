#pragma once

#include "emulator/aqm/fq_codel_flows.hpp"
#include "emulator/aqm/queue_discipline.hpp"

namespace sluice::emulator {

/// Flow Queue CoDel (RFC 8290) as a router's queue. When the whole is full, the oldest packet of the fattest queue
/// goes.
class FqCodelQueue final : public QueueDiscipline {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range. RFC 8290's limit is 10 240 packets.
  FqCodelQueue(const QueueLimit& limit, const FqCodelParameters& parameters) : limit_(limit), flows_(parameters) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// Queues on the lists of new and of old ones.
  [[nodiscard]] std::size_t active() const { return flows_.active(); }

 private:
  QueueLimit limit_;
  FqCodelFlows<Queued> flows_;
};

}  // namespace sluice::emulator
