#pragma once

#include <vector>

namespace sluice::dpdk {

/// Returns this process's open file descriptors in ascending order.
[[nodiscard]] std::vector<int> open_descriptors();

/// Returns the descriptor with which a newly started driver receives packets: a packet or XDP socket, or a TAP device.
/// Returns -1 if there is none. `before` are the descriptors that were open before the start. Drivers do not report the
/// descriptor, so it is the last new one of these kinds. net_tap opens two, and the first one only keeps its interface
/// in existence.
[[nodiscard]] int new_packet_descriptor(const std::vector<int>& before);
/// Returns the packet sockets (AF_PACKET) that were opened after the descriptors `before` were listed.
[[nodiscard]] std::vector<int> new_packet_sockets(const std::vector<int>& before);

}  // namespace sluice::dpdk
