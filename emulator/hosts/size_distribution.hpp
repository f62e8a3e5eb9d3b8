#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

enum class SizeKind : std::uint8_t {
  fixed,       ///< min
  uniform,     ///< min … max
  triangular,  ///< min … max, the middle likeliest (CLAMP's flows)
  pareto       ///< from min, cut at max, with `shape` (web objects)
};

/// How large what is fetched is. 1 <= min <= max.
struct SizeDistribution {
  SizeKind kind = SizeKind::pareto;
  Bytes min{2000};
  Bytes max{200'000};
  double shape = 1.2;

  [[nodiscard]] std::uint64_t draw(Random& random) const;
};

}  // namespace sluice::emulator
