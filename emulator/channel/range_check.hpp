#pragma once

#include <stdexcept>
#include <string>

namespace sluice::emulator {

/// Checks the parameters of a channel model. A call whose argument `in_range` is false throws std::invalid_argument
/// with the name of the model and the text `expected`.
struct RangeCheck {
  const char* model;

  void operator()(bool in_range, const char* expected) const {
    if (!in_range) throw std::invalid_argument(std::string(model) + ": " + expected);
  }
};

}  // namespace sluice::emulator
