#pragma once

#include <cstdint>
#include <span>

namespace sluice::emulator {

/// The bytes a built-in host sends: a function of the stream's key and of the position in it, so that the receiver
/// knows every byte. A byte lost, repeated, moved or taken from another stream shows (with probability 1 - 2^-8 each).
class PayloadPattern {
 public:
  explicit PayloadPattern(std::uint64_t key);

  /// Writes what stands from `position` on.
  void fill(std::uint64_t position, std::span<std::uint8_t> out) const;
  [[nodiscard]] bool matches(std::uint64_t position, std::span<const std::uint8_t> bytes) const;

 private:
  std::uint64_t start_;
};

}  // namespace sluice::emulator
