#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "dataplane/tcp/accurate_ecn.hpp"
#include "dataplane/tcp/paced_sender.hpp"
#include "proxy/engine/end_to_end/end_to_end_flows.hpp"
#include "proxy/engine/end_to_end/handshake.hpp"
#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/flow_journal.hpp"
#include "proxy/engine/flow_table/parsed_burst.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"
#include "proxy/engine/rate_control/budget_sharing.hpp"
#include "proxy/engine/rate_control/receive_window_control.hpp"
#include "proxy/engine/rate_control/split_flow_controllers.hpp"
#include "proxy/engine/rate_control/uplink_aqm.hpp"
#include "proxy/engine/relay/relay.hpp"
#include "proxy/engine/relay/relay_buffer_quota.hpp"
#include "proxy/engine/relay/stall_timeout.hpp"
#include "proxy/engine/relay/time_wait_queue.hpp"
#include "proxy/engine/relay/undelivered_ack_limit.hpp"
#include "proxy/engine/split/flow_timers.hpp"
#include "proxy/engine/split/handback.hpp"
#include "proxy/engine/split/pending_flows.hpp"

namespace sluice::proxy {

/// Split flow whose events are being processed or that has just received a segment, with its id, its bearer and the
/// time.
struct ServedFlow {
  Flow& flow;
  FlowId id;
  Bearer& bearer;
  Instant now;
};

/// Configuration and ECN counters of one leg of a connection that uses accurate ECN (RFC 9768).
struct AccurateLeg {
  tcp::EndpointConfig config;
  tcp::AccurateEcn counters;

  /// Copies the configuration `common` into `config`, and adds a pointer to `counters`. Returns `config`, with which
  /// the endpoint of a new connection is opened.
  const tcp::EndpointConfig& begin(const tcp::EndpointConfig& common) {
    config = common;
    config.accurate_ecn = &counters;
    return config;
  }
};

/// All split connections of a shard. Received packets and timers schedule flows. Each scheduled flow is served once
/// before the burst ends: payload is relayed, windows are updated, and segments are sent. Flows that have ended are
/// closed. Thread: the shard's.
///
/// Invariants: the journal is written before a segment that acknowledges data is sent. After a crash it thus shows
/// every connection that has lost acknowledged bytes. Data to the UE stays within what the bearer's controller allows.
/// After the events of a flow were processed, the sums of the bearer contain the current values of the flow.
class SplitFlows {
 public:
  /// Stores references to its arguments, which must outlive the object.
  SplitFlows(const ShardContext& shard, EndToEndFlows& end_to_end, UplinkAqm& uplink, FlowJournal journal,
             const flow::HashKey& secret);

  [[nodiscard]] RelayBufferQuota& buffer_quota() { return buffer_quota_; }
  [[nodiscard]] const RelayBufferQuota& buffer_quota() const { return buffer_quota_; }
  [[nodiscard]] SplitFlowControllers& flow_controllers() { return flow_controllers_; }
  /// Removes the flow from the rate controllers of `bearer`, because the flow ends or moves to another bearer.
  void leave(Flow& flow, FlowId id, Bearer& bearer) {
    flow_controllers_.forget(flow, bearer);
    receive_windows_.uploads().forget(flow);
    BudgetSharing::record_bottleneck(flow, bearer, false);
    if (bearer.rate_control().uses_ack_feedback()) budget_sharing_.forget(id, bearer);
  }
  [[nodiscard]] Handback& handback() { return handback_; }
  [[nodiscard]] const Handback& handback() const { return handback_; }

  /// Returns the endpoint configurations of the active policies for a new connection, indexed by Side. The
  /// configurations outlive the connection. With pacing or accurate ECN, the connection gets its own copy, because each
  /// leg needs state of its own for that. The options of both SYNs must be known.
  [[nodiscard]] handshake::LegConfigs endpoint_configs(const Flow& flow, FlowId id);
  /// Returns the receive window that the proxy first advertises to the host behind `from`. The flow is about to be
  /// split.
  [[nodiscard]] Bytes first_window(const Flow& flow, Side from) const;
  /// Adapts the shard to a new maximum frame length of the port on `side`, and changes the segment size of all flows
  /// accordingly.
  void set_port(Side side, const packet::LinkLimit& limit, Instant now);
  /// Sets up the journal, the records and the ACK limits of a flow after its endpoints were created, and marks its
  /// bearer as used.
  void begin(Flow& flow, FlowId id, Instant now);
  /// True if the packet at index `at` belongs to a split flow, so that receive() can process it.
  [[nodiscard]] bool takes(const ParsedBurst& known, std::size_t at) const { return flow_of(known, at) != nullptr; }
  /// Processes packets of a burst from index `at` on, up to the first one for which takes() is false. Returns the index
  /// of that packet, or the size of the burst. Requires takes(known, at). Neither adds nor removes a connection.
  std::size_t receive(Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at, Instant now);
  /// Processes one segment of the flow. If the packet is stored or forwarded, it is moved out of `rx`.
  void receive(RxPacket& rx, FlowId id);

