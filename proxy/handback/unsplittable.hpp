#pragma once

#include <optional>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::proxy {

/// A packet that was not read as a TCP segment and brings the beginning of one: a first fragment, or a segment behind
/// IPv4 options or IPv6 extension headers. The answer adds to what parse() has read the ports and of the segment its
/// numbers, flags and window; neither options nor a payload length, which a fragment does not tell. Nothing where there
/// is no TCP header, or not all of its fixed part: nobody has to cut so early (RFC 791: 68 bytes go everywhere), so
/// nothing need be made of it (RFC 1858). Never reads outside the packet.
///
/// A later fragment brings nothing either. What is cut is whole again only once its first part has passed, too.
[[nodiscard]] std::optional<packet::Parsed> read_unsplittable(const packet::Packet& packet,
                                                              const packet::Parsed& parsed, packet::ParseResult result);

}  // namespace sluice::proxy
