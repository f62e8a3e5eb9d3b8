#include "emulator/provenance/inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "emulator/provenance/sha256.hpp"
#include "emulator/report/results_csv.hpp"

namespace sluice::emulator {
namespace {

namespace fs = std::filesystem;

struct Names {
  std::set<std::string> scenarios;  ///< paths of scenario files
  std::set<std::string> traces;
};

void add_names(const Plan& plan, Names& names) {
  for (const RunPlan& run : plan.runs) {
    for (const ChannelSpec* const channel : all_channels(run.scenario)) {
      if (channel->type == ChannelType::trace) names.traces.insert(channel->file);
      if (channel->type == ChannelType::profile) names.scenarios.insert(channel->profile.file);
    }
  }
}

std::string from_folder(const std::string& path, const fs::path& folder) {
  const fs::path relative = folder.empty() ? fs::path(path) : fs::path(path).lexically_relative(folder);
  return relative.empty() ? path : relative.generic_string();
}

}  // namespace

Inputs inputs_of(const Plan& plan, const std::string& text, const TraceLibrary& traces) {
  const fs::path file(plan.file);
  Inputs inputs;
  inputs.scenario = {file.filename().string(), sha256(text), text, plan.file};
  Names names;
  add_names(plan, names);
  for (const std::string& path : names.scenarios) {
    const std::string other = read_file(path, config::DocumentLimits{}.bytes);
    const config::Loaded<Plan> loaded = parse_plan(other, path);
    if (!loaded) throw std::runtime_error(config::to_string(loaded.errors));
    add_names(*loaded, names);
    inputs.scenarios.push_back({from_folder(path, file.parent_path()), sha256(other), other, path});
  }
  for (const std::string& name : names.traces) {
    try {
      const std::string path = traces.find(name);
      inputs.traces.push_back({name, sha256(read_file(path)), {}, path});
    } catch (const TraceMissing&) {
      inputs.missing.push_back(name);
    }
  }
  return inputs;
}

std::string identity(const Inputs& inputs) {
  std::string text = "scenario " + inputs.scenario.name + ' ' + inputs.scenario.sha256 + '\n';
  for (const Input& scenario : inputs.scenarios) text += "profile " + scenario.name + ' ' + scenario.sha256 + '\n';
  for (const Input& trace : inputs.traces) text += "trace " + trace.name + ' ' + trace.sha256 + '\n';
  return text;
}

bool stays_below(std::string_view name) {
  const fs::path path(name);
  return !name.empty() && name.find('\0') == std::string_view::npos && path.is_relative() && path.has_filename() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".." || part == "."; });
}

}  // namespace sluice::emulator
