#pragma once

#include "tests/sim/tcp/connection.hpp"

namespace sluice::test {

/// Returns random loss, duplication, reordering, marking and delay of one direction.
[[nodiscard]] Impairment random_path(Random& random);

/// A connection's life as the seed has it: options, applications, both paths, device, clock.
[[nodiscard]] Scenario random_scenario(std::uint64_t seed);

}  // namespace sluice::test
