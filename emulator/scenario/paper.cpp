// Compares an experiment with the paper that it repeats: reads the section `paper` and assigns its values to runs.
// Planner calls put_paper_values() after all runs are laid out. Invariant: every value names an existing column and
// row, and a row has at most one value per column.

#include "emulator/scenario/paper.hpp"

#include <algorithm>

#include "emulator/report/columns.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {
namespace {

constexpr std::string_view not_given = "-";

/// Returns the values of a swept column, or the names of the modes, as they appear in the results. Returns none for any
/// other column.
std::vector<std::string> points_of(const Plan& plan, std::string_view column) {
  for (const SweepSpec& sweep : plan.base.sweep) {
    if (sweep.column == column) return sweep.labels.empty() ? sweep.values : sweep.labels;
  }
  std::vector<std::string> points;
  if (column == mode_column) {
    for (const RunMode mode : plan.base.modes) points.emplace_back(to_string(mode));
  }
  return points;
}

std::string key_of(const RunPlan& run, std::string_view column) {
  if (column == mode_column) return run.mode_name;
  const auto at =
      std::find_if(run.swept.begin(), run.swept.end(), [&](const auto& pair) { return pair.first == column; });
  return at == run.swept.end() ? std::string() : at->second;
}

/// Splits a condition "column=value" at the equals sign. Returns an empty column if there is no equals sign.
std::pair<std::string, std::string> condition_of(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) return {};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

/// Assigns one entry of paper.values to the runs it describes, and collects errors with their place in the file.
class Placement {
 public:
  Placement(const config::Node* node, std::size_t index, const std::string& file, const PaperValues& given, Plan& plan,
            std::vector<config::Error>& errors)
      : node_(node), index_(index), file_(file), given_(given), plan_(plan), errors_(errors) {}

  void put() {
    if (!check()) return;
    for (std::size_t i = 0; i < given_.values.size(); ++i) {
      if (given_.values[i] == not_given) continue;
      put_value(i, *parse_number(given_.values[i]) * given_.scale);
    }
  }

 private:
  void fail(std::string_view key, std::optional<std::size_t> item, std::string expected, std::string got) {
    config::Place place;
    if (node_ != nullptr) {
      place = node_->place;
      if (const config::Entry* entry = node_->find(key)) {
        place = entry->place;
        if (item && *item < entry->value.items.size()) place = entry->value.items[*item].place;
      }
    }
    errors_.push_back({file_, place, "paper.values[" + std::to_string(index_) + "]." + std::string(key),
                       std::move(expected), std::move(got)});
  }

  bool check() {
    const std::size_t before = errors_.size();
    if (!is_result_column(given_.column)) {
      fail("column", {}, "a column of results.csv", "\"" + given_.column + "\"");
    }
    for (std::size_t i = 0; i < given_.where.size(); ++i) {
      const auto [column, point] = condition_of(given_.where[i]);
      const std::vector<std::string> points = points_of(plan_, column);
      if (std::find(points.begin(), points.end(), point) != points.end()) continue;
      fail("where", i, "mode or a swept column, = and one of its points", "\"" + given_.where[i] + "\"");
    }
    along_ = points_of(plan_, given_.along);
    if (!given_.along.empty() && along_.empty()) {
      fail("along", {}, "mode or a swept column", "\"" + given_.along + "\"");
      return false;
    }
    const std::size_t wanted = given_.along.empty() ? 1 : along_.size();
    if (given_.values.size() != wanted) {
      fail("values", {}, std::to_string(wanted) + (given_.along.empty() ? " value" : " values, one for each point"),
           std::to_string(given_.values.size()));
    }
    for (std::size_t i = 0; i < given_.values.size(); ++i) {
      if (given_.values[i] == not_given || parse_number(given_.values[i])) continue;
      fail("values", i, "a number, or - where none is given", "\"" + given_.values[i] + "\"");
    }
    return errors_.size() == before;
  }

  [[nodiscard]] bool belongs(const RunPlan& run, std::size_t index) const {
    if (!given_.along.empty() && key_of(run, given_.along) != along_[index]) return false;
    return std::all_of(given_.where.begin(), given_.where.end(),
                       [&](const std::string& condition) { return holds(run, condition); });
  }

  void put_value(std::size_t index, double value) {
    bool any = false;
    for (RunPlan& run : plan_.runs) {
      if (!belongs(run, index)) continue;
      any = true;
      if (run.paper.emplace(given_.column, value).second) continue;
      return fail("values", index, "one value for each row", "a second one for a row");
    }
    if (!any) fail("values", index, "a row of this experiment", "a value for none");
  }

  const config::Node* node_;
  std::size_t index_;
  const std::string& file_;
  const PaperValues& given_;
  Plan& plan_;
  std::vector<config::Error>& errors_;
  std::vector<std::string> along_;
};

}  // namespace

bool holds(const RunPlan& run, const std::string& condition) {
  const auto [column, point] = condition_of(condition);
  return !column.empty() && key_of(run, column) == point;
}

void describe(config::Section& s, PaperValues& values) {
  s.required().value("column", values.column, "column of results.csv, for which a column paper_NAME is added");
  s.value("unit", values.unit, "unit of both columns in the table");
  s.value("scale", values.scale, {1e-9, 1e12},
          "this unit in units of the column, such as 1000 for kb/s of a column in b/s");
  s.list("where", values.where, {0, 8}, "conditions that select rows, such as mode=smvs, buffer=100; empty: all rows");
  s.value("along", values.along, "mode or a swept column, with a value for each of its points, in their order");
  s.required().list("values", values.values, {1, 1000}, "values of the paper; - if it gives none");
}

void describe(config::Section& s, PaperSpec& paper) {
  s.required().value("source", paper.source, "paper and its figure or table");
  s.list("readings", paper.readings, {0, 32}, "interpretation of passages that are damaged or contradictory");
  s.list("reproduces", paper.reproduces, {0, 32}, "results of the paper that the experiment reproduces, one line each");
  s.list("differs", paper.differs, {0, 32}, "deviations, one line each with the reason");
  s.sections("values", paper.values, {0, 200}, "values of the paper, shown next to measured ones");
}

void put_paper_values(const config::Node& root, const std::string& file, Plan& plan,
                      std::vector<config::Error>& errors) {
  if (!plan.base.paper) return;
  const config::Entry* paper = root.find("paper");
  const config::Entry* values = paper == nullptr ? nullptr : paper->value.find("values");
  for (std::size_t i = 0; i < plan.base.paper->values.size(); ++i) {
    const config::Node* node = values != nullptr && i < values->value.items.size() ? &values->value.items[i] : nullptr;
    Placement(node, i, file, plan.base.paper->values[i], plan, errors).put();
  }
}

}  // namespace sluice::emulator
