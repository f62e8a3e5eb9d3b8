#pragma once

#include <functional>

#include "emulator/report/result.hpp"
#include "emulator/runtime/run_pool.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Function that receives the completed share of a run, 0 … 1, from time to time.
using Progress = std::function<void(double)>;

/// Runs one plan in virtual time, with one event loop and a shard of the proxy. Equal plans give equal results. `name`
/// is the scenario's. Packets come from `pool` and are returned to it. Throws TraceMissing, TraceError,
/// std::invalid_argument or BuffersExhausted.
[[nodiscard]] RunResult run_virtual(const RunPlan& plan, const std::string& name, RunPool& pool, TraceLibrary& traces,
                                    const Progress& progress = {});

}  // namespace sluice::emulator
