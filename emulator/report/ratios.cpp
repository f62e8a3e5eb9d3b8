#include "emulator/report/ratios.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/report/columns.hpp"
#include "emulator/report/plot_keys.hpp"

namespace sluice::emulator {
namespace {

/// Returns a run's mode or its value in a swept column; empty if it has no such column.
std::string_view value_of(const RunKey& key, std::string_view column) {
  if (column == mode_key) return key.mode;
  for (const auto& [name, value] : key.swept) {
    if (name == column) return value;
  }
  return {};
}

/// Returns the swept columns that vary independently of `column`. A column is independent if it has several values
/// among runs with the same value in `column`.
std::set<std::string> independent_columns(const std::vector<RunResult>& results, const std::string& column) {
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> first;  // by column and value of `column`
  std::set<std::string> found;
  for (const RunResult& run : results) {
    const std::string_view of = value_of(run.key, column);
    for (const auto& [name, value] : run.key.swept) {
      const auto [at, fresh] = first.try_emplace({name, of}, value);
      if (!fresh && at->second != value) found.insert(name);
    }
  }
  return found;
}

/// True if the values of the run `key` are divided by those of the run `base`, which has the base value in the ratio's
/// column. Both must have equal seeds and equal values in all `independent` columns. Unless the ratio is between modes,
/// their modes must be equal too.
bool is_base_of(const RunKey& base, const RunKey& key, const RatioSpec& ratio,
                const std::set<std::string>& independent) {
  const bool by_mode = ratio.column == mode_key;
  if (base.scenario != key.scenario || base.clock != key.clock || base.seed != key.seed) return false;
  if (value_of(base, ratio.column) != ratio.base || (!by_mode && base.mode != key.mode)) return false;
  const auto alike = [&](const std::string& column) {
    return column == ratio.column || value_of(base, column) == value_of(key, column);
  };
  return std::all_of(independent.begin(), independent.end(), alike);
}

}  // namespace

void add_ratios(std::vector<RunResult>& results, const RatioSpec& ratio) {
  const std::set<std::string> independent = independent_columns(results, ratio.column);
  for (RunResult& run : results) {
    const std::string_view value_here = value_of(run.key, ratio.column);
    if (value_here.empty() || value_here == ratio.base) continue;
    const auto base = std::find_if(results.begin(), results.end(), [&](const RunResult& other) {
      return is_base_of(other.key, run.key, ratio, independent);
    });
    if (base == results.end()) continue;
    for (const std::string& column : ratio.of) {
      const std::optional<double> over = column_value(*base, column);
      const std::optional<double> value = column_value(run, column);
      if (value && over && *over != 0) run.figures[std::string(ratio_prefix) + column] = *value / *over;
    }
  }
}

}  // namespace sluice::emulator
