#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

enum class SizeKind : std::uint8_t {
  fixed,       ///< always min
  uniform,     ///< uniform, min … max
  triangular,  ///< sizes are triangular between min and max (flows of the CLAMP paper, Andrew et al., TMC 2008)
  pareto       ///< sizes are Pareto with a shape parameter, from min on, cut at max (web objects)
};

/// Distribution of transfer sizes. Requires 1 <= min <= max.
struct SizeDistribution {
  SizeKind kind = SizeKind::pareto;
  Bytes min{2000};
  Bytes max{200'000};
  double shape = 1.2;

  [[nodiscard]] std::uint64_t draw(Random& random) const;
};

}  // namespace sluice::emulator
