#pragma once

namespace sluice::dpdk {

/// A workaround for DPDK's packet-socket driver: linking it replaces the C library's setsockopt() in the whole process.
/// From now on the packet sockets that drivers open deliver IPv4 fragments as they came. DPDK's packet-socket driver
/// puts its sockets into a fanout group that has the kernel reassemble them, has no room for the result, and offers no
/// argument to change that; a datagram in fragments would never pass. Without `in_groups` they
/// join none, which a port with one socket does not need: then it can be bound to another interface later.
void keep_fragments_apart(bool in_groups) noexcept;

}  // namespace sluice::dpdk
