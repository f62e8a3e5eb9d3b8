#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/script.hpp"

namespace sluice::conformance {

/// The proxy's mode and options in which a script's conversation runs.
struct Circumstances {
  std::string mode = "split";
  unsigned family = 4;
  bool exposed = true;  ///< what the other host has not yet may be acknowledged
  std::map<std::string, std::string> variables;

  /// Each host has a connection with the proxy.
  [[nodiscard]] bool splits() const { return mode == "split" || mode == "acks"; }
};
[[nodiscard]] std::string describe(const Circumstances& circumstances);

/// Returns every combination of circumstances that a script is meant for; throws ScriptError.
[[nodiscard]] std::vector<Circumstances> circumstances_of(const Script& script);

/// Whether a line is for these circumstances; throws ScriptError where it names others than there are.
[[nodiscard]] bool is_meant(const Line& line, const Circumstances& circumstances);

}  // namespace sluice::conformance
