#pragma once

#include <string>
#include <vector>

#include "emulator/report/columns.hpp"
#include "emulator/report/plot_spec.hpp"
#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// One line under a table: what kind of remark it is ("Reproduces") and the remark.
struct ReportNote {
  std::string kind;
  std::string text;
};
/// The notes for a terminal, one line each.
[[nodiscard]] std::string notes_text(const std::vector<ReportNote>& notes);

/// What stands at the head of a report.
struct ReportTitle {
  std::string title;
  std::string description;           ///< may be empty
  std::vector<ExtraColumn> extra{};  ///< columns that the table and the plots show beside the usual ones
  std::vector<ReportNote> notes{};   ///< under the table
  std::vector<PlotSpec> plots{};     ///< that stand first
  OverTimeSpec over_time{};
};

/// One HTML file that needs nothing else: the plots asked for, comparison plots and the table of all runs, then link
/// rate, window, queue and delay against time, one column per mode. Its script (report_script.hpp) shows values and
/// draws parts larger; without it all is there to be read. The same results give the same bytes.
[[nodiscard]] std::string html_report(const ReportTitle& title, const std::vector<RunResult>& results);

}  // namespace sluice::emulator
