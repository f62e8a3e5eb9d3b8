#pragma once

namespace sluice::dpdk {

/// Enables a workaround for DPDK's memif driver; linking it replaces the C library's sendmsg() in the whole process. A
/// peer that connects to a memif server and disconnects before the greeting then does no harm. The driver closes that
/// connection without removing it from the sources of DPDK's interrupt thread, which then aborts the program. Every
/// process that probes for a listener does that, and every client that ends early.
void survive_ungreeted_peers() noexcept;

}  // namespace sluice::dpdk
