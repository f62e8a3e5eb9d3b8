#pragma once

#include "dataplane/packet/packet.hpp"

namespace sluice::emulator {

/// Sets Congestion Experienced (RFC 3168) in the IP header of a frame whose sender understands it, the IPv4 checksum
/// included. False, and the frame as it was, when the sender does not or it is not IP. The packet must not be shared.
bool mark_congestion(packet::Packet& frame);

}  // namespace sluice::emulator
