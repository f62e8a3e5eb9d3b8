// Plots of a run against time, for the HTML report: a grid with one column per mode and one row per quantity.
// html_report() calls series_plots().
// Invariant: the cells of a row share their y scale, and long series are thinned without losing peaks.

#include "emulator/report/series_plots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/report/plot_keys.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {
namespace {

constexpr std::size_t max_points = 900;  ///< largest number of points per line; more points would not be visible

/// Scale of a row's y axis: linear, logarithmic, or (`either`) logarithmic only if the modes differ much. With
/// `first_line` the axis is linear and ends just above the solid lines (congestion windows). Dashed lines (advertised
/// receive windows) may leave the plot, because they may be far above the solid ones.
enum class RowScale { linear, log, either, first_line };

/// One row of the grid of plots: a quantity of the time series and how it is drawn.
struct Row {
  std::string title;
  std::string unit;
  RowScale scale = RowScale::linear;
  /// Lower end of a logarithmic axis. Smaller values are drawn at this end, because zero has no logarithm.
  double floor = 0;
  std::vector<PlotMark> (*marks)(const RunResult& run, const std::string& colour, const OverTimeSpec& over_time);
};

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();  ///< gap in a line

template <typename Value>
std::vector<PlotPoint> series_of(const RunResult& run, Value value) {
  std::vector<PlotPoint> points;
  for (const SeriesPoint& point : run.series) points.push_back({point.time_s, value(point)});
  return points;
}

/// Returns the highest and lowest point of each section of time, so that the plot of a long run shows its extremes. A
/// section without points becomes a gap.
std::vector<PlotPoint> thinned(std::vector<PlotPoint> points) {
  if (points.size() <= max_points) return points;
  const std::size_t stretch = (points.size() * 2 + max_points - 1) / max_points;
  std::vector<PlotPoint> kept;
  for (std::size_t from = 0; from < points.size(); from += stretch) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(from);
    auto last = points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), from + stretch));
    const PlotPoint gap{first->x, nothing};
    last = std::remove_if(first, last, [](const PlotPoint& point) { return !std::isfinite(point.y); });
    if (first == last) {
      kept.push_back(gap);
      continue;
    }
    auto [low, high] =
        std::minmax_element(first, last, [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
    if (high->x < low->x) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  return kept;
}

double highest(const std::vector<PlotPoint>& points) {
  double high = 0;
  for (const PlotPoint& point : points) high = std::max(high, point.y);
  return high;
}

/// Returns the moving mean over `over_s` seconds, in which single transmissions of the radio link are not visible.
std::vector<PlotPoint> smoothed(const std::vector<PlotPoint>& points, double over_s) {
  std::vector<PlotPoint> out;
  double sum = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    sum += points[i].y;
    while (points[first].x < points[i].x - over_s + 1e-9) sum -= points[first++].y;
    out.push_back({points[i].x, sum / static_cast<double>(i - first + 1)});
  }
  return out;
}

std::vector<PlotMark> rate_marks(const RunResult& run, const std::string& colour, const OverTimeSpec& /*over_time*/) {
  constexpr double window_s = 0.5;
  const auto rate = smoothed(series_of(run, [](const SeriesPoint& p) { return p.link_rate_bps / 1e6; }), window_s);
  const auto used = smoothed(series_of(run, [](const SeriesPoint& p) { return p.link_used_bps / 1e6; }), window_s);
  std::vector<PlotMark> marks = {{PlotMark::Kind::line, "carried", colour, thinned(used)}};
  // A capacity far above the used rate is left out, because the carried rate would be flat in the plot.
  constexpr double out_of_sight = 20;
  if (highest(rate) <= out_of_sight * highest(used) || highest(used) <= 0) {
    marks.insert(marks.begin(), {PlotMark::Kind::area, "radio capacity", "capacity", thinned(rate)});
  }
  return marks;
}

