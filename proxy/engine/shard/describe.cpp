// Snapshots of flows and bearers for `sluicectl flows`, `bearers` and `drain status`, and for the metrics.
// Shard::describe_flows(), describe_bearers() and staying() call it in the shard's thread. It changes no state and
// reads no clock; flow and bearer counts bound its work, so callers limit the number of entries.
#include "proxy/engine/shard/describe.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proxy/engine/base/phases.hpp"
#include "proxy/engine/relay/leg_output.hpp"
#include "proxy/engine/relay/relay.hpp"
#include "proxy/engine/split/handback_point.hpp"

namespace sluice::proxy {
namespace {

const char* name_of(FlowPhase phase) {
  switch (phase) {
    case FlowPhase::syn:
    case FlowPhase::syn_ack:
      return to_string(Phase::handshake);
    case FlowPhase::split:
      return to_string(Phase::split);
    case FlowPhase::handing_back:
      return to_string(Phase::handing_back);
  }
  return "?";
}

/// Sums over the split connections of a bearer (all connections of a UE under one policy). BearerInfo::window is
/// computed from them.
struct SplitTotals {
  std::uint32_t connections = 0;
  /// bytes that the congestion windows allow in addition to those in flight, in the unit of BearerInfo::in_flight
  Bytes sendable;
};

/// Returns the sums over the split connections of a bearer. Also adds their congestion windows and the bytes that they
/// hold and have in flight to `info`.
SplitTotals describe_split(Registry& registry, const Bearer& bearer, BearerInfo& info) {
  SplitTotals totals;
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < bearer.flow_count; ++i) {
    const Flow& flow = registry.flow(id);
    const Leg& radio = flow.leg(Side::radio);
    const tcp::Endpoint& endpoint = radio.endpoint;
    if (flow.terminated()) {
      ++totals.connections;
      const Bytes sendable = std::max(endpoint.cwnd() - endpoint.in_flight(), Bytes{});
      totals.sendable += bearer.rate_control().uses_ack_feedback() ? on_wire(radio, sendable) : sendable;
      info.congestion_window += endpoint.cwnd();
      info.in_flight += endpoint.in_flight();
      info.held += relay::held_towards(flow, Side::radio);
    }
    id = flow.bearer_next;
  }
  return totals;
}

void describe_reports(const ReportState& report_state, BearerInfo& info) {
  info.observed = report_state.observed;
  info.allowance = report_state.grant.given();
  info.queue = report_state.reports.last().bearer.queue;
  info.reported_at = report_state.reports.last_at();
  info.report_trusted = report_state.trusted;
  info.service_rate = report_state.reports.last().bearer.service_rate;
  info.predicted_error = report_state.law.predicted_error();
  info.falls = report_state.fallback.falls();
}

/// Writes to `info` which window and which queueing delay the ACK-based controller computes in mode observe, in which
/// it limits nothing.
void describe_observed(const control::DelayBasedController& law, BearerInfo& info) {
  info.observed_window = law.window();
  if (law.rate() > Rate()) info.observed_delay = law.rate().time_for(law.reference());
}

}  // namespace

RadioQueueView radio_queue_of(const BearerInfo& bearer, Instant now) {
  RadioQueueView view;
  if (bearer.reported_at != Instant{} && bearer.report_trusted && now - bearer.reported_at < report_is_fresh_for) {
    view.source = "reports";
    view.queue = bearer.queue;
  } else if (bearer.measured_by_acks) {
    view.source = "acknowledgements";
    view.queue = bearer.queue_by_acks;
  } else {
    return view;
  }
  if (bearer.mean_rate > Rate()) view.delay = bearer.mean_rate.time_for(view.queue);
  return view;
}

