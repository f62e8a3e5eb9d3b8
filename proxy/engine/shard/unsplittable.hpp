#pragma once

#include <optional>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::proxy {

/// Reads the TCP header of a packet that parse() did not accept as TCP: a first fragment, or a segment after IPv4
/// options or IPv6 extension headers. Returns `parsed` with ports, sequence numbers, flags and window added. TCP
/// options and payload length are not read, because a fragment does not show its length. Returns nothing for later
/// fragments, which are useless without the first one. Returns nothing if the fixed TCP header is incomplete; no host
/// sends such small fragments, because every network carries 68 bytes (RFC 791, RFC 1858). Never reads outside the
/// packet.
[[nodiscard]] std::optional<packet::Parsed> read_unsplittable(const packet::Packet& packet,
                                                              const packet::Parsed& parsed, packet::ParseResult result);

}  // namespace sluice::proxy