std::vector<PlotMark> window_marks(const RunResult& run, const std::string& colour, const OverTimeSpec& /*over_time*/) {
  std::vector<PlotMark> marks = {
      {PlotMark::Kind::line, "sent past the proxy, not acknowledged", colour,
       thinned(series_of(run, [](const SeriesPoint& p) { return p.outstanding_bytes / 1e3; }))}};
  return marks;
}

std::vector<PlotMark> allowance_marks(const RunResult& run, const std::string& colour,
                                      const OverTimeSpec& /*over_time*/) {
  std::vector<PlotPoint> granted;
  for (const SeriesPoint& point : run.series) {
    if (point.allowance_bps) granted.push_back({point.time_s, *point.allowance_bps / 1e6});
  }
  if (granted.empty()) return {};
  return {{PlotMark::Kind::line, "allowance as a rate", colour, thinned(smoothed(granted, 0.5))}};
}

std::vector<PlotMark> queue_marks(const RunResult& run, const std::string& colour, const OverTimeSpec& /*over_time*/) {
  std::vector<PlotMark> marks = {{PlotMark::Kind::line, "radio queue", colour,
                                  thinned(series_of(run, [](const SeriesPoint& p) { return p.queue_bytes / 1e3; }))}};
  std::vector<PlotPoint> reference;
  for (const SeriesPoint& point : run.series) {
    if (point.reference_bytes) reference.push_back({point.time_s, *point.reference_bytes / 1e3});
  }
  if (!reference.empty()) {
    marks.push_back({PlotMark::Kind::dashed, "reference q0", "ink", thinned(smoothed(reference, 0.5))});
  }
  return marks;
}

std::vector<PlotMark> delay_marks(const RunResult& run, const std::string& colour, const OverTimeSpec& /*over_time*/) {
  const auto total = series_of(run, [](const SeriesPoint& p) { return p.server_to_ue_delay_ms.value_or(nothing); });
  const auto radio = series_of(run, [](const SeriesPoint& p) { return p.radio_queue_delay_ms.value_or(nothing); });
  return {{PlotMark::Kind::thin, "server to UE", "ink", thinned(total)},
          {PlotMark::Kind::line, "radio queue", colour, thinned(radio)}};
}

std::vector<PlotMark> router_marks(const RunResult& run, const std::string& colour, const OverTimeSpec& /*over_time*/) {
  const auto queue = series_of(run, [](const SeriesPoint& p) { return p.router_queue_bytes.value_or(nothing) / 1e3; });
  return {{PlotMark::Kind::line, "router's queue", colour, thinned(queue)}};
}

std::vector<PlotMark> ue_marks(const RunResult& run, const std::string& colour, const OverTimeSpec& over_time) {
  std::vector<PlotPoint> queue;
  for (const UePoint& point : run.ues) {
    if (point.ue == over_time.ue) queue.push_back({point.time_s, point.queue_bytes / 1e3});
  }
  if (queue.empty()) return {};
  return {{PlotMark::Kind::line, "queue of " + over_time.ue, colour, thinned(queue)}};
}

/// Returns the plot's lines for congestion window and advertised receive window of the first recorded connection.
std::vector<PlotMark> connection_marks(const RunResult& run, const std::string& colour,
                                       const OverTimeSpec& /*over_time*/) {
  std::vector<PlotPoint> congestion;
  std::vector<PlotPoint> advertised;
  for (const WindowRow& row : run.windows) {
    const WindowRow& first = run.windows.front();
    if (row.server != first.server || row.ue != first.ue || row.ue_port != first.ue_port) continue;
    congestion.push_back({row.time_s, row.congestion_bytes / 1e3});
    advertised.push_back({row.time_s, row.advertised_bytes / 1e3});
  }
  if (congestion.empty()) return {};
  return {{PlotMark::Kind::dashed, "advertised window", "ink", thinned(advertised)},
          {PlotMark::Kind::line, "congestion window", colour, thinned(congestion)}};
}

