#include "emulator/report/comparison_plots.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "emulator/report/csv.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {
namespace {

/// A quantity that is worth a plot of its own.
struct Quantity {
  std::string title;
  std::string unit;
  bool log = false;
  std::function<std::optional<double>(const ResultGroup&)> value;
  std::function<std::optional<double>(const ResultGroup&)> paper = {};
};

Quantity quantity_of(const ExtraColumn& extra) {
  return {extra.column, extra.unit, false,
          [extra](const ResultGroup& g) -> std::optional<double> {
            const std::optional<double> value = column_value(g.mean, extra.column);
            return value ? std::optional(*value / extra.scale) : std::nullopt;
          },
          [extra](const ResultGroup& g) -> std::optional<double> {
            const auto at = g.mean.paper.find(extra.column);
            return at != g.mean.paper.end() ? std::optional(at->second / extra.scale) : std::nullopt;
          }};
}

std::optional<double> when_measured(const DelaySummary& delay, double value) {
  if (delay.count == 0) return std::nullopt;
  return value;
}

std::vector<Quantity> quantities() {
  return {
      {"Goodput over what was attainable", "%", false, [](const ResultGroup& g) { return 100 * g.mean.goodput; }},
      {"Link use", "%", false, [](const ResultGroup& g) { return 100 * g.mean.utilisation; }},
      {"Radio queueing delay, p95", "ms", true,
       [](const ResultGroup& g) { return when_measured(g.mean.radio_queue_delay, g.mean.radio_queue_delay.p95_ms); }},
      {"Server to UE queueing delay, p95", "ms", true,
       [](const ResultGroup& g) { return when_measured(g.mean.server_to_ue_delay, g.mean.server_to_ue_delay.p95_ms); }},
      {"Radio queue, mean", "frames", false, [](const ResultGroup& g) { return g.mean.queue_mean_frames; }},
      {"Throughput", "Mb/s", false, [](const ResultGroup& g) { return g.mean.throughput_bps / 1e6; }},
      {"Packets dropped by the radio queue", "packets", false,
       [](const ResultGroup& g) { return static_cast<double>(g.mean.drops); }},
  };
}

/// The columns in which the groups differ.
std::vector<std::string> varying_columns(const std::vector<ResultGroup>& groups) {
  std::map<std::string, std::string> first;
  std::vector<std::string> columns;
  for (const ResultGroup& group : groups) {
    for (const auto& [column, value] : group.mean.key.swept) {
      const auto [at, fresh] = first.emplace(column, value);
      if (fresh || at->second == value) continue;
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

std::string value_of(const RunKey& key, const std::string& column) {
  for (const auto& [name, value] : key.swept) {
    if (name == column) return value;
  }
  return {};
}

/// The x axis of a sweep: numbers when all values are, else categories in order of appearance.
class SweepAxis {
 public:
  SweepAxis(const std::vector<ResultGroup>& groups, std::string column) : column_(std::move(column)) {
    double least = 0;
    double most = 0;
    for (const ResultGroup& group : groups) {
      const std::string text = value_of(group.mean.key, column_);
      if (std::find(words_.begin(), words_.end(), text) == words_.end()) words_.push_back(text);
      const std::optional<double> number = parse_number(text);
      numeric_ = numeric_ && number.has_value();
      if (!number) continue;
      least = words_.size() == 1 ? *number : std::min(least, *number);
      most = words_.size() == 1 ? *number : std::max(most, *number);
    }
    log_ = numeric_ && least > 0 && most / least > 20;
  }
  [[nodiscard]] double at(const RunKey& key) const {
    const std::string text = value_of(key, column_);
    if (numeric_) return *parse_number(text);
    return static_cast<double>(std::find(words_.begin(), words_.end(), text) - words_.begin());
  }
  [[nodiscard]] PlotAxis axis() const {
    PlotAxis axis;
    axis.label = column_;
    axis.log = log_;
    if (!numeric_) axis.categories = words_;
    return axis;
  }

 private:
  std::string column_;
  std::vector<std::string> words_;
  bool numeric_ = true;
  bool log_ = false;
};

/// The line a group belongs to: its mode, and the values of the other swept columns.
std::string line_name(const RunKey& key, const std::vector<std::string>& columns) {
  std::string name = mode_name(key.mode);
  for (std::size_t i = 1; i < columns.size(); ++i) name += ", " + columns[i] + " " + value_of(key, columns[i]);
  return name;
}

void add_point(Plot& plot, PlotMark::Kind kind, const std::string& name, const std::string& colour, PlotPoint point) {
  auto at = std::find_if(plot.marks.begin(), plot.marks.end(), [&](const PlotMark& mark) { return mark.name == name; });
  if (at == plot.marks.end()) {
    plot.marks.push_back({kind, name, colour, {}});
    at = plot.marks.end() - 1;
  }
  at->points.push_back(point);
}

Plot sweep_plot(const std::vector<ResultGroup>& groups, const ModeColours& colours, const Quantity& quantity,
                const std::vector<std::string>& columns, const SweepAxis& sweep) {
  Plot plot;
  plot.title = quantity.title;
  plot.x = sweep.axis();
  plot.y.label = quantity.unit;
  plot.y.log = quantity.log;
  if (!quantity.log) plot.y.min = 0;
  if (quantity.unit == "%") plot.y.max = 100;
  plot.height = 230;
  for (const ResultGroup& group : groups) {
    const std::string name = line_name(group.mean.key, columns);
    const std::string colour = colours.css_class(group.mean.key.mode);
    const double x = sweep.at(group.mean.key);
    if (const std::optional<double> value = quantity.value(group)) {
      add_point(plot, PlotMark::Kind::line_and_points, name, colour, {x, *value});
    }
    if (const std::optional<double> value = quantity.paper ? quantity.paper(group) : std::nullopt) {
      add_point(plot, PlotMark::Kind::dashed, name + ", paper", colour, {x, *value});
    }
  }
  for (PlotMark& mark : plot.marks) {
    std::sort(mark.points.begin(), mark.points.end(), [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  }
  return plot;
}

/// Whether a plot says anything: some value that is not zero.
bool has_content(const Plot& plot) {
  for (const PlotMark& mark : plot.marks) {
    for (const PlotPoint& point : mark.points) {
      if (point.y != 0) return true;
    }
  }
  return false;
}

std::string sweep_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                        const std::vector<std::string>& columns, const std::vector<ExtraColumn>& extra) {
  const SweepAxis sweep(groups, columns.front());
  std::string out;
  std::vector<Quantity> all = quantities();
  for (const ExtraColumn& wanted : extra) all.push_back(quantity_of(wanted));
  for (const Quantity& quantity : all) {
    const Plot plot = sweep_plot(groups, colours, quantity, columns, sweep);
    if (has_content(plot)) out += render_svg(plot);
  }
  return out;
}

/// A row per group: its mode, and what else tells it apart.
Plot category_plot(const std::vector<ResultGroup>& groups, std::string title, std::string unit) {
  Plot plot;
  plot.title = std::move(title);
  plot.x.label = std::move(unit);
  plot.left = 74;
  plot.width = 312;
  plot.height = 70 + 26 * static_cast<int>(groups.size());
  // The first row at the top.
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    plot.y.categories.push_back(mode_name(group->mean.key.mode));
  }
  return plot;
}

Plot use_plot(const std::vector<ResultGroup>& groups, const ModeColours& colours) {
  Plot plot = category_plot(groups, "Link use", "% of what the radio could carry");
  plot.x.min = 0;
  plot.x.max = 100;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RunResult& mean = groups[i].mean;
    const auto row = static_cast<double>(groups.size() - 1 - i);
    plot.marks.push_back({PlotMark::Kind::bar,
                          mode_name(mean.key.mode) + ": " + format_number(100 * mean.utilisation) + " %",
                          colours.css_class(mean.key.mode),
                          {{100 * mean.utilisation, row}}});
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

std::string mode_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours) {
  std::string out = render_svg(use_plot(groups, colours));
  out += render_svg(delay_plot(groups, colours, "Radio queueing delay", &RunResult::radio_queue_delay));
  out += render_svg(delay_plot(groups, colours, "Proxy to UE queueing delay", &RunResult::proxy_to_ue_delay));
  out += render_svg(delay_plot(groups, colours, "Server to UE queueing delay", &RunResult::server_to_ue_delay));
  return out;
}

}  // namespace

std::string mode_legend(const ModeColours& colours) {
  std::string out = "<div class=\"legend\">";
  for (const std::string& mode : colours.modes()) {
    out += "<span class=\"" + colours.css_class(mode) + "\">" + escape_html(mode_name(mode)) + "</span>";
  }
  return out + "</div>\n";
}

std::string comparison_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                             const std::vector<ExtraColumn>& extra) {
  if (groups.empty()) return "<p>No results.</p>\n";
  const std::vector<std::string> columns = varying_columns(groups);
  std::string out = "<h2>Comparison</h2>\n";
  if (columns.empty()) return out + "<div class=\"row\">" + mode_plots(groups, colours) + "</div>\n";
  return out + mode_legend(colours) + "<div class=\"row\">" + sweep_plots(groups, colours, columns, extra) + "</div>\n";
}

}  // namespace sluice::emulator
