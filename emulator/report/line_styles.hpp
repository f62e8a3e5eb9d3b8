#pragma once

#include <string>
#include <vector>

#include "emulator/report/mode_colours.hpp"
#include "emulator/report/svg_plot.hpp"

namespace sluice::emulator {

/// Gives each line of a plot a colour and a shape of its points. Where every line has a mode of its own it has that
/// mode's colour, the same in all plots of a report.
class LineStyles {
 public:
  struct Line {
    std::string name;
    std::string mode;
  };
  LineStyles(std::vector<Line> lines, const ModeColours& colours);

  /// Colour and shape put into a mark of this line; one that is not known is drawn in ink.
  void apply(const std::string& line, PlotMark& mark) const;

 private:
  std::vector<Line> lines_;
  const ModeColours& colours_;
  bool by_mode_;
};

/// The names of the marks beside what they look like, each once, in the order of appearance.
[[nodiscard]] std::string marks_legend(const std::vector<Plot>& plots);

}  // namespace sluice::emulator
