#include "emulator/aqm/fifo.hpp"

namespace sluice::emulator {

void FifoQueue::enqueue(packet::Packet packet, Instant now) {
  if (!fits(packet, limit_)) {
    refused(&DisciplineCounters::dropped_full);
    return;
  }
  on_enqueued(packet);
  queue_.push({std::move(packet), now});
}

packet::Packet FifoQueue::dequeue(Instant now) {
  if (queue_.empty()) return {};
  return departs(queue_.pop(), now);
}

}  // namespace sluice::emulator
