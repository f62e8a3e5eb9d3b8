#include "emulator/cell/radio_qdisc.hpp"

#include <utility>

namespace sluice::emulator {

QueuedPacket FifoQdisc::pop(Instant /*now*/) {
  QueuedPacket oldest = queue_.pop();
  bytes_ -= size_of(oldest);
  return oldest;
}

std::optional<QueuedPacket> FifoQdisc::next(Instant /*now*/, AqmActions& /*aqm_actions*/) {
  std::optional<QueuedPacket> oldest(queue_.pop());
  bytes_ -= size_of(*oldest);
  return oldest;
}

bool ShortFlowsFirstQdisc::ready(Instant now) const {
  return (!queues_[0].empty() && queues_[0].front().since < now) ||
         (!queues_[1].empty() && queues_[1].front().since < now);
}

std::size_t ShortFlowsFirstQdisc::next_queue(Instant now) const {
  // A short flow's packet that arrives in this very instant misses it, if a packet of a long flow waits.
  return queues_[1].empty() || (!queues_[0].empty() && queues_[0].front().since < now) ? 0 : 1;
}

std::optional<QueuedPacket> CodelQdisc::next(Instant now, AqmActions& aqm_actions) {
  const auto pull = [&]() -> std::optional<QueuedPacket> {
    if (!ready(now)) return std::nullopt;
    return pop(now);
  };
  return control_.dequeue(
      now, pull, [this] { return bytes(); },
      [&](QueuedPacket& gone) { aqm_actions.dropped.push_back(std::move(gone)); }, [&] { ++aqm_actions.marked; });
}

void FqCodelQdisc::admit_arrivals(Instant now) {
  while (!arrivals_.empty() && arrivals_.front().since < now) flows_.push(arrivals_.pop());
}

const QueuedPacket& FqCodelQdisc::front(Instant now) {
  admit_arrivals(now);
  return flows_.front();
}

QueuedPacket FqCodelQdisc::pop(Instant now) {
  admit_arrivals(now);
  return flows_.size() > 0 ? flows_.pop() : arrivals_.pop();
}

std::optional<QueuedPacket> FqCodelQdisc::next(Instant now, AqmActions& aqm_actions) {
  admit_arrivals(now);
  return flows_.dequeue(
      now, [&](QueuedPacket& gone) { aqm_actions.dropped.push_back(std::move(gone)); }, [&] { ++aqm_actions.marked; });
}

std::optional<QueuedPacket> DualPi2Qdisc::next(Instant now, AqmActions& aqm_actions) {
  return queues_.dequeue(
      now, now, [&](QueuedPacket& gone) { aqm_actions.dropped.push_back(std::move(gone)); },
      [&] { ++aqm_actions.marked; });
}

std::optional<QueuedPacket> AbcQdisc::next(Instant now, AqmActions& aqm_actions) {
  QueuedPacket next = pop(now);
  if (control_.brakes(next.packet, size_of(next), now - next.since, now)) ++aqm_actions.marked;
  return next;
}

}  // namespace sluice::emulator
