#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "proxy/ops/capture/frame_header.hpp"

namespace sluice::capture {

/// Header of the file of last frames. The slots of all shards follow it, shard by shard. Numbers are in the byte order
/// of the machine. The header contains the texts of all decisions (outcomes of frames), because another version of the
/// program may number decisions differently.
struct alignas(4096) RingHeader {
  static constexpr std::array<char, 8> own_magic{'S', 'L', 'U', 'I', 'R', 'I', 'N', 'G'};
  static constexpr std::uint32_t own_version = 1;
  using Text = std::array<char, 64>;  ///< text of a decision (outcome of a frame), padded with zeros

  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t slot_bytes;   ///< size of a slot in bytes, a multiple of 8
  std::uint32_t slots;        ///< number of slots of each shard
  std::uint32_t shards;       ///< number of shards, at least 1
  std::uint32_t snap_length;  ///< maximum number of bytes of a frame that a slot contains
  std::int64_t to_wall;       ///< offset in nanoseconds that is added to FrameHeader::at to get the time since 1970
  Text program;
  std::array<std::array<char, 256>, 2> devices;  ///< names of the ports' devices, indexed by Side
  /// text of each decision (outcome of a frame), indexed by Decision; added to the frame as comment
  std::array<Text, 256> comments;
};
static_assert(std::is_trivially_copyable_v<RingHeader>);

/// Header of a slot in the file of last frames, which precedes the bytes of the frame.
struct SlotHeader {
  /// number of the frame within its shard, counted from 1; 0 if the slot contains no complete frame
  std::uint64_t number = 0;
  FrameHeader frame;
};
static_assert(std::is_trivially_copyable_v<SlotHeader> && sizeof(SlotHeader) == 24, "no padding");

/// Returns the size in bytes of a slot that can store `snap_length` bytes of a frame.
[[nodiscard]] constexpr std::uint32_t slot_bytes_for(std::uint32_t snap_length) {
  return (static_cast<std::uint32_t>(sizeof(SlotHeader)) + snap_length + 7) / 8 * 8;
}

}  // namespace sluice::capture
