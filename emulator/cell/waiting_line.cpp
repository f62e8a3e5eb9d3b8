#include "emulator/cell/waiting_line.hpp"

#include <utility>

namespace sluice::emulator {

Waiting FifoLine::pop(Instant /*now*/) {
  Waiting oldest = line_.pop();
  bytes_ -= size_of(oldest);
  return oldest;
}

std::optional<Waiting> FifoLine::next(Instant /*now*/, Interventions& /*interventions*/) {
  std::optional<Waiting> oldest(line_.pop());
  bytes_ -= size_of(*oldest);
  return oldest;
}

bool ShortFlowsFirstLine::ready(Instant now) const {
  return (!lines_[0].empty() && lines_[0].front().since < now) || (!lines_[1].empty() && lines_[1].front().since < now);
}

std::size_t ShortFlowsFirstLine::turn(Instant now) const {
  // A short flow's packet that arrives in this very instant misses it, if a packet of a long flow waits.
  return lines_[1].empty() || (!lines_[0].empty() && lines_[0].front().since < now) ? 0 : 1;
}

std::optional<Waiting> CodelLine::next(Instant now, Interventions& interventions) {
  const auto pull = [&]() -> std::optional<Waiting> {
    if (!ready(now)) return std::nullopt;
    return pop(now);
  };
  return control_.dequeue(
      now, pull, [this] { return bytes(); }, [&](Waiting& gone) { interventions.dropped.push_back(std::move(gone)); },
      [&] { ++interventions.marked; });
}

void FqCodelLine::settle(Instant now) {
  while (!young_.empty() && young_.front().since < now) flows_.push(young_.pop());
}

const Waiting& FqCodelLine::front(Instant now) {
  settle(now);
  return flows_.front();
}

Waiting FqCodelLine::pop(Instant now) {
  settle(now);
  return flows_.size() > 0 ? flows_.pop() : young_.pop();
}

std::optional<Waiting> FqCodelLine::next(Instant now, Interventions& interventions) {
  settle(now);
  return flows_.dequeue(
      now, [&](Waiting& gone) { interventions.dropped.push_back(std::move(gone)); }, [&] { ++interventions.marked; });
}

std::optional<Waiting> DualPi2Line::next(Instant now, Interventions& interventions) {
  return queues_.dequeue(
      now, now, [&](Waiting& gone) { interventions.dropped.push_back(std::move(gone)); },
      [&] { ++interventions.marked; });
}

std::optional<Waiting> AbcLine::next(Instant now, Interventions& interventions) {
  Waiting next = pop(now);
  if (!control_.accelerates(size_of(next), now - next.since, now) && brake(next.packet)) ++interventions.marked;
  return next;
}

}  // namespace sluice::emulator