std::vector<PlotMark> drop_marks(const RunResult& run, const std::string& colour, const OverTimeSpec& /*over_time*/) {
  PlotMark drops{PlotMark::Kind::points, "dropped", colour, {}};
  for (const DropRow& row : run.dropped) drops.points.push_back({row.time_s, row.sequence_bytes / 1e6});
  if (drops.points.empty()) return {};
  return {drops};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"Link rate", "Mb/s", RowScale::linear, 0, rate_marks},
      {"Windows of a connection", "kB", RowScale::first_line, 0, connection_marks},
      {"Window in use", "kB", RowScale::either, 1, window_marks},
      {"Dropped segments by their sequence number", "MB", RowScale::linear, 0, drop_marks},
      {"Queue of the UE", "kB", RowScale::linear, 0, ue_marks},
      {"Router's queue", "kB", RowScale::either, 1, router_marks},
      {"Radio queue", "kB", RowScale::either, 1, queue_marks},
      {"Largest queueing delay", "ms", RowScale::log, 1, delay_marks},
      {"Allowance granted", "Mb/s", RowScale::linear, 0, allowance_marks}};
  return list;
}

double highest(const std::vector<PlotMark>& marks, RowScale scale) {
  double high = 0;
  for (const PlotMark& mark : marks) {
    if (scale == RowScale::first_line && mark.kind == PlotMark::Kind::dashed) continue;
    high = std::max(high, highest(mark.points));
  }
  return high;
}

/// Removes the points outside of the time range that `over_time` selects.
void keep_time(std::vector<PlotMark>& marks, const OverTimeSpec& over_time) {
  for (PlotMark& mark : marks) {
    std::erase_if(mark.points, [&](const PlotPoint& point) {
      return point.x < over_time.from_s || (over_time.to_s > 0 && point.x > over_time.to_s);
    });
  }
}

/// Returns the cells of one row of the grid of plots, or nothing if no mode has values; every mode has the same y axis.
std::vector<std::string> grid_row(const Row& row, const std::vector<const ResultGroup*>& columns,
                                  const ModeColours& colours, const OverTimeSpec& over_time, int width) {
  std::vector<std::vector<PlotMark>> cells;
  double high = 0;
  double lowest_high = 1e300;
  for (const ResultGroup* column : columns) {
    cells.push_back(row.marks(column->mean, colours.css_class(column->mean.key.mode), over_time));
    keep_time(cells.back(), over_time);
    const double top = highest(cells.back(), row.scale);
    high = std::max(high, top);
    if (top > 0) lowest_high = std::min(lowest_high, top);
  }
  if (high <= 0) return {};
  const bool log = row.scale == RowScale::log || (row.scale == RowScale::either && high > 5 * lowest_high);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (cells[i].empty()) {
      out.emplace_back("<div></div>\n");
      continue;
    }
    Plot plot;
    plot.title =
        key_value(columns[i]->mean.key, over_time.beside.empty() ? mode_key : over_time.beside) + " · " + row.title;
    plot.width = width;
    plot.x.label = "time, s";
    plot.x.min = over_time.from_s;
    plot.x.max = over_time.to_s > 0 ? over_time.to_s : columns[i]->mean.series.back().time_s;
    plot.y.label = row.unit;
    plot.y.log = log;
    plot.y.min = log ? row.floor : 0;
    plot.y.max = log ? std::max(high * 1.3, row.floor * 10) : high * 1.05;
    plot.marks = std::move(cells[i]);
    if (log) {
      for (PlotMark& mark : plot.marks) {
        for (PlotPoint& point : mark.points) point.y = std::max(point.y, row.floor);
      }
    }
    out.push_back(render_svg(plot));
  }
  return out;
}

