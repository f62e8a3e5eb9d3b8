#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice::emulator {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

/// One graphic element of a plot. `css_class` gives its colour (report_style.hpp).
struct PlotMark {
  /// `bar`: a horizontal bar from the axis to each point.
  enum class Kind { line, dashed, thin, area, points, line_and_points, bar };
  Kind kind = Kind::line;
  std::string name;  ///< shown when the pointer rests on it
  std::string css_class;
  std::vector<PlotPoint> points;  ///< by x, except for Kind::points
};

struct PlotAxis {
  std::string label;  ///< quantity and unit; empty: not written
  bool log = false;   ///< points at or below 0 are left out
  std::optional<double> min;
  std::optional<double> max;
  bool ticks = true;                         ///< write numbers
  std::vector<std::string> categories = {};  ///< names for the values 0, 1, 2 … instead of numbers
};

struct Plot {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotMark> marks;
  int width = 420;  ///< pixels
  int height = 200;
  int left = 56;  ///< margin for the y axis
};

/// An inline <svg> element. The same plot gives the same bytes. Points that are not finite are left out.
[[nodiscard]] std::string render_svg(const Plot& plot);

/// Round numbers between `min` and `max`, about `wanted` of them (1, 2 or 5 times a power of ten apart); for a
/// logarithmic axis 1, 2 and 5 of each decade, or decades alone when these are many.
[[nodiscard]] std::vector<double> axis_ticks(double min, double max, int wanted, bool log);

/// Text for HTML and SVG: & < > " are escaped, control characters are left out.
[[nodiscard]] std::string escape_html(const std::string& text);

}  // namespace sluice::emulator
