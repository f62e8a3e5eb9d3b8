#pragma once

#include <optional>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::proxy {

/// Reads the TCP header of a packet that parse() did not accept as TCP: a first fragment, or a segment after IPv4
/// options or IPv6 extension headers. Returns `parsed` with ports, sequence numbers, flags and window added. TCP
/// options and payload length are missing, because a fragment does not contain its length. Returns nothing without a
/// complete fixed TCP header. Smaller fragments need no support, because 68 bytes pass everywhere (RFC 791, RFC 1858).
/// Never reads outside the packet.
///
/// For a later fragment the result is empty. Only the first fragment of a datagram is needed, because no datagram is
/// complete without it.
[[nodiscard]] std::optional<packet::Parsed> read_unsplittable(const packet::Packet& packet,
                                                              const packet::Parsed& parsed, packet::ParseResult result);

}  // namespace sluice::proxy
