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

/// Tracks the handshakes of new connections. A SYN is stored in a cache, and its SYN-ACK creates the connection, which
/// is split after the last ACK. The segments of a handshake are forwarded, so that the hosts themselves negotiate
/// options, and detect refusals and timeouts. Only the window of the last ACK may be lowered. Thread: the shard's.
class HandshakeTracker {
 public:
  /// Stores references to its arguments, which must outlive the object.
  HandshakeTracker(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, Forwarder& forwarder,
                   const flow::HashKey& secret);

  /// Starts a drain, or ends it if `on` is false. In a drain, split connections are handed back to their hosts, and no
  /// connection is split.
  void drain(bool on) { draining_ = on; }
  [[nodiscard]] bool draining() const { return draining_; }
  /// True if new connections may be split: no drain is in progress (in which all connections are handed back to their
  /// hosts), and enough packet buffers are free.
  [[nodiscard]] bool accepts_new() const { return !draining_ && !flows_.buffer_quota().refuses_flows(); }

  /// Processes a segment of a connection for which the shard has no state. SYNs of the connection may have been seen
  /// before, but no other segments.
  void on_untracked(RxPacket& rx);
  /// Processes a SYN or SYN-ACK whose numbers do not match the known connection with its addresses and ports. A SYN is
  /// stored in a cache, and the caller must forward it. A SYN-ACK that answers such a SYN replaces the old connection
  /// by a new one. Returns true if the segment was forwarded.
  [[nodiscard, gnu::cold, gnu::noinline]] bool on_conflicting_syn(RxPacket& rx);
  /// Processes a repeated SYN or SYN-ACK that prevents the control of an end-to-end connection. Forwards it, and
  /// discards the state of the connection. `reason` is the counter of the reason. Returns false without a change if the
  /// segment's checksum is wrong.
  [[nodiscard, gnu::cold, gnu::noinline]] bool leave_to_hosts(RxPacket& rx, Counter reason);
  /// Processes a segment of a connection whose handshake is tracked.
  [[gnu::noinline]] void on_handshake_segment(RxPacket& rx, FlowId id);
  /// Records why the connection with this key is not split. `reason` is the counter of the reason, which then also
  /// counts later segments of the connection.
  void record_unsplit(const flow::FlowKey& key, Counter reason, Instant now) {
    unsplit_.record(key, shard_.registry.connections().tag_of(key), reason, now);
  }

 private:
  /// True if the address is in a configured prefix of UEs, or if no prefix is configured.
  [[nodiscard]] bool is_ue(const IpAddress& address) const;
  /// Returns the reason why the SYN cache must not store this segment, or nothing if it may be stored.
  [[nodiscard]] std::optional<Counter> reason_not_to_note(const RxPacket& rx) const;
  /// Returns the reason why the SYN that was answered must not create a connection, or nothing if it may create one.
  [[nodiscard]] std::optional<Counter> reason_not_to_begin(const PolicySettings& settings) const;
  /// Forwards a segment whose connection is not split, and records `reason`, the counter of the reason. Later segments
  /// of the connection are then counted there too.
  void forward_unsplit(RxPacket& rx, Counter reason);
  /// Forwards a segment of a connection without state. Counts it under the reason why its connection is not split, if
  /// that was recorded during the handshake.
  void forward_unknown(RxPacket& rx);
  /// Records the first SYN of a connection.
  void record(const FirstSyn& first);
  /// Starts the priority of short flows over downloads for the UE that has sent this SYN, because its SYN-ACK will pass
  /// the radio queue.
  void expect(const RxPacket& rx);
  /// Processes a segment that may be the answer to a SYN in a cache: a SYN-ACK, a RST, or a segment that prevents the
  /// split. Returns true if it was such an answer and was forwarded.
  [[nodiscard]] bool on_answer_to_syn(RxPacket& rx);
  /// Creates the connection after its SYN-ACK. `first` is the SYN that the SYN-ACK answers. If the connection must not
  /// be split or controlled, records the reason instead. Forwards the SYN-ACK in each case.
  void begin_answered(RxPacket& rx, const FirstSyn& first);
  /// Creates a flow in its handshake. Returns no_id if a limit is reached.
  [[nodiscard]] FlowId begin(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// Allocates a flow for a handshake. If needed, displaces connections in TIME-WAIT and the oldest handshakes. Returns
  /// no_id if no place becomes free.
  [[nodiscard]] FlowId open(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// Removes the flow of the oldest handshake. Does nothing if that handshake is complete, or if its id was reused for
  /// another flow.
  void displace(const EvictionQueue::Entry& oldest, Instant now);
  /// Discards all state of a connection: its flow, its end-to-end connection, or its entry in the table of connections
  /// that were handed back to their hosts.
  void forget(const flow::FlowKey& key, Instant now);
  /// Updates the handshake of a flow with this segment, and splits the connection after the last ACK of the handshake.
  /// Forwards the segment, unless the split flow processes it. Requires that the segment's checksum is correct.
  void follow(RxPacket& rx, FlowId id);
  /// Splits the connection, because this segment is the last ACK of its handshake. Forwards the ACK, perhaps with a
  /// smaller window. If the segment carries data or a FIN, the split flow relays it instead.
  void split(RxPacket& rx, FlowId id);
  /// Tracks the connection end to end, because its policy no longer requires a split.
  void leave_end_to_end(RxPacket& rx, FlowId id);
  /// Limits the window in the last ACK of the handshake to the bytes that the proxy may hold. Returns true if it has
  /// changed the window.
  [[nodiscard]] bool clamp_window(tcp::Segment& ack, const Flow& flow, Side initiator) const;

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  Forwarder& forwarder_;
  SynCache first_syns_;  ///< SYNs of connections for which no answer has been seen

  /// SYNs that conflict with a known connection or with a SYN in first_syns_: same addresses and ports, other sequence
  /// number.
  SynCache conflicting_syns_;
  UnsplitConnections unsplit_;  ///< reasons why connections are not split
  HalfOpen half_open_;          ///< limits the number of handshakes in progress
  bool draining_ = false;
};

}  // namespace sluice::proxy
