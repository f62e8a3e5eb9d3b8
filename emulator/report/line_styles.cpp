#include "emulator/report/line_styles.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sluice::emulator {
LineStyles::LineStyles(std::vector<Line> lines, const ModeColours& colours)
    : lines_(std::move(lines)), colours_(colours) {
  std::set<std::string> classes;
  std::map<std::string, std::size_t> lines_of;
  std::size_t most = 0;
  for (const Line& line : lines_) {
    classes.insert(colours_.css_class(line.mode));
    most = std::max(most, ++lines_of[line.mode]);
  }
  by_mode_ = classes.size() == lines_of.size() && classes.size() > 1 && most <= most_of_a_colour;
}

void LineStyles::apply(const std::string& line, PlotMark& mark) const {
  const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const Line& known) { return known.name == line; });
  if (at == lines_.end()) {
    mark.css_class = "ink";
    return;
  }
  const auto number = static_cast<std::size_t>(at - lines_.begin());
  mark.css_class = by_mode_ ? colours_.css_class(at->mode) : "m" + std::to_string((number + 2) % line_colours);
  // The numbers of colours and shapes have no common divisor, so the first 72 lines all differ.
  mark.shape = static_cast<MarkerShape>(by_mode_ ? shape_by_mode(number) : number % marker_shapes);
}

/// Returns the marker shape of line number `number`, if each line has the colour of its mode. The nth line of a mode
/// has the nth shape. A line that is the only one of its mode has shape number `number` instead, so that such lines
/// differ in shape.
std::size_t LineStyles::shape_by_mode(std::size_t number) const {
  const auto same_mode = [&](const Line& line) { return line.mode == lines_[number].mode; };
  const auto end = lines_.begin() + static_cast<std::ptrdiff_t>(number);
  const auto before = static_cast<std::size_t>(std::count_if(lines_.begin(), end, same_mode));
  const bool alone = before == 0 && std::none_of(end + 1, lines_.end(), same_mode);
  return (alone ? number : before) % marker_shapes;
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
