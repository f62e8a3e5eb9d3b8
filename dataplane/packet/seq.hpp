#pragma once

#include <cstdint>

namespace sluice::tcp {

/// A TCP sequence number: 32 bits that wrap. Comparisons follow RFC 9293 section 3.4 and are valid for numbers less
/// than 2^31 apart. The class has no operator<=>, because such numbers have no total order.
class SeqNum {
 public:
  constexpr SeqNum() = default;
  constexpr explicit SeqNum(std::uint32_t raw) : raw_(raw) {}

  [[nodiscard]] constexpr std::uint32_t raw() const { return raw_; }

  friend constexpr bool operator==(SeqNum a, SeqNum b) { return a.raw_ == b.raw_; }
  friend constexpr bool operator<(SeqNum a, SeqNum b) { return a - b < 0; }
  friend constexpr bool operator<=(SeqNum a, SeqNum b) { return a - b <= 0; }
  friend constexpr bool operator>(SeqNum a, SeqNum b) { return b < a; }
  friend constexpr bool operator>=(SeqNum a, SeqNum b) { return b <= a; }

  friend constexpr SeqNum operator+(SeqNum a, std::uint32_t count) { return SeqNum(a.raw_ + count); }
  friend constexpr SeqNum operator-(SeqNum a, std::uint32_t count) { return SeqNum(a.raw_ - count); }
  /// Returns the signed distance from b to a.
  friend constexpr std::int32_t operator-(SeqNum a, SeqNum b) { return static_cast<std::int32_t>(a.raw_ - b.raw_); }
  constexpr SeqNum& operator+=(std::uint32_t count) {
    raw_ += count;
    return *this;
  }

 private:
  std::uint32_t raw_ = 0;
};

// These select raw bits instead of objects, because compilers select between objects by address and then store both in
// memory.
[[nodiscard]] constexpr SeqNum later(SeqNum a, SeqNum b) {
  return SeqNum(a < b ? b.raw() : a.raw());
}
[[nodiscard]] constexpr SeqNum earlier(SeqNum a, SeqNum b) {
  return SeqNum(a < b ? a.raw() : b.raw());
}

}  // namespace sluice::tcp
