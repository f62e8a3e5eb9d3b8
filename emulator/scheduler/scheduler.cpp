#include "emulator/scheduler/scheduler.hpp"

#include <algorithm>
#include <array>

#include "emulator/scheduler/fcds.hpp"
#include "emulator/scheduler/max_ci.hpp"
#include "emulator/scheduler/proportional_fair.hpp"
#include "emulator/scheduler/round_robin.hpp"

namespace sluice::emulator {

namespace {

using Made = std::unique_ptr<Scheduler>;

constexpr std::array<SchedulerKind, 4> kinds = {{
    {"rr", "round robin", [](double) -> Made { return std::make_unique<RoundRobin>(); }},
    {"mci", "maximum C/I", [](double) -> Made { return std::make_unique<MaxCi>(); }},
    {"pf", "proportional fair", [](double window) -> Made { return std::make_unique<ProportionalFair>(window); }},
    {"fcds", "fair channel-dependent: who is best off against its own average",
     [](double window) -> Made { return std::make_unique<Fcds>(window); }},
}};

}  // namespace

std::span<const SchedulerKind> scheduler_kinds() {
  return kinds;
}

std::unique_ptr<Scheduler> make_scheduler(std::string_view name, double window) {
  const auto* const kind = std::ranges::find(kinds, name, &SchedulerKind::name);
  return kind == kinds.end() ? nullptr : kind->make(window);
}

}  // namespace sluice::emulator
