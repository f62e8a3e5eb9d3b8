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
constexpr int right_margin = 14;
constexpr int tick_room = 18;
constexpr int label_room = 18;

/// A coordinate with one decimal: a tenth of a pixel is enough.
std::string pixel(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, 1).ptr;
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
    return from_ + std::clamp(share, -0.02, 1.02) * (to_ - from_);
  }
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  [[nodiscard]] double min() const { return min_; }
  [[nodiscard]] double max() const { return max_; }

 private:
  bool log_;
  double from_;
  double to_;
  double min_ = 0;
  double max_ = 1;
};

/// One plot being drawn.
class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        bottom_(plot.height - (plot.x.ticks ? tick_room : 6) - (plot.x.label.empty() ? 0 : label_room)),
        right_(plot.width - right_margin),
        x_(plot.x, extent(&PlotPoint::x, plot.x), plot.left, right_),
        y_(plot.y, extent(&PlotPoint::y, plot.y), bottom_, top_margin) {}

  std::string render() {
    out_ += "<svg viewBox=\"0 0 " + std::to_string(plot_.width) + ' ' + std::to_string(plot_.height) + "\" width=\"" +
            std::to_string(plot_.width) + "\" height=\"" + std::to_string(plot_.height) +
            "\" role=\"img\" aria-label=\"" + escape_html(plot_.title) + "\">";
    text(plot_.left, 15, "start", "title", plot_.title);
    x_axis();
    y_axis();
    for (const PlotMark& mark : plot_.marks) draw(mark);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  // Linear axes that start near zero start at zero, and get a little room at the top.
  Extent extent(double PlotPoint::*coordinate, const PlotAxis& axis) const {
    Extent data;
    for (const PlotMark& mark : plot_.marks) {
      for (const PlotPoint& point : mark.points) {
        const double value = point.*coordinate;
        if (std::isfinite(value) && (!axis.log || value > 0)) data.add(value);
      }
    }
    if (!axis.categories.empty()) return {-0.5, static_cast<double>(axis.categories.size()) - 0.5};
    return data;
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
    line(plot_.left, bottom_, right_, bottom_, "axis");
    for (const double tick : axis_ticks(x_.min(), x_.max(), std::max(2, plot_.width / 90), plot_.x.log)) {
      if (!plot_.x.categories.empty()) break;
      line(x_.at(tick), top_margin, x_.at(tick), bottom_, "grid");
      if (plot_.x.ticks) text(x_.at(tick), bottom_ + 14, "middle", "tick", format_number(tick));
    }
    if (!plot_.x.label.empty()) {
      text((plot_.left + right_) / 2.0, plot_.height - 4, "middle", "label", plot_.x.label);
    }
  }

  void y_axis() {
    if (!plot_.y.categories.empty()) {
      for (std::size_t i = 0; i < plot_.y.categories.size(); ++i) {
        const double at = y_.at(static_cast<double>(i));
        line(plot_.left, at, right_, at, "grid");
        if (plot_.y.ticks) text(plot_.left - 6, at + 4, "end", "category", plot_.y.categories[i]);
      }
    } else {
      for (const double tick : axis_ticks(y_.min(), y_.max(), std::max(2, (bottom_ - top_margin) / 38), plot_.y.log)) {
        line(plot_.left, y_.at(tick), right_, y_.at(tick), "grid");
        if (plot_.y.ticks) text(plot_.left - 5, y_.at(tick) + 3.5, "end", "tick", format_number(tick));
      }
    }
    if (plot_.y.label.empty()) return;
    const double middle = (top_margin + bottom_) / 2.0;
    out_ += "<text transform=\"translate(11 " + pixel(middle) +
            ") rotate(-90)\" text-anchor=\"middle\" class=\"label\">" + escape_html(plot_.y.label) + "</text>";
  }

  void draw(const PlotMark& mark) {
    const std::string label = mark.name.empty() ? std::string() : "<title>" + escape_html(mark.name) + "</title>";
    if (mark.kind == PlotMark::Kind::bar) {
      bars(mark, label);
      return;
    }
    if (mark.kind != PlotMark::Kind::points) path(mark, label);
    if (mark.kind == PlotMark::Kind::points || mark.kind == PlotMark::Kind::line_and_points) points(mark);
  }

  void path(const PlotMark& mark, const std::string& label) {
    std::string steps;
    double first = 0;
    double last = 0;
    for (const PlotPoint& point : mark.points) {
      if (!x_.shows(point.x) || !y_.shows(point.y)) continue;
      last = x_.at(point.x);
      if (steps.empty()) first = last;
      steps += (steps.empty() ? "M" : "L") + pixel(last) + ' ' + pixel(y_.at(point.y));
    }
    if (steps.empty()) return;
    const bool area = mark.kind == PlotMark::Kind::area;
    if (area) steps += "L" + pixel(last) + ' ' + pixel(bottom_) + "L" + pixel(first) + ' ' + pixel(bottom_) + "Z";
    const char* const shape = area                                  ? "area "
                              : mark.kind == PlotMark::Kind::dashed ? "line dashed "
                              : mark.kind == PlotMark::Kind::thin   ? "line thin "
                                                                    : "line ";
    out_ += "<path class=\"" + std::string(shape) + mark.css_class + "\" d=\"" + steps + "\">" + label + "</path>";
  }

  void bars(const PlotMark& mark, const std::string& label) {
    constexpr double thickness = 14;
    for (const PlotPoint& point : mark.points) {
      if (!x_.shows(point.x)) continue;
      const double from = plot_.left;
      out_ += "<rect x=\"" + pixel(from) + "\" y=\"" + pixel(y_.at(point.y) - thickness / 2) + "\" width=\"" +
              pixel(std::max(0.0, x_.at(point.x) - from)) + "\" height=\"" + pixel(thickness) + "\" class=\"area " +
              mark.css_class + "\">" + label + "</rect>";
    }
  }

  void points(const PlotMark& mark) {
    for (const PlotPoint& point : mark.points) {
      if (!x_.shows(point.x) || !y_.shows(point.y)) continue;
      out_ += "<circle cx=\"" + pixel(x_.at(point.x)) + "\" cy=\"" + pixel(y_.at(point.y)) +
              "\" r=\"3.2\" class=\"dot " + mark.css_class + "\"><title>" + escape_html(mark.name) + ": " +
              format_number(point.x) + ", " + format_number(point.y) + "</title></circle>";
    }
  }

  const Plot& plot_;
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

std::vector<double> axis_ticks(double min, double max, int wanted, bool log) {
  std::vector<double> ticks;
  if (!(min < max) || wanted < 1) return ticks;
  if (log) {
    const int first = static_cast<int>(std::floor(std::log10(min)));
    const int last = static_cast<int>(std::ceil(std::log10(max)));
    const bool fine = max / min < 200;
    for (int decade = first; decade <= last; ++decade) {
      for (const double step : {1.0, 2.0, 5.0}) {
        if (step > 1 && !fine) break;
        const double tick = step * std::pow(10.0, decade);
        if (tick >= min * 0.999 && tick <= max * 1.001) ticks.push_back(tick);
      }
    }
    return ticks;
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
