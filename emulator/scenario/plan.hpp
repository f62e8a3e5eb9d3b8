#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/scenario/scenario.hpp"
#include "proxy/yaml/document.hpp"
#include "proxy/yaml/error.hpp"

namespace sluice::emulator {

/// One run of an experiment: the scenario with its swept values applied, a mode and a seed.
struct RunPlan {
  Scenario scenario;
  RunMode mode = RunMode::none;
  /// Name of the mode in the results: its own name, or the label of a sweep whose column is mode.
  std::string mode_name;
  /// Number of the combination of swept values and mode; runs that differ only in the seed share it.
  std::size_t point = 0;
  std::uint64_t seed = 1;
  /// Name of each swept column and its value in this run, as in the results.
  std::vector<std::pair<std::string, std::string>> swept;
  std::map<std::string, double> paper;  ///< value that a paper states for this run, by column of the results
};

/// An experiment: a run for every combination of modes, swept values and seeds. In the list of runs the seed changes
/// fastest, then the mode.
struct Plan {
  std::string name;  ///< file name without folder and extension
  std::string file;
  Scenario base;
  std::vector<RunPlan> runs;
};

/// Largest number of runs in one plan.
inline constexpr std::size_t max_runs = 100'000;

/// Reads a scenario and expands it into runs with `seeds` consecutive seeds, beginning with the scenario's own. Checks
/// the scenario with every combination of swept values. Errors and warnings have the form "file:line:column: what,
/// expected, got".
[[nodiscard]] config::Loaded<Plan> load_plan(const std::string& file, unsigned seeds = 1);
/// Returns the plan of a scenario that is given as `text`, as load_plan() does for a file. `file` is the name in error
/// messages.
[[nodiscard]] config::Loaded<Plan> parse_plan(std::string_view text, const std::string& file, unsigned seeds = 1);

/// Sets the scalar at a dotted path of a tree: map keys, list indices, or * for every element. Missing map keys are
/// added. Errors refer to `place`. Returns an empty string on success, otherwise the error in the path.
[[nodiscard]] std::string set_value(config::Node& root, std::string_view path, const std::string& text,
                                    config::Place place);

}  // namespace sluice::emulator
