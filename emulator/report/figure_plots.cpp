// Plots that a scenario requests in output.plots, for the HTML report. html_report() calls figure_plots(). A figure has
// one panel per point of a swept column.
// Invariant: all panels share axes, lines and colours.

#include "emulator/report/figure_plots.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "emulator/report/columns.hpp"
#include "emulator/report/csv.hpp"
#include "emulator/report/line_styles.hpp"
#include "emulator/report/plot_keys.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {
namespace {

using Groups = std::vector<const ResultGroup*>;

bool is_key(const Groups& groups, const std::string& column) {
  if (column == mode_key) return true;
  return std::any_of(groups.begin(), groups.end(), [&](const ResultGroup* group) {
    const auto& swept = group->mean.key.swept;
    return std::any_of(swept.begin(), swept.end(), [&](const auto& pair) { return pair.first == column; });
  });
}

Groups chosen(const std::vector<ResultGroup>& groups, const std::vector<std::string>& where) {
  Groups kept;
  for (const ResultGroup& group : groups) {
    if (std::all_of(where.begin(), where.end(), [&](const auto& each) { return key_holds(group.mean.key, each); })) {
      kept.push_back(&group);
    }
  }
  return kept;
}

std::optional<double> ours(const ResultGroup& group, const std::string& column) {
  const std::optional<double> swept = parse_number(key_value(group.mean.key, column));
  return swept ? swept : column_value(group.mean, column);
}
std::optional<double> papers(const ResultGroup& group, const std::string& column) {
  const auto at = group.mean.paper.find(column);
  return at == group.mean.paper.end() ? std::nullopt : std::optional(at->second);
}

std::string label_of(const PlotAxisSpec& spec) {
  if (!spec.label.empty()) return spec.label;
  std::string label;
  for (const std::string& column : spec.columns) label += (label.empty() ? "" : ", ") + column;
  return label;
}

void put(PlotAxis& axis, const PlotAxisSpec& spec) {
  axis.label = label_of(spec);
  axis.log = axis.categories.empty() && (axis.log || spec.log);
  axis.min = spec.min;
  axis.max = spec.max;
}

/// One plot that the scenario requests. It consists of one or several panels, which share axes and lines.
class Figure {
 public:
  Figure(const std::vector<ResultGroup>& groups, const ModeColours& colours, const PlotSpec& spec)
      : spec_(spec),
        groups_(chosen(groups, spec.where)),
        keyed_(!groups_.empty() && is_key(groups_, x_column())),
        lines_(spec.lines.empty() ? found_lines() : spec.lines),
        styles_(named_lines(), colours) {
    if (keyed_) axis_.emplace(groups_, x_column());
  }

  std::string html() {
    if (groups_.empty()) return {};
    std::vector<Plot> plots;
    const std::vector<std::string> panels =
        spec_.panels.empty() ? std::vector<std::string>{""} : points_of(groups_, spec_.panels);
    for (const std::string& panel : panels) plots.push_back(plot(panel));
    share_axes(plots);
    std::string out = "<figure>\n";
    if (!spec_.title.empty()) out += "<figcaption>" + escape_html(spec_.title) + "</figcaption>\n";
    out += marks_legend(plots) + "<div class=\"row\">";
    for (Plot& each : plots) {
      size(each, plots.size());
      out += render_svg(each);
    }
    return out + "</div></figure>\n";
  }

 private:
  [[nodiscard]] const std::string& x_column() const { return spec_.x.columns.front(); }
  /// True if a run's values in the y columns form one line, with one point for each column. Otherwise each column has a
  /// line of its own.
  [[nodiscard]] bool columns_are_points() const { return !spec_.y.at.empty(); }
  [[nodiscard]] bool measured_x() const { return !keyed_ && !columns_are_points(); }

