#pragma once

#include <cstdint>
#include <optional>

#include "proxy/engine/end_to_end/syn_cache.hpp"
#include "proxy/engine/flow/half_open.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/shard/forwarder.hpp"
#include "proxy/engine/shard/unsplit_connections.hpp"
#include "proxy/engine/split/handback.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Tracks the handshakes of new connections: a SYN is recorded, its SYN-ACK creates the connection, and after the last
/// ACK it is split. All segments are forwarded unchanged until then. So the hosts themselves negotiate options, and
/// detect refusals and timeouts. Thread: the shard's.
class HandshakeTracker {
 public:
  /// Keeps references to its arguments, which outlive the object.
  HandshakeTracker(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, Forwarder& forwarder,
                   const flow::HashKey& secret);

  /// Starts or stops a drain, in which split connections are handed back and no further connection is split.
  void drain(bool on) { draining_ = on; }
  [[nodiscard]] bool draining() const { return draining_; }
  /// True if connections may be split: the proxy is not handing back all connections, and has memory for new ones.
  [[nodiscard]] bool accepts_new() const { return !draining_ && !flows_.buffer_quota().refuses_flows(); }

  /// Processes a segment of a connection of which at most SYNs were seen.
  void on_untracked(RxPacket& rx);
  /// Processes a SYN or SYN-ACK whose numbers do not match the known connection with its addresses. A SYN is recorded
  /// and still has to be forwarded. A SYN-ACK that answers such a SYN replaces the old connection by a new one. Returns
  /// true if the segment was forwarded.
  [[nodiscard, gnu::cold, gnu::noinline]] bool on_conflicting_syn(RxPacket& rx);
  /// Processes a segment of a connection whose handshake is tracked.
  [[gnu::noinline]] void on_handshake_segment(RxPacket& rx, FlowId id);
  /// Records why the connection with this key is not split. Its later segments are counted under that reason.
  void record_unsplit(const flow::FlowKey& key, Counter reason, Instant now) {
    unsplit_.record(key, shard_.registry.connections().tag_of(key), reason, now);
  }

 private:
  /// True if the address belongs to a configured UE prefix, or if none is configured.
  [[nodiscard]] bool is_ue(const IpAddress& address) const;
  /// Returns the reason why tracking of a connection must not start with this segment, or nothing if it may.
  [[nodiscard]] std::optional<Counter> reason_not_to_note(const RxPacket& rx) const;
  /// Returns the reason why an answered SYN must not create a connection, or nothing if it may.
  [[nodiscard]] std::optional<Counter> reason_not_to_begin(const PolicySettings& settings) const;
  /// Forwards a segment and records why its connection is not split.
  void forward_unsplit(RxPacket& rx, Counter reason);
  /// Forwards a segment of a connection without state, counted under the recorded reason.
  void forward_unknown(RxPacket& rx);
  /// Records the first SYN of a connection.
  void record(const FirstSyn& first);
  /// Starts the period in which short flows have priority, for the UE that has sent a SYN.
  void expect(const RxPacket& rx);
  /// Processes a segment that may answer a recorded SYN. Returns true if it was forwarded.
  [[nodiscard]] bool on_answer_to_syn(RxPacket& rx);
  /// Creates the connection whose SYN this SYN-ACK answers.
  void begin_answered(RxPacket& rx, const FirstSyn& first);
  /// Creates a flow in the handshake phase; no_id if a limit is reached.
  [[nodiscard]] FlowId begin(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// Allocates a flow for a handshake, displacing the oldest handshakes if necessary.
  [[nodiscard]] FlowId open(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// Removes the oldest handshake, unless it is complete or its id was reused.
  void displace(const EvictionQueue::Entry& oldest, Instant now);
  /// Discards all state of a connection that is not split: its flow, its end-to-end connection, or its entry among the
  /// connections that were handed back.
  void forget(const flow::FlowKey& key, Instant now);
  /// Advances the handshake of a flow by a segment with a good checksum.
  void follow(RxPacket& rx, FlowId id);
  /// Splits the connection, because this segment completes its handshake.
  void split(RxPacket& rx, FlowId id);
  /// Tracks the connection end to end, because its policy no longer splits.
  void leave_end_to_end(RxPacket& rx, FlowId id);
  /// Limits the window of the handshake's last ACK to the bytes that the proxy may hold. Returns true if the window was
  /// changed.
  [[nodiscard]] bool clamp_window(tcp::Segment& ack, const Flow& flow, Side initiator) const;

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  Forwarder& forwarder_;
  SynCache first_syns_;  ///< SYNs of connections of which only the SYN was seen

  /// SYNs with the addresses of a known connection, or with another sequence number than a recorded SYN.
  SynCache conflicting_syns_;
  UnsplitConnections unsplit_;  ///< reasons why connections are not split, by connection
  HalfOpen half_open_;          ///< limits the number of handshakes in progress
  bool draining_ = false;
};

}  // namespace sluice::proxy
