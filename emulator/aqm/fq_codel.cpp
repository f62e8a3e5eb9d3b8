#include "emulator/aqm/fq_codel.hpp"

#include <utility>

namespace sluice::emulator {

void FqCodelQueue::enqueue(packet::Packet packet, Instant now) {
  on_enqueued(packet);
  flows_.push({std::move(packet), now});
  while (exceeds(limit_)) dropped(flows_.pop_fattest(), &DisciplineCounters::dropped_full);
}

packet::Packet FqCodelQueue::dequeue(Instant now) {
  auto next = flows_.dequeue(
      now, [this](const Queued& gone) { dropped(gone, &DisciplineCounters::dropped_early); },
      [this] { record_mark(); });
  if (!next) return {};
  return departs(std::move(*next), now);
}

}  // namespace sluice::emulator
