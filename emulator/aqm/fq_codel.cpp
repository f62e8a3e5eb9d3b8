#include "emulator/aqm/fq_codel.hpp"

#include <algorithm>
#include <stdexcept>

#include "emulator/net/flow_key.hpp"

namespace sluice::emulator {

FqCodelQueue::FqCodelQueue(const QueueLimit& limit, const FqCodelParameters& parameters)
    : limit_(limit), parameters_(parameters) {
  if (parameters.queues == 0 || parameters.quantum <= Bytes(0)) {
    throw std::invalid_argument("FQ-CoDel: there must be queues and a quantum");
  }
  flows_.reserve(parameters.queues);
  for (std::uint32_t i = 0; i < parameters.queues; ++i) flows_.emplace_back(parameters.codel);
}

void FqCodelQueue::enqueue(packet::Packet packet, Instant now) {
  const auto key = read_flow_key(packet.bytes());
  const auto number = static_cast<std::uint32_t>((key ? key->hash(parameters_.seed) : 0) % flows_.size());
  FlowQueue& flow = flows_[number];
  came(packet);
  flow.bytes += Bytes(packet.size());
  flow.queue.push({std::move(packet), now});
  if (!flow.active) {
    flow.active = true;
    flow.deficit = parameters_.quantum;
    new_.push_back(number);
  }
  while (exceeds(limit_)) drop_from_fattest();
}

void FqCodelQueue::drop_from_fattest() {
  const auto fattest = std::max_element(flows_.begin(), flows_.end(),
                                        [](const FlowQueue& a, const FlowQueue& b) { return a.bytes < b.bytes; });
  const auto oldest = pull(*fattest);
  if (oldest) dropped(*oldest, &DisciplineCounters::dropped_full);
}

std::optional<Queued> FqCodelQueue::pull(FlowQueue& flow) {
  if (flow.queue.empty()) return std::nullopt;
  Queued oldest = flow.queue.pop();
  flow.bytes -= Bytes(oldest.packet.size());
  return oldest;
}

std::optional<Queued> FqCodelQueue::next_of(FlowQueue& flow, Instant now) {
  return flow.control.dequeue(
      now, [&] { return pull(flow); }, [&] { return flow.bytes; },
      [this](const Queued& gone) { dropped(gone, &DisciplineCounters::dropped_early); }, [this] { note_mark(); });
}

packet::Packet FqCodelQueue::dequeue(Instant now) {
  while (!new_.empty() || !old_.empty()) {
    Turns& turns = new_.empty() ? old_ : new_;
    FlowQueue& flow = flows_[turns.front()];
    if (flow.deficit <= Bytes(0)) {
      flow.deficit += parameters_.quantum;
      old_.splice(old_.end(), turns, turns.begin());
      continue;
    }
    auto next = next_of(flow, now);
    if (next) {
      flow.deficit -= Bytes(next->packet.size());
      return departs(std::move(*next), now);
    }
    // A new queue that ran empty goes behind the old ones once, so that it cannot come back as new at once
    // (section 4.2).
    if (&turns == &new_ && !old_.empty()) {
      old_.splice(old_.end(), turns, turns.begin());
    } else {
      flow.active = false;
      turns.pop_front();
    }
  }
  return {};
}

}  // namespace sluice::emulator
