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
  /// Half of the length of the error bar, in units of the axis; 0: none. The error bar is vertical, but horizontal on
  /// an element of kind `bar`.
  double error = 0;
};

/// Shape of the markers of a line, so that lines also differ without colours.
enum class MarkerShape : unsigned char { circle, square, triangle, diamond, cross, plus, wedge, star };
inline constexpr std::size_t marker_shapes = 8;

/// One graphic element of a plot. Its CSS class selects its colour (report_style.hpp).
struct PlotMark {
  /// Kinds of elements; `bar` is a horizontal bar from the axis to each point.
  enum class Kind { line, dashed, thin, area, points, line_and_points, dashed_and_points, bar };
  Kind kind = Kind::line;
  std::string name;  ///< text that is shown when the pointer is on the element
  std::string css_class;
  std::vector<PlotPoint> points;  ///< points in the order in which they are joined; one that is not finite is a gap
  MarkerShape shape = MarkerShape::circle;
  bool hollow = false;  ///< true: points are drawn as outlines, because the values come from a paper
};

struct PlotAxis {
  std::string label;  ///< quantity and unit of the axis; not written if empty
  bool log = false;   ///< true: the axis is logarithmic, and points at or below 0 are left out
  std::optional<double> min;
  /// Upper end of the axis. Single points beyond the end of the x axis are drawn at its edge, with their value.
  std::optional<double> max;
  bool ticks = true;                         ///< true: the numbers of the axis are written
  std::vector<std::string> categories = {};  ///< names that the axis shows for the values 0, 1, 2 … instead of numbers
};

struct Plot {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotMark> marks;
  int width = 392;  ///< width in pixels; three plots fill a window of 1280 pixels with its scroll bar
  int height = 200;
  int left = 56;  ///< margin of the y axis in pixels; larger if the axis has long category names
};

/// Returns the plot as an inline <svg> element. Equal plots give equal bytes.
[[nodiscard]] std::string render_svg(const Plot& plot);

/// Returns the legend symbol of a mark as an inline <svg>.
[[nodiscard]] std::string legend_swatch(const PlotMark& mark);

/// Returns the outline of a marker around (0, 0) as SVG path data.
[[nodiscard]] std::string_view marker_outline(MarkerShape shape);

/// Returns about `wanted` round numbers between `min` and `max`. On a linear axis their distance is 1, 2 or 5 times a
/// power of ten. On a logarithmic axis they are 1, 2 and 5 of each decade, or only decades if max/min is 1000 or more.
/// If that gives fewer than three numbers, the axis is treated as linear.
[[nodiscard]] std::vector<double> axis_ticks(double min, double max, int wanted, bool log);

/// Escapes text for HTML and SVG: & < > " become entities, control characters are removed.
[[nodiscard]] std::string escape_html(const std::string& text);

}  // namespace sluice::emulator
