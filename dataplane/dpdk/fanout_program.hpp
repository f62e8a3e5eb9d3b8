#pragma once

#include <linux/filter.h>

#include <span>
#include <string>
#include <vector>

#include "dataplane/dpdk/port.hpp"

namespace sluice::dpdk {

/// Returns a classic BPF program that maps a frame to a queue by its UE's address: ue_address_hash() modulo
/// rss_table_size, and the result modulo `queues` (1 to 128). Frames without IP addresses map to queue 0. The kernel
/// passes the packet to the program without the Ethernet header and the outermost VLAN tag.
[[nodiscard]] std::vector<sock_filter> fanout_program(Facing facing, unsigned queues);

/// Makes the kernel deliver each frame of these packet sockets, which form a fanout group, to the socket of the frame's
/// queue (fanout_program()). Returns the error, empty if there is none.
[[nodiscard]] std::string spread_by_address(std::span<const int> sockets, Facing facing, unsigned queues);

}  // namespace sluice::dpdk
