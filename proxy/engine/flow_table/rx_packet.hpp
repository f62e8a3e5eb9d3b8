#pragma once

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Received frame and the result of parse(). A handler that keeps the packet moves it out of this object; otherwise the
/// packet is freed. The object exists until its burst has been processed.
struct RxPacket {
  Side in;
  packet::Packet& packet;
  packet::ParseResult result;
  packet::Parsed& parsed;
  flow::KeyTag tag;  ///< keyed hash of the connection's key (5-tuple), for table lookups
  Instant now;

  [[nodiscard]] const tcp::Segment& segment() const { return parsed.segment; }
  /// Returns the key of the connection to which the frame belongs.
  [[nodiscard]] flow::FlowKey key() const { return key_of(in, parsed); }
  /// True if the frame contains a complete TCP segment that the proxy may evaluate. A SYN may have options that a split
  /// connection does not support.
  [[nodiscard]] bool is_tcp() const {
    return result == packet::ParseResult::tcp ||
           (result == packet::ParseResult::tcp_options_unknown && segment().flags.syn());
  }
  /// True if the frame is a segment with a signature (TCP MD5 or TCP-AO) and no SYN. Only its hosts can verify the
  /// signature, so the proxy neither evaluates nor changes the segment.
  [[nodiscard]] bool is_signed() const {
    return result == packet::ParseResult::tcp_options_unknown && !segment().flags.syn();
  }
};

/// Returns those properties of the frame by which a policy is chosen: UE, server, server port and DSCP.
[[nodiscard]] inline ConnectionView view_of(const RxPacket& rx) {
  const packet::Parsed& parsed = rx.parsed;
  const auto dscp = static_cast<std::uint8_t>(parsed.tos >> 2U);
  if (rx.in == Side::radio) return {parsed.src, parsed.dst, parsed.dst_port, dscp};
  return {parsed.dst, parsed.src, parsed.src_port, dscp};
}

}  // namespace sluice::proxy
