#include "proxy/engine/end_to_end/segment_numbers.hpp"

namespace sluice::proxy {
namespace {

/// True if the segment has the ACK flag and lies in or near the window of the receiving host. It may begin at most 1
/// MiB (`max_behind`) before the last acknowledged byte, and end at most 64 KiB (`max_beyond_edge`) beyond the right
/// edge. It may acknowledge data at most 1 MiB before the newest acknowledgement. During a handback of a split
/// connection, older acknowledgements are permitted, too.
bool is_near(const EndToEndFlow& flow, Side in, const tcp::Segment& segment, const SegmentNumbers& numbers) {
  if (!segment.flags.ack()) return false;
  const DataWay& sent = flow.towards(opposite(in));
  const bool in_window = numbers.seq >= sent.acked - Bytes(max_behind) &&
                         numbers.seq + Bytes(segment.payload_len) <= sent.window.edge() + Bytes(max_beyond_edge);
  // During a handback, the relay may hold any amount of data before the handback point.
  return in_window && (flow.successor || numbers.ack >= flow.towards(in).acked - Bytes(max_behind));
}

}  // namespace

bool is_plausible(const EndToEndFlow& flow, Side in, const tcp::Segment& segment, const SegmentNumbers& numbers) {
  if (segment.flags.rst()) {
    const DataWay& sent = flow.towards(opposite(in));
    const Bytes fin((flow.fins & bit(in)) != 0 ? 1 : 0);
    return numbers.seq == sent.sent || numbers.seq == sent.sent + fin || numbers.seq == sent.acked;
  }
  return is_near(flow, in, segment, numbers) && numbers.ack <= flow.towards(in).sent + Bytes(1);
}

bool may_announce(const EndToEndFlow& flow, Side in, const tcp::Segment& segment, const SegmentNumbers& numbers) {
  if (segment.flags.syn() || segment.flags.rst()) return false;
  return is_near(flow, in, segment, numbers) && numbers.ack <= flow.towards(in).window.edge() + Bytes(max_beyond_edge);
}

}  // namespace sluice::proxy
