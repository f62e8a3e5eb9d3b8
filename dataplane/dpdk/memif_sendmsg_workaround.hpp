#pragma once

namespace sluice::dpdk {

/// Enables a workaround for DPDK's memif driver; linking it replaces the C library's sendmsg() in the whole process.
/// Without it, a peer that connects to a memif server and disconnects before the greeting ends this process. The driver
/// closes such a connection without removing it from the sources of DPDK's interrupt thread, which then aborts. Such
/// peers are clients that end early, and processes that only test whether the server exists.
void tolerate_early_disconnects() noexcept;

}  // namespace sluice::dpdk
