#pragma once

#include "emulator/runtime/run_pool.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Returns the first run of the scenario in `profile.file` that meets the profile's conditions.
/// Throws std::invalid_argument if the file is refused, no run or UE fits, or its own links are profiles.
[[nodiscard]] RunPlan profile_run(const ProfileSpec& profile);

/// Runs in virtual time the scenarios from which the profiles of `plan` come, with the seed of `plan`, and stores the
/// profiles in `traces`. Each scenario is run once. Throws what profile_run() and run_virtual() throw.
void prepare_profiles(const RunPlan& plan, RunPool& pool, TraceLibrary& traces);

}  // namespace sluice::emulator
