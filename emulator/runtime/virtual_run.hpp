#pragma once

#include <functional>

#include "emulator/report/result.hpp"
#include "emulator/runtime/run_pool.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Function that is called repeatedly during a run with its completed share, 0 … 1.
using Progress = std::function<void(double)>;

/// Executes one run in virtual time, with one event loop and one shard of the proxy. Equal plans give equal results.
/// `name` is the name of the scenario. Packets come from `pool` and are returned to it. Throws TraceMissing,
/// TraceError, std::invalid_argument or BuffersExhausted.
[[nodiscard]] RunResult run_virtual(const RunPlan& plan, const std::string& name, RunPool& pool, TraceLibrary& traces,
                                    const Progress& progress = {});

}  // namespace sluice::emulator
