#include "emulator/runtime/profiles.hpp"

#include <algorithm>
#include <stdexcept>

#include "emulator/runtime/virtual_run.hpp"

namespace sluice::emulator {
namespace {

/// Returns the profile with all rates scaled so that their mean is `mean`, or unchanged if `mean` is 0.
CapacityProfile scaled(CapacityProfile profile, Rate mean) {
  double sum = 0;
  for (const Rate rate : profile.rates) sum += rate.bps();
  if (mean <= Rate() || sum <= 0) return profile;
  const double factor = mean.bps() * static_cast<double>(profile.rates.size()) / sum;
  for (Rate& rate : profile.rates) rate = Rate::bits_per_second(rate.bps() * factor);
  return profile;
}

/// Executes `run` with `seed`. Returns for each UE, by its number, the rate that it received in each interval after the
/// warm-up. The rates are scaled so that their mean is `mean`, or unchanged if `mean` is 0.
std::vector<CapacityProfile> profiles_of(RunPlan run, Rate mean, std::uint64_t seed, RunPool& pool,
                                         TraceLibrary& traces) {
  run.seed = seed;
  run.scenario.output = {};
  run.scenario.output.ues = true;
  const RunResult result = run_virtual(run, "profile", pool, traces);
  std::vector<CapacityProfile> profiles;
  for (const UeSpec& ue : run.scenario.cell.ues) {
    const std::string address = ue.address.to_string();
    CapacityProfile profile{run.scenario.interval, {}};
    for (const UePoint& point : result.ues) {
      if (point.ue != address || point.time_s <= to_seconds(run.scenario.warmup)) continue;
      profile.rates.push_back(Rate::bits_per_second(point.link_used_bps));
    }
    profiles.push_back(scaled(std::move(profile), mean));
  }
  return profiles;
}

}  // namespace

RunPlan profile_run(const ProfileSpec& profile) {
  const config::Loaded<Plan> plan = load_plan(profile.file);
  if (!plan) throw std::invalid_argument(config::to_string(plan.errors));
  const auto fits = [&](const RunPlan& run) {
    return std::all_of(profile.where.begin(), profile.where.end(),
                       [&](const std::string& condition) { return holds(run, condition); });
  };
  const auto run = std::find_if(plan->runs.begin(), plan->runs.end(), fits);
  if (run == plan->runs.end())
    throw std::invalid_argument(profile.file + ": no run meets the conditions of the profile");
  const std::vector<UeSpec>& ues = run->scenario.cell.ues;
  if (profile.ue >= ues.size()) {
    throw std::invalid_argument(profile.file + ": the profile needs UE " + std::to_string(profile.ue) + ", there are " +
                                std::to_string(ues.size()));
  }
  if (std::any_of(ues.begin(), ues.end(), [](const UeSpec& ue) { return ue.channel.type == ChannelType::profile; })) {
    throw std::invalid_argument(profile.file + ": a profile cannot come from links that are profiles themselves");
  }
  return *run;
}

void prepare_profiles(const RunPlan& plan, RunPool& pool, TraceLibrary& traces) {
  for (const UeSpec& ue : plan.scenario.cell.ues) {
    if (ue.channel.type != ChannelType::profile) continue;
    const ProfileSpec& spec = ue.channel.profile;
    traces.make_profiles(spec, plan.seed,
                         [&] { return profiles_of(profile_run(spec), spec.mean, plan.seed, pool, traces); });
  }
}

}  // namespace sluice::emulator
