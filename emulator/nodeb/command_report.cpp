#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "emulator/nodeb/commands.hpp"
#include "emulator/provenance/provenance.hpp"
#include "emulator/report/html_report.hpp"
#include "emulator/report/results_csv.hpp"
#include "emulator/report/text_table.hpp"

namespace sluice::emulator {

namespace {

/// Returns the name of a result folder and the provenance that is stored in it. If the provenance cannot be read, it is
/// null, and the result also contains the reason.
nlohmann::ordered_json provenance_of_part(const std::string& folder) {
  nlohmann::ordered_json part = {{"folder", std::filesystem::path(folder).lexically_normal().filename().string()}};
  try {
    const std::string text = read_file(std::filesystem::path(folder) / provenance_file, provenance_limit);
    part["provenance"] = nlohmann::ordered_json::parse(to_json(parse_provenance(text)));
  } catch (const std::runtime_error& refused) {
    part["provenance"] = nullptr;
    part["reason"] = refused.what();
  }
  return part;
}

std::string provenance_of_several(const std::vector<std::string>& folders) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const std::string& folder : folders) parts.push_back(provenance_of_part(folder));
  const nlohmann::ordered_json json = {{"format", 1}, {"clock", "several"}, {"parts", std::move(parts)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int command_report(const ReportOptions& options) {
  std::vector<RunResult> results;
  for (const std::string& folder : options.folders) {
    std::vector<RunResult> more = read_results(folder);
    results.insert(results.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  std::fputs(summary_text(results, {}, {terminal_width()}).c_str(), stdout);
  if (options.out.empty()) return exit_ok;
  std::vector<std::string> files = write_results(options.out, results);
  std::string title = options.title;
  if (title.empty() && !results.empty()) title = results.front().key.scenario;
  write_file(std::filesystem::path(options.out) / "report.html",
             html_report({title, options.description, {}, {}}, results));
  files.emplace_back("report.html");
  write_file(std::filesystem::path(options.out) / provenance_file, provenance_of_several(options.folders));
  std::fputs(written_line(options.out, files).c_str(), stdout);
  return exit_ok;
}

}  // namespace sluice::emulator
