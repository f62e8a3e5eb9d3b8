// Draws one plot as inline SVG: axes, ticks, lines, bars, points with error bars, and legend symbols. The plots of
// html_report() call render_svg().
// Invariant: equal plots give equal bytes, and all text is escaped.

#include "emulator/report/svg_plot.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "emulator/report/csv.hpp"

namespace sluice::emulator {
namespace {

constexpr int top_margin = 26;
constexpr int right_margin = 16;
constexpr int tick_room = 18;
constexpr int label_room = 18;
constexpr int overhang = 6;                 ///< pixels by which points may extend over the edges of the data area
constexpr double letter_width = 6.2;        ///< approximate width of a letter in pixels
constexpr double title_letter_width = 7.4;  ///< approximate width of a letter of a title, which is bold

/// Returns a coordinate with one decimal, because a tenth of a pixel is precise enough.
std::string pixel(double value) {
  std::array<char, 32> buffer{};
  const double bounded = std::clamp(value, -1e5, 1e5);
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), bounded, std::chars_format::fixed, 1).ptr;
  std::string text(buffer.data(), end);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

struct Extent {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  void add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
};

/// Returns a number with three significant digits, for readers.
std::string three_digits(double value) {
  if (value == 0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
  return format_number(std::round(value / unit) * unit);
}

/// Maps values to pixels along one axis.
class Scale {
 public:
  Scale(const PlotAxis& axis, Extent data, double from_pixel, double to_pixel)
      : log_(axis.log), from_(from_pixel), to_(to_pixel) {
    if (!(data.min <= data.max)) data = log_ ? Extent{1, 10} : Extent{0, 1};
    min_ = axis.min.value_or(data.min);
    max_ = axis.max.value_or(data.max);
    if (log_) {
      if (min_ <= 0) min_ = 1e-3;
      if (max_ <= min_) max_ = min_ * 10;
    } else if (max_ <= min_) {
      max_ = min_ + 1;
    }
  }
  [[nodiscard]] double at(double value) const {
    const double share = log_ ? std::log(value / min_) / std::log(max_ / min_) : (value - min_) / (max_ - min_);
    return from_ + share * (to_ - from_);
  }
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }
  /// Returns the text by which the report's script reads the axis: least and largest value, and "log" or "lin".
  [[nodiscard]] std::string described() const {
    return format_number(min_) + ' ' + format_number(max_) + (log_ ? " log" : " lin");
  }

 private:
  bool log_;
  double from_;
  double to_;
  double min_ = 0;
  double max_ = 1;
};

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::size_t longest(const std::vector<std::string>& names) {
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, letters(name));
  return most;
}

int left_margin(const Plot& plot) {
  return std::max(plot.left, static_cast<int>(static_cast<double>(longest(plot.y.categories)) * letter_width) + 14);
}

/// True if the category names below an axis are too long to be written horizontally.
bool slanted(const Plot& plot) {
  if (plot.x.categories.empty()) return false;
  const double room = (plot.width - left_margin(plot) - right_margin) / static_cast<double>(plot.x.categories.size());
  return static_cast<double>(longest(plot.x.categories)) * letter_width > room - 4;
}

int room_below(const Plot& plot) {
  const int label = plot.x.label.empty() ? 0 : label_room;
  if (!plot.x.ticks) return 6 + label;
  if (!slanted(plot)) return tick_room + label;
  return 14 + static_cast<int>(static_cast<double>(longest(plot.x.categories)) * letter_width * 0.5) + label;
}

bool has_line(PlotMark::Kind kind) {
  return kind != PlotMark::Kind::points && kind != PlotMark::Kind::bar;
}
bool has_points(PlotMark::Kind kind) {
  return kind == PlotMark::Kind::points || kind == PlotMark::Kind::line_and_points ||
         kind == PlotMark::Kind::dashed_and_points;
}
const char* line_class(PlotMark::Kind kind) {
  switch (kind) {
    case PlotMark::Kind::area:
      return "area ";
    case PlotMark::Kind::dashed:
    case PlotMark::Kind::dashed_and_points:
      return "line dashed ";
    case PlotMark::Kind::thin:
      return "line thin ";
    default:
      return "line ";
  }
}

std::string marker(const PlotMark& mark, double x, double y, const std::string& inside) {
  return "<path class=\"" + std::string(mark.hollow ? "dot hollow " : "dot ") + mark.css_class +
         "\" transform=\"translate(" + pixel(x) + ' ' + pixel(y) + ")\" d=\"" +
         std::string(marker_outline(mark.shape)) + "\">" + inside + "</path>";
}

