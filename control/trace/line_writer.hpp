#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::control {

/// Writes one JSON object as a line into memory that is there already. What finds no room is left out, and fits() says
/// so. Numbers are such that reading them gives the same value. Thread: its owner's.
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

  /// Of an object: `{` and `}`; of a list: `[` and `]`.
  void open(char bracket);
  void close(char bracket);
  void name(std::string_view text);
  void end_line() { put("\n"); }

  void nothing() { value("null"); }
  void truth(bool it) { value(it ? "true" : "false"); }
  void whole(std::int64_t number);
  void whole(std::uint64_t number);
  /// One that is not finite, which JSON has no word for, as a text.
  void real(double number);
  /// Text of ours: plain ASCII without quotes.
  void word(std::string_view text);
  /// An amount with its unit, as Reference::parse() reads it.
  void amount(double number, std::string_view unit);

 private:
  void put(std::string_view text);
  void value(std::string_view text);

  std::span<char> room_;
  std::size_t used_ = 0;
  bool fits_ = true;
  bool separate_ = false;  ///< a comma goes before what comes next
};

}  // namespace sluice::control
