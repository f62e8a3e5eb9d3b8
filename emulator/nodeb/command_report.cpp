#include <cstdio>
#include <filesystem>

#include "emulator/nodeb/commands.hpp"
#include "emulator/report/html_report.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/report/text_table.hpp"

namespace sluice::emulator {

int command_report(const ReportOptions& options) {
  std::vector<RunResult> results;
  for (const std::string& folder : options.folders) {
    std::vector<RunResult> more = read_results(folder);
    results.insert(results.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  std::fputs(summary_text(results).c_str(), stdout);
  if (options.out.empty()) return exit_ok;
  std::vector<std::string> files = write_results(options.out, results);
  std::string title = options.title;
  if (title.empty() && !results.empty()) title = results.front().key.scenario;
  write_file(std::filesystem::path(options.out) / "report.html",
             html_report({title, options.description, {}, {}}, results));
  files.emplace_back("report.html");
  std::fputs(written_line(options.out, files).c_str(), stdout);
  return exit_ok;
}

}  // namespace sluice::emulator