  /// Schedules the flow because of `events`: before the burst ends, its payload is relayed and its legs send.
  void schedule(Flow& flow, FlowId id, StreamEvents events) { pending_.schedule(flow, id, events); }
  /// True if any flow is scheduled, so that its pending events must be processed before the burst ends.
  [[nodiscard]] bool has_pending() const { return pending_.any(); }
  /// Processes the pending events of all scheduled flows.
  void serve_pending(Instant now) {
    if (pending_.any()) serve_all_pending(now);
  }
  /// Processes the pending events of one flow at once, if it is scheduled. The flow may be closed then.
  [[gnu::cold, gnu::noinline]] void serve_one(FlowId id, Instant now);
  /// Makes the flow send to the UE, at most `most` IP bytes.
  void send_to_radio(Flow& flow, Bearer& bearer, Bytes most, Instant now) {
    emit(flow, bearer, Side::radio, most, Budget::all, now);
  }
  /// Makes the UE's flows send bytes that the ACK-based controller allows but no flow has used. Called when the
  /// controller allows more bytes although no flow had an event.
  void use_budget(Bearer& bearer, Instant now);
  /// Requests the release of the flow (its handback to the hosts) for `reason`. With ReleaseReason::none, cancels the
  /// request if the handback has not begun. See Handback::request_release().
  void request_release(Flow& flow, FlowId id, ReleaseReason reason) {
    if (handback_.request_release(flow, reason)) schedule(flow, id, StreamEvents::all);
  }
  /// Handles the expiry of a flow's timer.
  void on_due(FlowId id, Instant now);
  /// Closes the oldest flow in TIME-WAIT, if there is one, so that a new connection can use its place in the flow
  /// table.
  [[gnu::cold, gnu::noinline]] void make_room(Instant now);
  /// Ends the flow at once, because the proxy stops. If each host has received all data that was acknowledged to the
  /// other one, the hosts continue without the proxy. Otherwise both hosts get a RST. Returns false if no buffer was
  /// free for the RST.
  [[nodiscard, gnu::cold, gnu::noinline]] bool end_now(Flow& flow, FlowId id, Instant now);
  /// Removes the flow and frees everything that belongs to it. An end-to-end connection that replaces the flow after
  /// its handback to the hosts (Flow::successor) continues, unless both hosts have closed the connection.
  [[gnu::noinline]] void close(FlowId id, Instant now);

 private:
  /// Selects how many of the bytes that the ACK-based controller allows to all flows of a UE one flow may send: only
  /// its own part, or also what other flows leave unused.
  enum class Budget : std::uint8_t { own, all };

  // --- receive path (rx_path.cpp): in-order data takes the cut-through, a pure ACK opens the peer's window, and
  // anything else updates the leg and schedules the flow

