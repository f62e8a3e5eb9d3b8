#pragma once

#include <rte_mbuf.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "dataplane/units/time.hpp"

namespace sluice::packet {

/// Data about a packet (its note), stored in the private area of the mbuf, so that queueing a packet allocates no
/// memory. The component that owns the packet defines which fields are valid. A parser fills the first group of fields.
/// A TCP endpoint fills the second group while the packet is in one of its queues.
struct PacketNote {
  Instant received{};             ///< arrival time
  std::uint16_t payload_sum = 0;  ///< ones' complement sum of the payload as received, not inverted (RFC 1071)
  std::uint16_t payload_len = 0;  ///< bytes of TCP payload

  /// Bytes of headers that the last transmission wrote in front of the payload. They are removed before the next
  /// transmission.
  std::uint16_t header_len = 0;
  std::uint8_t flags = 0;  ///< flags that the holder of the packet defines (tcp: sacked, lost, retransmitted, …)
  std::uint8_t transmissions = 0;  ///< number of transmissions; stays at 255

  rte_mbuf* next = nullptr;       ///< next packet in the holder's queue; null at its end
  std::uint32_t seq = 0;          ///< first sequence number of the payload
  std::uint32_t scratch32 = 0;    ///< meaning defined by the component that holds the packet
  Instant sent{};                 ///< time of the last transmission
  std::uint64_t scratch64 = 0;    ///< meaning defined by the component that holds the packet
  std::uint64_t scratch64_b = 0;  ///< meaning defined by the component that holds the packet
  std::uint64_t scratch64_c = 0;  ///< meaning defined by the component that holds the packet
};
static_assert(sizeof(PacketNote) <= 64, "one cache line per packet");
static_assert(std::is_trivially_destructible_v<PacketNote>);

/// Bytes of private area in every buffer of a PacketPool.
inline constexpr std::uint16_t note_size = 64;

/// Handle of a packet: owns one reference to a single-segment mbuf. Move-only; the destructor drops the reference.
/// Empty after a move. Thread: the one that owns the handle.
class Packet {
 public:
  Packet() = default;
  /// Takes over one reference. `buffer` may be null (an empty handle) and must come from a PacketPool.
  explicit Packet(rte_mbuf* buffer) noexcept : buffer_(buffer) {}
  Packet(Packet&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  Packet& operator=(Packet&& other) noexcept {
    if (this != &other) {
      reset();
      buffer_ = std::exchange(other.buffer_, nullptr);
    }
    return *this;
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;
  ~Packet() { reset(); }

  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  [[nodiscard]] rte_mbuf* buffer() const noexcept { return buffer_; }
  /// Returns the buffer with its reference, without dropping it; the handle is empty afterwards.
  [[nodiscard]] rte_mbuf* release() noexcept { return std::exchange(buffer_, nullptr); }
  void reset() noexcept {
    if (buffer_ != nullptr) give_back(std::exchange(buffer_, nullptr));
  }
  /// Returns a second handle to the same bytes without a copy. While shared() is true, the bytes must not be written.
  [[nodiscard]] Packet share() const noexcept {
    rte_mbuf_refcnt_update(buffer_, 1);
    return Packet(buffer_);
  }
  [[nodiscard]] bool shared() const noexcept { return rte_mbuf_refcnt_read(buffer_) > 1; }

  [[nodiscard]] std::uint8_t* data() const noexcept { return rte_pktmbuf_mtod(buffer_, std::uint8_t*); }
  [[nodiscard]] std::uint16_t size() const noexcept { return buffer_->data_len; }
  [[nodiscard]] std::span<std::uint8_t> bytes() const noexcept { return {data(), size()}; }
  /// Returns the payload, which is the last note().payload_len bytes.
  [[nodiscard]] std::span<const std::uint8_t> payload() const noexcept { return bytes().last(note().payload_len); }
  [[nodiscard]] std::uint16_t headroom() const noexcept { return rte_pktmbuf_headroom(buffer_); }
  [[nodiscard]] std::uint16_t tailroom() const noexcept { return rte_pktmbuf_tailroom(buffer_); }
  /// Returns the size of the whole buffer in bytes: headroom, data and tailroom.
  [[nodiscard]] std::uint16_t capacity() const noexcept { return buffer_->buf_len; }

  [[nodiscard]] PacketNote& note() const noexcept { return *static_cast<PacketNote*>(rte_mbuf_to_priv(buffer_)); }

  /// Prefetches the mbuf, its PacketNote, the headers and `bytes` bytes after a full headroom into the cache. Useful
  /// for a packet that was not accessed for a while.
  void prefetch(std::size_t bytes = 0) const noexcept {
    constexpr std::size_t cache_line = 64;
    constexpr std::size_t data = sizeof(rte_mbuf) + note_size + RTE_PKTMBUF_HEADROOM;
    const auto* const begin = reinterpret_cast<const char*>(buffer_);
    for (std::size_t at = 0; at < data + bytes; at += cache_line) __builtin_prefetch(begin + at);
  }

  /// Removes `count` bytes from the front. Requires count <= size().
  void trim_front(std::uint16_t count) noexcept {
    assert(count <= size());
    buffer_->data_off = static_cast<std::uint16_t>(buffer_->data_off + count);
    buffer_->data_len = static_cast<std::uint16_t>(buffer_->data_len - count);
    buffer_->pkt_len = buffer_->data_len;
  }
  /// Shortens the packet to its first `new_size` bytes. Requires new_size <= size().
  void truncate(std::uint16_t new_size) noexcept {
    assert(new_size <= size());
    buffer_->data_len = new_size;
    buffer_->pkt_len = new_size;
  }
  /// Adds `count` bytes in front, uninitialised, and returns their start. Requires count <= headroom().
  std::uint8_t* prepend(std::uint16_t count) noexcept {
    assert(count <= headroom());
    buffer_->data_off = static_cast<std::uint16_t>(buffer_->data_off - count);
    buffer_->data_len = static_cast<std::uint16_t>(buffer_->data_len + count);
    buffer_->pkt_len = buffer_->data_len;
    return data();
  }
  /// Adds `count` bytes at the end, uninitialised, and returns their start. Requires count <= tailroom().
  std::uint8_t* append(std::uint16_t count) noexcept {
    assert(count <= tailroom());
    std::uint8_t* const start = data() + size();
    buffer_->data_len = static_cast<std::uint16_t>(buffer_->data_len + count);
    buffer_->pkt_len = buffer_->data_len;
    return start;
  }
  /// Moves the data within the buffer so that `headroom` bytes are free in front of it. Requires headroom + size() <=
  /// capacity().
  void move_to(std::uint16_t headroom) noexcept {
    assert(headroom + size() <= capacity());
    const std::uint8_t* const from = data();
    buffer_->data_off = headroom;
    std::memmove(data(), from, size());
  }

 private:
  // Most handles are empty when they are destroyed, so only the test for that is worth inlining.
  [[gnu::noinline]] static void give_back(rte_mbuf* buffer) noexcept {
    if (!free_to_local_cache(buffer)) [[unlikely]]
      free_any(buffer);
  }
  /// Puts the buffer into the mempool cache of the calling thread, with half the instructions of
  /// rte_pktmbuf_free_seg(). Returns false and does nothing in three cases: there are other references, the memory is
  /// not the buffer's own, or the cache is full. These cases are rare. rte_pktmbuf_free_seg() tests further conditions,
  /// but every buffer that a Packet owns meets them.
  [[gnu::always_inline]] static bool free_to_local_cache(rte_mbuf* buffer) noexcept {
    if (rte_mbuf_refcnt_read(buffer) != 1 || buffer->nb_segs != 1 || !RTE_MBUF_DIRECT(buffer)) return false;
    assert(buffer->next == nullptr);
    rte_mempool_cache* const local_cache = rte_mempool_default_cache(buffer->pool, rte_lcore_id());
    if (local_cache == nullptr || local_cache->len >= local_cache->flushthresh) return false;
    local_cache->objs[local_cache->len++] = buffer;
    return true;
  }
  [[gnu::noinline, gnu::cold]] static void free_any(rte_mbuf* buffer) noexcept { rte_pktmbuf_free_seg(buffer); }

  rte_mbuf* buffer_ = nullptr;
};
static_assert(sizeof(Packet) == sizeof(void*));

}  // namespace sluice::packet
