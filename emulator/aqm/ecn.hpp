#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace sluice::emulator {

/// Sets Congestion Experienced (RFC 3168) in the IP header of a frame whose sender understands it, the IPv4 checksum
/// included. False, and the frame as it was, when the sender does not or it is not IP. The packet must not be shared.
bool mark_congestion(packet::Packet& frame);
/// The ECN field of a frame's IP header: 1 is ECT(1), 2 is ECT(0), 3 is Congestion Experienced. 0 when it is not IP.
[[nodiscard]] std::uint8_t ecn_of(const packet::Packet& frame);

}  // namespace sluice::emulator
