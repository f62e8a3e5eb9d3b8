#pragma once

#include <string>
#include <vector>

#include "proxy/yaml/error.hpp"
#include "proxy/yaml/yaml.hpp"

namespace sluice::emulator {

struct Plan;
struct RunPlan;

/// What a paper gives for one column of the results, in some of its rows.
struct PaperValues {
  std::string column;               ///< of results.csv
  std::string unit;                 ///< that the table shows, the paper's: kb/s
  double scale = 1;                 ///< that unit in the column's
  std::vector<std::string> where;   ///< "mode=smvs", "buffer=100": the rows for which all hold; all rows when empty
  std::string along;                ///< a swept column or mode: one value for each of its points; empty: one value
  std::vector<std::string> values;  ///< numbers; "-" where the paper gives none
};

/// What an experiment repeats, and how well.
struct PaperSpec {
  std::string source;                   ///< paper and figure or table
  std::vector<std::string> readings;    ///< of damaged or contradictory text: which was taken
  std::vector<std::string> reproduces;  ///< one line each
  std::vector<std::string> differs;     ///< one line each, with the reason
  std::vector<PaperValues> values;
};

/// Whether "column=point" holds for a run: its mode, or the point of a swept column.
[[nodiscard]] bool holds(const RunPlan& run, const std::string& condition);

void describe(config::Section& s, PaperValues& values);
void describe(config::Section& s, PaperSpec& paper);

/// Puts the paper's values beside the runs they belong to. What names no column, no row, or a row that has a value
/// already, is an error at its place below `root`.
void put_paper_values(const config::Node& root, const std::string& file, Plan& plan,
                      std::vector<config::Error>& errors);

}  // namespace sluice::emulator
