#pragma once

#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/shard/forwarder.hpp"
#include "proxy/engine/shard/handshake_tracker.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Receive path of connections between split and end to end: connections in handback, released connections that may be
/// split again, end-to-end connections that wait to be split, and segments that cannot be split. Thread: the shard's.
class HandbackRouter {
 public:
  /// Keeps references to its arguments, which outlive it.
  HandbackRouter(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, Forwarder& forwarder,
                 HandshakeTracker& handshakes)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end), forwarder_(forwarder), handshakes_(handshakes) {}

  /// Processes a segment of a split connection whose handback to its hosts is in progress.
  [[gnu::cold, gnu::noinline]] void pass_during_handback(RxPacket& rx, FlowId id);
  /// Processes a segment of a released connection (handed back to its hosts before): forwards it, or splits the
  /// connection again, starting with this segment. Returns false if no released connection has its key.
  [[nodiscard]] bool track_released(RxPacket& rx) {
    return flows_.handback().released().size() != 0 && track_if_released(rx);
  }
  /// Processes a segment of a connection that is not split although its policy splits connections. It is split if both
  /// directions are idle, else the segment is forwarded.
  [[gnu::cold, gnu::noinline]] void pass_until_split(RxPacket& rx, EndToEndId id);
  /// Handles a fragment or a segment behind IP options, which the caller forwards. If its numbers are plausible for a
  /// split connection, that connection is to be handed back to its hosts.
  [[gnu::cold, gnu::noinline]] void on_unsplittable(const RxPacket& rx);

 private:
  /// Processes a segment of a released connection (handed back to its hosts before). Returns false if no released
  /// connection has its key.
  [[nodiscard, gnu::cold, gnu::noinline]] bool track_if_released(RxPacket& rx);
  /// True if the segment's checksum is good, or is unfinished and the SYN of its host was too.
  [[nodiscard]] bool is_sound(TrackedConnection& connection, const RxPacket& rx) const;
  /// Creates a split flow for a connection that has passed end to end; this segment is the first that the flow
  /// processes. Returns false if the flow table is full.
  [[nodiscard]] bool split_again(const TrackedConnection& connection, PolicyIndex policy, const RxPacket& rx);
  /// Splits a released connection (handed back to its hosts before) again, starting with this segment. Returns false if
  /// that is not possible.
  [[nodiscard]] bool split_released(std::uint32_t released, const RxPacket& rx);

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  Forwarder& forwarder_;
  HandshakeTracker& handshakes_;
};

}  // namespace sluice::proxy
