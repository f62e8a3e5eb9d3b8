#include "proxy/engine/end_to_end/segment_numbers.hpp"

namespace sluice::proxy {

bool is_plausible(const EndToEndFlow& flow, Side in, const tcp::Segment& segment, const SegmentNumbers& numbers) {
  const DataWay& sent = flow.towards(opposite(in));
  const DataWay& received = flow.towards(in);
  if (segment.flags.rst()) {
    const Bytes fin((flow.fins & bit(in)) != 0 ? 1 : 0);
    return numbers.seq == sent.sent + fin || numbers.seq == sent.acked;
  }
  if (!segment.flags.ack()) return false;
  const bool in_window = numbers.seq >= sent.acked - Bytes(max_behind) &&
                         numbers.seq + Bytes(segment.payload_len) <= sent.window.edge() + Bytes(beyond_the_edge);
  // During a handback, the relay may hold any amount of data before the handback point.
  const bool recent = flow.successor || numbers.ack >= received.acked - Bytes(max_behind);
  return in_window && recent && numbers.ack <= received.sent + Bytes(1);
}

}  // namespace sluice::proxy
