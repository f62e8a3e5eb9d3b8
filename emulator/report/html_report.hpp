#pragma once

#include <string>
#include <vector>

#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// What stands at the head of a report.
struct ReportTitle {
  std::string title;
  std::string description;  ///< may be empty
};

/// One HTML file that needs nothing else: comparison plots and the table of all runs, then link rate, window, queue and
/// delay against time, one column per mode. The same results give the same bytes.
[[nodiscard]] std::string html_report(const ReportTitle& title, const std::vector<RunResult>& results);

}  // namespace sluice::emulator
