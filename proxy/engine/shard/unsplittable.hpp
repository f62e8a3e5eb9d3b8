#pragma once

#include <optional>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Returns the counter for a packet that the proxy does not evaluate as TCP, from its parse result.
[[nodiscard]] inline Counter counter_of_unread(const RxPacket& rx) {
  return rx.is_signed() ? Counter::forward_signed : counter_of(rx.result);
}

/// Reads the TCP header of a packet that the proxy does not evaluate as TCP: a first fragment, a segment after IPv4
/// options or IPv6 extension headers, or a segment with a signature. Returns `parsed` with ports, sequence numbers,
/// flags and window added. TCP options and payload length are read only if there is a signature, because a fragment
/// does not show its length. Returns nothing for later fragments, which are useless without the first one. Returns
/// nothing if the fixed TCP header is incomplete; no host sends such small fragments, because every network carries 68
/// bytes (RFC 791, RFC 1858). Never reads outside the packet.
[[nodiscard]] std::optional<packet::Parsed> read_unsplittable(const packet::Packet& packet,
                                                              const packet::Parsed& parsed, packet::ParseResult result);

}  // namespace sluice::proxy
