#pragma once

#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// A FIFO queue with tail drop.
class FifoQueue final : public QueueDiscipline {
 public:
  explicit FifoQueue(const QueueLimit& limit) : limit_(limit) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;

 private:
  QueueLimit limit_;
  Ring<Queued> queue_;
};

}  // namespace sluice::emulator