/// Draws one plot: holds its scales and the SVG text written so far.
class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        left_(left_margin(plot)),
        bottom_(plot.height - room_below(plot)),
        right_(plot.width - right_margin),
        x_(plot.x, extent(&PlotPoint::x, plot.x), left_, right_),
        y_(plot.y, extent(&PlotPoint::y, plot.y), bottom_, top_margin) {}

  std::string render() {
    out_ += "<svg class=\"plot\" tabindex=\"0\" viewBox=\"0 0 " + std::to_string(plot_.width) + ' ' +
            std::to_string(plot_.height) + "\" width=\"" + std::to_string(plot_.width) + "\" height=\"" +
            std::to_string(plot_.height) + "\" role=\"img\" aria-label=\"" + escape_html(plot_.title) + '"' +
            zoomable() + ">";
    // A long title begins left of the data area, so that the edge does not cut it.
    const double length = static_cast<double>(letters(plot_.title)) * title_letter_width;
    text(std::clamp(plot_.width - 6 - length, 6.0, std::max(6.0, static_cast<double>(left_))), 15, "start", "title",
         plot_.title);
    x_axis();
    y_axis();
    begin_data();
    for (const PlotMark& mark : plot_.marks) draw(mark);
    out_ += "</svg></svg>\n";
    return std::move(out_);
  }

 private:
  /// Returns the range of an axis for which no bounds are set: all points with their error bars.
  Extent extent(double PlotPoint::*coordinate, const PlotAxis& axis) const {
    Extent data;
    for (const PlotMark& mark : plot_.marks) {
      const bool along = (mark.kind == PlotMark::Kind::bar) == (coordinate == &PlotPoint::x);
      for (const PlotPoint& point : mark.points) {
        const double error = along ? point.error : 0;
        for (const double value : {point.*coordinate - error, point.*coordinate, point.*coordinate + error}) {
          if (std::isfinite(value) && (!axis.log || value > 0)) data.add(value);
        }
      }
    }
    if (!axis.categories.empty()) return {-0.5, static_cast<double>(axis.categories.size()) - 0.5};
    return data;
  }

  /// Returns the attributes that the report's script needs to show values and to zoom.
  [[nodiscard]] std::string zoomable() const {
    if (!plot_.y.categories.empty() || !plot_.x.categories.empty()) return {};
    return " data-x=\"" + x_.described() + "\" data-y=\"" + y_.described() + "\" data-box=\"" + pixel(left_) + ' ' +
           pixel(top_margin) + ' ' + pixel(right_) + ' ' + pixel(bottom_) + '"';
  }

  /// Opens the nested SVG whose content is clipped at the edges of the plot.
  void begin_data() {
    const std::string box[] = {pixel(left_ - overhang), pixel(top_margin - overhang),
                               pixel(right_ - left_ + 2 * overhang), pixel(bottom_ - top_margin + 2 * overhang)};
    out_ += "<svg class=\"data\" x=\"" + box[0] + "\" y=\"" + box[1] + "\" width=\"" + box[2] + "\" height=\"" +
            box[3] + "\" viewBox=\"" + box[0] + ' ' + box[1] + ' ' + box[2] + ' ' + box[3] + "\">";
  }

  void text(double x, double y, const char* anchor, const char* css_class, const std::string& words) {
    out_ += "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" text-anchor=\"" + anchor + "\" class=\"" + css_class +
            "\">" + escape_html(words) + "</text>";
  }
  void line(double x1, double y1, double x2, double y2, const char* css_class) {
    out_ += "<line x1=\"" + pixel(x1) + "\" y1=\"" + pixel(y1) + "\" x2=\"" + pixel(x2) + "\" y2=\"" + pixel(y2) +
            "\" class=\"" + css_class + "\"/>";
  }

  void x_axis() {
    line(left_, bottom_, right_, bottom_, "axis");
    if (plot_.x.categories.empty()) {
      x_numbers();
    } else if (plot_.x.ticks) {
      x_categories();
    }
    if (!plot_.x.label.empty()) text((left_ + right_) / 2.0, plot_.height - 4, "middle", "label", plot_.x.label);
  }

  /// Draws the numbers of the x axis. A number that would overlap the previous one is left out.
  void x_numbers() {
    double taken = 0;
    for (const double tick : axis_ticks(x_.min(), x_.max(), std::max(2, plot_.width / 90), plot_.x.log)) {
      const double at = x_.at(tick);
      line(at, top_margin, at, bottom_, "grid gx");
      const std::string number = format_number(tick);
      const double half = static_cast<double>(letters(number)) * letter_width / 2;
      if (!plot_.x.ticks || at - half < taken + letter_width) continue;
      text(at, bottom_ + 14, "middle", "tick gx", number);
      taken = at + half;
    }
  }

  void x_categories() {
    for (std::size_t i = 0; i < plot_.x.categories.size(); ++i) {
      const double at = x_.at(static_cast<double>(i));
      line(at, top_margin, at, bottom_, "grid");
      if (!slanted(plot_)) {
        text(at, bottom_ + 14, "middle", "category", plot_.x.categories[i]);
        continue;
      }
      out_ += "<text transform=\"translate(" + pixel(at + 4) + ' ' + pixel(bottom_ + 12) +
              ") rotate(-30)\" text-anchor=\"end\" class=\"category\">" + escape_html(plot_.x.categories[i]) +
              "</text>";
    }
  }

  void y_axis() {
    if (!plot_.y.categories.empty()) {
      for (std::size_t i = 0; i < plot_.y.categories.size(); ++i) {
        const double at = y_.at(static_cast<double>(i));
        line(left_, at, right_, at, "grid");
        if (plot_.y.ticks) text(left_ - 6, at + 4, "end", "category", plot_.y.categories[i]);
      }
    } else {
      for (const double tick : axis_ticks(y_.min(), y_.max(), std::max(2, (bottom_ - top_margin) / 38), plot_.y.log)) {
        line(left_, y_.at(tick), right_, y_.at(tick), "grid gy");
        if (plot_.y.ticks) text(left_ - 5, y_.at(tick) + 3.5, "end", "tick gy", format_number(tick));
      }
    }
    if (plot_.y.label.empty()) return;
    const double middle = (top_margin + bottom_) / 2.0;
    out_ += "<text transform=\"translate(11 " + pixel(middle) +
            ") rotate(-90)\" text-anchor=\"middle\" class=\"label\">" + escape_html(plot_.y.label) + "</text>";
  }

  void draw(const PlotMark& mark) {
    const std::string label = mark.name.empty() ? std::string() : "<title>" + escape_html(mark.name) + "</title>";
    if (mark.kind == PlotMark::Kind::bar) return bars(mark, label);
    if (has_line(mark.kind)) path(mark, label);
    if (!has_points(mark.kind)) return;
    for (const PlotPoint& point : mark.points) draw_point(mark, point);
  }

  /// Draws a line, with gaps at points that are not finite.
  void path(const PlotMark& mark, const std::string& label) {
    const bool area = mark.kind == PlotMark::Kind::area;
    std::string steps;
    double first = 0;
    double last = 0;
    bool open = false;
    const auto close = [&] {
      if (open && area)
        steps += "L" + pixel(last) + ' ' + pixel(bottom_) + "L" + pixel(first) + ' ' + pixel(bottom_) + "Z";
      open = false;
    };
    for (const PlotPoint& point : mark.points) {
      if (!x_.shows(point.x) || !y_.shows(point.y)) {
        close();
        continue;
      }
      last = x_.at(point.x);
      if (!open) first = last;
      steps += (open ? "L" : "M") + pixel(last) + ' ' + pixel(y_.at(point.y));
      open = true;
    }
    close();
    if (steps.empty()) return;
    out_ += "<path class=\"" + std::string(line_class(mark.kind)) + mark.css_class + "\" d=\"" + steps + "\">" + label +
            "</path>";
  }

  void bars(const PlotMark& mark, const std::string& label) {
    constexpr double thickness = 14;
    for (const PlotPoint& point : mark.points) {
      if (!x_.shows(point.x)) continue;
      const double from = left_;
      out_ += "<rect x=\"" + pixel(from) + "\" y=\"" + pixel(y_.at(point.y) - thickness / 2) + "\" width=\"" +
              pixel(std::max(0.0, x_.at(point.x) - from)) + "\" height=\"" + pixel(thickness) + "\" class=\"area " +
              mark.css_class + "\">" + label + "</rect>";
      if (point.error > 0) bar_error(point);
    }
  }

  /// Draws the error bar of a horizontal bar in the text colour, because the bar's own colour is not visible on it.
  void bar_error(const PlotPoint& point) {
    const double y = y_.at(point.y);
    const double from = x_.at(std::max(point.x - point.error, x_.min()));
    const double to = x_.at(std::min(point.x + point.error, x_.max()));
    const auto cap = [&](double x) {
      return "M" + pixel(x) + ' ' + pixel(y - 3) + "L" + pixel(x) + ' ' + pixel(y + 3);
    };
    out_ += "<path class=\"error ink\" d=\"M" + pixel(from) + ' ' + pixel(y) + "L" + pixel(to) + ' ' + pixel(y) +
            cap(from) + cap(to) + "\"/>";
  }

  void draw_point(const PlotMark& mark, const PlotPoint& point) {
    if (!x_.shows(point.x) || !y_.shows(point.y)) return;
    const bool beyond = point.x > x_.max() && plot_.x.max && plot_.x.categories.empty();
    if (beyond && mark.kind != PlotMark::Kind::points) return;
    const double x = beyond ? right_ : x_.at(point.x);
    const double y = y_.at(point.y);
    if (point.error > 0) error_bar(mark, point, x);
    std::string words = mark.name + ": ";
    words += plot_.x.categories.empty() ? format_number(point.x) : category_at(point.x);
    words += ", " + format_number(point.y);
    if (point.error > 0) words += " ± " + format_number(point.error);
    out_ += marker(mark, x, y, "<title>" + escape_html(words) + "</title>");
    if (beyond) text(x - 7, y + 11, "end", "beyond", three_digits(point.x) + " →");
  }

  [[nodiscard]] std::string category_at(double x) const {
    const double nearest = std::clamp(std::round(x), 0.0, static_cast<double>(plot_.x.categories.size() - 1));
    return plot_.x.categories[static_cast<std::size_t>(nearest)];
  }

  void error_bar(const PlotMark& mark, const PlotPoint& point, double x) {
    const double low = point.y - point.error;
    const double top = y_.at(point.y + point.error);
    const double end = y_.shows(low) ? y_.at(low) : bottom_;
    const auto cap = [&](double y) {
      return "M" + pixel(x - 3) + ' ' + pixel(y) + "L" + pixel(x + 3) + ' ' + pixel(y);
    };
    out_ += "<path class=\"error " + mark.css_class + "\" d=\"M" + pixel(x) + ' ' + pixel(top) + "L" + pixel(x) + ' ' +
            pixel(end) + cap(top) + cap(end) + "\"/>";
  }

  const Plot& plot_;
  int left_;
  int bottom_;
  int right_;
  Scale x_;
  Scale y_;
  std::string out_;
};

}  // namespace

