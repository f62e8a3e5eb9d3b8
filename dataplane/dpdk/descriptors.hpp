#pragma once

#include <vector>

namespace sluice::dpdk {

/// This process's open file descriptors, in order.
[[nodiscard]] std::vector<int> open_descriptors();

/// The descriptor through which a driver that was started since `before` receives packets from the kernel: a packet or
/// XDP socket, or a TAP device. The drivers do not tell, but theirs is the only new one of that kind (the last one,
/// where net_tap opens one more to keep its interface alive). -1 when there is none.
[[nodiscard]] int new_packet_descriptor(const std::vector<int>& before);
/// The packet sockets (AF_PACKET) among those opened since.
[[nodiscard]] std::vector<int> new_packet_sockets(const std::vector<int>& before);

}  // namespace sluice::dpdk
