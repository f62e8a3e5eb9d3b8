#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/flow/slab.hpp"
#include "dataplane/flow/timer_wheel.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/base/transmit_queue.hpp"
#include "proxy/engine/end_to_end/end_to_end_ack_control.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/held_acks.hpp"
#include "proxy/engine/end_to_end/parts.hpp"
#include "proxy/engine/end_to_end/segment_numbers.hpp"
#include "proxy/engine/end_to_end/split_candidates.hpp"
#include "proxy/engine/end_to_end/syn_cache.hpp"
#include "proxy/engine/flow/buffer_pool_budget.hpp"
#include "proxy/engine/flow/half_open.hpp"
#include "proxy/engine/flow_table/registry.hpp"

namespace sluice::proxy {

/// Connections that are not split (interception `regulate`). The proxy forwards their segments, rewrites windows in
/// their ACKs, and delays ACKs as their controller requests. It acknowledges nothing, drops nothing and changes no
/// payload.
///
///  - A right edge never moves left, and a window is never larger than its host offers.
///  - ACKs keep their order, precede later segments of the same host, and are delayed at most by LawParameters::hold.
///  - Damaged segments and segments with implausible numbers pass unchanged and update no state.
///
/// Thread: its shard's.
class EndToEndFlows {
 public:
  static constexpr EndToEndId none = flow::no_flow;

  using Parts = EndToEndParts;
  EndToEndFlows(const ShardConfig& config, const Parts& parts, Instant origin);

