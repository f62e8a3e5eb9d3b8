#pragma once

#include <string>

namespace sluice::emulator {

/// Where a run was. The numbers of a run can depend on processor and C library: the library has several exponentials
/// and logarithms, and takes one by what the processor can.
struct Machine {
  std::string kernel;     ///< name, release and version
  std::string processor;  ///< the model that the kernel tells
  std::string library;    ///< of C

  friend auto operator<=>(const Machine&, const Machine&) = default;
};

[[nodiscard]] Machine this_machine();

}  // namespace sluice::emulator
