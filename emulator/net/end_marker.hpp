#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/pool.hpp"

namespace sluice::emulator {

/// Last packet that the core sends on the old path to a UE in a handover (TS 36.300 section 10.1.2.2.1, TS 29.281
/// section 7.3.2). The marker is a separate frame, so that it waits in the queues after the earlier packets. It never
/// leaves the emulator.
struct EndMarker {
  std::uint32_t ue = 0;        ///< index of the UE
  std::uint32_t handover = 0;  ///< number of the UE's handover, from 1 on
};

/// Returns an Ethernet frame of minimum size with the marker; empty if the pool is exhausted.
[[nodiscard]] packet::Packet make_end_marker(packet::PacketPool& pool, const EndMarker& marker);
/// Returns the end marker that a frame contains; nothing if the frame is no end marker. The numbers of UE and handover
/// in it must be checked, because any host can send such a frame with invalid numbers.
[[nodiscard]] std::optional<EndMarker> read_end_marker(std::span<const std::uint8_t> frame);

}  // namespace sluice::emulator
