// The table of results as text and as rows of cells. `nodeb` prints summary_text(); the HTML report uses
// summary_rows(). Invariant: key columns come first, and optional columns appear if any group has a value.

#include "emulator/report/text_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "emulator/report/answer.hpp"
#include "emulator/report/column_titles.hpp"

namespace sluice::emulator {
namespace {

constexpr const char* unknown = "–";            ///< cell of a value that a run does not have
constexpr const char* paper_heading = "paper";  ///< heading of a column with the paper's values of the preceding column

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals).ptr;
  return {buffer.data(), end};
}

/// Returns milliseconds as text, with one decimal below 10 and none above.
std::string milliseconds(double value) {
  return fixed(value, value < 10 ? 1 : 0);
}

std::string delays(const DelaySummary& delay) {
  if (delay.count == 0) return unknown;
  return milliseconds(delay.p50_ms) + " / " + milliseconds(delay.p95_ms) + " / " + milliseconds(delay.p99_ms);
}

/// Key columns whose values differ between groups of runs, and which the table therefore shows.
struct KeyColumns {
  bool scenario = false;
  std::vector<std::string> swept;
};

KeyColumns key_columns(const std::vector<ResultGroup>& groups) {
  KeyColumns keys;
  for (const ResultGroup& group : groups) {
    keys.scenario = keys.scenario || group.mean.key.scenario != groups.front().mean.key.scenario;
    for (const auto& [column, value] : group.mean.key.swept) {
      if (std::find(keys.swept.begin(), keys.swept.end(), column) == keys.swept.end()) keys.swept.push_back(column);
    }
  }
  return keys;
}

bool any_fetches(const std::vector<ResultGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const ResultGroup& group) { return group.mean.fetches > 0; });
}

/// Returns a number with four significant digits and no decimals from 1000 on.
std::string figure(double value) {
  const double size = value < 0 ? -value : value;
  return fixed(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

bool any_paper(const std::vector<ResultGroup>& groups, const std::string& column) {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const ResultGroup& group) { return group.mean.paper.contains(column); });
}

/// Appends the cells of the additional columns, each followed by a paper's value if some group has one.
void add_extra(std::vector<std::string>& row, const ResultGroup& group, const std::vector<ResultGroup>& groups,
               const std::vector<ExtraColumn>& extra) {
  for (const ExtraColumn& wanted : extra) {
    const std::optional<double> ours = column_value(group.mean, wanted.column);
    const double scale = title_of_column(wanted).scale;
    std::string cell = ours ? figure(*ours / scale) : unknown;
    const auto ci = group.ci.find(wanted.column);
    if (ours && group.seeds > 1 && ci != group.ci.end()) cell += " ± " + figure(ci->second / scale);
    row.push_back(cell);
    if (!any_paper(groups, wanted.column)) continue;
    const auto paper = group.mean.paper.find(wanted.column);
    row.push_back(paper == group.mean.paper.end() ? unknown : figure(paper->second / scale));
  }
}

std::vector<std::string> row_of(const ResultGroup& group, const KeyColumns& keys, bool fetches) {
  const RunResult& mean = group.mean;
  std::vector<std::string> row = {mean.key.mode == "none" ? "no proxy" : mean.key.mode};
  if (keys.scenario) row.push_back(mean.key.scenario);
  for (const std::string& column : keys.swept) {
    const auto at = std::find_if(mean.key.swept.begin(), mean.key.swept.end(),
                                 [&](const auto& pair) { return pair.first == column; });
    row.push_back(at == mean.key.swept.end() ? std::string() : at->second);
  }
  const bool many = group.seeds > 1;
  row.push_back(fixed(100 * mean.goodput, 1) + (many ? " ± " + fixed(100 * group.goodput_ci, 1) : "") + " %");
  row.push_back(fixed(100 * mean.utilisation, 1) + (many ? " ± " + fixed(100 * group.utilisation_ci, 1) : "") + " %");
  row.push_back(fixed(mean.throughput_bps / 1e6, 2) + (many ? " ± " + fixed(group.throughput_ci_bps / 1e6, 2) : "") +
                " Mb/s");
  row.push_back(delays(mean.radio_queue_delay));
  row.push_back(delays(mean.proxy_to_ue_delay));
  row.push_back(delays(mean.server_to_ue_delay));
  row.push_back(std::to_string(mean.drops));
  row.push_back(std::to_string(mean.retransmissions));
  row.push_back(fixed(mean.jain, 3));
  if (fetches) {
    row.push_back(mean.fetch_p50_ms && mean.fetch_p95_ms
                      ? milliseconds(*mean.fetch_p50_ms) + " / " + milliseconds(*mean.fetch_p95_ms)
                      : std::string(unknown));
  }
  return row;
}

