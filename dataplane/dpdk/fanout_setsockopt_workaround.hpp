#pragma once

namespace sluice::dpdk {

/// Enables a workaround for DPDK's packet-socket driver; linking it replaces the C library's setsockopt() in the whole
/// process. Packet sockets that drivers open from now on deliver IPv4 fragments unchanged. The sockets of one port form
/// a group whose frames a program distributes (fanout_program.hpp).
///
/// The driver's own group distributes by connection instead of by UE and moves packets of a full queue to another one,
/// out of order. It also makes the kernel reassemble fragments, for which its frames have no space. No argument changes
/// that. Without `in_groups` sockets join no group, which a port with one socket does not need. It can then be bound to
/// another interface later.
void keep_fragments_apart(bool in_groups) noexcept;

}  // namespace sluice::dpdk
