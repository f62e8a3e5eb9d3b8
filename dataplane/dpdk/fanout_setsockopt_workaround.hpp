#pragma once

namespace sluice::dpdk {

/// A workaround for DPDK's packet-socket driver: linking it replaces the C library's setsockopt() in the whole process.
/// From now on the packet sockets that drivers open deliver IPv4 fragments as they came, and those of one port are a
/// group whose frames a program spreads (fanout_program.hpp). DPDK's packet-socket driver puts its sockets into a group
/// that spreads connections, not UEs, gives what finds one queue full to another, out of order, and has the kernel
/// reassemble fragments, for which the driver has no room. It offers no argument to change that. Without `in_groups`
/// they join none, which a port with one socket does not need: then it can be bound to another interface later.
void keep_fragments_apart(bool in_groups) noexcept;

}  // namespace sluice::dpdk