/// True if all cells of a column below the heading contain the text for an unknown value.
bool is_unknown(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  return rows.size() > 1 &&
         std::all_of(rows.begin() + 1, rows.end(), [column](const auto& row) { return row[column] == unknown; });
}

/// Returns the first `keys` columns of a table (mode and swept columns), and the columns with the indices `chosen`.
/// Rows without a value in any of the chosen columns are left out.
std::vector<std::vector<std::string>> part_of(const std::vector<std::vector<std::string>>& rows, std::size_t keys,
                                              const std::vector<std::size_t>& chosen) {
  std::vector<std::vector<std::string>> part;
  for (const std::vector<std::string>& row : rows) {
    const auto has_value = [&](std::size_t column) { return row[column] != unknown; };
    if (!part.empty() && std::none_of(chosen.begin(), chosen.end(), has_value)) continue;
    std::vector<std::string>& kept = part.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys));
    for (const std::size_t column : chosen) kept.push_back(row[column]);
  }
  return part;
}

}  // namespace

std::vector<std::vector<std::vector<std::string>>> split_table(const std::vector<std::vector<std::string>>& rows,
                                                               std::size_t key_columns, const TableWidth& width) {
  std::vector<std::vector<std::vector<std::string>>> parts;
  if (rows.empty()) return parts;
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]) + width.between);
  }
  std::size_t of_keys = 0;
  for (std::size_t i = 0; i < key_columns; ++i) of_keys += widths[i];
  std::vector<std::size_t> chosen;
  std::size_t used = of_keys;
  for (std::size_t i = key_columns; i < widths.size(); ++i) {
    if (is_unknown(rows, i)) continue;
    const bool has_paper = i + 1 < widths.size() && rows.front()[i + 1] == paper_heading;
    const std::size_t needed = widths[i] + (has_paper ? widths[i + 1] : 0);
    if (!chosen.empty() && rows.front()[i] != paper_heading && used + needed > width.most) {
      parts.push_back(part_of(rows, key_columns, chosen));
      chosen.clear();
      used = of_keys;
    }
    chosen.push_back(i);
    used += widths[i];
  }
  parts.push_back(part_of(rows, key_columns, chosen));
  return parts;
}

std::string align_table(const std::vector<std::vector<std::string>>& rows, std::size_t left_columns) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string room(widths[i] - width_of(row[i]), ' ');
      line += i < left_columns ? row[i] + room : room + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::size_t summary_key_columns(const std::vector<ResultGroup>& groups) {
  const KeyColumns keys = key_columns(groups);
  return 1 + (keys.scenario ? 1 : 0) + keys.swept.size();
}

std::vector<std::vector<std::string>> summary_rows(const std::vector<ResultGroup>& groups,
                                                   const std::vector<ExtraColumn>& extra) {
  const KeyColumns keys = key_columns(groups);
  const bool fetches = any_fetches(groups);
  std::vector<std::string> head = {"mode"};
  if (keys.scenario) head.emplace_back("scenario");
  head.insert(head.end(), keys.swept.begin(), keys.swept.end());
  for (const char* name : {"goodput", "link use", "throughput", "radio queue (ms)", "proxy→UE (ms)", "server→UE (ms)",
                           "drops", "rexmit", "Jain"}) {
    head.emplace_back(name);
  }
  if (fetches) head.emplace_back("fetch (ms)");
  for (const ExtraColumn& wanted : extra) {
    head.push_back(title_of_column(wanted).heading());
    if (any_paper(groups, wanted.column)) head.emplace_back(paper_heading);
  }
  std::vector<std::vector<std::string>> rows = {head};
  for (const ResultGroup& group : groups) {
    rows.push_back(row_of(group, keys, fetches));
    add_extra(rows.back(), group, groups, extra);
  }
  return rows;
}

std::string summary_text(const std::vector<RunResult>& results, const std::vector<ExtraColumn>& extra,
                         const SummaryOptions& options) {
  const std::vector<ResultGroup> groups = group_by_point(results);
  if (groups.empty()) return "no results\n";
  const std::size_t keys = summary_key_columns(groups);
  std::string text;
  for (const std::string& sentence : answer_of(groups, options.ratio).sentences) text += sentence + '\n';
  for (const auto& part : split_table(summary_rows(groups, extra), keys, {options.width, 2})) {
    text += '\n' + align_table(part, keys);
  }
  return text + "Delays are queueing delays (without propagation) as p50 / p95 / p99" +
         (any_fetches(groups) ? "; fetch times as p50 / p95" : "") +
         (groups.front().seeds > 1
              ? "; ± half of the 95 % confidence interval over " + std::to_string(groups.front().seeds) + " seeds.\n"
              : ".\n");
}

}  // namespace sluice::emulator
