#pragma once

#include <string>
#include <vector>

#include "proxy/yaml/error.hpp"
#include "proxy/yaml/yaml.hpp"

namespace sluice::emulator {

struct Plan;
struct RunPlan;

/// Values that a paper states for one column of the results, in some of its rows.
struct PaperValues {
  std::string column;              ///< column of results.csv
  std::string unit;                ///< unit in which the paper and the table show the value, such as kb/s
  double scale = 1;                ///< factor from the unit of the paper's values to the unit of the column
  std::vector<std::string> where;  ///< conditions such as "mode=smvs"; all must hold for a row; empty selects all rows
  /// Swept column (or the mode) for each of whose values `values` has one entry; empty for a single value.
  std::string along;
  std::vector<std::string> values;  ///< values as numbers, or "-" where the paper states none
};

/// Describes which paper an experiment repeats, and how closely.
struct PaperSpec {
  std::string source;  ///< name of the paper, and its figure or table
  /// Interpretations of passages of the paper that are illegible or contradict each other.
  std::vector<std::string> readings;
  std::vector<std::string> reproduces;  ///< aspects that are reproduced, one line each
  std::vector<std::string> differs;     ///< differences from the paper, one line each with the reason
  std::vector<PaperValues> values;
};

/// True if the run meets `condition`, a text of the form "column=point": `column` is a swept column or mode, and
/// `point` its value in this run.
[[nodiscard]] bool holds(const RunPlan& run, const std::string& condition);

void describe(config::Section& s, PaperValues& values);
void describe(config::Section& s, PaperSpec& paper);

/// Assigns the paper's values to the runs that they describe. A value is an error if its column or row does not exist,
/// or if another value was assigned to that row. The error names the place below `root`.
void put_paper_values(const config::Node& root, const std::string& file, Plan& plan,
                      std::vector<config::Error>& errors);

}  // namespace sluice::emulator
