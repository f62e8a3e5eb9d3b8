#pragma once

#include <string>

#include "tests/conformance/circumstances.hpp"
#include "tests/conformance/script.hpp"

namespace sluice::packet {
class PacketPool;
}

namespace sluice::conformance {

struct Outcome {
  int line = 0;         ///< where the conversation went wrong; 0 if it did not
  std::string message;  ///< what was expected and what came
};

/// Plays a script with the proxy between its hosts, in virtual time.
[[nodiscard]] Outcome play(const Script& script, const Circumstances& circumstances, packet::PacketPool& pool);

}  // namespace sluice::conformance
