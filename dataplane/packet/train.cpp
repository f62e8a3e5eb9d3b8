#include "dataplane/packet/parse.hpp"

namespace sluice::packet {
namespace {

/// Acknowledges, brings data, and has no option but timestamps.
bool only_data(const tcp::Segment& segment) {
  constexpr unsigned ignored = tcp::Flags::psh_bit;
  return (segment.flags.bits & ~ignored) == tcp::Flags::ack_bit && segment.payload_len != 0 && segment.sack_count == 0;
}

}  // namespace

bool follows(const Parsed& first, const Parsed& second) noexcept {
  const tcp::Segment& a = first.segment;
  const tcp::Segment& b = second.segment;
  if (b.seq != a.seq + a.payload_len || b.ack != a.ack || b.window != a.window) return false;
  if (!only_data(a) || !only_data(b) || a.has_timestamps != b.has_timestamps) return false;
  if (a.has_timestamps && static_cast<std::int32_t>(b.ts_value - a.ts_value) < 0) return false;
  return first.tos == second.tos && first.ttl == second.ttl;
}

}  // namespace sluice::packet
