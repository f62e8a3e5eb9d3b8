#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::control {

/// A rule that the parameters of a controller break.
struct Violation {
  enum class Severity : std::uint8_t {
    error,   ///< the controller is undefined or unstable, and is refused
    warning  ///< the controller works, but not as its paper states
  };
  Severity severity = Severity::error;
  /// Address of the parameter that the rule is mainly about, within the validated object. Only used for comparison.
  const void* parameter = nullptr;
  std::string rule;         ///< rule, such as "δ·Ts < 1"
  std::string explanation;  ///< explanation with the numbers
};

/// Throws std::invalid_argument with the first error among `violations`; warnings are ignored.
[[gnu::cold, gnu::noinline]] void refuse_errors(const std::vector<Violation>& violations);

}  // namespace sluice::control
