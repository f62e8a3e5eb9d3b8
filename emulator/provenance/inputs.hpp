#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// A file that a run depends on.
struct Input {
  std::string name;    ///< as the scenario says it; of another scenario, from this one's folder
  std::string sha256;  ///< of its bytes
  std::string text;    ///< of a scenario; empty for a trace
  std::string path;    ///< where it was found; not part of a result
};

/// All files that the runs of a scenario depend on.
struct Inputs {
  Input scenario;
  std::vector<Input> scenarios;      ///< that links are profiles of
  std::vector<Input> traces;         ///< by name
  std::vector<std::string> missing;  ///< traces that are nowhere
};

/// Reads the files of a plan. `text`: of its scenario. Throws std::runtime_error where one cannot be read.
[[nodiscard]] Inputs inputs_of(const Plan& plan, const std::string& text, const TraceLibrary& traces);

/// All of them as one text, which is another one as soon as a byte of them is.
[[nodiscard]] std::string identity(const Inputs& inputs);

/// The name leads to a file below the folder it is looked for in: no root, no "..".
[[nodiscard]] bool stays_below(std::string_view name);

}  // namespace sluice::emulator
