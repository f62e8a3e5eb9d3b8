#pragma once

#include <stdexcept>
#include <string>

namespace sluice::emulator {

/// Checks the parameters of `model`. A call throws std::invalid_argument with the model and the expectation if the
/// condition is false.
struct RangeCheck {
  const char* model;

  void operator()(bool in_range, const char* expected) const {
    if (!in_range) throw std::invalid_argument(std::string(model) + ": " + expected);
  }
};

}  // namespace sluice::emulator
