// Plots that compare the modes or the points of a sweep, for the HTML report. html_report() calls comparison_plots().
// Groups hold the mean over seeds; error bars are half of the 95 % confidence interval. Invariant: equal groups give
// equal HTML.

#include "emulator/report/comparison_plots.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "emulator/report/column_titles.hpp"
#include "emulator/report/csv.hpp"
#include "emulator/report/line_styles.hpp"
#include "emulator/report/plot_keys.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {
namespace {

/// One quantity that is plotted along the sweep.
struct Quantity {
  std::string column;
  std::string title;
  std::string unit;
  bool log = false;
  std::function<std::optional<double>(const ResultGroup&)> value;
  /// Returns half of the width of a group's 95 % confidence interval over the seeds; 0 if there is none.
  std::function<double(const ResultGroup&)> error;
  std::function<std::optional<double>(const ResultGroup&)> paper;
};

double interval_of(const ResultGroup& group, const std::string& column) {
  const auto at = group.ci.find(column);
  return group.seeds > 1 && at != group.ci.end() ? at->second : 0;
}

/// Returns the quantity for a column of the results, divided by the scale of `extra`. If `log` is true, its axis is
/// logarithmic.
Quantity quantity_of(const ExtraColumn& extra, std::string title, bool log = false) {
  Quantity quantity{extra.column, std::move(title), extra.unit, log, {}, {}, {}};
  quantity.value = [extra](const ResultGroup& g) -> std::optional<double> {
    const std::optional<double> value = column_value(g.mean, extra.column);
    return value ? std::optional(*value / extra.scale) : std::nullopt;
  };
  quantity.error = [extra](const ResultGroup& g) { return interval_of(g, extra.column) / extra.scale; };
  quantity.paper = [extra](const ResultGroup& g) -> std::optional<double> {
    const auto at = g.mean.paper.find(extra.column);
    return at != g.mean.paper.end() ? std::optional(at->second / extra.scale) : std::nullopt;
  };
  return quantity;
}

/// Returns the quantities that are plotted, those in `leading` columns first.
std::vector<Quantity> quantities(const std::vector<ExtraColumn>& extra, const std::vector<std::string>& leading) {
  std::vector<Quantity> all = {
      quantity_of({"goodput", "%", 0.01}, "Goodput / attainable goodput"),
      quantity_of({"utilisation", "%", 0.01}, "Link use"),
      quantity_of({"radio_queue_delay_p95_ms", "ms", 1}, "Radio queueing delay, p95", true),
      quantity_of({"server_to_ue_delay_p95_ms", "ms", 1}, "Server to UE queueing delay, p95", true),
      quantity_of({"queue_mean_frames", "frames", 1}, "Radio queue, mean"),
      quantity_of({"throughput_bps", "Mb/s", 1e6}, "Throughput"),
      quantity_of({"drops", "packets", 1}, "Packets dropped by the radio queue"),
  };
  std::vector<ExtraColumn> more = extra;
  for (const std::string& column : leading) more.push_back({column, "", 1});
  for (const ExtraColumn& wanted : more) {
    const auto same = [&](const Quantity& known) { return known.column == wanted.column; };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    const ColumnTitle title = title_of_column(wanted);
    all.push_back(quantity_of({wanted.column, title.unit, title.scale}, title.name));
  }
  const auto rank = [&](const Quantity& quantity) {
    return std::find(leading.begin(), leading.end(), quantity.column) - leading.begin();
  };
  std::stable_sort(all.begin(), all.end(), [&](const Quantity& a, const Quantity& b) { return rank(a) < rank(b); });
  return all;
}

/// Returns the swept column that becomes the x axis: the first numeric one, or else the one with the most values.
std::string sweep_column(const std::vector<const ResultGroup*>& groups, const std::vector<std::string>& columns) {
  const auto numeric =
      std::find_if(columns.begin(), columns.end(), [&](const auto& column) { return is_numeric(groups, column); });
  if (numeric != columns.end()) return *numeric;
  return *std::max_element(columns.begin(), columns.end(), [&](const auto& a, const auto& b) {
    return points_of(groups, a).size() < points_of(groups, b).size();
  });
}

/// A sweep as plotted: the column of its x axis, and the columns that distinguish its lines.
class Sweep {
 public:
  Sweep(const std::vector<ResultGroup>& groups, const ModeColours& colours, std::vector<std::string> columns)
      : groups_(pointers(groups)),
        column_(sweep_column(groups_, columns)),
        lines_(without(std::move(columns), column_)),
        axis_(groups_, column_),
        styles_(named_lines(), colours) {}

