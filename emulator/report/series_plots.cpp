#include "emulator/report/series_plots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {
namespace {

constexpr std::size_t most_points = 900;  ///< per line; more would not be seen

/// Linear, logarithmic, or logarithmic only where the modes are far apart.
enum class RowScale { linear, log, either };

/// What is plotted of a series in one row of the grid.
struct Row {
  std::string title;
  std::string unit;
  RowScale scale = RowScale::linear;
  double floor = 0;  ///< of a logarithmic axis; what is less is drawn there
  std::vector<PlotMark> (*marks)(const RunResult& run, const std::string& colour);
};

template <typename Value>
std::vector<PlotPoint> points_of(const RunResult& run, Value value) {
  std::vector<PlotPoint> points;
  for (const SeriesPoint& point : run.series) points.push_back({point.time_s, value(point)});
  return points;
}

/// Keeps the highest and the lowest of each stretch, so that a long run shows its peaks.
std::vector<PlotPoint> thinned(std::vector<PlotPoint> points) {
  if (points.size() <= most_points) return points;
  const std::size_t stretch = (points.size() * 2 + most_points - 1) / most_points;
  std::vector<PlotPoint> kept;
  for (std::size_t from = 0; from < points.size(); from += stretch) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), from + stretch));
    auto [low, high] =
        std::minmax_element(first, last, [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
    if (high->x < low->x) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  return kept;
}

/// A stretch of what the radio could carry: half a second, in which single opportunities no longer show.
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

std::vector<PlotMark> rate_marks(const RunResult& run, const std::string& colour) {
  constexpr double window_s = 0.5;
  const auto rate = smoothed(points_of(run, [](const SeriesPoint& p) { return p.link_rate_bps / 1e6; }), window_s);
  const auto used = smoothed(points_of(run, [](const SeriesPoint& p) { return p.link_used_bps / 1e6; }), window_s);
  return {{PlotMark::Kind::area, "what the radio could carry", "capacity", thinned(rate)},
          {PlotMark::Kind::line, "carried", colour, thinned(used)}};
}

std::vector<PlotMark> window_marks(const RunResult& run, const std::string& colour) {
  std::vector<PlotMark> marks = {
      {PlotMark::Kind::line, "sent past the proxy and not acknowledged", colour,
       thinned(points_of(run, [](const SeriesPoint& p) { return p.outstanding_bytes / 1e3; }))}};
  return marks;
}

std::vector<PlotMark> allowance_marks(const RunResult& run, const std::string& colour) {
  std::vector<PlotPoint> granted;
  for (const SeriesPoint& point : run.series) {
    if (point.allowance_bps) granted.push_back({point.time_s, *point.allowance_bps / 1e6});
  }
  if (granted.empty()) return {};
  return {{PlotMark::Kind::line, "allowance as a rate", colour, thinned(smoothed(granted, 0.5))}};
}

std::vector<PlotMark> queue_marks(const RunResult& run, const std::string& colour) {
  std::vector<PlotMark> marks = {{PlotMark::Kind::line, "radio queue", colour,
                                  thinned(points_of(run, [](const SeriesPoint& p) { return p.queue_bytes / 1e3; }))}};
  std::vector<PlotPoint> reference;
  for (const SeriesPoint& point : run.series) {
    if (point.reference_bytes) reference.push_back({point.time_s, *point.reference_bytes / 1e3});
  }
  if (!reference.empty()) {
    marks.push_back({PlotMark::Kind::dashed, "reference q0", "ink", thinned(smoothed(reference, 0.5))});
  }
  return marks;
}

std::vector<PlotMark> delay_marks(const RunResult& run, const std::string& colour) {
  const auto total = points_of(run, [](const SeriesPoint& p) { return p.server_to_ue_delay_ms; });
  const auto radio = points_of(run, [](const SeriesPoint& p) { return p.radio_queue_delay_ms; });
  return {{PlotMark::Kind::thin, "server to UE", "ink", thinned(total)},
          {PlotMark::Kind::line, "radio queue", colour, thinned(radio)}};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"Link rate", "Mb/s", RowScale::linear, 0, rate_marks},
      {"Window in use", "kB", RowScale::either, 1, window_marks},
      {"Radio queue", "kB", RowScale::either, 1, queue_marks},
      {"Queueing delay, largest in each interval", "ms", RowScale::log, 1, delay_marks},
      {"Allowance granted", "Mb/s", RowScale::linear, 0, allowance_marks}};
  return list;
}

