// Command `nodeb verify`: repeats a result from its provenance and compares the files byte for byte. The provenance may
// come from anywhere, so its file names are checked before they are used. Other programs or machines are only noted;
// differing files and traces are findings.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include "emulator/nodeb/commands.hpp"
#include "emulator/nodeb/experiment_files.hpp"
#include "emulator/provenance/difference.hpp"
#include "emulator/provenance/sha256.hpp"
#include "emulator/report/results_csv.hpp"

namespace sluice::emulator {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t{4} << 30;

/// Temporary folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "nodeb-verify-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Prints the differences between a stored result and its repetition, and counts them.
class Findings {
 public:
  void differs(const std::string& what) {
    std::printf("%s\n", what.c_str());
    ++count_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 0;
};

/// Prints a note if another program produced the stored result. The note does not count as a difference between the
/// results, but another program may cause one.
void compare_program(const Build& before) {
  const Build& now = running_program();
  if (same_results(before, now)) return;
  if (before.sources == now.sources && !before.sources.empty()) {
    std::printf("note: another build of the same sources: it was %s, this is %s\n", to_string(before).c_str(),
                to_string(now).c_str());
    return;
  }
  std::printf("note: another program: it was %s, this is %s\n", to_string(before).c_str(), to_string(now).c_str());
}

void compare_machine(const std::vector<Machine>& before) {
  const Machine now = this_machine();
  for (const Machine& machine : before) {
    if (machine.processor != now.processor || machine.library != now.library) {
      std::printf("note: another machine: it was %s with %s, this is %s with %s\n", machine.processor.c_str(),
                  machine.library.c_str(), now.processor.c_str(), now.library.c_str());
    }
  }
}

/// Writes the scenarios of a result to `folder`. Returns the path of the main scenario. Throws if a text does not match
/// its digest, or if a file name leads out of the folder.
std::string restore(const Inputs& inputs, const fs::path& folder) {
  const auto put = [&folder](const Input& scenario) {
    if (!stays_below(scenario.name)) {
      throw std::runtime_error("the scenario " + scenario.name +
                               " is not below a folder, so the run cannot be repeated");
    }
    if (sha256(scenario.text) != scenario.sha256) {
      throw std::runtime_error("the text of the scenario " + scenario.name + " does not match its digest");
    }
    write_file(folder / scenario.name, scenario.text);
    return (folder / scenario.name).string();
  };
  for (const Input& scenario : inputs.scenarios) static_cast<void>(put(scenario));
  return put(inputs.scenario);
}

/// Prints the traces that are missing, or differ from those of the stored result. Returns false if a trace is missing
/// that the stored result was computed from.
bool compare_traces(const Provenance& before, const Inputs& now, Findings& findings) {
  std::map<std::string, std::string> digests;
  for (const Input& trace : now.traces) digests.emplace(trace.name, trace.sha256);
  bool all = true;
  for (const Input& trace : before.inputs.traces) {
    const auto at = digests.find(trace.name);
    if (at == digests.end()) {
      std::fprintf(stderr, "nodeb: skipped: the trace %s is missing; name its folder with --traces\n",
                   trace.name.c_str());
      all = false;
    } else if (at->second != trace.sha256) {
      findings.differs("the trace " + trace.name + " has another content: " + trace.sha256 + " before, " + at->second +
                       " now");
    }
  }
  for (const std::string& name : before.inputs.missing) {
    if (digests.contains(name)) findings.differs("the trace " + name + " was missing and exists now");
  }
  return all;
}

/// Compares the files of a stored result with their stored digests and with the files of the repeated run.
void compare_files(const Provenance& before, const fs::path& folder, const fs::path& repeated,
                   const std::vector<std::string>& written, Findings& findings) {
  for (const WrittenFile& file : before.files) {
    std::error_code ignored;
    if (!fs::is_regular_file(folder / file.name, ignored)) {
      findings.differs(file.name + " is missing");
      continue;
    }
    const std::string was = read_file(folder / file.name, largest_file);
    if (sha256(was) != file.sha256) findings.differs(file.name + " was changed after the run");
    if (std::find(written.begin(), written.end(), file.name) == written.end()) {
      findings.differs(file.name + " is no longer written");
      continue;
    }
    const std::string difference = first_difference(was, read_file(repeated / file.name, largest_file));
    if (!difference.empty()) findings.differs(file.name + " " + difference);
  }
  for (const std::string& name : written) {
    const bool known =
        std::any_of(before.files.begin(), before.files.end(), [&](const auto& file) { return file.name == name; });
    if (!known) findings.differs(name + " is written now, but was not written before");
  }
}

Provenance read_provenance(const fs::path& folder) {
  const fs::path path = folder / provenance_file;
  const std::string text = read_file(path, provenance_limit);
  try {
    return parse_provenance(text);
  } catch (const std::runtime_error& refused) {
    throw std::runtime_error(path.string() + ": " + refused.what());
  }
}

}  // namespace

int command_verify(const VerifyOptions& options) {
  const fs::path folder(options.folder);
  TemporaryFolder temporary;
  Provenance before;
  std::string scenario;
  try {
    before = read_provenance(folder);
    if (before.clock != "virtual") throw std::runtime_error("a run in real time cannot be repeated");
    scenario = restore(before.inputs, temporary.path());
  } catch (const std::runtime_error& refused) {
    std::fprintf(stderr, "nodeb: %s\n", refused.what());
    return exit_configuration;
  }
  std::optional<LoadedExperiment> experiment = load_experiment(scenario, before.seeds_per_point, before.modes);
  if (!experiment) return exit_configuration;
  TraceLibrary traces = trace_library(scenario, options.traces);
  Findings findings;
  compare_program(before.program);
  compare_machine(before.machines);
  const Inputs now = inputs_of(experiment->plan, experiment->text, traces);
  if (!compare_traces(before, now, findings)) return exit_skipped;
  if (!restrict_runs(experiment->plan, before.runs)) return exit_configuration;
  const ExperimentOutcome outcome = run_with_bar(experiment->plan, traces, options.workers);
  if (outcome.stopped) return exit_interrupted;
  const fs::path repeated = temporary.path() / "repeated";
  const std::vector<std::string> written = write_experiment(experiment->plan, repeated.string(), outcome.results);
  compare_files(before, folder, repeated, written, findings);
  if (findings.count() > 0) return exit_failure;
  std::printf("identical: %zu runs, %zu files\n", outcome.results.size(), written.size());
  return exit_ok;
}

}  // namespace sluice::emulator
