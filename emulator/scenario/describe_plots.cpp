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
  s.value("label", axis.label, "quantity and unit; the column's name when empty");
  s.value("scale", axis.scale, {1e-12, 1e12}, "the column is divided by it: 1e6 for Mb/s of a column in b/s");
  s.value("log", axis.log, "logarithmic");
  s.value("min", axis.min, {-most, most}, "where the axis begins; when not set, at 0 or below the least point");
  s.value("max", axis.max, {-most, most},
          "where it ends; points beyond an axis of x stand at its edge with their value");
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
  s.required().value("name", curve.name, "in the legend");
  s.value("line", curve.line, "the line of ours whose colour it has, as the legend calls it");
  s.value("panel", curve.panel, "the panel it belongs to; all when empty");
  s.required().list("x", curve.x, {1, 200}, {-most, most}, "in the unit of the axis");
  s.required().list("y", curve.y, {1, 200}, {-most, most}, "likewise, one for each x");
}

void describe(Section& s, PlotSpec& plot) {
  s.value("title", plot.title, "above the plot");
  plot.x.columns.resize(1);
  s.section(
      "x",
      [&plot](Section& below) {
        below.value("column", plot.x.columns.front(), "mode, a swept column, or any of results.csv; none beside y.at");
        describe_axis(below, plot.x);
      },
      "the axis to the right; a swept column of words is one of categories");
  s.section(
      "y",
      [&plot](Section& below) {
        below.required().list("columns", plot.y.columns, {1, 8},
                              "of results.csv, or swept numbers; each has lines of its own");
        below.list("names", plot.y.names, {0, 8}, "what the legend calls each column; their own names when empty");
        below.list("at", plot.y.at, {0, 8}, {-most, most},
                   "where on the axis of x each column stands; then they are points of one line");
        describe_axis(below, plot.y);
      },
      "the axis upwards");
  s.value("panels", plot.panels, "a swept column: a plot for each of its points, with the same axes");
  s.list("lines", plot.lines, {0, 8}, "mode and swept columns that tell lines apart; found out when empty");
  s.list("where", plot.where, {0, 8}, "the runs for which all hold: mode=none, trace=LTE; all runs when empty");
  s.value("join", plot.join_categories, "join points along an axis of categories, which then have an order");
  s.sections("curves", plot.curves, {0, 32}, "what a paper draws or says of a curve");
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
