#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// Signed number of bytes: the difference of two sizes may be negative.
class Bytes {
 public:
  constexpr Bytes() = default;
  template <typename Integer>
  constexpr explicit Bytes(Integer count) : count_(static_cast<std::int64_t>(count)) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  [[nodiscard]] static constexpr Bytes max() { return Bytes(INT64_MAX); }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return a -= b; }
  friend constexpr Bytes operator-(Bytes a) { return Bytes(-a.count_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t factor) { return Bytes(a.count_ * factor); }
  friend constexpr Bytes operator/(Bytes a, std::int64_t divisor) { return Bytes(a.count_ / divisor); }

 private:
  std::int64_t count_ = 0;
};

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long count) {
  return Bytes(count);
}
constexpr Bytes operator""_KiB(unsigned long long count) {
  return Bytes(count * 1024);
}
constexpr Bytes operator""_MiB(unsigned long long count) {
  return Bytes(count * 1024 * 1024);
}
}  // namespace literals

}  // namespace sluice
