#pragma once

#include <rte_mbuf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "dataplane/packet/packet.hpp"

namespace sluice::packet::fuzz {

/// A packet without EAL or pool: descriptor and note in this object, bytes in a heap block of exactly their size, so
/// that AddressSanitizer sees a read one byte too far.
class HeapPacket {
 public:
  HeapPacket(std::span<const std::uint8_t> bytes, std::size_t headroom)
      : block_(std::make_unique<std::uint8_t[]>(headroom + bytes.size())) {
    if (!bytes.empty()) std::memcpy(block_.get() + headroom, bytes.data(), bytes.size());
    rte_mbuf& buffer = *new (descriptor_and_note_) rte_mbuf{};
    buffer.buf_addr = block_.get();
    buffer.buf_len = static_cast<std::uint16_t>(headroom + bytes.size());
    buffer.data_off = static_cast<std::uint16_t>(headroom);
    buffer.data_len = static_cast<std::uint16_t>(bytes.size());
    buffer.pkt_len = buffer.data_len;
    buffer.nb_segs = 1;
    rte_mbuf_refcnt_set(&buffer, 1);
    packet_ = Packet(&buffer);
  }
  ~HeapPacket() { static_cast<void>(packet_.release()); }
  HeapPacket(const HeapPacket&) = delete;
  HeapPacket& operator=(const HeapPacket&) = delete;

  [[nodiscard]] Packet& operator*() { return packet_; }
  [[nodiscard]] Packet* operator->() { return &packet_; }

 private:
  std::unique_ptr<std::uint8_t[]> block_;
  /// The private area follows the descriptor, as in a pool.
  alignas(rte_mbuf) std::byte descriptor_and_note_[sizeof(rte_mbuf) + note_size]{};
  Packet packet_;
};

}  // namespace sluice::packet::fuzz
