#pragma once

#include <stdexcept>
#include <string>

namespace sluice::emulator {

/// Checks the parameters of `model`: called with a condition and what is expected, it throws std::invalid_argument that
/// names both where the condition does not hold.
struct RangeCheck {
  const char* model;

  void operator()(bool in_range, const char* expected) const {
    if (!in_range) throw std::invalid_argument(std::string(model) + ": " + expected);
  }
};

}  // namespace sluice::emulator
