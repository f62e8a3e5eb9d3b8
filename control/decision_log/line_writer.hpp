#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::control {

/// Writes one JSON object as a line into a buffer of the caller. Text that does not fit is omitted, and fits() then
/// returns false. A number is written with as many digits as are needed to read exactly the same number again. Not
/// thread-safe.
class LineWriter {
 public:
  explicit LineWriter(std::span<char> room) : room_(room) {}

  void clear() {
    used_ = 0;
    fits_ = true;
    separate_ = false;
  }
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] std::string_view text() const { return {room_.data(), used_}; }

  /// Writes the opening bracket of an object `{` or of a list `[`. close() writes the matching bracket.
  void open(char bracket);
  void close(char bracket);
  void name(std::string_view text);
  void end_line() { put("\n"); }

  void nothing() { value("null"); }
  void truth(bool it) { value(it ? "true" : "false"); }
  void whole(std::int64_t number);
  void whole(std::uint64_t number);
  /// Writes a number. A number that is not finite is written as text, because JSON cannot express it.
  void real(double number);
  /// Writes `text` as a JSON string. `text` must be ASCII without quotation marks, backslashes and control characters,
  /// because nothing is escaped.
  void word(std::string_view text);
  /// Writes `number` followed by its unit, in the form that Reference::parse() reads.
  void amount(double number, std::string_view unit);

 private:
  void put(std::string_view text);
  void value(std::string_view text);

  std::span<char> room_;
  std::size_t used_ = 0;
  bool fits_ = true;
  bool separate_ = false;  ///< true if a comma must precede the next value
};

}  // namespace sluice::control
