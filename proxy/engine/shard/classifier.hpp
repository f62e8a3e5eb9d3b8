#pragma once

#include <optional>
#include <span>

#include "proxy/engine/flow_table/burst_grouping.hpp"
#include "proxy/engine/flow_table/packet_observer.hpp"
#include "proxy/engine/flow_table/parsed_burst.hpp"
#include "proxy/engine/shard/crashed_connections.hpp"
#include "proxy/engine/shard/forwarder.hpp"
#include "proxy/engine/shard/handback_router.hpp"
#include "proxy/engine/shard/handshake_tracker.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Parses received frames, finds their connections, and passes each frame to the component that handles it. Frames
/// without a known connection go to the Forwarder. Thread: the shard's.
class Classifier {
 public:
  /// Components that handle frames. They must outlive the classifier.
  struct Parts {
    SplitFlows& flows;
    EndToEndFlows& end_to_end;
    Forwarder& forwarder;
    HandshakeTracker& handshakes;
    HandbackRouter& handback_router;
    std::optional<CrashedConnections>& crashed_connections;
    CrossTrafficSender& cross_traffic;
  };
  Classifier(const ShardContext& shard, const Parts& parts) : shard_(shard), parts_(parts) {}

  /// Processes all packets of the burst. Afterwards `burst` contains only empty handles.
  void receive(Side in, std::span<packet::Packet> burst, Instant now);
  /// Processes a burst like receive(), and notifies `observer` before and after each frame.
  [[gnu::cold, gnu::noinline]] void receive_observed(Side in, std::span<packet::Packet> burst, Instant now,
                                                     PacketObserver& observer);

 private:
  void receive_one(Side in, packet::Packet& packet, Instant now);
  [[gnu::noinline]] void receive_many(Side in, std::span<packet::Packet> burst, Instant now);
  void receive_chunk(Side in, std::span<packet::Packet> burst, Instant now);
  void receive_chunk_observed(Side in, std::span<packet::Packet> burst, Instant now, PacketObserver& observer);
  [[gnu::flatten, gnu::noinline]] void look_up(Side in, std::span<const packet::Packet> burst);
  [[gnu::flatten, gnu::noinline]] void look_up_one(Side in, const packet::Packet& packet);
  template <typename Key>
  void find_one(const Key& key);
  [[nodiscard]] BurstGrouping::CrossTrafficHandling cross_traffic(Side in) const;
  void prefetch_end_to_end() const;
  /// Sends cross traffic (packets of no tracked connection, such as QUIC) for which an ACK has opened the controller's
  /// window. Then processes the pending events of all flows that the burst has scheduled. Cross traffic is first,
  /// because its packets need no further processing.
  void serve_pending(Instant now) {
    if (parts_.cross_traffic.any_woken()) [[unlikely]]
      parts_.cross_traffic.serve_woken(now);
    parts_.flows.serve_pending(now);
  }
  [[nodiscard]] ConnectionId find(std::size_t at) const;
  void handle(RxPacket& rx, ConnectionId id);
  /// Handles a packet that is not TCP, or a segment of a connection in its handshake or in its handback to the hosts.
  /// Also handles a SYN that reuses the addresses and ports of an ended connection.
  [[gnu::noinline]] void handle_other(RxPacket& rx, ConnectionId id);
  [[gnu::cold, gnu::noinline]] void handle_unparsed(RxPacket& rx);
  [[gnu::noinline]] void handle_new(RxPacket& rx);
  [[gnu::noinline]] void handle_end_to_end(RxPacket& rx, EndToEndId id);
  void clamp_mss(RxPacket& rx) const;
  [[nodiscard, gnu::cold, gnu::noinline]] ConnectionId find_after_reset(const RxPacket& rx, ConnectionId id);
  [[nodiscard]] bool is_reused(const RxPacket& rx, const Flow& flow) const;
  /// Handles a packet of a crashed connection: an earlier run of the program had split it, and acknowledged bytes were
  /// lost. Returns false if the packet belongs to no such connection.
  [[nodiscard, gnu::cold, gnu::noinline]] bool end_crashed(const RxPacket& rx);

  const ShardContext shard_;
  Parts parts_;
  ParsedBurst known_{};  ///< parse results and connection ids of the current burst
  BurstGrouping grouping_;

  /// Value of ConnectionTable::removals() when the connections of the burst were looked up. If the value has changed
  /// since, a stored id may now belong to another connection.
  std::uint32_t removals_ = 0;
};

}  // namespace sluice::proxy
