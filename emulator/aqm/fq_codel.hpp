#pragma once

#include "emulator/aqm/fq_codel_flows.hpp"
#include "emulator/aqm/queue_discipline.hpp"

namespace sluice::emulator {

/// FQ-CoDel (RFC 8290) as a router's queue. When the limit is exceeded, the longest queue loses its oldest packet.
class FqCodelQueue final : public QueueDiscipline {
 public:
  /// Creates empty queues. `limit` applies to all queues together; the default of RFC 8290 is 10 240 packets. Throws
  /// std::invalid_argument if a parameter is out of its range.
  FqCodelQueue(const QueueLimit& limit, const FqCodelParameters& parameters) : limit_(limit), flows_(parameters) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// Returns the number of active queues: those on the lists of new and old queues (RFC 8290).
  [[nodiscard]] std::size_t active() const { return flows_.active(); }

 private:
  QueueLimit limit_;
  FqCodelFlows<Queued> flows_;
};

}  // namespace sluice::emulator