  /// Returns the columns that distinguish the lines of the plot: mode and swept columns, without those of the x axis
  /// and of the panels. If the x axis is a measured column, numeric swept columns are left out as well. Their values
  /// are then points of one line.
  [[nodiscard]] std::vector<std::string> found_lines() const {
    std::vector<std::string> lines = telling_columns(groups_);
    std::erase_if(lines, [&](const std::string& column) {
      return column == x_column() || column == spec_.panels || (measured_x() && is_numeric(groups_, column));
    });
    return lines;
  }

  [[nodiscard]] std::string line_of(const ResultGroup& group, std::size_t number) const {
    const std::string& column = spec_.y.names.empty() ? spec_.y.columns[number] : spec_.y.names[number];
    std::string name = line_name(group.mean.key, lines_);
    if (spec_.y.columns.size() > 1 && !columns_are_points()) return name.empty() ? column : name + ", " + column;
    return name.empty() ? mode_name(group.mean.key.mode) : name;
  }

  [[nodiscard]] std::vector<LineStyles::Line> named_lines() const {
    std::vector<LineStyles::Line> named;
    for (const ResultGroup* group : groups_) {
      for (std::size_t i = 0; i < spec_.y.columns.size(); ++i) {
        const std::string name = line_of(*group, i);
        const auto same = [&](const LineStyles::Line& line) { return line.name == name; };
        if (std::none_of(named.begin(), named.end(), same)) named.push_back({name, group->mean.key.mode});
      }
    }
    return named;
  }

  /// Returns the title of a panel; a number is preceded by the name of its column.
  [[nodiscard]] std::string title_of(const std::string& panel) const {
    if (panel.empty() || !is_numeric(groups_, spec_.panels)) return panel;
    std::string counted = spec_.panels;
    std::replace(counted.begin(), counted.end(), '_', ' ');
    return counted + " " + panel;
  }

  Plot plot(const std::string& panel) const {
    Plot plot;
    plot.title = title_of(panel);
    if (axis_) plot.x = axis_->axis();
    put(plot.x, spec_.x);
    put(plot.y, spec_.y);
    for (const ResultGroup* group : groups_) {
      if (!panel.empty() && key_value(group->mean.key, spec_.panels) != panel) continue;
      for (std::size_t i = 0; i < spec_.y.columns.size(); ++i) add(plot, *group, i);
    }
    for (const PaperCurve& curve : spec_.curves) {
      if (curve.panel.empty() || curve.panel == panel) add(plot, curve);
    }
    for (PlotMark& mark : plot.marks) finish(mark);
    return plot;
  }

  [[nodiscard]] std::optional<double> x_of(const ResultGroup& group, std::size_t column, bool paper) const {
    if (columns_are_points()) return spec_.y.at[column];
    if (axis_) return axis_->at(group.mean.key);
    const std::optional<double> value = paper ? papers(group, x_column()) : ours(group, x_column());
    return value ? std::optional(*value / spec_.x.scale) : std::nullopt;
  }

  void add(Plot& plot, const ResultGroup& group, std::size_t number) const {
    const std::string& column = spec_.y.columns[number];
    const std::string line = line_of(group, number);
    const std::optional<double> x = x_of(group, number, false);
    if (const std::optional<double> y = ours(group, column); x && y) {
      const auto ci = group.ci.find(column);
      const double error = group.seeds > 1 && ci != group.ci.end() ? ci->second / spec_.y.scale : 0;
      mark(plot, line, line, false).points.push_back({*x + offset(line), *y / spec_.y.scale, error});
    }
    const std::optional<double> x_paper = x_of(group, number, true);
    if (const std::optional<double> y = papers(group, column); x_paper && y) {
      mark(plot, line + ", paper", line, true).points.push_back({*x_paper + offset(line), *y / spec_.y.scale});
    }
  }

  void add(Plot& plot, const PaperCurve& curve) const {
    PlotMark& drawn = mark(plot, curve.name, curve.line, true);
    for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
      drawn.points.push_back({curve.x[i], curve.y[i]});
    }
  }

