#pragma once

#include "emulator/runtime/run_pool.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Returns the first run of the scenario in `profile.file` that meets the profile's conditions. Throws
/// std::invalid_argument if the scenario has errors, no run meets the conditions, the UE does not exist, or that
/// scenario's links themselves replay profiles.
[[nodiscard]] RunPlan profile_run(const ProfileSpec& profile);

/// Executes in virtual time the runs from which the profiles of `plan` come, with the seed of `plan`, and stores the
/// profiles in `traces`. Each of these runs is executed once. Exceptions of profile_run() and run_virtual() are passed
/// on.
void prepare_profiles(const RunPlan& plan, RunPool& pool, TraceLibrary& traces);

}  // namespace sluice::emulator
