#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::test {

/// splitmix64: the same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// 0 … limit - 1; 0 for no limit.
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : next() % limit; }
  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1p-53 < probability; }
  Duration below(Duration limit) {
    return Duration(static_cast<std::int64_t>(below(static_cast<std::uint64_t>(limit.count()))));
  }

 private:
  std::uint64_t state_;
};

}  // namespace sluice::test
