#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::emulator {

struct PlotPoint {
  double x = 0;
  double y = 0;
  double error = 0;  ///< half of an error bar along y, of a `bar` along x; 0: none
};

/// The outline of a point, so that lines can be told apart without their colours.
enum class MarkerShape : unsigned char { circle, square, triangle, diamond, cross, plus, wedge, star };
inline constexpr std::size_t marker_shapes = 8;

/// One graphic element of a plot. `css_class` gives its colour (report_style.hpp).
struct PlotMark {
  /// `bar`: a horizontal bar from the axis to each point.
  enum class Kind { line, dashed, thin, area, points, line_and_points, dashed_and_points, bar };
  Kind kind = Kind::line;
  std::string name;  ///< shown when the pointer rests on it
  std::string css_class;
  std::vector<PlotPoint> points;  ///< in the order in which they are joined; one that is not finite is a gap
  MarkerShape shape = MarkerShape::circle;
  bool hollow = false;  ///< points are outlines: what was not measured here
};

struct PlotAxis {
  std::string label;  ///< quantity and unit; empty: not written
  bool log = false;   ///< points at or below 0 are left out
  std::optional<double> min;
  std::optional<double> max;                 ///< single points beyond it are drawn at the edge, with their value
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
  int left = 56;  ///< margin for the y axis; more where the names of its categories need it
};

/// An inline <svg> element. The same plot gives the same bytes.
[[nodiscard]] std::string render_svg(const Plot& plot);

/// What a mark looks like, as an inline <svg> for a legend.
[[nodiscard]] std::string legend_swatch(const PlotMark& mark);

/// The outline of a marker around 0 0, as the data of an SVG path.
[[nodiscard]] std::string_view marker_outline(MarkerShape shape);

/// Round numbers between `min` and `max`, about `wanted` of them (1, 2 or 5 times a power of ten apart); for a
/// logarithmic axis 1, 2 and 5 of each decade, decades alone when these are many, and as for a linear one when 1, 2 and
/// 5 make less than three.
[[nodiscard]] std::vector<double> axis_ticks(double min, double max, int wanted, bool log);

/// Text for HTML and SVG: & < > " are escaped, control characters are left out.
[[nodiscard]] std::string escape_html(const std::string& text);

}  // namespace sluice::emulator
