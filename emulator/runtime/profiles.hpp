#pragma once

#include "emulator/nodeb/run_pool.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// The run that a profile is taken from: of the scenario in `profile.file` the first that its conditions hold for.
/// Throws std::invalid_argument when the file is refused, no run fits, there is no such UE, or its own links are
/// profiles.
[[nodiscard]] RunPlan profile_run(const ProfileSpec& profile);

/// Runs, in virtual time and with the seed of `plan`, what its profiles are taken from, and leaves them in `traces`.
/// Each is run once. Throws what profile_run() and run_virtual() throw.
void prepare_profiles(const RunPlan& plan, RunPool& pool, TraceLibrary& traces);

}  // namespace sluice::emulator