  /// Returns the split flow of the packet at index `at`. Null for a SYN or a packet that is not TCP. Also null if the
  /// flow is not split or is being handed back to its hosts.
  [[nodiscard]] Flow* flow_of(const ParsedBurst& known, std::size_t at) const {
    const ConnectionId id = known.id(at);
    if (!known.is_tcp(at) || !shard_.registry.connections().is_flow(id)) return nullptr;
    Flow& flow = shard_.registry.flow(id);
    return flow.phase == FlowPhase::split && !known.parsed[at].segment.flags.syn() ? &flow : nullptr;
  }
  [[nodiscard]] Bearer* ack_controlled_bearer(const Flow& flow) const;
  template <Side in>
  bool deliver_segment(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow, FlowId id, Instant now);
  template <Side in>
  [[gnu::cold, gnu::noinline]] void deliver_rerouted(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow,
                                                     FlowId id, Instant now);
  template <Side in>
  [[gnu::cold, gnu::noinline]] void deliver_marked(packet::Packet& packet, const packet::Parsed& parsed, Flow& flow,
                                                   FlowId id, Instant now);
  template <Side in>
  std::size_t deliver_train(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed, Flow& flow,
                            FlowId id, Instant now);
  template <Side in>
  std::size_t receive_some(std::span<packet::Packet> packets, std::span<const packet::Parsed> parsed, Flow& flow,
                           FlowId id, Instant now);
  template <Side in>
  [[gnu::flatten, gnu::noinline]] std::size_t receive_run(std::span<packet::Packet> packets,
                                                          std::span<const packet::Parsed> parsed, Flow& flow, FlowId id,
                                                          Instant now);
  template <Side in>
  [[gnu::flatten, gnu::noinline]] std::size_t receive_burst(std::span<packet::Packet> burst, const ParsedBurst& known,
                                                            std::size_t at, Instant now);

  // --- pure ACKs (pure_ack.cpp): advance SND.UNA on the receiving leg and open the peer leg's receive window

  /// Processes a pure ACK that arrived on `in`, if its leg has no loss, reordering or pending FIN. The effect equals
  /// that of the slow path (deliver_segment()). Changes nothing and returns false if the segment does not qualify.
  template <Side in>
  bool receive_pure_ack(packet::Packet& packet, const tcp::Segment& segment, Flow& flow, FlowId id, Instant now);
  [[gnu::flatten, gnu::noinline]] bool controller_has_opened_window(Flow& flow, Bearer& bearer, Instant now);
  template <Side in>
  bool has_opened_window(const ServedFlow& served, std::uint32_t acked);
  template <Side in>
  void after_pure_ack(const ServedFlow& served, std::uint32_t acked);

  // --- cut-through (cut_through.cpp): data of a connection on the fast path is forwarded at once in the frame in which
  // it arrived. Sequence numbers are the hosts' own, so only acknowledgement number, window and TSecr are rewritten.

