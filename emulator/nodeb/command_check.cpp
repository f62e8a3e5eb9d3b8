// Command `nodeb --check`: parses a scenario, its traces and the scenarios of its profiles, and prints every error.
// main.cpp and `nodeb live --check` call command_check(). Nothing is run.

#include <spdlog/spdlog.h>

#include <cstdio>
#include <set>

#include "emulator/nodeb/commands.hpp"
#include "emulator/runtime/profiles.hpp"
#include "proxy/yaml/document.hpp"
#include "proxy/yaml/scalar.hpp"

namespace sluice::emulator {
namespace {

/// Checks the scenarios whose runs provide the capacity profiles (rates over time) that links replay. Prints each error
/// once. Returns true if there is none.
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

/// Returns the place (line and column in the file) of the first scalar below `node` whose text is `text`; line 0 if
/// there is none.
config::Place place_of(const config::Node& node, const std::string& text) {
  if (node.kind == config::Node::Kind::scalar && node.text == text) return node.place;
  for (const config::Node& item : node.items) {
    if (const config::Place place = place_of(item, text); place.line > 0) return place;
  }
  for (const config::Entry& entry : node.entries) {
    if (const config::Place place = place_of(entry.value, text); place.line > 0) return place;
  }
  return {};
}

/// Prints that a trace is missing, with the place in the scenario that names it.
void complain(const std::string& file, const std::string& trace, const TraceMissing& missing) {
  std::vector<config::Error> unreadable;  // no errors, because the file was read just before
  const std::string text = config::read_text(file, config::DocumentLimits{}.bytes, unreadable);
  const config::Node root = config::parse_document(text, file, unreadable);
  std::fprintf(stderr, "%s\n", config::Error{file, place_of(root, trace), missing.what(), "", ""}.to_string().c_str());
}

/// Reads every trace that a run uses, each trace only once. Prints missing and malformed traces; returns true if there
/// are none.
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
      complain(plan.file, name, missing);
      good = false;
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
