#include "emulator/report/ratios.hpp"

#include <algorithm>
#include <optional>

#include "emulator/report/columns.hpp"
#include "emulator/report/plot_keys.hpp"

namespace sluice::emulator {
namespace {

/// The key of the run that this one is divided by; nothing where it is such a run, or not part of the sweep.
std::optional<RunKey> base_of(const RunKey& key, const RatioSpec& ratio) {
  RunKey base = key;
  if (ratio.column == mode_key) {
    if (key.mode == ratio.base) return std::nullopt;
    base.mode = ratio.base;
    return base;
  }
  for (auto& [column, value] : base.swept) {
    if (column != ratio.column || value == ratio.base) continue;
    value = ratio.base;
    return base;
  }
  return std::nullopt;
}

}  // namespace

void add_ratios(std::vector<RunResult>& results, const RatioSpec& ratio) {
  for (RunResult& run : results) {
    const std::optional<RunKey> key = base_of(run.key, ratio);
    if (!key) continue;
    const auto base =
        std::find_if(results.begin(), results.end(), [&](const RunResult& other) { return other.key == *key; });
    if (base == results.end()) continue;
    for (const std::string& column : ratio.of) {
      const std::optional<double> over = column_value(*base, column);
      const std::optional<double> value = column_value(run, column);
      if (value && over && *over != 0) run.figures[std::string(ratio_prefix) + column] = *value / *over;
    }
  }
}

}  // namespace sluice::emulator
