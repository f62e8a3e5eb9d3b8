#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {

/// Assigns a colour and a marker shape to each line of a plot. If there are several modes with few lines each, a line
/// has the colour that its mode has in all plots of the report. The lines of one mode then differ in shape.
class LineStyles {
 public:
  struct Line {
    std::string name;
    std::string mode;
  };
  LineStyles(std::vector<Line> lines, const ModeColours& colours);

  /// Sets colour and shape of a mark of this line. A line that was not given to the constructor has the colour of text.
  void apply(const std::string& line, PlotMark& mark) const;

 private:
  /// Largest number of lines of a mode that all have the mode's colour.
  static constexpr std::size_t most_of_a_colour = 3;
  [[nodiscard]] std::size_t shape_by_mode(std::size_t number) const;

  std::vector<Line> lines_;
  const ModeColours& colours_;
  bool by_mode_;
};

/// Returns the legend of the plots as HTML: a symbol and the name of each mark. A name that occurs in several plots is
/// listed once, at its first place.
[[nodiscard]] std::string marks_legend(const std::vector<Plot>& plots);

}  // namespace sluice::emulator
