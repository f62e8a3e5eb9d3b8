#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/pool.hpp"

namespace sluice::emulator {

/// Says that nothing follows on a path: the last packet that the old path to a UE carries (the end marker of
/// 3GPP TS 36.300 section 10.1.2.2.1, TS 29.281 section 7.3.2). A frame of its own, so that it waits in the same queues
/// as the packets before it; it never leaves the emulator.
struct EndMarker {
  std::uint32_t ue = 0;        ///< index
  std::uint32_t handover = 0;  ///< the UE's first, second … one
};

/// An Ethernet frame of the smallest size with it; empty when the pool is exhausted.
[[nodiscard]] packet::Packet make_end_marker(packet::PacketPool& pool, const EndMarker& marker);
/// Nothing when the frame is something else. What it says is not checked: anybody may send such a frame.
[[nodiscard]] std::optional<EndMarker> read_end_marker(std::span<const std::uint8_t> frame);

}  // namespace sluice::emulator
