#include "emulator/scheduler/scheduler.hpp"

#include "emulator/scheduler/fcds.hpp"
#include "emulator/scheduler/max_ci.hpp"
#include "emulator/scheduler/proportional_fair.hpp"
#include "emulator/scheduler/round_robin.hpp"

namespace sluice::emulator {

std::unique_ptr<Scheduler> make_scheduler(std::string_view name, double window) {
  if (name == "rr") return std::make_unique<RoundRobin>();
  if (name == "mci") return std::make_unique<MaxCi>();
  if (name == "pf") return std::make_unique<ProportionalFair>(window);
  if (name == "fcds") return std::make_unique<Fcds>(window);
  return nullptr;
}

}  // namespace sluice::emulator
