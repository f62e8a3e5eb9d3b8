#pragma once

#include <cstdint>
#include <string>

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// A fixed set of packet buffers, taken from DPDK memory once at construction. EAL must be running.
class PacketPool {
 public:
  /// Bytes of data room behind the headroom: a 1500-byte frame with two VLAN tags, and more.
  static constexpr std::uint16_t default_room = 2048;

  /// Throws std::runtime_error when the memory is not there. `name` is unique in the process, at most 25 characters.
  PacketPool(const std::string& name, std::uint32_t count, std::uint16_t room = default_room);
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  /// An empty packet (size 0, full headroom, note cleared); an empty handle when the pool is exhausted.
  [[nodiscard]] Packet allocate() noexcept {
    rte_mbuf* const buffer = rte_pktmbuf_alloc(pool_);
    if (buffer == nullptr) return {};
    Packet packet(buffer);
    packet.note() = PacketNote{};
    return packet;
  }
  /// A copy of the bytes of `source` with full headroom and a cleared note (`received` is kept); an empty handle when
  /// exhausted or when the bytes do not fit.
  [[nodiscard]] Packet copy(const Packet& source) noexcept;

  [[nodiscard]] std::uint32_t capacity() const noexcept;
  /// Buffers handed out and not yet returned. Exact when no other thread allocates or frees.
  [[nodiscard]] std::uint32_t in_use() const noexcept;
  /// Buffers that the calling thread can have: those which nobody took, less those that DPDK keeps at hand for other
  /// threads (up to 384 each). Exact when no other thread allocates or frees.
  [[nodiscard]] std::uint32_t available() const noexcept;
  /// Hands back what DPDK keeps at hand for the calling thread, which will not allocate for a while, to all threads.
  void release_cached() noexcept;
  [[nodiscard]] rte_mempool* handle() const noexcept { return pool_; }

 private:
  rte_mempool* pool_;
};

}  // namespace sluice::packet
