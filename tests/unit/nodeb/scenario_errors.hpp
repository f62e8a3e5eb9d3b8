#pragma once

#include <string>

#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

inline const std::string smallest = R"(cell:
  ues:
    - address: 10.45.0.2
      channel: {type: constant, rate: 5Mb/s}
)";

/// The errors of a scenario, one line each.
inline std::string errors_of(const std::string& text) {
  return config::to_string(parse_plan(text, "s.yaml").errors);
}

}  // namespace sluice::emulator
