#pragma once

#include <cstdint>
#include <string>

#include "dataplane/packet/pool.hpp"

namespace sluice::packet {

/// Makes a pool of packet buffers. Where DPDK addresses devices by virtual address (always without huge pages) the
/// buffers lie one behind the other in one piece of memory, across the borders of pages: DPDK's own layout would give
/// each buffer of 2 KiB a page of 4 KiB. Throws std::runtime_error when the memory is not there, or when this machine
/// has less left than the buffers take once they are touched.
[[nodiscard]] rte_mempool* create_pool(const std::string& name, std::uint32_t count, std::uint16_t room);

/// The buffers fill one piece of memory without gaps between them, as a driver wants that registers the whole pool with
/// the kernel (net_af_xdp).
[[nodiscard]] bool is_contiguous(const PacketPool& pool) noexcept;

/// Bytes of DPDK memory that a pool takes. EAL need not be running.
[[nodiscard]] std::uint64_t pool_footprint(std::uint32_t count, std::uint16_t room = PacketPool::default_room) noexcept;

}  // namespace sluice::packet