std::string render_svg(const Plot& plot) {
  return Drawing(plot).render();
}

std::string legend_swatch(const PlotMark& mark) {
  std::string out = "<svg class=\"swatch\" width=\"34\" height=\"12\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">";
  if (mark.kind == PlotMark::Kind::area || mark.kind == PlotMark::Kind::bar) {
    return out + "<rect x=\"2\" y=\"1\" width=\"30\" height=\"10\" class=\"area " + mark.css_class + "\"/></svg>";
  }
  if (has_line(mark.kind)) {
    out += "<path class=\"" + std::string(line_class(mark.kind)) + mark.css_class + "\" d=\"M1 6L33 6\"/>";
  }
  if (has_points(mark.kind)) out += marker(mark, 17, 6, "");
  return out + "</svg>";
}

std::string_view marker_outline(MarkerShape shape) {
  static constexpr std::array<std::string_view, marker_shapes> outlines = {
      "M-3.4 0A3.4 3.4 0 1 1 3.4 0A3.4 3.4 0 1 1 -3.4 0Z",
      "M-3 -3H3V3H-3Z",
      "M0 -4.2L3.9 3H-3.9Z",
      "M0 -4.4L4.4 0L0 4.4L-4.4 0Z",
      "M-4 -2.4L-2.4 -4L0 -1.6L2.4 -4L4 -2.4L1.6 0L4 2.4L2.4 4L0 1.6L-2.4 4L-4 2.4L-1.6 0Z",
      "M-1.2 -4.2H1.2V-1.2H4.2V1.2H1.2V4.2H-1.2V1.2H-4.2V-1.2H-1.2Z",
      "M0 4.2L3.9 -3H-3.9Z",
      "M0 -4.6L1.3 -1.3L4.6 0L1.3 1.3L0 4.6L-1.3 1.3L-4.6 0L-1.3 -1.3Z"};
  return outlines[static_cast<std::size_t>(shape)];
}

std::vector<double> axis_ticks(double min, double max, int wanted, bool log) {
  std::vector<double> ticks;
  if (!(min < max) || wanted < 1) return ticks;
  if (log) {
    const int first = static_cast<int>(std::floor(std::log10(min)));
    const int last = static_cast<int>(std::ceil(std::log10(max)));
    const bool fine = max / min < 1000;
    for (int decade = first; decade <= last; ++decade) {
      for (const double step : {1.0, 2.0, 5.0}) {
        if (step > 1 && !fine) break;
        const double tick = step * std::pow(10.0, decade);
        if (tick >= min * 0.999 && tick <= max * 1.001) ticks.push_back(tick);
      }
    }
    if (ticks.size() > 2) return ticks;
    ticks.clear();
  }
  const double rough = (max - min) / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double ratio = rough / power;
  const double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
  const double first = std::ceil(min / step - 1e-9);
  for (int i = 0; i < 1000 && (first + i) * step <= max + step * 1e-9; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::string escape_html(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n') out += c;
    }
  }
  return out;
}

}  // namespace sluice::emulator
