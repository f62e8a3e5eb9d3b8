#pragma once

namespace sluice::dpdk {

/// A workaround for DPDK's memif driver: linking it replaces the C library's sendmsg() in the whole process.
/// From now on a peer that connects to a memif server and is gone before it was greeted does no harm. DPDK's driver
/// closes that connection without taking it out of what DPDK's interrupt thread watches, which then aborts the program.
/// Any process that looks whether somebody listens does so, and so does a client that is killed or gives up early.
void survive_ungreeted_peers() noexcept;

}  // namespace sluice::dpdk
