#pragma once

#include <functional>

#include "emulator/nodeb/run_pool.hpp"
#include "emulator/report/result.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Is told now and then how far a run is, 0 … 1.
using Progress = std::function<void(double)>;

/// Runs one plan in virtual time: one event loop, the proxy's own shard in the middle, nothing random but by the seed.
/// The same plan gives the same result, whatever else runs. `name`: of the scenario. Packets come from `pool`, and are
/// back in it afterwards. Throws TraceMissing, TraceError, std::invalid_argument or BuffersExhausted.
[[nodiscard]] RunResult run_virtual(const RunPlan& plan, const std::string& name, RunPool& pool, TraceLibrary& traces,
                                    const Progress& progress = {});

}  // namespace sluice::emulator
