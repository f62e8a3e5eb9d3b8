#pragma once

#include <optional>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::proxy {

/// Reads the TCP header of a packet that parse() did not accept as TCP: a first fragment, or a segment behind IPv4
/// options or IPv6 extension headers. Returns `parsed` with ports, sequence numbers, flags and window added. TCP
/// options and payload length are missing, because a fragment does not contain its length. Returns nothing without a
/// complete fixed TCP header. Smaller fragments need no support, because 68 bytes pass everywhere (RFC 791, RFC 1858).
/// Never reads outside the packet.
///
/// A later fragment returns nothing, because a datagram is complete only after its first fragment has passed as well.
[[nodiscard]] std::optional<packet::Parsed> read_unsplittable(const packet::Packet& packet,
                                                              const packet::Parsed& parsed, packet::ParseResult result);

}  // namespace sluice::proxy
