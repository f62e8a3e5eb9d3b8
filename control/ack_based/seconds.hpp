#pragma once

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Returns seconds as a floating-point number, as to_seconds() does, except for the last bit. Each ACK needs several of
/// these numbers, and a multiplication takes less time than the division in to_seconds().
[[nodiscard]] constexpr double in_seconds(Duration d) {
  return static_cast<double>(d.count()) * 1e-9;
}

}  // namespace sluice::control
