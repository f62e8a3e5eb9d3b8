#pragma once

#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/shard/forwarder.hpp"
#include "proxy/engine/shard/handshake_tracker.hpp"
#include "proxy/engine/split/handback_point.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Receive path for connections that change between split and end to end. These are connections that are being handed
/// back to their hosts, connections after their handback, and end-to-end connections that are to be split later. Also
/// handles segments that a split does not support. Thread: the shard's.
class HandbackRouter {
 public:
  /// Stores references to its arguments, which must outlive the object.
  HandbackRouter(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, Forwarder& forwarder,
                 HandshakeTracker& handshakes)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end), forwarder_(forwarder), handshakes_(handshakes) {}

  /// Processes a segment of a split connection that is being handed back to its hosts. Passes it to the proxy's leg,
  /// forwards it, or does both, depending on its position relative to the handback point.
  [[gnu::cold, gnu::noinline]] void pass_during_handback(RxPacket& rx, FlowId id);
  /// Processes a segment of a released connection, which was handed back to its hosts before. Forwards it, or splits
  /// the connection again from this segment on. Returns false if the segment belongs to no released connection.
  [[nodiscard]] bool track_released(RxPacket& rx) {
    return flows_.handback().released().size() != 0 && track_if_released(rx);
  }
  /// Processes a segment of a connection that passes end to end although its policy requires a split. Splits the
  /// connection if it is idle, else forwards the segment. A connection is idle if all its data is acknowledged.
  [[gnu::cold, gnu::noinline]] void pass_until_split(RxPacket& rx, EndToEndId id);
  /// Handles a fragment, a segment after IP options, or a signed segment (TCP MD5 or TCP-AO), because a split supports
  /// none of them. The caller forwards the packet. If the packet's numbers show that it belongs to a split connection,
  /// requests the handback of that connection to its hosts.
  [[gnu::cold, gnu::noinline]] void on_unsplittable(const RxPacket& rx);

 private:
  /// Properties of a segment of a connection that is being handed back to its hosts. join_marks() needs them.
  struct SegmentContext {
    /// true if the proxy held data for the segment's sender before the segment arrived, so that the segment may
    /// acknowledge it
    bool of_own_data = false;
    /// true if the segment has a complete TCP checksum, which must be updated if the header is changed
    bool summed = false;
  };
  void record_passed(Flow& flow, Side in, const tcp::Segment& segment) const;
  void record_unread(Flow& flow, Side in, const tcp::Segment& segment, Instant now);
  [[nodiscard]] tcp::SeqNum advertised_to(const Flow& flow, Side host) const;
  void join_marks(RxPacket& rx, const Flow& flow, const handback::Verdict& verdict, SegmentContext how);
  /// Processes a segment of a released connection, which was handed back to its hosts before. Forwards it, or splits
  /// the connection again from this segment on. Returns false if the segment belongs to no released connection.
  [[nodiscard, gnu::cold, gnu::noinline]] bool track_if_released(RxPacket& rx);
  /// True if the segment's checksum is correct, or unfinished (left to an offload) like that of the host's SYN.
  [[nodiscard]] bool is_sound(TrackedConnection& connection, const RxPacket& rx) const;
  /// Creates a split flow for a connection that has passed end to end. The caller must then pass this segment to the
  /// flow as the first one. Returns false if the flow table is full.
  [[nodiscard]] bool split_again(const TrackedConnection& connection, PolicyIndex policy, const RxPacket& rx);
  /// Splits a connection again that was handed back to its hosts before. `released` is its index in the table Released.
  /// The split begins with this segment. Returns false if the flow table is full, or if the policy no longer requires a
  /// split.
  [[nodiscard]] bool split_released(std::uint32_t released, const RxPacket& rx);

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  Forwarder& forwarder_;
  HandshakeTracker& handshakes_;
};

}  // namespace sluice::proxy
