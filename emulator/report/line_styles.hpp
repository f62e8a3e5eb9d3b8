#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {

/// Assigns a colour and a marker shape to each line of a plot. If modes differ and have few lines each, a line has the
/// colour of its mode, as in all plots of the report. The lines of one mode then differ in shape.
class LineStyles {
 public:
  struct Line {
    std::string name;
    std::string mode;
  };
  LineStyles(std::vector<Line> lines, const ModeColours& colours);

  /// Sets colour and shape of a mark of this line; an unknown line has the ink colour.
  void apply(const std::string& line, PlotMark& mark) const;

 private:
  /// Number of lines of one mode up to which they share the colour of the mode.
  static constexpr std::size_t most_of_a_colour = 3;
  [[nodiscard]] std::size_t shape_by_mode(std::size_t number) const;

  std::vector<Line> lines_;
  const ModeColours& colours_;
  bool by_mode_;
};

/// Returns the legend of the plots as HTML: each mark's name with its appearance, once, in order of appearance.
[[nodiscard]] std::string marks_legend(const std::vector<Plot>& plots);

}  // namespace sluice::emulator
