#pragma once

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::proxy {

/// Whether a packet that was not read as a TCP segment may carry bytes of a TCP connection between its addresses: a
/// fragment, or a segment behind IPv4 options or IPv6 extension headers. Never reads outside the packet.
[[nodiscard]] bool may_carry_tcp(const packet::Packet& packet, const packet::Parsed& parsed,
                                 packet::ParseResult result);

}  // namespace sluice::proxy
