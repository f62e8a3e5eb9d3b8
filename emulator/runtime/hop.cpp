// One direction of a wired hop: an optional policer, then a delay line, or a router with a queue discipline. Network,
// RadioAccess and the built-in hosts create hops from the scenario.

#include "emulator/runtime/hop.hpp"

#include <memory>
#include <utility>

#include "emulator/aqm/abc.hpp"
#include "emulator/aqm/dualpi2.hpp"
#include "emulator/aqm/fifo.hpp"
#include "emulator/aqm/pie.hpp"
#include "emulator/aqm/round_robin_queue.hpp"
#include "emulator/net/line_size.hpp"

namespace sluice::emulator {
namespace {

RedParameters red_of(const HopSpec& hop) {
  RedParameters red = hop.queue->red;
  red.bytes_per_second = hop.rate.bytes_per_second();
  red.ecn = hop.queue->ecn;
  if (red.max_threshold == Bytes(0)) {
    red.min_threshold = hop.buffer / 12;
    red.max_threshold = hop.buffer * 3 / 12;
  }
  return red;
}

std::unique_ptr<QueueDiscipline> make_discipline(const HopSpec& hop, Random random) {
  const QueueSpec& spec = *hop.queue;
  const QueueLimit limit{hop.buffer, spec.packets};
  CodelParameters codel = spec.codel;
  codel.ecn = spec.ecn;
  switch (spec.type) {
    case DisciplineType::fifo:
      break;
    case DisciplineType::round_robin:
      return std::make_unique<RoundRobinQueue>(limit);
    case DisciplineType::red:
      return std::make_unique<RedQueue>(limit, red_of(hop), random);
    case DisciplineType::codel:
      return std::make_unique<CodelQueue>(limit, codel);
    case DisciplineType::fq_codel: {
      FqCodelParameters parameters;
      parameters.codel = codel;
      parameters.seed = random.next();
      return std::make_unique<FqCodelQueue>(limit, parameters);
    }
    case DisciplineType::pie: {
      PieParameters parameters = spec.pie;
      parameters.ecn = spec.ecn;
      return std::make_unique<PieQueue>(limit, parameters, random);
    }
    case DisciplineType::dualpi2:
      return std::make_unique<DualPi2Queue>(limit, spec.dualpi2);
    case DisciplineType::abc:
      return std::make_unique<AbcQueue>(limit, spec.abc, hop.rate);
  }
  return std::make_unique<FifoQueue>(limit);
}

/// Returns the delay steps that apply to direction `way`.
std::vector<DelayStep> steps_of(const HopSpec& hop, StepDirection way) {
  std::vector<DelayStep> steps;
  for (const StepSpec& step : hop.steps) {
    if (step.way == StepDirection::both || step.way == way) steps.push_back(step);
  }
  return steps;
}

}  // namespace

Hop::Hop(EventLoop& loop, const HopSpec& spec, Random random, Element& next, StepDirection way)
    : bounded_(spec.buffer > Bytes(0)) {
  if (spec.policer) policer_.emplace(spec.policer->rate, spec.policer->burst);
  DelayLineConfig line{spec.delay, spec.rate, spec.buffer, spec.jitter, steps_of(spec, way)};
  if (!spec.queue) {
    line_.emplace(loop, line, next, random);
  } else if (line.steps.empty()) {
    router_.emplace(loop, spec.rate, spec.delay, make_discipline(spec, random), next);
  } else {
    line.rate = Rate();
    line_.emplace(loop, line, next, random);
    router_.emplace(loop, spec.rate, Duration::zero(), make_discipline(spec, random), *line_);
  }
}

void Hop::receive(packet::Packet packet, Instant now) {
  if (policer_ && !policer_->take(line_size(packet), now)) {
    ++policed_;
    return;
  }
  if (router_) {
    router_->receive(std::move(packet), now);
  } else {
    line_->receive(std::move(packet), now);
  }
}

}  // namespace sluice::emulator