double highest(const std::vector<PlotMark>& marks) {
  double high = 0;
  for (const PlotMark& mark : marks) {
    for (const PlotPoint& point : mark.points) high = std::max(high, point.y);
  }
  return high;
}

/// One row of the grid: the same axis for every mode.
std::string grid_row(const Row& row, const std::vector<const ResultGroup*>& columns, const ModeColours& colours,
                     int width) {
  std::vector<std::vector<PlotMark>> cells;
  double high = 0;
  double lowest_high = 1e300;
  for (const ResultGroup* column : columns) {
    cells.push_back(row.marks(column->mean, colours.css_class(column->mean.key.mode)));
    const double top = highest(cells.back());
    high = std::max(high, top);
    if (top > 0) lowest_high = std::min(lowest_high, top);
  }
  if (high <= 0) return {};
  const bool log = row.scale == RowScale::log || (row.scale == RowScale::either && high > 5 * lowest_high);
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (cells[i].empty()) {
      out += "<div></div>\n";
      continue;
    }
    Plot plot;
    plot.title = mode_name(columns[i]->mean.key.mode) + " · " + row.title;
    plot.width = width;
    plot.x.label = "time, s";
    plot.x.min = 0;
    plot.x.max = columns[i]->mean.series.back().time_s;
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
    out += render_svg(plot);
  }
  return out;
}

/// The columns of one grid: runs at the same point, one per mode.
std::string grid(const std::vector<const ResultGroup*>& columns, const ModeColours& colours) {
  const auto count = static_cast<int>(columns.size());
  const int width = count <= 1 ? 900 : count == 2 ? 620 : std::max(300, 1260 / std::min(count, 4));
  std::string out = "<div class=\"scroll\"><div class=\"grid\" style=\"grid-template-columns: repeat(" +
                    std::to_string(count) + ", max-content)\">\n";
  for (const Row& row : rows()) out += grid_row(row, columns, colours, width);
  return out + "</div></div>\n";
}

std::string point_name(const RunKey& key) {
  std::string name;
  for (const auto& [column, value] : key.swept) name += (name.empty() ? "" : ", ") + column + " = " + value;
  return name;
}

constexpr const char* series_legend =
    "<div class=\"legend\"><span class=\"capacity block\">what the radio could carry (half-second mean)</span>"
    "<span class=\"m2\">the mode's: rate carried, allowance, window in use, radio queue and its delay</span>"
    "<span class=\"ink thin\">server to UE delay</span><span class=\"ink dashed\">queue reference</span></div>\n";

}  // namespace

std::string series_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours) {
  std::vector<std::string> points;
  for (const ResultGroup& group : groups) {
    if (group.mean.series.empty()) continue;
    const std::string name = point_name(group.mean.key);
    if (std::find(points.begin(), points.end(), name) == points.end()) points.push_back(name);
  }
  if (points.empty()) return {};
  if (points.size() > 3) points = {points.front(), points[points.size() / 2], points.back()};
  std::string out = "<h2>Against time</h2>\n" + std::string(series_legend);
  for (const std::string& point : points) {
    std::vector<const ResultGroup*> columns;
    for (const ResultGroup& group : groups) {
      if (!group.mean.series.empty() && point_name(group.mean.key) == point) columns.push_back(&group);
    }
    if (!point.empty()) out += "<h3>" + escape_html(point) + "</h3>\n";
    out += grid(columns, colours);
  }
  return out;
}

}  // namespace sluice::emulator
