// Computes the first sentences of a report. html_report() and summary_text() call answer_of(). Invariant: every number
// is computed from the results, and a sentence compares only runs that are equal in all other swept columns.
#include "emulator/report/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "emulator/report/column_titles.hpp"
#include "emulator/report/columns.hpp"
#include "emulator/report/csv.hpp"
#include "emulator/report/mode_colours.hpp"
#include "emulator/report/plot_keys.hpp"

namespace sluice::emulator {
namespace {

using Groups = std::vector<const ResultGroup*>;

/// A delay that users of the network notice, with the words for a sentence about it.
struct Experience {
  std::string_view column;
  std::string_view subject;
  std::string_view statistic;
  std::string_view less;  ///< adjective for a smaller value, such as "fast"
  std::string_view more;  ///< adjective for a larger value, such as "slow"
};
/// Delays that users notice. The report's first sentence compares the first one in this list for which the runs have
/// values.
constexpr std::array experiences{
    Experience{"fetch_p50_ms", "fetching an object", "median", "fast", "slow"},
    Experience{"page_mean_ms", "loading a page", "mean", "fast", "slow"},
    Experience{"video_start_ms", "starting a video", "mean", "fast", "slow"},
    Experience{"server_to_ue_delay_p95_ms", "queueing between server and UE", "95th percentile", "short", "long"},
    Experience{"radio_queue_delay_p95_ms", "queueing at the radio", "95th percentile", "short", "long"},
};
constexpr std::string_view link_use = "utilisation";

std::string number(double value, int digits = 3) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  const int decimals = size == 0 ? 0 : std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
  std::array<char, 64> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  return {buffer.data(), written.ptr};
}

std::string with_unit(const std::string& column, double value) {
  const ColumnTitle title = title_of_column(column);
  return number(value / title.scale) + (title.unit.empty() ? "" : " " + title.unit);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// Least, greatest and geometric mean of a list of positive values.
struct Spread {
  double least = 0;
  double most = 0;
  double mean = 0;
};
std::optional<Spread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return Spread{*least, *most, std::exp(logs / static_cast<double>(values.size()))};
}

std::vector<std::string> modes_of(const std::vector<ResultGroup>& groups) {
  std::vector<std::string> modes;
  for (const ResultGroup& group : groups) {
    const std::string& mode = group.mean.key.mode;
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
  }
  return modes;
}

Groups pointers(const std::vector<ResultGroup>& groups) {
  Groups all;
  for (const ResultGroup& group : groups) all.push_back(&group);
  return all;
}

/// Results of a mode, and those of the base mode with equal swept values. The base mode is the one without a proxy, or
/// else the first mode.
struct Pair {
  const ResultGroup* base;
  const ResultGroup* other;
};

/// Compares the results of one mode with those of the base mode, and states the comparison in a sentence.
class Comparison {
 public:
  Comparison(const std::vector<ResultGroup>& groups, std::string base, std::string mode)
      : base_(std::move(base)), mode_(std::move(mode)) {
    std::vector<std::string> columns = telling_columns(pointers(groups), std::string(mode_key));
    std::erase(columns, mode_key);
    for (const ResultGroup& other : groups) {
      if (other.mean.key.mode != mode_) continue;
      const auto same = [&](const ResultGroup& group) {
        return group.mean.key.mode == base_ && group.mean.key.scenario == other.mean.key.scenario &&
               std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
                 return key_value(group.mean.key, column) == key_value(other.mean.key, column);
               });
      };
      const auto base_run = std::find_if(groups.begin(), groups.end(), same);
      if (base_run != groups.end()) pairs_.push_back({&*base_run, &other});
    }
  }

  /// Returns the value of the base mode divided by the value of the compared mode, for each pair of results. Pairs in
  /// which a value is missing or 0 are left out.
  [[nodiscard]] std::vector<double> gains(std::string_view column) const {
    std::vector<double> gains;
    for (const Pair& pair : pairs_) {
      const std::optional<double> base = column_value(pair.base->mean, column);
      const std::optional<double> other = column_value(pair.other->mean, column);
      if (base && other && *base > 0 && *other > 0) gains.push_back(*base / *other);
    }
    return gains;
  }
  [[nodiscard]] std::string sentence(const Experience& experience) const {
    const std::optional<Spread> gain = spread_of(gains(experience.column));
    if (!gain) return {};
    return capitalised(std::string(experience.subject)) + " is " + multiple(*gain, experience) + " with " +
           mode_name(mode_) + " as with " + mode_name(base_) + values(experience) + use() + ".";
  }
  [[nodiscard]] const std::string& mode() const { return mode_; }

 private:
  /// Returns how the mode's delay compares with the delay of the base mode, such as "8.9 times as fast".
  static std::string multiple(const Spread& gain, const Experience& experience) {
    constexpr double alike = 0.03;
    const auto factor = [](double value) { return number(value, 2); };
    if (std::abs(gain.mean - 1) < alike) return "as " + std::string(experience.less);
    const bool shorter = gain.mean > 1;
    std::string text = factor(shorter ? gain.mean : 1 / gain.mean) + " times as " +
                       std::string(shorter ? experience.less : experience.more);
    if (gain.most / gain.least > 1 + alike) {
      const double from = shorter ? gain.least : 1 / gain.most;
      const double to = shorter ? gain.most : 1 / gain.least;
      text += " (" + factor(from) + " to " + factor(to) + " times)";
    }
    return text;
  }
  /// Returns the values of the compared mode and of the base mode in parentheses, if there is only one pair of results;
  /// otherwise an empty text.
  [[nodiscard]] std::string values(const Experience& experience) const {
    if (pairs_.size() != 1) return {};
    const std::string column(experience.column);
    return " (" + std::string(experience.statistic) + " " +
           with_unit(column, column_value(pairs_.front().other->mean, column).value_or(0)) + " instead of " +
           with_unit(column, column_value(pairs_.front().base->mean, column).value_or(0)) + ")";
  }
  /// Returns how much more or less of the link's capacity the mode uses than the base mode.
  [[nodiscard]] std::string use() const {
    const std::optional<Spread> gain = spread_of(gains(link_use));
    if (!gain) return {};
    constexpr double alike = 0.005;
    const double change = 1 / gain->mean - 1;
    if (std::abs(change) < alike) return ", for as much of the link";
    return ", for " + number(100 * std::abs(change), 2) + " % " + (change < 0 ? "less" : "more") + " of the link";
  }

  std::string base_;
  std::string mode_;
  std::vector<Pair> pairs_;
};

