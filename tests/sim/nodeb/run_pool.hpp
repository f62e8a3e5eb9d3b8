#pragma once

#include "emulator/runtime/run_pool.hpp"

namespace sluice::emulator::test {

/// The packet buffers of all virtual-time runs of a test program.
inline RunPool& run_pool() {
  static RunPool pool("runs", 1U << 20U);
  return pool;
}

}  // namespace sluice::emulator::test
