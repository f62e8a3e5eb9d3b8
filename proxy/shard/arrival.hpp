#pragma once

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/shard/side.hpp"

namespace sluice::proxy {

/// A frame that came in, and what parse() has made of it. Whoever takes the packet moves it out; what nobody took is
/// freed. Lives as long as its burst is handled.
struct Arrival {
  Side in;
  packet::Packet& packet;
  packet::ParseResult result;
  const packet::Parsed& parsed;
  flow::KeyTag tag;  ///< of key()
  Instant now;

  [[nodiscard]] const tcp::Segment& segment() const { return parsed.segment; }
  /// The connection that it names.
  [[nodiscard]] flow::FlowKey key() const { return key_of(in, parsed); }
  /// A whole TCP segment; its options may be such that no connection with them can be split.
  [[nodiscard]] bool is_tcp() const {
    return result == packet::ParseResult::tcp || result == packet::ParseResult::tcp_options_unknown;
  }
};

/// As the policies look at it.
[[nodiscard]] inline ConnectionView view_of(const Arrival& arrival) {
  const packet::Parsed& parsed = arrival.parsed;
  const auto dscp = static_cast<std::uint8_t>(parsed.tos >> 2U);
  if (arrival.in == Side::radio) return {parsed.src, parsed.dst, parsed.dst_port, dscp};
  return {parsed.dst, parsed.src, parsed.src_port, dscp};
}

}  // namespace sluice::proxy
