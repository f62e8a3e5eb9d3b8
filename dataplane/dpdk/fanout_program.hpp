#pragma once

#include <linux/filter.h>

#include <span>
#include <string>
#include <vector>

#include "dataplane/dpdk/port.hpp"

namespace sluice::dpdk {

/// A program for the kernel (classic BPF) that names a frame's queue by its UE's address: ue_address_hash() over
/// rss_table_size entries, modulo `queues` (1 … 128). 0 for frames without IP addresses. It sees packets as a fanout
/// group does: from behind the Ethernet header, the outermost VLAN tag taken off.
[[nodiscard]] std::vector<sock_filter> fanout_program(Facing facing, unsigned queues);

/// Has the fanout group that these packet sockets are in give each frame to the socket of its queue. Returns what went
/// wrong, empty when all is well.
[[nodiscard]] std::string spread_by_address(std::span<const int> sockets, Facing facing, unsigned queues);

}  // namespace sluice::dpdk
