#pragma once

#include <string>

#include "tests/conformance/script.hpp"

namespace sluice::conformance {

/// Where a frame differs from the one that was expected; empty if it does not.
[[nodiscard]] std::string difference_of(const Octets& frame, const Octets& expected);
/// Returns how a frame that reached the UE or the core host differs from what a script names; empty if it does not.
/// PSH is compared only if the script names it.
[[nodiscard]] std::string difference_of(const Octets& frame, const Segment& expected, bool to_ue);

}  // namespace sluice::conformance
