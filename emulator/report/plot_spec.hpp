#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice::emulator {

/// One axis of a plot that a file asks for.
struct PlotAxisSpec {
  std::vector<std::string> columns;  ///< of the results, swept ones and mode included; x has one, or none beside `at`
  std::vector<std::string> names;    ///< of y: what the legend calls each of the columns; their own names when empty
  std::vector<double> at;            ///< of y: where on x each of the columns stands, as points of one line; or none
  std::string label;                 ///< quantity and unit; the column's name when empty
  double scale = 1;                  ///< the columns are divided by it
  bool log = false;
  std::optional<double> min;
  std::optional<double> max;  ///< points beyond it stand at the edge, with their value
};

/// What a paper draws or says of a curve, in the units of the plot's axes.
struct PaperCurve {
  std::string name;
  std::string line;   ///< the line of ours whose colour it has; may be empty
  std::string panel;  ///< the panel it belongs to; all when empty
  std::vector<double> x;
  std::vector<double> y;  ///< as many
};

/// A plot that a file asks for: any column of the results against any other.
struct PlotSpec {
  std::string title;
  PlotAxisSpec x;
  PlotAxisSpec y;
  std::string panels;              ///< swept column, a plot for each of its points; one plot when empty
  std::vector<std::string> lines;  ///< mode and swept columns that tell lines apart; found out when empty
  std::vector<std::string> where;  ///< "column=point": the runs for which all hold; all runs when empty
  bool join_categories = false;    ///< where x is one of words: their points are joined, since they have an order
  std::vector<PaperCurve> curves;
};

/// What of the runs is drawn against time.
struct OverTimeSpec {
  double from_s = 0;
  double to_s = 0;                 ///< 0: to the end
  std::vector<std::string> where;  ///< the points of sweeps for which all hold; when empty the first, middle and last
  std::string beside;              ///< swept column whose points stand side by side, as modes do; may be empty
  bool every = false;              ///< all points, where none are named
  bool first = false;              ///< it stands before the comparison of all runs
  std::string ue;                  ///< address of the UE whose queue is drawn by itself, too; may be empty
};

}  // namespace sluice::emulator
