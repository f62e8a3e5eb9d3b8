#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "proxy/pcapng/frame_header.hpp"

namespace sluice::capture {

/// The file of the last frames: this, and then the slots of each shard, one shard after the other. In the byte order of
/// the machine, on which it stays. What the decisions are called is in it, too, since another version of the program
/// may number them in another way.
struct alignas(4096) RingHeader {
  static constexpr std::array<char, 8> own_magic{'S', 'L', 'U', 'I', 'R', 'I', 'N', 'G'};
  static constexpr std::uint32_t own_version = 1;
  using Text = std::array<char, 64>;  ///< filled with zeros

  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t slot_bytes;   ///< of a slot, a multiple of 8
  std::uint32_t slots;        ///< of each shard
  std::uint32_t shards;       ///< 1 or more
  std::uint32_t snap_length;  ///< bytes of a frame that a slot has room for
  std::int64_t to_wall;       ///< what is to be added to FrameHeader::at for nanoseconds since 1970
  Text program;
  std::array<std::array<char, 256>, 2> devices;  ///< by Side
  std::array<Text, 256> comments;                ///< by Decision
};
static_assert(std::is_trivially_copyable_v<RingHeader>);

/// What stands in front of the bytes of a frame in its slot.
struct SlotHeader {
  std::uint64_t number = 0;  ///< of the shard's frames, from 1; 0: empty, or not written to its end
  FrameHeader frame;
};
static_assert(std::is_trivially_copyable_v<SlotHeader> && sizeof(SlotHeader) == 24, "no padding");

/// Bytes of a slot for so much of a frame.
[[nodiscard]] constexpr std::uint32_t slot_bytes_for(std::uint32_t snap_length) {
  return (static_cast<std::uint32_t>(sizeof(SlotHeader)) + snap_length + 7) / 8 * 8;
}

}  // namespace sluice::capture
