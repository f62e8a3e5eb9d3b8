// Keys of runs as axes and line names of plots: which swept columns distinguish the runs, and how they are written. The
// plots of html_report() use it.
// Invariant: columns that follow from others are not named twice.

#include "emulator/report/plot_keys.hpp"

#include <algorithm>
#include <map>

#include "emulator/report/csv.hpp"
#include "emulator/report/mode_colours.hpp"

namespace sluice::emulator {
namespace {

/// Returns a group's values in several columns as one text.
std::string joined_values(const RunKey& key, const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) text += key_value(key, column) + '\n';
  return text;
}

/// True if the columns `known` determine `column`: groups with equal values in `known` have one value in `column`.
bool follows_from(const std::vector<const ResultGroup*>& groups, const std::vector<std::string>& known,
                  const std::string& column) {
  std::map<std::string, std::string> seen;
  return std::all_of(groups.begin(), groups.end(), [&](const ResultGroup* group) {
    const std::string value = key_value(group->mean.key, column);
    return seen.emplace(joined_values(group->mean.key, known), value).first->second == value;
  });
}

std::vector<std::string> swept_names(const std::vector<const ResultGroup*>& groups) {
  std::vector<std::string> names;
  for (const ResultGroup* group : groups) {
    for (const auto& [column, value] : group->mean.key.swept) {
      if (std::find(names.begin(), names.end(), column) == names.end()) names.push_back(column);
    }
  }
  return names;
}

}  // namespace

std::string key_value(const RunKey& key, std::string_view column) {
  if (column == mode_key) return mode_name(key.mode);
  const auto at =
      std::find_if(key.swept.begin(), key.swept.end(), [&](const auto& pair) { return pair.first == column; });
  return at == key.swept.end() ? std::string() : at->second;
}

bool key_holds(const RunKey& key, const std::string& condition) {
  const std::size_t sign = std::min(condition.find('='), condition.size());
  const std::string column = condition.substr(0, sign);
  const std::string point = condition.substr(std::min(sign + 1, condition.size()));
  return column == mode_key ? key.mode == point : key_value(key, column) == point;
}

std::vector<std::string> telling_columns(const std::vector<const ResultGroup*>& groups, const std::string& first) {
  std::vector<std::string> names = swept_names(groups);
  names.emplace_back(mode_key);
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) { return name == first; });
  std::vector<std::string> telling;
  for (const std::string& name : names) {
    if (!follows_from(groups, telling, name)) telling.push_back(name);
  }
  return telling;
}

std::vector<std::string> points_of(const std::vector<const ResultGroup*>& groups, std::string_view column) {
  std::vector<std::string> points;
  for (const ResultGroup* group : groups) {
    const std::string point = key_value(group->mean.key, column);
    if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(point);
  }
  return points;
}

bool is_numeric(const std::vector<const ResultGroup*>& groups, std::string_view column) {
  return std::all_of(groups.begin(), groups.end(), [&](const ResultGroup* group) {
    return parse_number(key_value(group->mean.key, column)).has_value();
  });
}

double place_beside(std::size_t line, std::size_t lines) {
  constexpr double width = 0.6;
  return ((static_cast<double>(line) + 0.5) / static_cast<double>(lines) - 0.5) * width;
}

std::string line_name(const RunKey& key, const std::vector<std::string>& columns) {
  std::string name;
  for (const std::string& column : columns) {
    const std::string value = key_value(key, column);
    if (value.empty()) continue;
    name += (name.empty() ? "" : ", ") + (parse_number(value) ? column + " " + value : value);
  }
  return name;
}

KeyAxis::KeyAxis(const std::vector<const ResultGroup*>& groups, std::string column)
    : column_(std::move(column)), words_(points_of(groups, column_)), numeric_(is_numeric(groups, column_)) {
  if (!numeric_ || words_.empty()) return;
  std::vector<double> numbers;
  for (const std::string& word : words_) numbers.push_back(*parse_number(word));
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  log_ = *least > 0 && *most / *least > 20;
}

double KeyAxis::at(const RunKey& key) const {
  const std::string text = key_value(key, column_);
  if (numeric_) return *parse_number(text);
  return static_cast<double>(std::find(words_.begin(), words_.end(), text) - words_.begin());
}

PlotAxis KeyAxis::axis() const {
  PlotAxis axis;
  axis.label = column_;
  axis.log = log_;
  if (!numeric_) axis.categories = words_;
  return axis;
}

}  // namespace sluice::emulator
