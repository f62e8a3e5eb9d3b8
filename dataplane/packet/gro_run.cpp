#include <cstddef>

#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::packet {
namespace {

/// True if the segment has payload, no SACK blocks, and no flags except ACK, which is required, and PSH.
bool only_data(const tcp::Segment& segment) {
  constexpr unsigned ignored = tcp::Flags::psh_bit;
  return (segment.flags.bits & ~ignored) == tcp::Flags::ack_bit && segment.payload_len != 0 && segment.sack_count == 0;
}

}  // namespace

bool have_same_headers(const Parsed& first, const Parsed& second) noexcept {
  constexpr std::size_t ip = offsetof(Parsed, tos), ack = offsetof(Parsed, segment) + offsetof(tcp::Segment, ack),
                        urgent = offsetof(Parsed, segment) + offsetof(tcp::Segment, urgent);
  static_assert(offsetof(Parsed, ttl) == ip + 1 && offsetof(Parsed, dont_fragment) == ip + 2 &&
                offsetof(Parsed, common) == ip + 3);
  static_assert(offsetof(tcp::Segment, window) == offsetof(tcp::Segment, ack) + 4 &&
                offsetof(tcp::Segment, payload_len) == offsetof(tcp::Segment, ack) + 6);
  static_assert(offsetof(tcp::Segment, flags) == offsetof(tcp::Segment, urgent) + 2 &&
                offsetof(tcp::Segment, sack_count) == offsetof(tcp::Segment, urgent) + 4 &&
                offsetof(tcp::Segment, has_timestamps) == offsetof(tcp::Segment, urgent) + 5 &&
                offsetof(tcp::Segment, ecn) == offsetof(tcp::Segment, urgent) + 6);
  constexpr std::uint64_t pushed = std::uint64_t{tcp::Flags::psh_bit} << 16U;
  const auto* const a = reinterpret_cast<const std::uint8_t*>(&first);
  const auto* const b = reinterpret_cast<const std::uint8_t*>(&second);
  return load32(a + ip) == load32(b + ip) && load64(a + ack) == load64(b + ack) &&
         ((load64(a + urgent) ^ load64(b + urgent)) & ~pushed) == 0;
}

bool is_contiguous(const Parsed& first, const Parsed& second) noexcept {
  const tcp::Segment& a = first.segment;
  const tcp::Segment& b = second.segment;
  if (b.seq != a.seq + a.payload_len || !only_data(a)) return false;
  if (a.has_timestamps && static_cast<std::int32_t>(b.ts_value - a.ts_value) < 0) return false;
  if (have_same_headers(first, second)) return true;
  return b.ack == a.ack && b.window == a.window && only_data(b) && a.has_timestamps == b.has_timestamps &&
         first.tos == second.tos && first.ttl == second.ttl;
}

}  // namespace sluice::packet
