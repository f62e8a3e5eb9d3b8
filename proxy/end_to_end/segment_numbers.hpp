#pragma once

#include <cstdint>

#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/bytes.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"

namespace sluice::proxy {

/// So many bytes behind what was acknowledged a segment may begin: a repetition, or one that was overtaken.
inline constexpr std::uint32_t most_behind = 1U << 20;
/// A host may take back a window by so many bytes, and rounds it (RFC 7323 section 2.4); a probe is a byte beyond it.
inline constexpr std::uint32_t beyond_the_edge = UINT16_MAX;

/// Positions of the first byte that a segment brings and of what it acknowledges, each in its own direction.
struct SegmentNumbers {
  Bytes seq;
  Bytes ack;
};

/// Where a segment that came in on `in` lies, by the furthest that was seen in each direction.
[[nodiscard]] SegmentNumbers numbers_of(const EndToEndFlow& flow, Side in, const tcp::Segment& segment);

/// The receiving host would take it, as far as can be told (RFC 5961): it lies in the window that this one was told, or
/// not far behind what it has acknowledged, and acknowledges what has passed. A FIN takes a place of its own behind the
/// last byte. What acknowledges more than has passed is not of this connection, or went another way than its data. A
/// reset must be exact: behind what has passed, or where the other host stands.
[[nodiscard]] bool is_plausible(const EndToEndFlow& flow, Side in, const tcp::Segment& segment,
                                const SegmentNumbers& numbers);

}  // namespace sluice::proxy
