#pragma once

#include <cstdint>
#include <span>

namespace sluice::emulator {

/// Payload bytes of a built-in host, as a function of the stream's key and the position, so that the receiver can check
/// every byte. After a loss, a duplication or a displacement, each byte differs from the expected one with probability
/// 1 - 2^-8. The same is true of bytes of another stream.
class PayloadPattern {
 public:
  explicit PayloadPattern(std::uint64_t key);

  /// Writes the bytes from `position` on to `out`.
  void fill(std::uint64_t position, std::span<std::uint8_t> out) const;
  /// True if `bytes` are those of the pattern from `position` on.
  [[nodiscard]] bool matches(std::uint64_t position, std::span<const std::uint8_t> bytes) const;

 private:
  std::uint64_t start_;
};

}  // namespace sluice::emulator
