#pragma once

#include <vector>

namespace sluice::dpdk {

/// Returns this process's open file descriptors in ascending order.
[[nodiscard]] std::vector<int> open_descriptors();

/// Returns the descriptor with which a newly started driver receives packets: a packet or XDP socket, or a TAP device.
/// `before` are the descriptors before the start. Drivers do not report the descriptor, but it is the only new one of
/// these kinds. net_tap opens another one earlier, to keep its interface in existence, so the last one is returned.
/// Returns -1 if there is none.
[[nodiscard]] int new_packet_descriptor(const std::vector<int>& before);
/// Returns the packet sockets (AF_PACKET) that were opened after the descriptors `before` were listed.
[[nodiscard]] std::vector<int> new_packet_sockets(const std::vector<int>& before);

}  // namespace sluice::dpdk
