#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice::emulator {

/// One axis of a plot that a scenario requests.
struct PlotAxisSpec {
  /// Names of result columns or swept columns, or `mode`. An x axis has one name, or none if the y axis states x
  /// positions (`at`).
  std::vector<std::string> columns;
  std::vector<std::string> names;  ///< legend names of the columns of a y axis; default: the columns' own names
  /// X position of each column of a y axis. The values of a run in these columns are then points of one line. If empty,
  /// each column has a line of its own.
  std::vector<double> at;
  std::string label;  ///< label of the axis with quantity and unit; if empty, the column's name
  double scale = 1;   ///< divisor of the columns
  bool log = false;
  std::optional<double> min;
  /// Upper end of the axis; single points beyond the end of the x axis are drawn at its edge, with their value.
  std::optional<double> max;
};

/// Points of one curve in a paper, in the units of the plot's axes.
struct PaperCurve {
  std::string name;
  std::string line;   ///< line of the plot whose colour the curve has; may be empty
  std::string panel;  ///< panel of the curve; all panels if empty
  std::vector<double> x;
  std::vector<double> y;  ///< y values of the points, one for each x
};

/// A plot that a scenario requests: any column of the results against any other.
struct PlotSpec {
  std::string title;
  PlotAxisSpec x;
  PlotAxisSpec y;
  std::string panels;              ///< swept column that has a panel for each of its values; a single panel if empty
  std::vector<std::string> lines;  ///< mode and swept columns that distinguish lines; determined from the runs if empty
  /// Conditions of the form "column=value" that a drawn run must meet; all runs are drawn if empty.
  std::vector<std::string> where;
  /// True: the points of a line are joined along an axis of categories. The scenario sets it only if the order of the
  /// categories has a meaning.
  bool join_categories = false;
  std::vector<PaperCurve> curves;
};

/// Selection of the runs that are drawn against time.
struct OverTimeSpec {
  double from_s = 0;
  double to_s = 0;  ///< end of the drawn time in seconds; 0: the end of the run

  /// Conditions such as "column=value" that select the runs to be drawn. If empty, the first, the middle and the last
  /// combination of swept values is drawn.
  std::vector<std::string> where;
  /// Swept column whose values get plots side by side, as modes do; if empty, only modes are side by side.
  std::string beside;
  bool every = false;  ///< true: every combination of swept values is drawn if `where` is empty
  bool first = false;  ///< true: the time series stand before the comparison of all runs
  std::string ue;      ///< address of a UE whose queue is drawn separately; may be empty
};

}  // namespace sluice::emulator