  /// Returns the number of end-to-end connections. One that replaces a split connection still in handback is not
  /// included, because the split connection counts as a flow.
  [[nodiscard]] std::uint32_t size() const { return flows_.size() - successors_; }
  [[nodiscard]] bool any() const { return flows_.size() != 0; }
  [[nodiscard]] bool contains(EndToEndId id) const { return flows_.contains(id); }
  void prefetch(EndToEndId id) const { flows_.prefetch(id); }
  /// Tracks a connection from its first SYN on. If the SYN has not been forwarded yet, it must be passed to receive()
  /// as well. If the table is full, the oldest handshakes are displaced. Returns `none` if established connections use
  /// all places.
  EndToEndId open(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// Tracks a connection from its middle on, because it replaces a split flow. Lookups find the split flow until
  /// inherit(). `window`: how many bytes the server may at first be ahead of the UE. Returns `none` if the table is
  /// full.
  EndToEndId adopt(const KnownConnection& known, Bytes window, Instant now);
  /// Records that the split connection which this one replaces has advertised a window up to `edge` to the server
  /// during its handback.
  void record_advertised(EndToEndId id, tcp::SeqNum edge);
  /// Returns the window with which a connection starts that replaces a split one; from there its window opens
  /// gradually.
  [[nodiscard]] Bytes opening_window(EndToEndId id) const { return flows_[id].opening_window; }
  /// Returns the furthest right edge advertised, on behalf of the host behind `side`, to the host that sends to it.
  [[nodiscard]] tcp::SeqNum edge_towards(EndToEndId id, Side side) const {
    const DataWay& way = flows_[id].towards(side);
    return tcp::SeqNum(way.position.sequence_at(way.window.edge()));
  }
  /// Completes a handback (a split connection becomes end to end): the split flow is closed, so lookups find this
  /// connection from now on.
  void inherit(EndToEndId id, Instant now);
  /// Activates other policies. Every connection moves to the bearer (UE state) of its new policy, delayed ACKs are
  /// forwarded, and controllers restart with the data in flight.
  void rebind(const Policies& policies, Instant now);
  /// Processes a segment that arrived on `in`, and forwards it now or later. `is_valid` is true if its checksum is
  /// good. `in_need` is true if packet buffers are low, so that no ACK may be delayed.
  [[gnu::flatten]] void receive(EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                                bool is_valid, bool in_need, Instant now);
  /// True if the connection's policy splits connections, so that it is only unsplit until it can be split.
  [[nodiscard]] bool to_be_split(EndToEndId id) const { return flows_[id].to_be_split; }
  /// True if the connection can be split before this segment is processed. Requires that the segment was not tracked or
  /// received yet, and has a good checksum.
  [[nodiscard]] bool may_be_split(EndToEndId id, Side in, const tcp::Segment& segment) const {
    return candidates_.may_be_split(flows_[id], in, segment);
  }
  /// Tracks a segment of a connection that is to be split but cannot be split yet. The segment must also be passed to
  /// receive().
  void track(EndToEndId id, Side in, const packet::Packet& packet, const packet::Parsed& parsed) {
    candidates_.track(flows_[id], in, packet, parsed);
  }
  /// Removes the connection, because it is now split. Its withheld ACKs are forwarded. Returns the tracked state of its
  /// hosts.
  TrackedConnection give_up(EndToEndId id, Instant now);
  /// True if the SYN or SYN-ACK belongs to this connection by its numbers; another SYN may start a new connection.
  [[nodiscard]] bool is_own_syn(EndToEndId id, Side in, const tcp::Segment& syn) const {
    return flows_[id].is_own_syn(in, syn);
  }
  /// Handles the first fragment of a segment that cannot be split. If its numbers are plausible, the connection stays
  /// unsplit, because it is unknown which data its hosts have received.
  void record_unsplittable(EndToEndId id, Side in, const tcp::Segment& segment);
  /// True if the SYN of the host behind `side` had an unfinished checksum.
  [[nodiscard]] bool leaves_unfinished(EndToEndId id, Side side) const {
    return (flows_[id].unfinished & bit(side)) != 0;
  }
  /// Records the checksum state of a SYN or SYN-ACK that arrived on `in`.
  void record_checksum(EndToEndId id, Side in, const tcp::Segment& syn, bool is_unfinished) {
    flows_[id].record_checksum(in, syn, is_unfinished);
  }
  /// Excludes the connection from splitting, because its SYNs contain something that cannot be split.
  void keep_end_to_end(EndToEndId id) { flows_[id].splittable = false; }
  /// Records that the connection was split before the policies were replaced.
  void record_split_before(EndToEndId id) { flows_[id].was_split = true; }
  /// Returns the policy that the connection belongs to.
  [[nodiscard]] PolicyIndex policy_of(EndToEndId id) const { return parts_.registry.bearer(flows_[id].bearer).policy; }
  /// Removes the connection and forwards its withheld ACKs. `reason` is the reason in the connection's record; null if
  /// the phase shows it.
  void close(EndToEndId id, Instant now, const char* reason = nullptr);

  /// Forwards those delayed ACKs of the bearer's connections that their controllers release, because a Node-B report
  /// has arrived or reports are missing.
  void on_report(BearerId bearer, Instant now) { held_.on_report(parts_.registry.bearer(bearer), now); }
  /// True if no timer expires and no delayed ACK must be released at `now`, so advance() has nothing to do.
  [[nodiscard]] bool is_at_rest(Instant now) const { return wheel_.is_quiet(now) && !held_.in_need(); }
  /// Runs expired timers, and releases some delayed ACKs if packet buffers are low.
  void advance(Instant now) {
    if (held_.in_need()) [[unlikely]]
      held_.free_some(now);
    wheel_.advance(now, max_timers_at_once, [&](EndToEndId id) { on_due(id, now); });
  }
  /// Returns when advance() is due next.
  [[nodiscard]] Instant next_deadline() const { return held_.in_need() ? Instant{} : wheel_.next(); }

  /// Appends a snapshot of each connection to `out`, at most `limit`, for display.
  void describe(std::vector<FlowInfo>& out, std::size_t limit);

 private:
  /// Allocates an end-to-end connection and its table entry; returns `none` if a table is full.
  EndToEndId enter(const flow::FlowKey& key, PolicyIndex policy, Instant now);
  /// Removes the oldest handshake, given its queue entry, unless that handshake is complete or its id was reused.
  void displace(const EvictionQueue::Entry& oldest, Instant now);
  /// Processes a SYN, SYN-ACK or RST of the connection.
  [[gnu::cold, gnu::noinline]] void receive_syn_or_reset(EndToEndFlow& flow, EndToEndId id, Side in,
                                                         packet::Packet&& packet, const packet::Parsed& parsed,
                                                         Instant now);
  /// Completes the handshake if the segment is the initiator's ACK of the SYN-ACK.
  [[gnu::cold, gnu::noinline]] void track_handshake(EndToEndFlow& flow, Side in, const SegmentNumbers& numbers,
                                                    Instant now);
  /// Passes the connection's record to the sink, because the connection ends.
  [[gnu::cold, gnu::noinline]] void record_end(const EndToEndFlow& flow, EndToEndId id, const char* reason) const;
  /// Starts the phase in which ACKs are rewritten, for a connection whose handshake is complete.
  void establish(EndToEndFlow& flow);
  /// Assigns the connection to a bearer (the UE's connections under one policy) and counts it there.
  void enter_bearer(EndToEndFlow& flow, BearerId bearer);
  [[nodiscard]] const char* name_of_phase(const EndToEndFlow& flow) const;
  /// Updates the state of the direction in which a segment with payload passes.
  void receive_data(EndToEndFlow& flow, EndToEndId id, Side in, const packet::Parsed& parsed,
                    const SegmentNumbers& numbers, Instant now);
  /// Passes a data segment to the ACK-based controller of the UE.
  [[gnu::noinline]] void watch_data(EndToEndFlow& flow, EndToEndId id, const packet::Parsed& parsed, Bytes end,
                                    Instant now);
  /// Processes the acknowledgement of a segment, and forwards or delays the segment.
  void receive_ack(EndToEndFlow& flow, EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                   Bytes ack, bool in_need, Instant now);
  /// Forwards a segment. If it goes to the UE, it is counted in the bearer (the UE's connections under one policy).
  void pass(EndToEndFlow& flow, Side in, packet::Packet&& packet, std::uint16_t ip_length, Instant now);
  /// Handles the connection's timer.
  void on_due(EndToEndId id, Instant now);
  /// Arms the connection's timer at the earliest of its deadlines.
  [[gnu::noinline]] void schedule(const EndToEndFlow& flow, EndToEndId id);
  /// Returns when the connection's state is discarded if no further segment arrives.
  [[nodiscard]] Instant forgotten_at(const EndToEndFlow& flow) const;

  const ShardConfig& config_;
  Parts parts_;
  flow::Slab<EndToEndFlow> flows_;
  EndToEndAckControl ack_control_;
  AckRewriter rewriter_;
  HeldAcks held_;
  SplitCandidates candidates_;
  std::uint32_t successors_ = 0;  ///< number of connections that replace a split one which is being handed back
  HalfOpen half_open_;
  flow::TimerWheel wheel_;
};

}  // namespace sluice::proxy
