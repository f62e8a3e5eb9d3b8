#pragma once

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Returns seconds as a floating-point number. The result may differ from to_seconds() in the last bit. It is computed
/// by a multiplication, which is faster than the division in to_seconds(), because each ACK needs several such numbers.
[[nodiscard]] constexpr double in_seconds(Duration d) {
  return static_cast<double>(d.count()) * 1e-9;
}

}  // namespace sluice::control
