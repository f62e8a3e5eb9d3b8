#pragma once

#include <algorithm>

#include "dataplane/packet/parse.hpp"

namespace sluice::test {

/// Two readings of a TCP segment say the same, in every field that is valid.
[[nodiscard]] inline bool same_segment(const packet::Parsed& a, const packet::Parsed& b) {
  const tcp::Segment& x = a.segment;
  const tcp::Segment& y = b.segment;
  return a.src == b.src && a.dst == b.dst && a.src_port == b.src_port && a.dst_port == b.dst_port &&
         a.networks == b.networks && a.ip_offset == b.ip_offset && a.l4_offset == b.l4_offset &&
         a.payload_offset == b.payload_offset && a.ip_version == b.ip_version && a.ip_length == b.ip_length &&
         a.ip_id == b.ip_id && a.tos == b.tos && a.ttl == b.ttl && a.protocol == b.protocol &&
         a.dont_fragment == b.dont_fragment && a.unknown_options == b.unknown_options && x.seq == y.seq &&
         x.ack == y.ack && x.window == y.window && x.payload_len == y.payload_len && x.urgent == y.urgent &&
         x.flags == y.flags && x.ecn == y.ecn && x.has_timestamps == y.has_timestamps &&
         (!x.has_timestamps || x.ts_value == y.ts_value) && (!x.has_timestamps || x.ts_echo == y.ts_echo) &&
         std::ranges::equal(x.sacks(), y.sacks()) && (!x.flags.syn() || x.syn == y.syn);
}

}  // namespace sluice::test
