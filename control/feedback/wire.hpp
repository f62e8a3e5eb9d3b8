#pragma once

#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sluice::control::feedback {

/// Converts a number between network byte order (big-endian) and the processor's byte order.
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

/// Writes big-endian numbers into a buffer, which must have space for them.
class WireWriter {
 public:
  explicit WireWriter(std::span<std::uint8_t> buffer) : buffer_(buffer) {}

  template <std::unsigned_integral Number>
  void put(Number number) {
    const Number wire = big_endian(number);
    put(&wire, sizeof wire);
  }
  void put(std::span<const std::uint8_t> octets) {
    if (!octets.empty()) put(octets.data(), octets.size());  // an empty span may have no address
  }
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  void put(const void* from, std::size_t size) {
    assert(size <= buffer_.size() - position_);
    std::memcpy(buffer_.data() + position_, from, size);
    position_ += size;
  }
  std::span<std::uint8_t> buffer_;
  std::size_t position_ = 0;
};

/// Returns the big-endian number at the start of `octets`, which has at least sizeof(Number) bytes.
template <std::unsigned_integral Number>
[[nodiscard]] inline Number read_number(std::span<const std::uint8_t> octets) {
  Number wire{};
  std::memcpy(&wire, octets.data(), sizeof wire);
  return big_endian(wire);
}

}  // namespace sluice::control::feedback