/// Returns one grid of plots for the runs with one combination of swept values. It has one column per mode, and is
/// split into parts of at most four columns.
std::string grid(const std::vector<const ResultGroup*>& columns, const ModeColours& colours,
                 const OverTimeSpec& over_time) {
  constexpr int page = 1208;  // pixels of a window of 1280 without its margins and its scroll bar
  constexpr int gap = 10;
  constexpr std::size_t most_beside = 4;
  // Each part has nearly the same number of columns, so that the last one is not much shorter.
  const std::size_t parts = (columns.size() + most_beside - 1) / most_beside;
  const std::size_t beside = (columns.size() + parts - 1) / parts;
  const auto count = static_cast<int>(beside);
  const int width = count <= 1 ? 900 : (page - gap * (count - 1)) / count;
  std::vector<std::string> grids(parts);
  for (const Row& row : rows()) {
    const std::vector<std::string> cells = grid_row(row, columns, colours, over_time, width);
    for (std::size_t i = 0; i < cells.size(); ++i) grids[i / beside] += cells[i];
  }
  std::string out = "<div class=\"together\">\n";
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t own = std::min(beside, columns.size() - part * beside);
    out += "<div class=\"scroll\"><div class=\"grid\" style=\"grid-template-columns: repeat(" + std::to_string(own) +
           ", max-content)\">\n" + grids[part] + "</div></div>\n";
  }
  return out + "</div>\n";
}

std::string point_name(const RunKey& key, const std::vector<std::string>& columns) {
  std::string name;
  for (const std::string& column : columns)
    name += (name.empty() ? "" : ", ") + column + " = " + key_value(key, column);
  return name;
}

/// Returns the swept columns that a plot's title must name: all but the column whose values are drawn side by side.
std::vector<std::string> naming_columns(const std::vector<ResultGroup>& groups, const OverTimeSpec& over_time) {
  std::vector<const ResultGroup*> all;
  for (const ResultGroup& group : groups) all.push_back(&group);
  std::vector<std::string> columns = telling_columns(all, over_time.beside);
  std::erase(columns, mode_key);
  std::erase(columns, over_time.beside);
  return columns;
}

bool is_selected(const ResultGroup& group, const OverTimeSpec& over_time) {
  return std::all_of(over_time.where.begin(), over_time.where.end(),
                     [&](const std::string& each) { return key_holds(group.mean.key, each); });
}

/// Returns the plots of one combination of swept values under its name. If `open` is false, they are collapsed and
/// shown on request; it is true for the first combination only.
std::string section(const std::string& point, const std::string& plots, bool open) {
  return std::string(open ? "<details open>" : "<details>") + "<summary><h3>" + escape_html(point) +
         "</h3></summary>\n" + plots + "</details>\n";
}

constexpr const char* series_legend =
    "<div class=\"legend\"><span class=\"capacity block\">radio capacity (half-second mean)</span><span "
    "class=\"m2\">of the mode: rate carried, allowance, windows, queues and delay</span><span class=\"ink "
    "thin\">server to UE delay</span><span class=\"ink dashed\">queue reference, advertised window</span></div>\n";

}  // namespace

std::string series_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                         const OverTimeSpec& over_time) {
  const std::vector<std::string> naming = naming_columns(groups, over_time);
  std::vector<std::string> points;
  for (const ResultGroup& group : groups) {
    if (group.mean.series.empty() || !is_selected(group, over_time)) continue;
    const std::string name = point_name(group.mean.key, naming);
    if (std::find(points.begin(), points.end(), name) == points.end()) points.push_back(name);
  }
  if (points.empty()) return {};
  if (over_time.where.empty() && !over_time.every && points.size() > 3)
    points = {points.front(), points[points.size() / 2], points.back()};
  std::string out = "<h2>Against time</h2>\n" + std::string(series_legend);
  for (const std::string& point : points) {
    std::vector<const ResultGroup*> columns;
    for (const ResultGroup& group : groups) {
      if (!group.mean.series.empty() && is_selected(group, over_time) && point_name(group.mean.key, naming) == point)
        columns.push_back(&group);
    }
    const std::string plots = grid(columns, colours, over_time);
    out += point.empty() ? plots : section(point, plots, &point == &points.front());
  }
  return out;
}

}  // namespace sluice::emulator
