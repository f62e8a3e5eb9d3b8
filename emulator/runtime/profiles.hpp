#pragma once

#include "emulator/runtime/run_pool.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Returns the first run of the scenario in `profile.file` that meets the profile's conditions. A profile has the rates
/// that a UE received in that run, for replay. Throws std::invalid_argument if the scenario has errors, no run meets
/// the conditions or the UE does not exist. Also throws if links of that scenario replay profiles themselves.
[[nodiscard]] RunPlan profile_run(const ProfileSpec& profile);

/// Executes the runs in which the profiles of `plan` (rates for replay) are recorded, in virtual time and with the seed
/// of `plan`. Stores the profiles in `traces`. Each of these runs is executed once. Exceptions of profile_run() and
/// run_virtual() are passed on.
void prepare_profiles(const RunPlan& plan, RunPool& pool, TraceLibrary& traces);

}  // namespace sluice::emulator
