#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::control {

/// A rule that the parameters of a controller break.
struct Violation {
  enum class Severity : std::uint8_t {
    error,   ///< the broken rule leaves the controller undefined or unstable, so it is refused
    warning  ///< the broken rule makes the controller work differently from its paper
  };
  Severity severity = Severity::error;
  /// Address of the member, within the validated object, that the rule is mainly about. Only used for comparison.
  const void* parameter = nullptr;
  std::string rule;         ///< the broken rule as a formula, such as "δ·Ts < 1"
  std::string explanation;  ///< sentence that explains the violation, with the numbers
};

/// Throws std::invalid_argument with the first error among `violations`; warnings are ignored.
[[gnu::cold, gnu::noinline]] void refuse_errors(const std::vector<Violation>& violations);

}  // namespace sluice::control
