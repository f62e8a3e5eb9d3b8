#pragma once

#include <linux/filter.h>

#include <span>
#include <string>
#include <vector>

#include "dataplane/dpdk/port.hpp"

namespace sluice::dpdk {

/// Returns a classic BPF program that maps a frame to a queue by its UE's address: ue_address_hash() over
/// rss_table_size entries, modulo `queues` (1 to 128). Frames without IP addresses map to 0. A fanout group passes
/// packets from after the Ethernet header, with the outermost VLAN tag removed.
[[nodiscard]] std::vector<sock_filter> fanout_program(Facing facing, unsigned queues);

/// Makes the fanout group of these packet sockets deliver each frame to the socket of its queue. Returns the error,
/// empty if there is none.
[[nodiscard]] std::string spread_by_address(std::span<const int> sockets, Facing facing, unsigned queues);

}  // namespace sluice::dpdk