void describe_flows(Registry& registry, std::vector<FlowInfo>& out, std::size_t limit) {
  registry.flows().for_each([&](FlowId id, Flow& flow) {
    if (out.size() >= limit) return;
    const flow::FlowKey key = registry.key_of(id);
    FlowInfo info;
    info.ue = key.ue;
    info.server = key.server;
    info.ue_port = key.ue_port;
    info.server_port = key.server_port;
    info.phase = name_of(flow.phase);
    if (flow.release_reason != ReleaseReason::none && flow.terminated())
      info.blocker = to_string(handback::find_blocker(flow)).data();
    const ResetReason reset = relay::reset_reason(flow);
    info.reason = reset != ResetReason::none ? to_string(reset).data() : to_string(flow.release_reason).data();
    if (flow.terminated()) info.sent_to_radio = flow.sent_to_radio;
    for (std::size_t i = 0; i < flow.legs.size() && flow.terminated(); ++i) {
      const tcp::Endpoint& endpoint = flow.legs[i].endpoint;
      info.state[i] = to_string(endpoint.state()).data();
      info.in_flight[i] = endpoint.in_flight();
      info.congestion_window[i] = endpoint.cwnd();
      info.peer_window[i] = endpoint.snd_window();
      info.srtt[i] = endpoint.srtt();
      info.rto[i] = endpoint.rto();
      info.held[i] = relay::held_towards(flow, static_cast<Side>(i));
      info.retransmissions[i] = endpoint.counters().retransmitted;
    }
    out.push_back(info);
  });
}

void describe_bearers(Registry& registry, std::vector<BearerInfo>& out, std::size_t limit) {
  registry.bearers().for_each([&](BearerId, Bearer& bearer) {
    if (out.size() >= limit) return;
    BearerInfo info;
    info.ue = bearer.ue();
    info.flows = bearer.flow_count + bearer.end_to_end_count;
    info.mode = to_string(bearer.settings().mode).data();
    info.policy = bearer.policy;
    info.in_control_group = bearer.in_control_group();
    info.controller = bearer.rate_control().controller();
    const SplitTotals split = describe_split(registry, bearer, info);
    info.unsent = bearer.load.backlog;
    if (bearer.rate_control().uses_ack_feedback()) {
      const AckController& controller = std::as_const(bearer).ack_controller();
      if (!bearer.settings().observes()) info.waiting = controller.waiting() + controller.end_to_end.waiting;
      info.in_flight = controller.flight();
      info.uplink_wait = controller.law().ack_delay();
      info.uplink_wait_at = controller.law().ack_delay_known_at();
      info.queue_by_acks = controller.law().queued(controller.flight());
      info.measured_by_acks = bearer.rate_control().is_ack_based();
      if (bearer.settings().observes() && info.measured_by_acks) describe_observed(controller.law(), info);
    }
    const bool by_allowance = bearer.rate_control().window_source() == tcp::WindowSource::allowance;
    // A congestion window alone can be below the bytes in flight: in a loss recovery, and because the ACK-based
    // controller counts headers and connections that are not split. The window is therefore counted from there.
    // With the ACK-based controller, the window as of the newest ACK, without what it adds while ACKs are missing.
    if (by_allowance) {
      info.window = info.in_flight + bearer.allowance(Instant{});
    } else if (split.connections > 0) {
      info.window = info.in_flight + split.sendable;
    }
    if (bearer.has_cross_traffic_queue()) info.cross_traffic_waiting = bearer.cross_traffic_queue().queue.bytes();
    if (bearer.has_uplink()) info.uplink_signals = bearer.uplink().signals;
    info.injected = bearer.sent().total();
    info.mean_rate = bearer.mean_rate();
    info.long_term_rate = registry.link_rates().of(bearer);
    if (const ReportState* const report_state = bearer.report_state(); report_state != nullptr)
      describe_reports(*report_state, info);
    out.push_back(info);
  });
}

StayingFlows count_staying(Registry& registry) {
  StayingFlows staying;
  registry.flows().for_each([&](FlowId, const Flow& flow) {
    if (!flow.terminated()) return;
    const HandbackBlocker blocker =
        flow.release_reason == ReleaseReason::none ? HandbackBlocker::none : handback::find_blocker(flow);
    ++staying.by_blocker[static_cast<std::size_t>(blocker)];
    ++staying.total;
    if (handback::would_break_on_stop(flow)) ++staying.broken_by_a_stop;
  });
  return staying;
}

}  // namespace sluice::proxy
