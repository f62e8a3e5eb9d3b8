// Titles of results columns for readers of tables and plots. The text table, the HTML report and its answer use them.
// Invariant: the column's name alone determines its title, so that a new column needs no entry here.
#include "emulator/report/column_titles.hpp"

#include <algorithm>
#include <array>

namespace sluice::emulator {
namespace {

struct Unit {
  std::string_view suffix;  ///< last part of a column's name, which states the unit
  std::string_view unit;
  double scale;
};
constexpr std::array units{Unit{"_ms", "ms", 1},      Unit{"_us", "µs", 1},         Unit{"_bps", "Mb/s", 1e6},
                           Unit{"_bytes", "kB", 1e3}, Unit{"_frames", "frames", 1}, Unit{"_s", "s", 1}};

/// Titles and units of columns that have a unit which their names do not state. Some of these names are abbreviations,
/// such as `rpm`.
constexpr std::array<std::pair<std::string_view, std::array<std::string_view, 2>>, 6> special{
    {{"goodput", {"goodput", "%"}},
     {"utilisation", {"link use", "%"}},
     {"rpm", {"responsiveness", "round trips/min"}},
     {"rpm_fresh", {"responsiveness, fresh connections", "round trips/min"}},
     {"rpm_kept", {"responsiveness, kept connections", "round trips/min"}},
     {"drops", {"drops", "packets"}}}};

/// Last parts of a column's name that state how values were combined. A comma separates them in a heading.
constexpr std::array<std::string_view, 6> statistics{"mean", "p50", "p95", "p99", "max", "min"};

constexpr double percent = 0.01;

/// Returns a name with blanks in place of underscores and a comma before the statistic at its end.
std::string in_words(std::string_view name) {
  const std::size_t last = name.rfind('_');
  const bool statistic = last != std::string_view::npos &&
                         std::find(statistics.begin(), statistics.end(), name.substr(last + 1)) != statistics.end();
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  if (statistic) words.insert(last, ",");
  return words;
}

}  // namespace

ColumnTitle title_of_column(std::string_view column) {
  if (column.starts_with(ratio_prefix)) {
    return {title_of_column(column.substr(ratio_prefix.size())).name, "ratio", 1};
  }
  for (const auto& [name, title] : special) {
    if (name == column) return {std::string(title[0]), std::string(title[1]), title[1] == "%" ? percent : 1};
  }
  for (const Unit& unit : units) {
    if (column.ends_with(unit.suffix) && column.size() > unit.suffix.size()) {
      return {in_words(column.substr(0, column.size() - unit.suffix.size())), std::string(unit.unit), unit.scale};
    }
  }
  return {in_words(column), "", 1};
}

ColumnTitle title_of_column(const ExtraColumn& extra) {
  ColumnTitle title = title_of_column(extra.column);
  if (extra.unit.empty() && extra.scale == 1) return title;
  return {std::move(title.name), extra.unit, extra.scale};
}

}  // namespace sluice::emulator
