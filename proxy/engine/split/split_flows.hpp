#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "dataplane/tcp/paced_sender.hpp"
#include "proxy/engine/end_to_end/end_to_end_flows.hpp"
#include "proxy/engine/end_to_end/handshake.hpp"
#include "proxy/engine/relay/stall_timeout.hpp"
#include "proxy/engine/relay/time_wait_queue.hpp"
#include "proxy/engine/split/handback.hpp"
#include "proxy/engine/split/rx_path.hpp"
#include "proxy/engine/split/split_context.hpp"
#include "proxy/engine/split/transmit.hpp"

namespace sluice::proxy {

/// Holds all split connections of a shard. Received packets and timers schedule flows. Each scheduled flow is served
/// once before the burst ends: payload is relayed, windows are updated and segments are sent. Flows that have ended are
/// closed. Thread: the shard's.
class SplitFlows {
 public:
  /// Keeps references to its arguments, which outlive it.
  SplitFlows(const ShardContext& shard, EndToEndFlows& end_to_end, FlowJournal journal, const flow::HashKey& secret);

  [[nodiscard]] RelayBufferQuota& buffer_quota() { return context_.buffer_quota; }
  [[nodiscard]] const RelayBufferQuota& buffer_quota() const { return context_.buffer_quota; }
  [[nodiscard]] SplitFlowControllers& flow_controllers() { return context_.flow_controllers; }
  /// Removes the flow from the controllers of `bearer`, because the flow ends or moves to another bearer.
  void leave(Flow& flow, FlowId id, Bearer& bearer) {
    context_.flow_controllers.forget(flow, bearer);
    if (bearer.rate_control().uses_ack_feedback()) context_.budget_sharing.forget(id, bearer);
  }
  [[nodiscard]] Handback& handback() { return handback_; }
  [[nodiscard]] const Handback& handback() const { return handback_; }

  /// Returns the endpoint configurations of a new connection from the active policies, indexed by Side; they outlive
  /// the connection. A connection with pacing gets its own copy with pacing state.
  [[nodiscard]] handshake::LegConfigs endpoint_configs(FlowId id);
  /// Returns the first window for the host behind `from`, of a flow that is about to be split.
  [[nodiscard]] Bytes first_window(const Flow& flow, Side from) const;
  /// Sets the maximum frame length of the port on `side`, and adapts the segment size of all flows.
  void set_port(Side side, const packet::LinkLimit& limit, Instant now);
  /// Starts service of a flow whose endpoints have just been established.
  void begin(Flow& flow, FlowId id, Instant now);
  /// True if packet `at` belongs to a split flow, so that receive() can process it.
  [[nodiscard]] bool takes(const ParsedBurst& known, std::size_t at) const {
    return rx_path::flow_of(context_, known, at) != nullptr;
  }
  /// Processes packets of a burst from index `at` on, see rx_path::receive(). Returns the index of the first packet
  /// that it did not process.
  std::size_t receive(Side in, std::span<packet::Packet> burst, const ParsedBurst& known, std::size_t at, Instant now) {
    return rx_path::receive(context_, in, burst, known, at, now);
  }
  /// Processes a single packet of a split flow.
  void receive(RxPacket& rx, FlowId id) { rx_path::receive(context_, rx, id); }

  /// Schedules the flow for service before the burst ends; `events` are the reasons.
  void schedule(Flow& flow, FlowId id, StreamEvents events) { context_.pending.schedule(flow, id, events); }
  /// True if any flow is scheduled for service.
  [[nodiscard]] bool has_pending() const { return context_.pending.any(); }
  /// Serves all scheduled flows.
  void serve_pending(Instant now) {
    if (context_.pending.any()) serve_all_pending(now);
  }
  /// Lets the flow send to the radio, at most `most` IP bytes.
  void send_to_radio(Flow& flow, Bearer& bearer, Bytes most, Instant now) {
    transmit::emit(context_, flow, bearer, Side::radio, most, transmit::Budget::all, now);
  }
  /// Distributes send budget of the ACK-based controller that became available while no flow was served.
  void use_budget(Bearer& bearer, Instant now);
  /// Requests release of the flow for `reason`, or cancels the request with ReleaseReason::none
  /// (Handback::request_release()).
  void request_release(Flow& flow, FlowId id, ReleaseReason reason) {
    if (handback_.request_release(flow, reason)) schedule(flow, id, StreamEvents::all);
  }
  /// Handles the expired timer of a flow.
  void on_due(FlowId id, Instant now);
  /// Frees a flow entry for a new connection by closing the oldest flow in TIME-WAIT, if there is one.
  [[gnu::cold, gnu::noinline]] void make_room(Instant now);
  /// Ends the flow at once, because the proxy stops. Plain forwarding replaces the proxy if neither host has an ACK for
  /// data that the other one has not received. Otherwise both hosts get a RST. Returns false if no buffer was free for
  /// the RST.
  [[nodiscard, gnu::cold, gnu::noinline]] bool end_now(Flow& flow, FlowId id, Instant now);
  /// Removes the flow and releases everything it holds; its successor is closed or continues end to end.
  [[gnu::noinline]] void close(FlowId id, Instant now);

