#pragma once

#include <cstdint>

#include "dataplane/packet/segment.hpp"
#include "dataplane/units/bytes.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"

namespace sluice::proxy {

/// Maximum distance in bytes by which a segment may begin before the last acknowledged byte of its stream, as
/// retransmitted and reordered segments do.
inline constexpr std::uint32_t max_behind = 1U << 20;
/// Maximum distance in bytes by which a segment may end beyond the right edge of the receive window. Rounding of the
/// window field may move the edge back by up to 16 KiB (RFC 7323 section 2.4). A zero-window probe exceeds the edge by
/// one byte.
inline constexpr std::uint32_t max_beyond_edge = UINT16_MAX;

/// Position of a segment's first byte, and position up to which the segment acknowledges data. Each is counted in bytes
/// from the start of its byte stream.
struct SegmentNumbers {
  Bytes seq;
  Bytes ack;
};

/// Returns the positions of a segment that arrived on `in`, in bytes from the start of each direction. The 32-bit
/// sequence numbers are unwrapped to the values closest to the furthest position seen.
[[nodiscard, gnu::always_inline]] inline SegmentNumbers numbers_of(const EndToEndFlow& flow, Side in,
                                                                   const tcp::Segment& segment) {
  control::StreamPosition sent = flow.towards(opposite(in)).position;
  control::StreamPosition received = flow.towards(in).position;
  return {sent.of(segment.seq.raw()), received.of(segment.ack.raw())};
}

/// True if the receiving host would probably accept the segment (RFC 5961). The segment may begin at most 1 MiB before
/// the last acknowledged byte. It may end at most 64 KiB beyond the right edge of the receive window. It must
/// acknowledge only data that the proxy has seen; a FIN counts as one byte.
///
/// A RST must have one of three sequence numbers: that of its sender's next byte, that of its sender's FIN, or the
/// receiving host's newest acknowledgement number.
[[nodiscard]] bool is_plausible(const EndToEndFlow& flow, Side in, const tcp::Segment& segment,
                                const SegmentNumbers& numbers);

/// True if the receiving host may accept the window of a segment that is forwarded unchanged. Unlike in is_plausible(),
/// the segment may acknowledge data that the proxy has not seen (such as fragments). That data must end at most 64 KiB
/// beyond the right edge of the advertised window.
[[nodiscard]] bool may_announce(const EndToEndFlow& flow, Side in, const tcp::Segment& segment,
                                const SegmentNumbers& numbers);

}  // namespace sluice::proxy
