#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "dataplane/packet/encapsulation.hpp"
#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Free bytes in front of a new packet: DPDK's headroom, or more if the longest headers need more.
inline constexpr auto header_room =
    static_cast<std::uint16_t>(std::max<std::size_t>(RTE_PKTMBUF_HEADROOM, max_header_length));
/// Returns an empty packet with free bytes for the longest headers in front (header_room); an empty handle if the pool
/// is exhausted. The metadata (PacketNote) is not cleared.
[[nodiscard]] inline Packet allocate_from(rte_mempool* pool) noexcept {
  rte_mbuf* const buffer = rte_pktmbuf_alloc(pool);
  if constexpr (header_room > RTE_PKTMBUF_HEADROOM) {
    if (buffer != nullptr) buffer->data_off = header_room;
  }
  return Packet(buffer);
}

/// Pool of a fixed number of packet buffers, allocated from DPDK memory at construction. The EAL must be running.
class PacketPool {
 public:
  /// Bytes of data room after the headroom: more than a 1500-byte frame with two VLAN tags.
  static constexpr std::uint16_t default_room = 2048;

  /// Creates the pool. Throws std::runtime_error if there is not enough memory. `name` is unique in the process and has
  /// at most 25 characters.
  PacketPool(const std::string& name, std::uint32_t count, std::uint16_t room = default_room);
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  /// Returns an empty packet (size 0, full headroom, cleared PacketNote), or an empty handle if the pool is exhausted.
  [[nodiscard]] Packet allocate() noexcept {
    Packet packet = allocate_from(pool_);
    if (packet) packet.note() = PacketNote{};
    return packet;
  }
  /// Returns a copy of `source` with full headroom. The metadata of the copy (PacketNote) is cleared, except the time
  /// of reception, which is copied. Returns an empty handle if the pool is exhausted or the bytes do not fit.
  [[nodiscard]] Packet copy(const Packet& source) noexcept;

  [[nodiscard]] std::uint32_t capacity() const noexcept;
  /// Returns the number of buffers in use. Exact while no other thread allocates or frees.
  [[nodiscard]] std::uint32_t in_use() const noexcept;
  /// Returns the number of buffers that the calling thread can allocate: the free ones, less those in the mempool
  /// caches of other threads (up to 384 each). Exact while no other thread allocates or frees.
  [[nodiscard]] std::uint32_t available() const noexcept;
  /// Flushes the mempool cache of the calling thread, so that other threads can use its buffers. Intended for a thread
  /// that will not allocate for a while.
  void release_cached() noexcept;
  [[nodiscard]] rte_mempool* handle() const noexcept { return pool_; }

 private:
  rte_mempool* pool_;
};

}  // namespace sluice::packet
