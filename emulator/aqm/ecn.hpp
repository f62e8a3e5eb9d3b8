#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace sluice::emulator {

/// Sets Congestion Experienced (RFC 3168) in the IP header of an ECN-capable frame and updates the IPv4 checksum.
/// Returns false and changes nothing if the frame is not ECN-capable or not IP. The packet must not be shared.
bool mark_congestion(packet::Packet& frame);
/// Returns the ECN field of a frame's IP header: 1 is ECT(1), 2 is ECT(0), 3 is Congestion Experienced. 0 also if the
/// frame is not IP.
[[nodiscard]] std::uint8_t ecn_of(const packet::Packet& frame);

}  // namespace sluice::emulator
