#pragma once

#include <string>

namespace sluice::emulator {

/// Machine of a run. Results can depend on processor and C library, because the library selects its exponential and
/// logarithm functions by the processor's features.
struct Machine {
  std::string kernel;     ///< name, release and version
  std::string processor;  ///< model name from /proc/cpuinfo
  std::string library;    ///< C library with its version

  friend auto operator<=>(const Machine&, const Machine&) = default;
};

/// Returns the description of this machine.
[[nodiscard]] Machine this_machine();

}  // namespace sluice::emulator
