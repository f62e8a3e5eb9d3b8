#include <spdlog/spdlog.h>

#include <cstdio>
#include <set>

#include "emulator/nodeb/commands.hpp"
#include "emulator/runtime/profiles.hpp"
#include "proxy/yaml/scalar.hpp"

namespace sluice::emulator {
namespace {

/// Every scenario that a profile is taken from.
bool check_profiles(const Plan& plan) {
  std::set<std::string> complaints;
  for (const RunPlan& run : plan.runs) {
    for (const UeSpec& ue : run.scenario.cell.ues) {
      if (ue.channel.type != ChannelType::profile) continue;
      try {
        static_cast<void>(profile_run(ue.channel.profile));
      } catch (const std::invalid_argument& refused) {
        complaints.insert(refused.what());
      }
    }
  }
  for (const std::string& complaint : complaints) std::fprintf(stderr, "%s\n", complaint.c_str());
  return complaints.empty();
}

/// Every trace the runs name, read once. A missing one is worth a warning, a broken one is an error.
bool check_traces(const Plan& plan, TraceLibrary& traces) {
  std::set<std::string> names;
  for (const RunPlan& run : plan.runs) {
    for (const ChannelSpec* const channel : all_channels(run.scenario)) {
      if (channel->type == ChannelType::trace) names.insert(channel->file);
    }
  }
  bool good = true;
  for (const std::string& name : names) {
    try {
      static_cast<void>(traces.load(name));
    } catch (const TraceMissing& missing) {
      std::fprintf(stderr, "warning: %s\n", missing.what());
    } catch (const std::exception& broken) {
      std::fprintf(stderr, "%s\n", broken.what());
      good = false;
    }
  }
  return good;
}

}  // namespace

int command_check(const std::string& file, const std::vector<std::string>& folders) {
  const std::optional<Plan> plan = read_plan(file, 1);
  if (!plan) return exit_configuration;
  TraceLibrary traces = trace_library(file, folders);
  if (!check_traces(*plan, traces) || !check_profiles(*plan)) return exit_configuration;
  std::printf("OK: %zu %s of %s\n", plan->runs.size(), plan->runs.size() == 1 ? "run" : "runs",
              config::Scalar<Duration>::format(plan->base.duration).c_str());
  return exit_ok;
}

}  // namespace sluice::emulator
