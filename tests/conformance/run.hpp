#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/script.hpp"

namespace sluice::packet {
class PacketPool;
}

namespace sluice::conformance {

/// How the proxy treats the conversation of a script.
struct Circumstances {
  std::string mode = "split";
  unsigned family = 4;
  bool exposed = true;  ///< what the other host has not yet may be acknowledged
  std::map<std::string, std::string> variables;
};
[[nodiscard]] std::string describe(const Circumstances& circumstances);

/// All the circumstances that a script is for; throws ScriptError.
[[nodiscard]] std::vector<Circumstances> circumstances_of(const Script& script);

struct Outcome {
  int line = 0;         ///< where the conversation went wrong; 0 if it did not
  std::string message;  ///< what was expected and what came
};

/// Plays a script with the proxy between its hosts, in virtual time.
[[nodiscard]] Outcome play(const Script& script, const Circumstances& circumstances, packet::PacketPool& pool);

}  // namespace sluice::conformance
