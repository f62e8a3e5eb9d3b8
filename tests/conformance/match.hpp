#pragma once

#include <string>

#include "tests/conformance/script.hpp"

namespace sluice::conformance {

/// Where a frame differs from the one that was expected; empty if it does not.
[[nodiscard]] std::string difference_of(const Octets& frame, const Octets& expected);
/// What a frame that came to the UE, or to the core host, has otherwise than a script names it; empty if it has
/// nothing. PSH is compared only if the script names it.
[[nodiscard]] std::string difference_of(const Octets& frame, const Segment& expected, bool to_ue);

}  // namespace sluice::conformance