 private:
  /// Serves all scheduled flows, including flows that are scheduled during the call.
  [[gnu::flatten, gnu::noinline]] void serve_all_pending(Instant now);
  /// Serves one flow: relays payload, updates windows, sends on both legs, re-arms the timer.
  void serve(Flow& flow, FlowId id, Instant now);
  /// Sends the ACK or window that is due to the host behind `in`; called if this is the only work of the service.
  template <Side in>
  void send_due(Flow& flow, FlowId id, Instant now);
  /// True if a window is due to the host behind `in` for which the buffer quota must be read again.
  template <Side in>
  [[nodiscard]] bool window_is_due(const Flow& flow, Instant now) const;
  /// Serves a flow on the slow path: a leg is not established, in recovery, reordering or closing.
  [[gnu::flatten, gnu::noinline]] void serve_slow_path(Flow& flow, FlowId id, Instant now);
  /// Serves a flow in recovery or closing. Returns false if the flow is over and was closed.
  bool serve_repairing(Flow& flow, Bearer& bearer, FlowId id, Instant now);
  /// Serves a flow that has a release reason: advances its handback. Returns false if the flow was closed.
  [[gnu::cold, gnu::noinline]] bool serve_releasing(Flow& flow, Bearer& bearer, FlowId id, Instant now);
  /// Relays payload, FIN, RST, keep-alives and windows, then sends on both legs.
  void relay_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  /// True if both FINs are acknowledged and nothing is pending on either leg.
  [[nodiscard]] static bool is_fully_closed(const Flow& flow, const Bearer& bearer, Instant now);
  /// Sends on both legs, and then forwards an abnormal end that sending may have caused.
  void emit_with_ends(Flow& flow, FlowId id, Bearer& bearer, Instant now);
  /// Forwards the abnormal end of one leg to the other one and sends its RST.
  [[gnu::noinline]] void pass_news_of_end(Flow& flow, Bearer& bearer, Instant now);
  /// Updates the flow's share in the bearer's sums and its reservations in the memory budget.
  void update_accounting(Flow& flow, Bearer& bearer, StreamEvents events);
  /// Handles the timer of a flow in TIME-WAIT. Returns false if the flow must be served.
  bool on_time_wait_timer(Flow& flow, FlowId id, Instant now);
  /// Puts the flow into TIME-WAIT. Closes the oldest flow in TIME-WAIT if there are too many.
  void enter_time_wait(Flow& flow, FlowId id, Instant now);
  /// Counts the end of a flow whose legs are both closed, and closes the flow.
  void end_finished(Flow& flow, FlowId id, Instant now);
  /// Closes a flow in TIME-WAIT because its place is needed; has no effect for no_id.
  void displace(FlowId id, Instant now);
  /// Passes the connection's record on, because the connection ends or is handed back.
  [[gnu::cold, gnu::noinline]] void record_end(const Flow& flow, FlowId id) const;
  /// Counts how the flow ended, and its completion time if both hosts have closed it.
  [[gnu::noinline]] void count_end(const Flow& flow, FlowId id);

  SplitContext context_;
  EndToEndFlows& end_to_end_;
  StallTimeout stall_timeout_;
  Handback handback_;
  TimeWaitQueue time_wait_;

  /// pacing state, indexed by FlowId; uses no memory if no pacing is configured
  flow::LazyArray<std::array<tcp::PacedEndpoint, 2>> paced_;
  flow::LazyArray<std::uint32_t> begun_;  ///< time when the flow was split, in tick::ms, indexed by FlowId
};

}  // namespace sluice::proxy
