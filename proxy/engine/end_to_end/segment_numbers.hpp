#pragma once

#include <cstdint>

#include "dataplane/packet/segment.hpp"
#include "dataplane/units/bytes.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"

namespace sluice::proxy {

/// Maximum number of bytes by which a segment may begin before the acknowledged position. Retransmissions and reordered
/// segments begin there.
inline constexpr std::uint32_t max_behind = 1U << 20;
/// Maximum number of bytes by which a segment may exceed the right edge of the window. Hosts may shrink a window by
/// rounding (RFC 7323 section 2.4), and a zero-window probe is one byte beyond the edge.
inline constexpr std::uint32_t beyond_the_edge = UINT16_MAX;

/// Positions of a segment's first byte and of the byte that it acknowledges, each counted from the start of its own
/// direction.
struct SegmentNumbers {
  Bytes seq;
  Bytes ack;
};

/// Returns the positions (bytes from the start of each direction) of a segment that arrived on `in`. Sequence numbers
/// are unwrapped next to the furthest position seen in each direction.
[[nodiscard, gnu::always_inline]] inline SegmentNumbers numbers_of(const EndToEndFlow& flow, Side in,
                                                                   const tcp::Segment& segment) {
  control::StreamPosition sent = flow.towards(opposite(in)).position;
  control::StreamPosition received = flow.towards(in).position;
  return {sent.of(segment.seq.raw()), received.of(segment.ack.raw())};
}

/// True if the receiving host would probably accept the segment (RFC 5961). The segment lies in the advertised window
/// or not far below the acknowledged position, and acknowledges only data that has passed. A FIN counts as one byte. An
/// RST must be exact: right after the last data that passed, or at the position that the other host has acknowledged.
[[nodiscard]] bool is_plausible(const EndToEndFlow& flow, Side in, const tcp::Segment& segment,
                                const SegmentNumbers& numbers);

}  // namespace sluice::proxy
