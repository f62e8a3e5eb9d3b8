#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sluice::control::feedback {

/// Between the wire's byte order and the processor's.
template <std::unsigned_integral Number>
[[nodiscard]] constexpr Number big_endian(Number number) {
  if constexpr (std::endian::native == std::endian::big || sizeof(Number) == 1) {
    return number;
  } else if constexpr (sizeof(Number) == 2) {
    return __builtin_bswap16(number);
  } else if constexpr (sizeof(Number) == 4) {
    return __builtin_bswap32(number);
  } else {
    return __builtin_bswap64(number);
  }
}

/// Writes big-endian numbers into a buffer; remembers when one did not fit and writes nothing from then on.
class WireWriter {
 public:
  WireWriter(std::span<std::uint8_t> buffer, std::size_t position) : buffer_(buffer), position_(position) {}

  template <std::unsigned_integral Number>
  void put(Number number) {
    if (!room(sizeof(Number))) return;
    const Number wire = big_endian(number);
    std::memcpy(buffer_.data() + position_, &wire, sizeof wire);
    position_ += sizeof wire;
  }
  void put(std::span<const std::uint8_t> octets) {
    if (!room(octets.size())) return;
    std::memcpy(buffer_.data() + position_, octets.data(), octets.size());
    position_ += octets.size();
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

/// The big-endian number that fills `octets`, of which there are sizeof(Number) at least.
template <std::unsigned_integral Number>
[[nodiscard]] inline Number read_number(std::span<const std::uint8_t> octets) {
  Number wire{};
  std::memcpy(&wire, octets.data(), sizeof wire);
  return big_endian(wire);
}

}  // namespace sluice::control::feedback
