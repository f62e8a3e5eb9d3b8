#pragma once

namespace sluice::dpdk {

/// Enables a workaround for DPDK's packet-socket driver; linking it replaces the C library's setsockopt() in the whole
/// process. Packet sockets that drivers open from now on deliver IPv4 fragments unchanged. The sockets of one port form
/// a group whose frames a program distributes (fanout_program.hpp).
///
/// The fanout group that DPDK's packet-socket driver creates distributes frames by connection instead of by UE. It
/// moves packets of a full queue to another queue, out of order. It also makes the kernel reassemble fragments, for
/// which the driver's frames have no space. No device argument changes that. Without `in_groups` sockets join no group,
/// which a port with one socket does not need. Such a socket can be bound to another interface later.
void keep_fragments_apart(bool in_groups) noexcept;

}  // namespace sluice::dpdk
