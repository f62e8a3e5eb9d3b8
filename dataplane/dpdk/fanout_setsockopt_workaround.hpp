#pragma once

namespace sluice::dpdk {

/// Enables a workaround for DPDK's packet-socket driver; linking it replaces the C library's setsockopt() in the whole
/// process. Packet sockets that drivers open from now on deliver IPv4 fragments unchanged. With `in_groups` the sockets
/// of one port form a fanout group, whose frames a program distributes (fanout_program.hpp). Without `in_groups` no
/// socket joins a group. A port with one socket needs no group, and a socket outside a group can be bound to another
/// interface later.
///
/// The workaround is needed because the driver's own fanout group distributes frames by connection instead of by UE. It
/// moves packets of a full queue to another queue, out of order. It also makes the kernel reassemble fragments, for
/// which the driver's frames have no space. No device argument changes that.
void override_fanout(bool in_groups) noexcept;

}  // namespace sluice::dpdk