Answer compare_modes(const std::vector<ResultGroup>& groups, const std::vector<std::string>& modes) {
  const bool without_proxy = std::find(modes.begin(), modes.end(), "none") != modes.end();
  const std::string base = without_proxy ? "none" : modes.front();
  std::vector<Comparison> comparisons;
  for (const std::string& mode : modes) {
    if (mode != base) comparisons.emplace_back(groups, base, mode);
  }
  for (const Experience& experience : experiences) {
    std::vector<std::pair<double, std::string>> sentences;  // with the mean gain
    for (const Comparison& comparison : comparisons) {
      const std::optional<Spread> gain = spread_of(comparison.gains(experience.column));
      if (gain) sentences.emplace_back(gain->mean, comparison.sentence(experience));
    }
    if (sentences.empty()) continue;
    std::stable_sort(sentences.begin(), sentences.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Answer answer;
    for (auto& [gain, sentence] : sentences) answer.sentences.push_back(std::move(sentence));
    answer.columns = {std::string(experience.column), std::string(link_use)};
    return answer;
  }
  return {};
}

/// Returns one sentence for each column of `ratio`. It states for each mode the geometric mean of the ratios over the
/// runs.
Answer compare_ratios(const std::vector<ResultGroup>& groups, const std::vector<std::string>& modes,
                      const RatioSpec& ratio) {
  Answer answer;
  for (const std::string& column : ratio.of) {
    const std::string name = std::string(ratio_prefix) + column;
    std::string list;
    std::size_t points = 0;
    for (const std::string& mode : modes) {
      std::vector<double> values;
      for (const ResultGroup& group : groups) {
        const auto value = group.mean.figures.find(name);
        if (group.mean.key.mode == mode && value != group.mean.figures.end() && value->second > 0)
          values.push_back(value->second);
      }
      points = std::max(points, values.size());
      const std::optional<Spread> spread = spread_of(values);
      if (spread) list += (list.empty() ? "" : ", ") + number(spread->mean) + " with " + mode_name(mode);
    }
    if (list.empty()) continue;
    answer.sentences.push_back("The value of \"" + title_of_column(column).name + "\" is a multiple of that where " +
                               ratio.column + " is " + ratio.base +
                               (points > 1 ? ", by the geometric mean of " + std::to_string(points) + " points" : "") +
                               ": " + list + ".");
    answer.columns.push_back(name);
  }
  return answer;
}

/// Returns the mean of `column` over the runs that have the value `point` in the swept column `swept`.
std::optional<double> mean_at(const Groups& groups, const std::string& swept, const std::string& point,
                              std::string_view column) {
  double sum = 0;
  std::size_t count = 0;
  for (const ResultGroup* group : groups) {
    const std::optional<double> value = column_value(group->mean, column);
    if (key_value(group->mean.key, swept) != point || !value) continue;
    sum += *value;
    ++count;
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

Answer compare_points(const std::vector<ResultGroup>& groups) {
  const Groups all = pointers(groups);
  std::vector<std::string> columns = telling_columns(all);
  std::erase(columns, mode_key);
  const auto numeric =
      std::find_if(columns.begin(), columns.end(), [&](const auto& column) { return is_numeric(all, column); });
  const std::string swept = numeric != columns.end() ? *numeric : columns.empty() ? "" : columns.front();
  for (const Experience& experience : experiences) {
    const std::string column(experience.column);
    Answer answer;
    answer.columns = {column, std::string(link_use)};
    if (swept.empty()) {
      const std::optional<double> value = column_value(groups.front().mean, column);
      if (!value) continue;
      answer.sentences = {capitalised(std::string(experience.subject)) + " takes " + with_unit(column, *value) + " (" +
                          std::string(experience.statistic) + "), and " +
                          with_unit(std::string(link_use), groups.front().mean.utilisation) + " of the link is used."};
      return answer;
    }
    const std::vector<std::string> points = points_of(all, swept);
    const std::optional<double> first = mean_at(all, swept, points.front(), column);
    const std::optional<double> last = mean_at(all, swept, points.back(), column);
    if (!first || !last) continue;
    const std::string use(link_use);
    answer.sentences = {"From " + swept + " " + points.front() + " to " + points.back() + ", " +
                        std::string(experience.subject) + " goes from " + with_unit(column, *first) + " to " +
                        with_unit(column, *last) + " (" + std::string(experience.statistic) + "), and link use from " +
                        with_unit(use, mean_at(all, swept, points.front(), use).value_or(0)) + " to " +
                        with_unit(use, mean_at(all, swept, points.back(), use).value_or(0)) +
                        (columns.size() > 1 ? ", on average over the other columns." : ".")};
    return answer;
  }
  return {};
}

}  // namespace

Answer answer_of(const std::vector<ResultGroup>& groups, const std::optional<RatioSpec>& ratio) {
  if (groups.empty()) return {};
  const std::vector<std::string> modes = modes_of(groups);
  if (ratio) {
    Answer answer = compare_ratios(groups, modes, *ratio);
    if (!answer.sentences.empty()) return answer;
  }
  return modes.size() > 1 ? compare_modes(groups, modes) : compare_points(groups);
}

}  // namespace sluice::emulator
