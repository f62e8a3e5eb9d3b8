#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice {

// Equivalents of std::min() and std::max() by value. The standard ones take references, so compilers keep the operands
// in memory and select by address.

[[nodiscard]] constexpr Bytes lesser(Bytes a, Bytes b) {
  return Bytes(a.count() < b.count() ? a.count() : b.count());
}
[[nodiscard]] constexpr Bytes greater(Bytes a, Bytes b) {
  return Bytes(a.count() < b.count() ? b.count() : a.count());
}
[[nodiscard]] constexpr Instant lesser(Instant a, Instant b) {
  return Instant(Duration(a.time_since_epoch().count() < b.time_since_epoch().count() ? a.time_since_epoch().count()
                                                                                      : b.time_since_epoch().count()));
}
[[nodiscard]] constexpr Instant greater(Instant a, Instant b) {
  return Instant(Duration(a.time_since_epoch().count() < b.time_since_epoch().count() ? b.time_since_epoch().count()
                                                                                      : a.time_since_epoch().count()));
}
[[nodiscard]] constexpr Duration lesser(Duration a, Duration b) {
  return Duration(a.count() < b.count() ? a.count() : b.count());
}
[[nodiscard]] constexpr Duration greater(Duration a, Duration b) {
  return Duration(a.count() < b.count() ? b.count() : a.count());
}
[[nodiscard]] constexpr double lesser(double a, double b) {
  return b < a ? b : a;
}
[[nodiscard]] constexpr double greater(double a, double b) {
  return a < b ? b : a;
}

}  // namespace sluice
