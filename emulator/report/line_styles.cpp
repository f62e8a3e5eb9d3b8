#include "emulator/report/line_styles.hpp"

#include <algorithm>
#include <set>

namespace sluice::emulator {
namespace {

constexpr std::size_t colour_count = 9;  ///< number of line colours: m0 … m8 of report_style.hpp

}  // namespace

LineStyles::LineStyles(std::vector<Line> lines, const ModeColours& colours)
    : lines_(std::move(lines)), colours_(colours) {
  std::set<std::string> classes;
  for (const Line& line : lines_) classes.insert(colours_.css_class(line.mode));
  by_mode_ = classes.size() == lines_.size();
}

void LineStyles::apply(const std::string& line, PlotMark& mark) const {
  const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const Line& known) { return known.name == line; });
  if (at == lines_.end()) {
    mark.css_class = "ink";
    return;
  }
  const auto number = static_cast<std::size_t>(at - lines_.begin());
  mark.css_class = by_mode_ ? colours_.css_class(at->mode) : "m" + std::to_string((number + 2) % colour_count);
  // The numbers of colours and shapes have no common divisor, so the first 72 lines all differ.
  mark.shape = static_cast<MarkerShape>(number % marker_shapes);
}

std::string marks_legend(const std::vector<Plot>& plots) {
  std::set<std::string> seen;
  std::string out = "<div class=\"legend\">";
  for (const Plot& plot : plots) {
    for (const PlotMark& mark : plot.marks) {
      if (mark.name.empty() || !seen.insert(mark.name).second) continue;
      out += "<span class=\"entry\">" + legend_swatch(mark) + escape_html(mark.name) + "</span>";
    }
  }
  return out + "</div>\n";
}

}  // namespace sluice::emulator