  [[nodiscard]] Plot plot(const Quantity& quantity) const {
    Plot plot;
    plot.title = quantity.title;
    plot.x = axis_.axis();
    plot.y.label = quantity.unit;
    plot.y.log = quantity.log;
    if (!quantity.log) plot.y.min = 0;
    if (quantity.unit == "%") plot.y.max = 100;
    plot.height = 230;
    for (const ResultGroup* group : groups_) {
      const std::string name = line_of(*group);
      const double x = axis_.at(group->mean.key) + beside(name);
      if (const std::optional<double> value = quantity.value(*group)) {
        add_point(plot, name, name, {x, *value, quantity.error(*group)});
      }
      if (const std::optional<double> value = quantity.paper(*group)) {
        add_point(plot, name + ", paper", name, {x, *value});
      }
    }
    keep_used_categories(plot);
    leave_space_above(plot);
    for (PlotMark& mark : plot.marks) {
      std::stable_sort(mark.points.begin(), mark.points.end(),
                       [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    }
    return plot;
  }

 private:
  static std::vector<const ResultGroup*> pointers(const std::vector<ResultGroup>& groups) {
    std::vector<const ResultGroup*> all;
    for (const ResultGroup& group : groups) all.push_back(&group);
    return all;
  }
  static std::vector<std::string> without(std::vector<std::string> columns, const std::string& column) {
    std::erase(columns, column);
    return columns;
  }
  [[nodiscard]] std::string line_of(const ResultGroup& group) const {
    const std::string name = line_name(group.mean.key, lines_);
    return name.empty() ? mode_name(group.mean.key.mode) : name;
  }
  [[nodiscard]] std::vector<LineStyles::Line> named_lines() const {
    std::vector<LineStyles::Line> named;
    for (const ResultGroup* group : groups_) {
      const std::string name = line_of(*group);
      const auto same = [&](const LineStyles::Line& line) { return line.name == name; };
      if (std::none_of(named.begin(), named.end(), same)) named.push_back({name, group->mean.key.mode});
    }
    return named;
  }
  /// Returns the offset of a line's points from the middle of their category on the x axis, so that lines do not
  /// overlap. Returns 0 if the axis is numeric or its categories are the modes.
  [[nodiscard]] double beside(const std::string& line) const {
    if (axis_.numeric() || column_ == mode_key) return 0;
    const std::vector<LineStyles::Line> named = named_lines();
    const auto at = std::find_if(named.begin(), named.end(), [&](const auto& known) { return known.name == line; });
    return place_beside(static_cast<std::size_t>(at - named.begin()), named.size());
  }
  /// Extends a linear y axis a little above the highest point, so that the edge does not cut its marker.
  static void leave_space_above(Plot& plot) {
    constexpr double space = 1.06;
    if (plot.y.log || plot.y.max) return;
    double highest = 0;
    for (const PlotMark& mark : plot.marks) {
      for (const PlotPoint& point : mark.points) highest = std::max(highest, point.y + point.error);
    }
    if (highest > 0) plot.y.max = space * highest;
  }
  /// Removes the categories of the x axis for which the plot has no point, and moves the others together.
  static void keep_used_categories(Plot& plot) {
    std::vector<std::string> used;
    for (const std::string& category : plot.x.categories) {
      const auto here = static_cast<double>(used.size());
      bool any = false;
      for (const PlotMark& mark : plot.marks) {
        any = any || std::any_of(mark.points.begin(), mark.points.end(),
                                 [here](const PlotPoint& point) { return std::round(point.x) == here; });
      }
      if (any) {
        used.push_back(category);
        continue;
      }
      for (PlotMark& mark : plot.marks) {
        for (PlotPoint& point : mark.points) point.x -= point.x > here ? 1 : 0;
      }
    }
    if (!used.empty()) plot.x.categories = std::move(used);
  }
  /// Adds a point to the plot mark with the legend name `name`, and creates the mark if there is none. The mark has the
  /// colour of the line `line`. If `name` differs from `line`, the mark has a paper's values for that line.
  void add_point(Plot& plot, const std::string& name, const std::string& line, PlotPoint point) const {
    const auto at =
        std::find_if(plot.marks.begin(), plot.marks.end(), [&](const PlotMark& mark) { return mark.name == name; });
    if (at != plot.marks.end()) return at->points.push_back(point);
    PlotMark& fresh = plot.marks.emplace_back();
    fresh.name = name;
    fresh.hollow = name != line;
    fresh.kind = fresh.hollow ? PlotMark::Kind::dashed_and_points : PlotMark::Kind::line_and_points;
    if (!axis_.numeric()) fresh.kind = PlotMark::Kind::points;
    styles_.apply(line, fresh);
    fresh.points.push_back(point);
  }

  std::vector<const ResultGroup*> groups_;
  std::string column_;
  std::vector<std::string> lines_;
  KeyAxis axis_;
  LineStyles styles_;
};

/// True if some value of the plot is not zero.
bool has_content(const Plot& plot) {
  for (const PlotMark& mark : plot.marks) {
    for (const PlotPoint& point : mark.points) {
      if (point.y != 0) return true;
    }
  }
  return false;
}

std::string row_of_plots(const std::vector<Plot>& plots) {
  std::string out = "<div class=\"row\">";
  for (const Plot& plot : plots) out += render_svg(plot);
  return out + "</div>\n";
}

/// Returns the plots of a sweep. If there are many plots, those of the `leading` columns are shown, and the others on
/// request.
std::string sweep_plots(const Sweep& sweep, const std::vector<ExtraColumn>& extra,
                        const std::vector<std::string>& leading) {
  constexpr std::size_t many = 9;
  std::vector<Plot> first;
  std::vector<Plot> others;
  for (const Quantity& quantity : quantities(extra, leading)) {
    Plot plot = sweep.plot(quantity);
    if (!has_content(plot)) continue;
    const bool leads = std::find(leading.begin(), leading.end(), quantity.column) != leading.end();
    (leads ? first : others).push_back(std::move(plot));
  }
  std::vector<Plot> all = first;
  all.insert(all.end(), others.begin(), others.end());
  const std::string legend = marks_legend(all);
  if (first.empty() || all.size() <= many) return legend + row_of_plots(all);
  return legend + row_of_plots(first) + "<details><summary>Other quantities</summary>\n" + row_of_plots(others) +
         "</details>\n";
}

/// Returns an empty plot with one row per group of runs that differ only in the seed, labelled by mode. `unit` is the
/// label of the x axis.
Plot category_plot(const std::vector<ResultGroup>& groups, std::string title, std::string unit) {
  Plot plot;
  plot.title = std::move(title);
  plot.x.label = std::move(unit);
  plot.left = 74;
  plot.width = 392;
  plot.height = 70 + 26 * static_cast<int>(groups.size());
  // The first group is the top row, so categories are added in reverse.
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    plot.y.categories.push_back(mode_name(group->mean.key.mode));
  }
  return plot;
}

Plot use_plot(const std::vector<ResultGroup>& groups, const ModeColours& colours) {
  Plot plot = category_plot(groups, "Link use", "% of radio capacity");
  plot.x.min = 0;
  plot.x.max = 100;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RunResult& mean = groups[i].mean;
    const auto row = static_cast<double>(groups.size() - 1 - i);
    plot.marks.push_back({PlotMark::Kind::bar,
                          mode_name(mean.key.mode) + ": " + format_number(100 * mean.utilisation) + " %",
                          colours.css_class(mean.key.mode),
                          {{100 * mean.utilisation, row, 100 * interval_of(groups[i], "utilisation")}}});
  }
  return plot;
}

Plot delay_plot(const std::vector<ResultGroup>& groups, const ModeColours& colours, const std::string& title,
                DelaySummary RunResult::*delay) {
  Plot plot = category_plot(groups, title, "ms: p50, p95, p99");
  plot.x.log = true;
  double least = 1e9;
  double most = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const DelaySummary& summary = groups[i].mean.*delay;
    if (summary.count == 0) continue;
    const auto row = static_cast<double>(groups.size() - 1 - i);
    const std::vector<PlotPoint> points = {{summary.p50_ms, row}, {summary.p95_ms, row}, {summary.p99_ms, row}};
    for (const PlotPoint& point : points) {
      if (point.x > 0) least = std::min(least, point.x);
      most = std::max(most, point.x);
    }
    plot.marks.push_back({PlotMark::Kind::line_and_points, mode_name(groups[i].mean.key.mode),
                          colours.css_class(groups[i].mean.key.mode), points});
  }
  plot.x.min = std::max(0.1, std::min(least, most) * 0.7);
  plot.x.max = std::max(*plot.x.min * 10, most * 1.4);
  return plot;
}

