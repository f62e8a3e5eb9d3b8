#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::control::feedback {

/// Writes big-endian numbers into a buffer; remembers when one did not fit and writes nothing from then on.
class WireWriter {
 public:
  WireWriter(std::span<std::uint8_t> buffer, std::size_t position) : buffer_(buffer), position_(position) {}

  template <std::unsigned_integral Number>
  void put(Number number) {
    if (!room(sizeof(Number))) return;
    for (std::size_t i = sizeof(Number); i > 0; --i) {
      buffer_[position_++] = static_cast<std::uint8_t>(number >> (8 * (i - 1)));
    }
  }
  void put(std::span<const std::uint8_t> octets) {
    if (!room(octets.size())) return;
    for (const std::uint8_t octet : octets) buffer_[position_++] = octet;
  }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] bool fitted() const { return fitted_; }

 private:
  bool room(std::size_t size) {
    if (size > buffer_.size() - position_) fitted_ = false;
    return fitted_;
  }
  std::span<std::uint8_t> buffer_;
  std::size_t position_;
  bool fitted_ = true;
};

/// The big-endian number that fills `octets`, which hold at most eight.
[[nodiscard]] inline std::uint64_t read_number(std::span<const std::uint8_t> octets) {
  std::uint64_t number = 0;
  for (const std::uint8_t octet : octets) number = number << 8 | octet;
  return number;
}

}  // namespace sluice::control::feedback
