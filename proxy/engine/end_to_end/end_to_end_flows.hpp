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

/// Connections that are not split, for example because the key `intercept` of their policy selects `regulate`. The
/// proxy forwards their segments, rewrites the windows in their ACKs, and delays ACKs if their controller requests it.
/// It acknowledges nothing, drops nothing and changes no payload.
///
/// An advertised right edge never moves left, and no window is larger than the host's own. ACKs stay in order, stay
/// ahead of later segments of their host, and are delayed at most by FlowControllerParameters::max_ack_delay.
///
/// Damaged segments pass unchanged and update no state. So do segments with implausible numbers, except that the window
/// which they advertise is recorded. Thread: the shard's.
class EndToEndFlows {
 public:
  static constexpr EndToEndId none = flow::no_flow;

  using Parts = EndToEndParts;
  EndToEndFlows(const ShardConfig& config, const Parts& parts, Instant origin);

  /// Returns the number of end-to-end connections. If a split connection is handed back to its hosts and continues as
  /// an end-to-end connection, it is counted here only after the handback. Until then it is counted as a flow.
  [[nodiscard]] std::uint32_t size() const { return flows_.size() - successors_; }
  [[nodiscard]] bool any() const { return flows_.size() != 0; }
  [[nodiscard]] bool contains(EndToEndId id) const { return flows_.contains(id); }
  void prefetch(EndToEndId id) const { flows_.prefetch(id); }
  /// Starts to track a connection from its first SYN. If the SYN was not forwarded yet, the caller must pass it to
  /// receive() too. If the table is full, up to four of the oldest handshakes are removed. Returns `none` if the table
  /// remains full.
  EndToEndId open(const FirstSyn& first, PolicyIndex policy, Instant now);
  /// Starts to track an end-to-end connection that replaces a split flow after its handback to the hosts. Lookups find
  /// the split flow until inherit() is called. `known` is the state of both directions at the handback. If the
  /// connection has carried data, its first window towards the server is at least `window` bytes. Returns `none` if the
  /// table is full.
  EndToEndId adopt(const KnownConnection& known, Bytes window, Instant now);
  /// Records that a split connection, while it is handed back to its hosts, has advertised a window up to `edge` to the
  /// server. `id` is the end-to-end connection that replaces it.
  void record_advertised(EndToEndId id, tcp::SeqNum edge);
  /// Returns the initial window, in bytes, that is advertised to the server on a connection that replaces a split one.
  /// The window grows gradually from this size.
  [[nodiscard]] Bytes opening_window(EndToEndId id) const { return flows_[id].opening_window; }
  /// Returns the rightmost window edge that the host behind `side`, or the proxy in its name, has advertised to the
  /// sender.
  [[nodiscard]] tcp::SeqNum edge_towards(EndToEndId id, Side side) const {
    const DataWay& way = flows_[id].towards(side);
    return tcp::SeqNum(way.position.sequence_at(way.window.edge()));
  }
  /// Completes the handback of a split connection to its hosts: lookups find the end-to-end connection from now on. The
  /// split flow must be closed before.
  void inherit(EndToEndId id, Instant now);
  /// Activates other policies. Each connection moves to the bearer for its new policy. Delayed ACKs are forwarded and
  /// controllers restart. The window advertised to the server then grows only gradually on connections that have
  /// carried data.
  void rebind(const Policies& policies, Instant now);
  /// Processes a segment that arrived on `in`, and forwards it now or later. `is_valid` is true if its checksum is
  /// good. `must_free_buffers` is true if packet buffers are low, so that no ACK may be delayed.
  [[gnu::flatten]] void receive(EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                                bool is_valid, bool must_free_buffers, Instant now);
  /// True if the connection's policy requires a split. The connection then stays end to end only until it can be split.
  [[nodiscard]] bool to_be_split(EndToEndId id) const { return flows_[id].to_be_split; }
  /// True if the connection can be split just before this segment is processed. The segment must have a correct
  /// checksum, and must not have been passed to track() or receive().
  [[nodiscard]] bool may_be_split(EndToEndId id, Side in, const tcp::Segment& segment) const {
    return candidates_.may_be_split(flows_[id], in, segment);
  }
  /// Tracks a segment of a connection that is to be split later. The caller must pass the segment to receive() too.
  void track(EndToEndId id, Side in, const packet::Packet& packet, const packet::Parsed& parsed) {
    candidates_.track(flows_[id], in, packet, parsed);
  }
  /// Removes the connection, because it becomes a split one. Forwards its delayed ACKs, and returns the tracked state
  /// of its hosts.
  TrackedConnection give_up(EndToEndId id, Instant now);
  /// True if the SYN or SYN-ACK has the sequence numbers of this connection. Any other SYN may start a new connection.
  [[nodiscard]] bool is_own_syn(EndToEndId id, Side in, const tcp::Segment& syn) const {
    return flows_[id].is_own_syn(in, syn);
  }
  /// True if the segment repeats the SYN-ACK of a handshake with other options. It is then unknown which of them the
  /// initiator uses, so that the proxy might read and write windows with a wrong scale.
  [[nodiscard]] bool leaves_options_unclear(EndToEndId id, Side in, const tcp::Segment& syn) const {
    return flows_[id].leaves_options_unclear(in, syn);
  }
  /// True if the segment repeats the SYN or SYN-ACK of a handshake with an MSS below Endpoint::smallest_mss.
  [[nodiscard]] bool announces_small_mss(EndToEndId id, Side in, const tcp::Segment& syn) const {
    return syn.syn.mss < tcp::Endpoint::smallest_mss && flows_[id].is_repeated(in, syn);
  }
  /// Handles a segment that the proxy forwards without evaluating its data: a first fragment, or a segment with IP
  /// options. Later ACKs do not withdraw the window that this segment advertises. If the segment's numbers are
  /// plausible, the connection is not split any more, because the proxy cannot know which data its hosts have received.
  void record_unsplittable(EndToEndId id, Side in, const tcp::Segment& segment, Instant now);
  /// True if the SYN of the host behind `side` had an unfinished checksum, which the host's kernel left to an offload.
  [[nodiscard]] bool leaves_unfinished(EndToEndId id, Side side) const {
    return (flows_[id].unfinished & bit(side)) != 0;
  }
  /// Records whether a SYN or SYN-ACK that arrived on `in` has an unfinished checksum, which the host's kernel left to
  /// an offload.
  void record_checksum(EndToEndId id, Side in, const tcp::Segment& syn, bool is_unfinished) {
    flows_[id].record_checksum(in, syn, is_unfinished);
  }
  /// Prevents a split of the connection, because its SYNs have an option or another property that the proxy does not
  /// support.
  void keep_end_to_end(EndToEndId id) { flows_[id].splittable = false; }
  /// Records that the connection was split before the policies changed.
  void record_split_before(EndToEndId id) { flows_[id].was_split = true; }
  /// Returns the index of the policy that applies to the connection.
  [[nodiscard]] PolicyIndex policy_of(EndToEndId id) const { return parts_.registry.bearer(flows_[id].bearer).policy; }
  /// Removes the connection and forwards its delayed ACKs. `reason` is written into the record of the connection. If
  /// `reason` is null, the phase of the connection determines what is written.
  void close(EndToEndId id, Instant now, const char* reason = nullptr);