/// Returns the plot of fetch times, or an empty text if no run has any.
std::string fetch_plot(const std::vector<ResultGroup>& groups, const ModeColours& colours) {
  Plot plot = category_plot(groups, "Time to fetch an object", "ms: median, p95");
  plot.x.log = true;
  double least = HUGE_VAL;
  double most = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RunResult& mean = groups[i].mean;
    if (!mean.fetch_p50_ms || !mean.fetch_p95_ms) continue;
    const auto row = static_cast<double>(groups.size() - 1 - i);
    least = std::min(least, *mean.fetch_p50_ms);
    most = std::max(most, *mean.fetch_p95_ms);
    plot.marks.push_back({PlotMark::Kind::line_and_points,
                          mode_name(mean.key.mode),
                          colours.css_class(mean.key.mode),
                          {{*mean.fetch_p50_ms, row}, {*mean.fetch_p95_ms, row}}});
  }
  if (most <= 0) return {};
  plot.x.min = std::max(0.1, least * 0.7);
  plot.x.max = most * 1.4;
  return render_svg(plot);
}

std::string mode_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours) {
  std::string out = fetch_plot(groups, colours);
  out += render_svg(use_plot(groups, colours));
  out += render_svg(delay_plot(groups, colours, "Radio queueing delay", &RunResult::radio_queue_delay));
  out += render_svg(delay_plot(groups, colours, "Proxy to UE queueing delay", &RunResult::proxy_to_ue_delay));
  out += render_svg(delay_plot(groups, colours, "Server to UE queueing delay", &RunResult::server_to_ue_delay));
  return out;
}

}  // namespace

std::string comparison_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                             const std::vector<ExtraColumn>& extra, const std::vector<std::string>& leading) {
  if (groups.empty()) return "<p>No results.</p>\n";
  std::vector<const ResultGroup*> all;
  for (const ResultGroup& group : groups) all.push_back(&group);
  const std::vector<std::string> columns = telling_columns(all);
  const bool swept = std::any_of(columns.begin(), columns.end(), [](const auto& column) { return column != mode_key; });
  if (!swept) return "<div class=\"row\">" + mode_plots(groups, colours) + "</div>\n";
  return sweep_plots(Sweep(groups, colours, columns), extra, leading);
}

}  // namespace sluice::emulator
