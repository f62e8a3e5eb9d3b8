#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// A file that a run depends on.
struct Input {
  /// Name of a trace as the scenario states it. For a scenario from which a profile comes, its path relative to the
  /// folder of the main scenario.
  std::string name;
  std::string sha256;  ///< digest of its bytes
  std::string text;    ///< content of a scenario; empty for a trace
  std::string path;    ///< path at which the file was found; not stored in results
};

/// All files that the runs of a scenario depend on.
struct Inputs {
  Input scenario;
  std::vector<Input> scenarios;      ///< scenarios whose runs provide the profiles that links replay
  std::vector<Input> traces;         ///< traces, sorted by name
  std::vector<std::string> missing;  ///< traces that were not found
};

/// Reads the files that the runs of a plan depend on. `text` is the text of its scenario. Throws std::runtime_error if
/// a file cannot be read.
[[nodiscard]] Inputs inputs_of(const Plan& plan, const std::string& text, const TraceLibrary& traces);

/// Returns all inputs as one text, which differs if any byte of an input differs.
[[nodiscard]] std::string identity(const Inputs& inputs);

/// True if the name leads to a file below its folder: relative, without ".." or ".".
[[nodiscard]] bool stays_below(std::string_view name);

}  // namespace sluice::emulator
