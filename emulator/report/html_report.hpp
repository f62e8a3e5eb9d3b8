#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/plot_spec.hpp"
#include "emulator/report/ratios.hpp"
#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// One remark under a table, with its kind, such as "Reproduces".
struct ReportNote {
  std::string kind;
  std::string text;
};
/// Returns the notes as text for a terminal, one line each.
[[nodiscard]] std::string notes_text(const std::vector<ReportNote>& notes);

/// Title, columns, plots and notes that a scenario sets for its report.
struct ReportTitle {
  std::string title;
  std::string description;           ///< description below the title; may be empty
  std::vector<ExtraColumn> extra{};  ///< additional columns of the table and the plots
  std::vector<ReportNote> notes{};   ///< remarks under the table
  std::vector<PlotSpec> plots{};     ///< plots at the start of the report
  OverTimeSpec over_time{};
  /// If set, the first sentences of the report compare ratios of results; otherwise they compare the results
  /// themselves.
  std::optional<RatioSpec> ratio{};
};

/// Returns the report as one self-contained HTML file. It contains sentences with the results of the comparison,
/// requested plots and comparison plots. A table of all runs and time series with one column per mode follow. A script
/// (report_script.hpp) adds values and zoom; all content is readable without it. Equal results give equal bytes.
[[nodiscard]] std::string html_report(const ReportTitle& title, const std::vector<RunResult>& results);

}  // namespace sluice::emulator
