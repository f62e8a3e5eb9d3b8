#pragma once

#include <stdexcept>
#include <string>

namespace sluice::emulator {

/// Checks the parameters of a channel model. If the condition of a call is false, the call throws std::invalid_argument
/// with the name of the model and what was expected.
struct RangeCheck {
  const char* model;

  void operator()(bool in_range, const char* expected) const {
    if (!in_range) throw std::invalid_argument(std::string(model) + ": " + expected);
  }
};

}  // namespace sluice::emulator
