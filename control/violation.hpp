#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::control {

/// A rule that the parameters of a law break.
struct Violation {
  enum class Severity : std::uint8_t {
    error,   ///< the law is undefined or unstable: refuse
    warning  ///< the law works but not as its paper promises
  };
  Severity severity = Severity::error;
  /// The parameter that the rule is first about: its address within what was validated, only to be compared.
  const void* parameter = nullptr;
  std::string rule;         ///< e.g. "δ·Ts < 1"
  std::string explanation;  ///< with the numbers
};

/// Throws std::invalid_argument with the first error among `violations`; warnings pass.
[[gnu::cold, gnu::noinline]] void refuse_errors(const std::vector<Violation>& violations);

}  // namespace sluice::control
