#pragma once

namespace sluice::dpdk {

/// Enables a workaround for DPDK's memif driver; linking it replaces the C library's sendmsg() in the whole process. It
/// is needed because a peer that connects to a memif server and disconnects before the greeting ends the program. The
/// driver closes such a connection without removing it from the sources of DPDK's interrupt thread, which then aborts.
/// Processes that probe for a listener behave like this, and clients that end early.
void survive_ungreeted_peers() noexcept;

}  // namespace sluice::dpdk
