#pragma once

#include <cstdint>

#include "dataplane/packet/pool.hpp"

namespace sluice::test {

/// The pool tests take their packets from: 16384 buffers. EAL runs in memory, without root and without huge pages.
/// The binary's main() fails the run when a test ends with buffers outstanding.
[[nodiscard]] packet::PacketPool& pool();

}  // namespace sluice::test