  /// Forwards the delayed ACKs that the controllers of the bearer's connections release. Called when a Node-B report
  /// has arrived or reports are missing.
  void on_report(BearerId bearer, Instant now) { held_.on_report(parts_.registry.bearer(bearer), now); }
  /// True if advance() has nothing to do at `now`: no timer has expired, and no delayed ACK must be forwarded to free
  /// its packet buffer.
  [[nodiscard]] bool is_at_rest(Instant now) const { return wheel_.is_quiet(now) && !held_.must_free_buffers(); }
  /// Runs expired timers. Forwards some delayed ACKs if packet buffers are scarce, because each of them occupies one.
  void advance(Instant now) {
    if (held_.must_free_buffers()) [[unlikely]]
      held_.free_some(now);
    wheel_.advance(now, max_timers_at_once, [&](EndToEndId id) { on_due(id, now); });
  }
  /// Returns when advance() must be called next.
  [[nodiscard]] Instant next_deadline() const { return held_.must_free_buffers() ? Instant{} : wheel_.next(); }

  /// Appends snapshots of at most `limit` connections to `out`, for status displays.
  void describe(std::vector<FlowInfo>& out, std::size_t limit);

 private:
  /// Allocates an end-to-end connection and its table entry. Returns `none` if a table is full.
  EndToEndId enter(const flow::FlowKey& key, PolicyIndex policy, Instant now);
  /// Removes the connection of the oldest handshake, which the queue entry `oldest` identifies. Does nothing if that
  /// handshake is complete or its id was reused.
  void displace(const EvictionQueue::Entry& oldest, Instant now);
  /// Processes a SYN, SYN-ACK or RST of the connection.
  [[gnu::cold, gnu::noinline]] void receive_syn_or_reset(EndToEndFlow& flow, EndToEndId id, Side in,
                                                         packet::Packet&& packet, const packet::Parsed& parsed,
                                                         Instant now);
  /// Records the receive window in a segment that is forwarded unchanged, so that later ACKs do not withdraw it.
  [[gnu::cold, gnu::noinline]] void record_announced(EndToEndFlow& flow, EndToEndId id, Side in,
                                                     const tcp::Segment& segment, Instant now);
  /// Completes the handshake if the segment with these `numbers` is the initiator's ACK of the SYN-ACK.
  [[gnu::cold, gnu::noinline]] void track_handshake(EndToEndFlow& flow, Side in, const SegmentNumbers& numbers,
                                                    Instant now);
  /// Passes the record of a connection that ends to the ConnectionSink. `reason` is why it ended; if null, the phase of
  /// the connection determines the reason.
  [[gnu::cold, gnu::noinline]] void record_end(const EndToEndFlow& flow, EndToEndId id, const char* reason) const;
  /// Changes the phase of a connection to open, because its handshake is complete. If both hosts have sent a FIN
  /// already, changes it to closing.
  void establish(EndToEndFlow& flow);
  /// Counts the connection in a bearer (all connections of a UE under one policy) and stores the bearer's id.
  void enter_bearer(EndToEndFlow& flow, BearerId bearer);
  [[nodiscard]] const char* name_of_phase(const EndToEndFlow& flow) const;
  /// Updates the state of the direction in which a segment carries data.
  void receive_data(EndToEndFlow& flow, EndToEndId id, Side in, const packet::Parsed& parsed,
                    const SegmentNumbers& numbers, Instant now);
  /// Passes a data segment to the UE's ACK-based controller. The payload ends `end` bytes after the start of the
  /// stream.
  [[gnu::noinline]] void watch_data(EndToEndFlow& flow, EndToEndId id, const packet::Parsed& parsed, Bytes end,
                                    Instant now);
  /// Processes a segment's acknowledgement of the first `ack` bytes of the stream. Then forwards or delays the segment.
  /// `must_free_buffers` is true if packet buffers are low, so that the segment must not be delayed.
  void receive_ack(EndToEndFlow& flow, EndToEndId id, Side in, packet::Packet&& packet, const packet::Parsed& parsed,
                   Bytes ack, bool must_free_buffers, Instant now);
  /// Forwards a segment. The bearer counts a segment to the UE as `ip_length` bytes sent, because these bytes pass the
  /// radio queue.
  void pass(EndToEndFlow& flow, Side in, packet::Packet&& packet, std::uint16_t ip_length, Instant now);
  /// Handles the connection's timer.
  void on_due(EndToEndId id, Instant now);
  /// Arms the connection's timer at the earliest of its deadlines.
  [[gnu::noinline]] void schedule(const EndToEndFlow& flow, EndToEndId id);
  /// Returns when the connection's state is discarded if no further segment arrives. Returns `never` if the connection
  /// is to replace a split one that is still being handed back.
  [[nodiscard]] Instant forgotten_at(const EndToEndFlow& flow) const;

  const ShardConfig& config_;
  Parts parts_;
  flow::Slab<EndToEndFlow> flows_;
  EndToEndAckControl ack_control_;
  AckRewriter rewriter_;
  HeldAcks held_;
  SplitCandidates candidates_;
  std::uint32_t successors_ = 0;  ///< number of connections that replace a split one whose handback to the hosts is not
                                  ///< complete
  HalfOpen half_open_;
  flow::TimerWheel wheel_;
};

}  // namespace sluice::proxy