  /// Forwards as many segments as possible of a GRO run (consecutive segments of a flow) that arrived on `in`. Returns
  /// how many; the others are unchanged. Requires that the first segment has a correct checksum and the link headers of
  /// its leg. Checks the other segments itself.
  template <Side in>
  std::size_t cut_through(Flow& flow, FlowId id, std::span<packet::Packet> packets,
                          std::span<const packet::Parsed> parsed, Instant now);
  std::size_t coalesce(const Leg& to, std::span<const packet::Packet> packets, std::span<const packet::Parsed> parsed,
                       Bytes room, Bytes most);
  bool is_idle_after_cut_through(const ServedFlow& served);
  [[gnu::flatten, gnu::noinline]] bool begin_transfer(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  template <Side in>
  void finish_cut_through(const ServedFlow& served, bool first_waited);

  // --- transmission on both legs (transmit.cpp), with the accounting that follows. Flows that share the ACK-based
  // window use what another one leaves, in turn and short flows first.

  /// Makes both legs send as much as their windows allow. Returns true if data may have been sent to the server, or an
  /// ACK to the UE. The caller must then update the bearer's sums (BearerLoad).
  bool emit(Flow& flow, Bearer& bearer, Instant now);
  /// Makes the leg on `side` send as much as its windows allow. To the UE it sends at most `most` IP bytes.
  void emit(Flow& flow, Bearer& bearer, Side side, Bytes most, Budget budget, Instant now);
  /// Adds `sent` IP bytes, which were just sent to the UE, to the counts of bearer, flow and controllers.
  void count_to_radio(Flow& flow, Bearer& bearer, Bytes sent, Instant now);
  /// Makes a few flows of the UE send bytes that the ACK-based controller allows but no flow has used, in round-robin
  /// order. The number of flows is limited, because the next call follows soon: after the data that they send, or after
  /// ACKs.
  [[gnu::noinline]] void distribute_budget(Bearer& bearer, Instant now);
  void emit_round_robin(Bearer& bearer, std::uint32_t count, bool short_flow, Instant now);

  // --- service (split_flows.cpp)

  /// True if only the buffer quota limits the windows of this flow. No controller may limit the flow or get its ACKs,
  /// and no ACK may be withheld. The flow must not be short, and it must have no unsent bytes.
  [[nodiscard]] static bool is_plain(const Flow& flow, const Bearer& bearer) {
    return !bearer.rate_control().is_rate_controlled() && !bearer.rate_control().uses_ack_feedback() &&
           !UndeliveredAckLimit::waits(flow) && !flow.share.short_flow && flow.share.backlog == 0;
  }
  /// Updates the flow's journal entry (its record in the state file) if the flow's exposure has begun or ended. A flow
  /// is exposed while bytes are acknowledged to one host and not by the other. Must be called before an ACK for data is
  /// sent.
  void keep_journal(Flow& flow, FlowId id) {
    if (!journal_.keeps()) return;
    if (const bool exposed = relay::exposing(flow); exposed != flow.journaled) write_journal(flow, id, exposed);
  }
  /// Counts the UE's data segments in the limit of its uploads. Unless that limit keeps the queue of the UE's modem
  /// short, also passes their size to the bearer's controller. Pure acknowledgements do not count.
  void count_uploaded(Bearer& bearer, FlowId id, std::span<const packet::Parsed> parsed, Instant now) {
    Bytes bytes;
    Bytes payload;
    for (const packet::Parsed& each : parsed) {
      payload += Bytes(each.segment.payload_len);
      bytes += each.segment.payload_len != 0 ? Bytes(each.ip_length) : Bytes{};
    }
    if (bytes > Bytes{} && !receive_windows_.uploads().count(id, payload, now)) bearer.count_uploaded(bytes, now);
  }
  /// Adds received segments of a split connection to the shard's byte counters and to the connection's record. Adds
  /// data from the UE to the uplink bytes that its controller counts.
  void count_received(const Flow& flow, FlowId id, Side in, std::span<const packet::Parsed> parsed, Instant now) {
    std::uint64_t bytes = 0;
    for (const packet::Parsed& each : parsed) bytes += each.ip_length;
    Bearer& bearer = shard_.registry.bearer(flow.bearer);
    const bool controlled = bearer.rate_control().is_rate_controlled();
    if (in == Side::radio && bearer.rate_control().uses_ack_feedback()) {
      count_uploaded(bearer, id, parsed, now);
      if (bearer.has_uplink()) [[unlikely]]
        UplinkAqm::count(bearer, id, parsed, now);
    }
    shard_.counters.add_controlled_bytes(controlled, bytes + parsed.size() * parsed.front().ip_offset);
    shard_.records.count(ConnectionRecords::Table::split, id, in, bytes, parsed.size());
  }
  /// Passes an ACK of the UE to the ACK-based controller of the bearer. Schedules waiting cross traffic (packets of no
  /// tracked connection, such as QUIC), because the ACK may have opened the controller's window for it. Requires that
  /// the bearer's controller gets ACKs as input.
  void feed_controller(Flow& flow, FlowId id, Bearer& bearer, const tcp::AckSample& ack_sample, Instant now) {
    budget_sharing_.on_ack(flow, id, bearer, ack_sample, now);
    if (bearer.has_cross_traffic_queue()) [[unlikely]]
      shard_.registry.wake_cross_traffic(bearer.id);
  }
  /// Writes to the flow's journal entry, and stores in the flow, whether it is `exposed`: bytes are acknowledged to one
  /// host and not by the other.
  [[gnu::noinline]] void write_journal(Flow& flow, FlowId id, bool exposed);
  /// Processes the events of all scheduled flows, including flows that are scheduled during the call.
  [[gnu::flatten, gnu::noinline]] void serve_all_pending(Instant now);
  /// Processes the pending events of one flow: relays payload, updates windows, sends on both legs, and sets the timer.
  void serve(Flow& flow, FlowId id, Instant now);
  /// Sends the ACK or window update that is due to the host behind `in`. Called if the flow has no other work.
  template <Side in>
  void send_due(Flow& flow, FlowId id, Instant now);
  /// True if the buffer quota must be computed again before a segment to the host behind `in` advertises a window. That
  /// is so if acknowledged bytes have opened the window since the quota was computed. In addition, the receive-buffer
  /// demand must not have been measured in the last 10 ms.
  template <Side in>
  [[nodiscard]] bool window_is_due(const Flow& flow, Instant now) const;
  /// Processes the pending events of a flow on the slow path. The reason is that its release is requested, or that a
  /// leg is not established, in recovery, reordering or closing.
  [[gnu::flatten, gnu::noinline]] void serve_slow_path(Flow& flow, FlowId id, Instant now);
  /// Processes the pending events of a flow of which a leg is in recovery, reordering or closing, and which is not
  /// being released. Returns false if the flow was closed.
  bool serve_repairing(const ServedFlow& served);
  /// Processes the pending events of a flow whose handback to its hosts is requested, and advances the handback.
  /// Returns false if the flow was closed.
  [[gnu::cold, gnu::noinline]] bool serve_releasing(const ServedFlow& served);
  /// Relays payload, FIN, RST, keep-alives and windows, then sends on both legs.
  void relay_ends(const ServedFlow& served);
  /// True if both FINs are acknowledged, and neither leg has data, ACK, window update or RST to send. False while ACKs
  /// are withheld, a per-flow window controller runs, or Node-B reports must still update a window.
  [[nodiscard]] static bool is_fully_closed(const Flow& flow, const Bearer& bearer, Instant now);
  /// Sends on both legs. If a leg has then ended abnormally (by a reset, a timeout or an abort), resets the other leg.
  void emit_with_ends(const ServedFlow& served);
  /// Forwards the abnormal end (reset or timeout) of one leg to the other leg, which sends a RST.
  [[gnu::noinline]] void relay_abnormal_end(const ServedFlow& served);
  /// Updates the flow's part in the sums of its bearer (BearerLoad), such as unsent bytes and advertised windows. Also
  /// updates the reservation of the advertised windows in the buffer budget. `events` are the events on the flow's
  /// streams since the last update.
  void update_accounting(Flow& flow, Bearer& bearer, StreamEvents events);
  /// Releases an idle flow of which the proxy holds no bytes: at once, or when each host has counted as many ECN marks
  /// as the proxy has reported to the other host in its name.
  [[gnu::cold, gnu::noinline]] void release_idle(Flow& flow, FlowId id, Instant now);
  /// Handles the timer of a flow in TIME-WAIT. Returns false if the flow must be served instead, because a leg has
  /// something to send or a release is requested.
  bool on_time_wait_timer(Flow& flow, FlowId id, Instant now);
  /// Puts the flow into TIME-WAIT. If the queue of flows in TIME-WAIT was full, closes the oldest one.
  void enter_time_wait(Flow& flow, FlowId id, Instant now);
  /// Counts the end of a flow whose two legs are closed, and closes the flow.
  void end_finished(Flow& flow, FlowId id, Instant now);
  /// Closes the flow `id` in TIME-WAIT, because its entry is needed for a new connection. Does nothing if `id` is
  /// no_id.
  void displace(FlowId id, Instant now);
  /// Passes the connection's record to the receiver of records (ConnectionSink). Called because the connection ends or
  /// is handed back to its hosts.
  [[gnu::cold, gnu::noinline]] void record_end(const Flow& flow, FlowId id) const;
  /// Counts how the flow ended. If both hosts have closed it, also records its completion time.
  [[gnu::noinline]] void count_end(const Flow& flow, FlowId id);

  const ShardContext shard_;
  UndeliveredAckLimit ack_limit_;
  RelayBufferQuota buffer_quota_;
  ReceiveWindowControl receive_windows_;
  SplitFlowControllers flow_controllers_;
  BudgetSharing budget_sharing_;
  FlowTimers flow_timers_;
  FlowJournal journal_;
  PendingFlows pending_;
  EndToEndFlows& end_to_end_;
  UplinkAqm& uplink_;
  StallTimeout stall_timeout_;
  Handback handback_;
  TimeWaitQueue time_wait_;

  /// pacing state, indexed by FlowId; uses no memory if no pacing is configured
  flow::LazyArray<std::array<tcp::PacedEndpoint, 2>> paced_;
  /// counters of legs with accurate ECN, indexed by FlowId; uses memory only for ids that have had such a connection
  flow::LazyArray<std::array<AccurateLeg, 2>> accurate_;
  /// time at which each flow was split, in tick::ms (about 1 ms), indexed by FlowId
  flow::LazyArray<std::uint32_t> begun_;
};

}  // namespace sluice::proxy
