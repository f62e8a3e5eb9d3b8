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

/// One run of an experiment: the scenario with its swept values put in, a mode and a seed.
struct RunPlan {
  Scenario scenario;
  RunMode mode = RunMode::none;
  std::string mode_name;  ///< what the results call the mode: its own name, or the label of a sweep of column mode
  std::size_t point = 0;  ///< of all combinations of swept values and modes, counted from 0
  std::uint64_t seed = 1;
  std::vector<std::pair<std::string, std::string>> swept;  ///< column and what the results call the value
  std::map<std::string, double> paper;                     ///< what a paper gives for it, by column of the results
};

/// An experiment: every combination of modes, swept values and seeds, seeds varying fastest, then modes.
struct Plan {
  std::string name;  ///< of the scenario: its file's without folder and ending
  std::string file;
  Scenario base;
  std::vector<RunPlan> runs;
};

/// At most so many runs in one plan.
inline constexpr std::size_t max_runs = 100'000;

/// Reads a scenario and lays out its runs, with `seeds` seeds from the scenario's own on. Every point of its sweeps is
/// checked. Errors and warnings as "file:line:column: what, expected, got".
[[nodiscard]] config::Loaded<Plan> load_plan(const std::string& file, unsigned seeds = 1);
/// Does the same from text.
[[nodiscard]] config::Loaded<Plan> parse_plan(std::string_view text, const std::string& file, unsigned seeds = 1);

/// Puts a scalar at a dotted path of a tree: keys of maps, numbers of list elements, * for every element. Missing keys
/// of maps are added. `place` is where errors about it point. Empty when it worked, else what is wrong with the path.
[[nodiscard]] std::string set_value(config::Node& root, std::string_view path, const std::string& text,
                                    config::Place place);

}  // namespace sluice::emulator
