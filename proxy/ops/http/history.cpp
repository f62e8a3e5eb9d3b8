// Keeps the last hour of a live page, so that a viewer also sees the time before it connected. The live pages of sluice
// and nodeb add a row per second and serve all rows at /history. Invariant: memory and the length of the JSON text are
// bounded by the capacity, whatever the number of UEs is.
#include "proxy/ops/http/history.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace sluice::page {
namespace {

/// Appends `value` as JSON number, formatted with `format` and `digits`. Appends null if it is not finite.
void append_number(std::string& out, double value, std::chars_format format, int digits) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 64> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits);
  out.append(buffer.data(), written.ptr);
}

void append_time(std::string& out, double time_s) {
  append_number(out, time_s, std::chars_format::fixed, 3);
}

}  // namespace

History::History(std::vector<std::string_view> columns, std::size_t capacity)
    : columns_(std::move(columns)), times_(capacity), values_(capacity * columns_.size()) {
  if (capacity == 0) throw std::invalid_argument("a history has at least one row");
}

void History::add(double time_s, std::span<const float> values) {
  if (values.size() != columns_.size()) throw std::invalid_argument("a row has one value for each column");
  times_[next_] = time_s;
  std::copy(values.begin(), values.end(), values_.begin() + static_cast<std::ptrdiff_t>(next_ * columns_.size()));
  next_ = (next_ + 1) % times_.size();
  size_ = std::min(size_ + 1, times_.size());
}

std::size_t History::bytes() const {
  return times_.size() * sizeof(double) + values_.size() * sizeof(float);
}

/// Appends the value of one cell as JSON with four significant digits. Four digits suffice for a graph, and more would
/// lengthen the text, which contains the values of an hour.
void History::append_value(std::string& out, std::size_t row, std::size_t column) const {
  constexpr int digits = 4;
  append_number(out, static_cast<double>(values_[row * columns_.size() + column]), std::chars_format::general, digits);
}

std::string History::json() const {
  constexpr std::size_t usual_number = 8;
  std::string out = "{\"columns\":[\"time_s\"";
  for (const std::string_view name : columns_) out.append(",\"").append(name).append("\"");
  out += "],\"rows\":[";
  out.reserve(out.size() + size_ * (columns_.size() + 2) * usual_number);
  for (std::size_t i = 0; i < size_; ++i) {
    const std::size_t row = (next_ + times_.size() - size_ + i) % times_.size();
    out += i > 0 ? ",[" : "[";
    append_time(out, times_[row]);
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      out += ',';
      append_value(out, row, column);
    }
    out += ']';
  }
  return out + "]}";
}

std::string History::newest_json() const {
  if (size_ == 0) return "null";
  const std::size_t row = (next_ + times_.size() - 1) % times_.size();
  std::string out = "{\"time_s\":";
  append_time(out, times_[row]);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    out.append(",\"").append(columns_[column]).append("\":");
    append_value(out, row, column);
  }
  return out + "}";
}

}  // namespace sluice::page
