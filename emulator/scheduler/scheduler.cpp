#include "emulator/scheduler/scheduler.hpp"

#include <algorithm>
#include <array>

#include "emulator/scheduler/fcds.hpp"
#include "emulator/scheduler/max_ci.hpp"
#include "emulator/scheduler/proportional_fair.hpp"
#include "emulator/scheduler/rate_first.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "emulator/scheduler/short_first.hpp"

namespace sluice::emulator {

namespace {

using Made = std::unique_ptr<Scheduler>;

constexpr std::array<SchedulerKind, 7> kinds = {{
    {"rr", "round robin", [](double) -> Made { return std::make_unique<RoundRobin>(); }},
    {"mci", "maximum C/I", [](double) -> Made { return std::make_unique<MaxCi>(); }},
    {"pf", "proportional fair by what was carried",
     [](double window) -> Made { return std::make_unique<ProportionalFair>(window); }},
    {"pf-rate", "proportional fair by the rates it was served at",
     [](double window) -> Made { return std::make_unique<ProportionalFair>(window, PfAverage::granted); }},
    {"pf-sp", "pf-rate, short flows first", [](double window) -> Made { return std::make_unique<ShortFirst>(window); }},
    {"pf-rp", "pf-rate, short flows first where their rate is no lower",
     [](double window) -> Made { return std::make_unique<RateFirst>(window); }},
    {"fcds", "fair channel-dependent: who is best off against its own average",
     [](double window) -> Made { return std::make_unique<Fcds>(window); }},
}};

}  // namespace

const Candidate* Scheduler::best_short(std::span<const Candidate> candidates) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!eligible(candidate) || !candidate.short_head) continue;
    if (best == nullptr || candidate.capacity > best->capacity) best = &candidate;
  }
  return best;
}

std::span<const SchedulerKind> scheduler_kinds() {
  return kinds;
}

std::unique_ptr<Scheduler> make_scheduler(std::string_view name, double window) {
  const auto* const kind = std::ranges::find(kinds, name, &SchedulerKind::name);
  return kind == kinds.end() ? nullptr : kind->make(window);
}

}  // namespace sluice::emulator
