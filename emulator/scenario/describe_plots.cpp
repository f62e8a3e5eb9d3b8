// Keys of the plots that a scenario adds to its report, and the check that what they name exists. describe() of the
// scenario calls these functions for each entry of `output.plots`.

#include <algorithm>

#include "emulator/report/columns.hpp"
#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using config::Section;

constexpr double most = 1e15;  ///< largest magnitude of a number that a plot's axis accepts

void describe_axis(Section& s, PlotAxisSpec& axis) {
  s.value("label", axis.label, "quantity and unit of the axis; empty: name of the column");
  s.value("scale", axis.scale, {1e-12, 1e12}, "divisor of the column, such as 1e6 for Mb/s of a column in b/s");
  s.value("log", axis.log, "logarithmic");
  s.value("min", axis.min, {-most, most}, "start of the axis; not set: 0, or below the smallest point");
  s.value("max", axis.max, {-most, most},
          "end of the axis; points beyond the end of x are drawn at its edge with their value");
}

bool is_swept(const Scenario& scenario, const std::string& column) {
  return std::any_of(scenario.sweep.begin(), scenario.sweep.end(),
                     [&](const SweepSpec& sweep) { return sweep.column == column; });
}

bool is_key(const Scenario& scenario, const std::string& column) {
  return column == mode_column || is_swept(scenario, column);
}

void check_conditions(Section& s, const Scenario& scenario, const std::vector<std::string>& where,
                      const std::string& at) {
  for (const std::string& condition : where) {
    const std::string column = condition.substr(0, condition.find('='));
    s.check(column != condition && is_key(scenario, column), at, "mode or a swept column, =, and a point",
            "\"" + condition + "\"");
  }
}

/// Checks that the columns, sweeps and modes that a plot names exist, and that its lists have equal lengths.
void check_plot(Section& s, const Scenario& scenario, const PlotSpec& plot, const std::string& at) {
  for (const std::string& column : plot.x.columns) {
    const bool placed = column.empty() && !plot.y.at.empty();
    s.check(placed || is_key(scenario, column) || is_result_column(column), at + ".x.column",
            "mode, a swept column or one of results.csv", "\"" + column + "\"");
  }
  s.check(plot.y.at.empty() || plot.y.at.size() == plot.y.columns.size(), at + ".y.at", "as many as columns",
          std::to_string(plot.y.at.size()));
  s.check(plot.y.names.empty() || plot.y.names.size() == plot.y.columns.size(), at + ".y.names", "as many as columns",
          std::to_string(plot.y.names.size()));
  for (const std::string& column : plot.y.columns) {
    s.check(is_swept(scenario, column) || is_result_column(column), at + ".y.columns",
            "columns of results.csv, or of sweeps", "\"" + column + "\"");
  }
  s.check(plot.panels.empty() || is_swept(scenario, plot.panels), at + ".panels", "a swept column",
          "\"" + plot.panels + "\"");
  for (const std::string& column : plot.lines) {
    s.check(is_key(scenario, column), at + ".lines", "mode or swept columns", "\"" + column + "\"");
  }
  check_conditions(s, scenario, plot.where, at + ".where");
  for (const PaperCurve& curve : plot.curves) {
    s.check(curve.x.size() == curve.y.size(), at + ".curves", "as many y as x",
            std::to_string(curve.y.size()) + " and " + std::to_string(curve.x.size()));
  }
}

}  // namespace

void describe(Section& s, PaperCurve& curve) {
  s.required().value("name", curve.name, "name of the curve in the legend");
  s.value("line", curve.line, "label of the measured line whose colour is used");
  s.value("panel", curve.panel, "panel of the curve; empty: all panels");
  s.required().list("x", curve.x, {1, 200}, {-most, most}, "values of x in the unit of the axis");
  s.required().list("y", curve.y, {1, 200}, {-most, most}, "values of y in the unit of the axis, one for each x");
}

void describe(Section& s, PlotSpec& plot) {
  s.value("title", plot.title, "title above the plot");
  plot.x.columns.resize(1);
  s.section(
      "x",
      [&plot](Section& below) {
        below.value("column", plot.x.columns.front(),
                    "mode, a swept column, or any column of results.csv; none with y.at");
        describe_axis(below, plot.x);
      },
      "horizontal axis; a swept column of words gives categories");
  s.section(
      "y",
      [&plot](Section& below) {
        below.required().list("columns", plot.y.columns, {1, 8},
                              "columns of results.csv, or swept numbers; each gets its own lines");
        below.list("names", plot.y.names, {0, 8}, "labels of the columns in the legend; empty: names of the columns");
        below.list("at", plot.y.at, {0, 8}, {-most, most},
                   "position of each column on the axis of x, which makes the columns points of one line");
        describe_axis(below, plot.y);
      },
      "vertical axis");
  s.value("panels", plot.panels, "a swept column: a plot for each of its points, with the same axes");
  s.list("lines", plot.lines, {0, 8}, "mode and swept columns that distinguish lines; empty: chosen automatically");
  s.list("where", plot.where, {0, 8}, "conditions that select runs, such as mode=none, trace=LTE; empty: all runs");
  s.value("join", plot.join_categories, "connects points along an axis of categories, whose order then has a meaning");
  s.sections("curves", plot.curves, {0, 32}, "values of a curve in a paper");
}

void check_plots(Section& s, const Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.output.plots.size(); ++i) {
    const std::string at = "plots[" + std::to_string(i) + "]";
    check_plot(s, scenario, scenario.output.plots[i], "output." + at);
  }
  const OverTimeSpec& shown = scenario.output.over_time;
  s.check(shown.beside.empty() || is_swept(scenario, shown.beside), "output.over_time.beside", "a swept column",
          "\"" + shown.beside + "\"");
  check_conditions(s, scenario, shown.where, "output.over_time.where");
  s.check(shown.to_s == 0 || shown.to_s > shown.from_s, "output.over_time.to", "after from",
          std::to_string(shown.to_s));
  for (const std::uint32_t server : scenario.output.windows) {
    s.check(server < scenario.servers.size(), "output.windows",
            "servers below " + std::to_string(scenario.servers.size()), std::to_string(server));
  }
}

}  // namespace sluice::emulator
