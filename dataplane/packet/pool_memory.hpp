#pragma once

#include <cstdint>
#include <string>

#include "dataplane/packet/pool.hpp"

namespace sluice::packet {

/// Creates a pool of packet buffers. If devices address memory by virtual address (IOVA as VA, always without huge
/// pages), the buffers fill one piece of memory, also across page borders. DPDK's own layout would use a 4 KiB page for
/// each 2 KiB buffer. Throws std::runtime_error if the memory cannot be reserved, or if the machine has less free
/// memory than the buffers need.
[[nodiscard]] rte_mempool* create_pool(const std::string& name, std::uint32_t count, std::uint16_t room);

/// True if the buffers fill one piece of memory without gaps. A driver that registers the whole pool with the kernel
/// (net_af_xdp) requires this.
[[nodiscard]] bool is_contiguous(const PacketPool& pool) noexcept;

/// Returns the bytes of DPDK memory that a pool takes. The EAL need not be running.
[[nodiscard]] std::uint64_t pool_footprint(std::uint32_t count, std::uint16_t room = PacketPool::default_room) noexcept;

}  // namespace sluice::packet
