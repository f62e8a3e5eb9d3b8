// Writer of JSON lines into a fixed buffer, used by DecisionLog and Replay. Writes nothing beyond the buffer: text that
// does not fit is omitted and fits() becomes false. Numbers are written in the shortest form that reads back as the
// same value.

#include "control/decision_log/line_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace sluice::control {
namespace {

/// Buffer for the digits of one number; the shortest exact form of a double has at most 24 characters.
using Digits = std::array<char, 32>;

template <typename Number>
std::string_view print(Digits& digits, Number number) {
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

}  // namespace

void LineWriter::put(std::string_view text) {
  if (text.size() > room_.size() - used_) {
    fits_ = false;
    return;
  }
  std::copy(text.begin(), text.end(), room_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ += text.size();
}

void LineWriter::value(std::string_view text) {
  if (separate_) put(",");
  put(text);
  separate_ = true;
}

void LineWriter::open(char bracket) {
  value({&bracket, 1});
  separate_ = false;
}

void LineWriter::close(char bracket) {
  put({&bracket, 1});
  separate_ = true;
}

void LineWriter::name(std::string_view text) {
  word(text);
  put(":");
  separate_ = false;
}

void LineWriter::whole(std::int64_t number) {
  Digits digits;
  value(print(digits, number));
}

void LineWriter::whole(std::uint64_t number) {
  Digits digits;
  value(print(digits, number));
}

void LineWriter::real(double number) {
  if (!std::isfinite(number)) return word(std::isnan(number) ? "not a number" : "infinite");
  Digits digits;
  value(print(digits, number));
}

void LineWriter::word(std::string_view text) {
  if (separate_) put(",");
  put("\"");
  put(text);
  put("\"");
  separate_ = true;
}

void LineWriter::amount(double number, std::string_view unit) {
  Digits digits;
  if (separate_) put(",");
  put("\"");
  put(print(digits, number));
  put(" ");
  put(unit);
  put("\"");
  separate_ = true;
}

}  // namespace sluice::control