  PlotMark& mark(Plot& plot, const std::string& name, const std::string& line, bool paper) const {
    const auto at =
        std::find_if(plot.marks.begin(), plot.marks.end(), [&](const PlotMark& known) { return known.name == name; });
    if (at != plot.marks.end()) return *at;
    PlotMark& fresh = plot.marks.emplace_back();
    fresh.name = name;
    fresh.kind = paper ? PlotMark::Kind::dashed_and_points : PlotMark::Kind::line_and_points;
    fresh.hollow = paper;
    styles_.apply(line, fresh);
    return fresh;
  }

  /// Returns the horizontal offset of a line's points from the middle of their category. Returns 0 on a numeric axis,
  /// or if points are joined along categories.
  [[nodiscard]] double offset(const std::string& line) const {
    if (!axis_ || axis_->numeric() || spec_.join_categories) return 0;
    const std::vector<LineStyles::Line> named = named_lines();
    const auto at = std::find_if(named.begin(), named.end(), [&](const auto& known) { return known.name == line; });
    return place_beside(static_cast<std::size_t>(at - named.begin()), named.size());
  }

  void finish(PlotMark& mark) const {
    if (axis_ && !axis_->numeric() && !spec_.join_categories) mark.kind = PlotMark::Kind::points;
    if (mark.points.size() == 1) mark.kind = PlotMark::Kind::points;
    if (!axis_ || !axis_->numeric()) return;
    std::stable_sort(mark.points.begin(), mark.points.end(),
                     [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  }

  /// Sets equal ranges in all panels. A linear y axis starts at 0, unless the scenario sets its lower end or values are
  /// negative.
  void share_axes(std::vector<Plot>& plots) const {
    share(plots, &Plot::x, &PlotPoint::x);
    share(plots, &Plot::y, &PlotPoint::y);
    for (Plot& plot : plots) {
      if (!plot.y.log && !spec_.y.min && (plot.y.min.value_or(0) > 0 || !any_below_zero(plots))) plot.y.min = 0;
    }
  }

  static bool any_below_zero(const std::vector<Plot>& plots) {
    for (const Plot& plot : plots) {
      for (const PlotMark& mark : plot.marks) {
        if (std::any_of(mark.points.begin(), mark.points.end(), [](const PlotPoint& point) { return point.y < 0; }))
          return true;
      }
    }
    return false;
  }

  static void share(std::vector<Plot>& plots, PlotAxis Plot::*axis, double PlotPoint::*coordinate) {
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (const Plot& plot : plots) {
      for (const PlotMark& mark : plot.marks) {
        for (const PlotPoint& point : mark.points) {
          const double error = coordinate == &PlotPoint::y ? point.error : 0;
          if ((plot.*axis).log && point.*coordinate - error <= 0) continue;
          least = std::min(least, point.*coordinate - error);
          most = std::max(most, point.*coordinate + error);
        }
      }
    }
    if (least > most) return;
    for (Plot& plot : plots) {
      PlotAxis& shared = plot.*axis;
      if (!shared.categories.empty()) continue;
      const double room = shared.log ? 0 : 0.04 * (most - least);
      if (!shared.min) shared.min = shared.log ? least / 1.15 : least - room;
      if (!shared.max) shared.max = shared.log ? most * 1.15 : most + room;
    }
  }

  static void size(Plot& plot, std::size_t panels) {
    plot.width = panels == 1 ? 640 : 392;
    plot.height = panels == 1 ? 340 : 290;
    const std::size_t categories = plot.x.categories.size();
    if (categories > 8) plot.width = std::max(plot.width, static_cast<int>(categories) * 60);
  }

  const PlotSpec& spec_;
  Groups groups_;
  bool keyed_;  ///< true if the x axis is a swept column or the mode
  std::vector<std::string> lines_;
  LineStyles styles_;
  std::optional<KeyAxis> axis_;
};

}  // namespace

std::string figure_plots(const std::vector<ResultGroup>& groups, const ModeColours& colours,
                         const std::vector<PlotSpec>& specs) {
  std::string out;
  for (const PlotSpec& spec : specs) out += Figure(groups, colours, spec).html();
  return out.empty() ? out : "<h2>Figures</h2>\n" + out;
}

}  // namespace sluice::emulator
