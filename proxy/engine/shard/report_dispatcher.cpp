// Node-B reports and bearer timers: runs each bearer's controller and distributes its send budget to the flows. Shard
// passes reports, omission notices and expired timers. Invariant: all bearers of a UE receive each accepted report
// once, because they share its radio queue.
#include "proxy/engine/shard/report_dispatcher.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/flow/prefetch.hpp"

namespace sluice::proxy {
namespace {

/// Returns the bearer's share (0 … 1) of the allowance, the bytes that SMVS (the sliding-mode controller) permits to
/// the UE. The share is the number of the bearer's flows with unsent data, divided by that of all the UE's bearers
/// under SMVS.
double share_of(const Bearer& bearer) {
  if (&bearer.sibling() == &bearer) return 1;
  std::uint32_t waiting = std::max(bearer.load.backlogged_flows, 1U);
  const std::uint32_t own = waiting;
  bearer.for_each_sibling([&waiting](const Bearer& other) {
    if (other.settings().mode == Mode::smvs) waiting += other.load.backlogged_flows;
  });
  return static_cast<double>(own) / waiting;
}

/// Time after which a bearer that has never had a connection is removed, if no packet waited and no Node-B report
/// showed a queue meanwhile. The time is short, because each Node-B report of a non-empty radio queue may create such a
/// bearer.
constexpr Duration max_unused = std::chrono::seconds(10);

/// True if Node-B reports limit the cross traffic of UEs under this policy, even of UEs that have no connection. Cross
/// traffic consists of packets of no tracked connection, such as QUIC.
bool limits_by_reports_alone(const PolicySettings& settings) {
  return settings.mode == Mode::smvs && settings.smvs.cross_traffic == CrossTraffic::queue &&
         (settings.needs_reports() || !settings.controls_end_to_end());
}

/// True if Node-B reports currently limit what the bearer sends. Each report is then one step of the SMVS controller.
bool takes_steps(const Bearer& bearer) {
  return bearer.rate_control().window_source() == tcp::WindowSource::allowance && !bearer.rate_control().is_ack_based();
}

/// True if a Node-B report has just shown that the report period Ts is too long: at its mean rate b̄, the link empties
/// the full radio buffer Bmax within one period (Ts ≥ Bmax/b̄). Returns true only once.
bool steps_became_too_long(Bearer& bearer) {
  const ReportArrival& last = bearer.reports().last();
  const Bytes configured = bearer.settings().smvs.parameters.buffer;
  const Bytes buffer = last.bearer.buffer > Bytes{} ? last.bearer.buffer : configured;
  return bearer.report_state()->step_length_check.look(last.period, buffer, bearer.mean_rate());
}

/// True if a Node-B report has just shown that the report period Ts is too long to sample the link's rate: Ts ≥ Tb/2,
/// where Tb is the period with which the rate varies. Returns true only once.
bool steps_became_too_coarse(Bearer& bearer) {
  const control::feedback::BearerReport& last = bearer.reports().last().bearer;
  return bearer.report_state()->sampling_rate_check.look(last.service_rate, last.queue > Bytes{});
}

/// Calls visit(flow, id) for the flows of the bearer, starting at Bearer::first_flow.
template <typename Visit>
void for_each_flow(Registry& registry, const Bearer& bearer, Visit&& visit) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < bearer.flow_count; ++i) {
    Flow& flow = registry.flow(id);
    visit(flow, id);
    id = flow.bearer_next;
  }
}

/// Returns the status of one bearer for a message to the Node-B. Other bearers of the UE are not included.
control::feedback::BearerStatus own_status_of(const Bearer& bearer) {
  control::feedback::BearerStatus status;
  status.ue = bearer.ue();
  status.injected = bearer.sent().total();
  status.backlog = bearer.load.backlog;
  status.active_flows = bearer.flow_count + bearer.end_to_end_count;
  const ReportState* const report_state = bearer.report_state();
  if (report_state == nullptr) return status;
  status.applied_sequence = report_state->law.applied_sequence();
  status.allowance_left = std::max(report_state->grant.left(), Bytes{});
  if (report_state->reports.any()) status.reporter = report_state->reports.last().sender;
  return status;
}

/// Returns the common status of all bearers of a UE for a message to the Node-B. `bearer` is any bearer of the UE.
control::feedback::BearerStatus status_of(const Bearer& bearer) {
  control::feedback::BearerStatus status = own_status_of(bearer);
  bearer.for_each_sibling([&status](const Bearer& other) {
    const control::feedback::BearerStatus more = own_status_of(other);
    status.backlog += more.backlog;
    status.allowance_left += more.allowance_left;
    status.active_flows += more.active_flows;
  });
  return status;
}

}  // namespace

void ReportDispatcher::on_reports(std::span<const ReportArrival> reports, Instant now) {
  if (reports.size() == 1) {  // a single report needs no prefetching
    on_report(reports[0], shard_.registry.find_bearer(reports[0].bearer.ue), now);
    return;
  }
  while (!reports.empty()) {
    const std::size_t count = std::min(reports.size(), Registry::max_found_at_once);
    on_batch(reports.first(count), now);
    reports = reports.subspan(count);
  }
}

/// Processes Node-B reports with prefetching, because each report concerns a different UE, whose state is not cached.
/// The bearer is prefetched before the flow that sends next, because the flow's id is read from the bearer.
void ReportDispatcher::on_batch(std::span<const ReportArrival> reports, Instant now) {
  constexpr std::size_t bearers_ahead = 6;
  constexpr std::size_t flows_ahead = 2;
  std::array<BearerId, Registry::max_found_at_once> ids;
  Registry& registry = shard_.registry;
  std::array<IpAddress, Registry::max_found_at_once> ues;
  for (std::size_t i = 0; i < reports.size(); ++i) ues[i] = reports[i].bearer.ue;
  registry.find_bearers(std::span(ues).first(reports.size()), ids);
  const std::uint32_t changes = registry.bearer_changes();
  std::size_t fetched = 0;
  std::size_t flows_fetched = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (; fetched < std::min(i + bearers_ahead, reports.size()); ++fetched) {
      if (ids[fetched] == flow::no_flow || !registry.bearers().contains(ids[fetched])) continue;
      registry.bearer(ids[fetched]).prefetch();
      registry.timers().prefetch(ids[fetched]);
    }
    for (; flows_fetched < std::min(i + flows_ahead, reports.size()); ++flows_fetched)
      prefetch_flow(ids[flows_fetched]);
    // Processing of a report may have closed a bearer that was looked up before.
    const bool stands = registry.bearer_changes() == changes;
    on_report(reports[i], stands ? ids[i] : registry.find_bearer(reports[i].bearer.ue), now);
  }
}

/// Prefetches the rate controller of a bearer, and the flow that sends first when bytes are next distributed.
void ReportDispatcher::prefetch_flow(BearerId id) const {
  if (id == flow::no_flow || !shard_.registry.bearers().contains(id)) return;
  const Bearer& bearer = shard_.registry.bearer(id);
  bearer.prefetch_controller_state();
  if (bearer.first_flow != no_id) flow::prefetch_all(shard_.registry.flow(bearer.first_flow));
}

void ReportDispatcher::on_report(const ReportArrival& report, BearerId id, Instant now) {
  shard_.counters.add(Counter::reports);
  if (id == flow::no_flow) id = open_for_cross_traffic(report, now);
  if (id == flow::no_flow) {
    shard_.counters.add(Counter::reports_unknown_bearer);
    return;
  }
  Bearer* bearer = &shard_.registry.bearer(id);
  if (senders_.any()) on_pause(*bearer, report);
  if (!bearer->reports().accepts(report, now)) {
    shard_.counters.add(Counter::reports_elsewhere);
    return;
  }
  if (bearer->reports().changes_reporter(report)) shard_.counters.add(Counter::reporters_changed);
  count_group(*bearer, report, now);
  do {
    if (!take(*bearer, report, now)) return;
    bearer = &bearer->sibling();
  } while (bearer->id != id);
  shard_.queue.flush(now);
}

BearerId ReportDispatcher::open_for_cross_traffic(const ReportArrival& report, Instant now) {
  if (report.bearer.queue <= Bytes{}) return flow::no_flow;
  Registry& registry = shard_.registry;
  const Policies& policies = registry.policies().current();
  const IpAddress& ue = report.bearer.ue;
  const PolicyIndex policy = policies.choose({.ue = ue, .server = {}});
  if (!limits_by_reports_alone(policies.settings(policy))) return flow::no_flow;
  const BearerId id = registry.bearer_without_connection(ue, policy, now);
  if (id != flow::no_flow) reschedule(id, now);
  return id;
}

Instant ReportDispatcher::idle_deadline(const Bearer& bearer) const {
  if (bearer.in_use()) return never;
  const Duration idle = shard_.config.timeouts.idle;
  return bearer.empty_since + (bearer.used() ? idle : std::min(idle, max_unused));
}

/// Called before `report` is applied, if the Node-B that sent the UE's last report omits unchanged UEs. If it has
/// omitted the UE since then, runs the controllers of all bearers of the UE once for that whole time. `first` is any of
/// these bearers.
void ReportDispatcher::on_pause(Bearer& first, const ReportArrival& report) {
  if (!first.reports().any()) return;
  const SuppressingNodeB* const sender = senders_.find(first.reports().last().sender);
  if (sender == nullptr) return;
  Bearer* bearer = &first;
  do {
    bearer->on_omitted(*sender);
    if (bearer->report_state() != nullptr) bearer->report_state()->on_reported_again(*sender, report);
    bearer = &bearer->sibling();
  } while (bearer != &first);
}

void ReportDispatcher::on_omissions(std::span<const OmissionNotice> omissions, Instant now) {
  for (const OmissionNotice& notice : omissions) senders_.on_omission(notice, now);
}

/// Applies a Node-B report to one bearer of the UE. Returns false if the report is not newer than the last one. The
/// report is then not newer for the UE's other bearers either.
bool ReportDispatcher::take(Bearer& bearer, const ReportArrival& report, Instant now) {
  const bool before = bearer.rate_control().is_rate_controlled();
  const bool was_ack_based = bearer.rate_control().is_ack_based();
  const bool follows_link = shard_.registry.policies().advises_link_rates();
  if (follows_link) [[unlikely]]
    shard_.registry.link_rates().before_report(bearer, report);
  const Bearer::Verdict verdict = bearer.on_report(report, now, share_of(bearer));
  if (verdict == Bearer::Verdict::stale) {
    shard_.counters.add(Counter::reports_stale);
    return false;
  }
  shard_.registry.record_change(bearer.id);
  if (verdict == Bearer::Verdict::distrusted) shard_.counters.add(Counter::reports_distrusted);
  if (follows_link && verdict == Bearer::Verdict::applied) [[unlikely]]
    shard_.registry.link_rates().on_report(bearer, report, now);
  if (verdict == Bearer::Verdict::applied && takes_steps(bearer)) {
    if (steps_became_too_long(bearer)) shard_.counters.add(Counter::steps_too_long);
    if (steps_became_too_coarse(bearer)) shard_.counters.add(Counter::steps_too_coarse);
  }
  if (bearer.rate_control().is_rate_controlled() != before) {
    shard_.counters.add(bearer.rate_control().is_rate_controlled() ? Counter::recoveries : Counter::fallbacks);
    apply_rate_control(bearer, now);
  }
  if (bearer.has_cross_traffic_queue()) {
    CrossTrafficQueue& cross = bearer.cross_traffic_queue();
    // After a switch to ACKs their first one may take a round trip.
    if (!was_ack_based && bearer.rate_control().is_ack_based()) cross.ack_at = now;
    if (!bearer.in_use() && (report.bearer.queue > Bytes{} || !cross.queue.empty())) bearer.empty_since = now;
    cross_traffic_.serve(bearer, CrossTrafficSender::Occasion::report, now);
  }
  serve(bearer.id, now);
  if (bearer.load.closed_window_flows > 0) [[unlikely]]
    serve_closed_windows(bearer, now);
  if (senders_.any()) {
    const SuppressingNodeB* const sender = senders_.find(report.sender);
    if (sender != nullptr) bearer.suspend_extrapolation(*sender);
  }
  if (bearer.end_to_end_count != 0) end_to_end_.on_report(bearer.id, now);
  reschedule(bearer.id, now);
  return true;
}

/// Updates the window advertised to the server for those flows of the bearer for which that window is closed or changes
/// only with Node-B reports.
void ReportDispatcher::serve_closed_windows(Bearer& bearer, Instant now) {
  for_each_flow(shard_.registry, bearer, [&](Flow& flow, FlowId id) {
    if (flow.share.window_closed) flows_.schedule(flow, id, StreamEvents::to_radio);
  });
  flows_.serve_pending(now);
}

void ReportDispatcher::count_group(const Bearer& bearer, const ReportArrival& report, Instant arrived) {
  const control::feedback::BearerReport& now = report.bearer;
  const ReportArrival& last = bearer.reports().last();
  const control::feedback::BearerReport& before = last.bearer;
  GroupTotals& group = groups_[bearer.in_control_group() ? 1 : 0];
  ++group.reports;
  ++group.samples;
  const bool comparable = bearer.reports().is_same_run(report);
  if (bearer.reports().any()) {
    times_of(shard_.times, bearer.in_control_group()).feedback_age.record(arrived - bearer.reports().omission_rx());
  }
  if (comparable && now.transmitted >= before.transmitted) group.transmitted += now.transmitted - before.transmitted;
  if (comparable && now.dropped >= before.dropped) group.dropped += now.dropped - before.dropped;
  group.queue_bytes += static_cast<double>(now.queue.count());
  if (now.mean_service_rate > Rate()) {
    ++group.delay_samples;
    group.queue_delay_s += static_cast<double>(now.queue.count()) / now.mean_service_rate.bytes_per_second();
  }
}

void ReportDispatcher::on_due(BearerId id, Instant now) {
  Bearer& bearer = shard_.registry.bearer(id);
  if (bearer.has_cross_traffic_queue()) cross_traffic_.on_due(bearer, now);
  if (now >= idle_deadline(bearer)) {
    if (bearer.has_cross_traffic_queue()) cross_traffic_.flush(bearer, now);
    shard_.registry.close_bearer(id);
    return;
  }
  const bool before = bearer.rate_control().is_rate_controlled();
  if (senders_.any() && bearer.reports().any()) {
    const SuppressingNodeB* const sender = senders_.find(bearer.reports().last().sender);
    if (sender != nullptr) bearer.on_omitted(*sender);
  }
  if (bearer.on_deadline(now)) {
    if (bearer.rate_control().is_rate_controlled() != before) {
      shard_.counters.add(Counter::fallbacks);
      apply_rate_control(bearer, now);
    }
    if (bearer.has_cross_traffic_queue()) cross_traffic_.serve(bearer, CrossTrafficSender::Occasion::report, now);
    serve(id, now);
    end_to_end_.on_report(id, now);
  } else if (bearer.rate_control().is_ack_based()) {
    flows_.use_budget(bearer, now);
  }
  reschedule(id, now);
}

void ReportDispatcher::reschedule(BearerId id, Instant now) {
  // The timer is moved at once, because nearly always a report has postponed the deadline. The bearer need not be
  // visited at the old one.
  Bearer& bearer = shard_.registry.bearer(id);
  shard_.registry.timers().reschedule(
      bearer, std::min({bearer.deadline(now), idle_deadline(bearer), CrossTrafficSender::deadline(bearer)}));
}

void ReportDispatcher::apply_rate_control(Bearer& bearer, Instant now) {
  for_each_flow(shard_.registry, bearer, [&](Flow& flow, FlowId id) { apply_rate_control(flow, id, bearer, now); });
}

void ReportDispatcher::apply_rate_control(Flow& flow, FlowId id, Bearer& bearer, Instant now) {
  if (!flow.terminated()) return;
  tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  const Bytes seed = bearer.seed_window(endpoint.srtt()) / std::max<std::uint32_t>(bearer.load.backlogged_flows, 1);
  endpoint.set_window_source(bearer.rate_control().window_source(), seed);
  if (bearer.rate_control().limits_inflight()) flows_.flow_controllers().begin(flow, bearer, now);
  flows_.schedule(flow, id, StreamEvents::all);
}

void ReportDispatcher::serve(BearerId id, Instant now) {
  Bearer& bearer = shard_.registry.bearer(id);
  if (bearer.rate_control().limits_inflight()) {
    serve_flow_windows(bearer, now);
    return;
  }
  if (bearer.flow_count > 1 && bearer.settings().smvs.short_flow > Bytes{}) {
    while (bearer.allowance(now) > Bytes{} && serve_round(bearer, true, now)) {
    }
  }
  while (bearer.allowance(now) > Bytes{} && serve_round(bearer, false, now)) {
  }
  flows_.serve_pending(now);
}

bool ReportDispatcher::serve_round(Bearer& bearer, bool short_flows_only, Instant now) {
  bool sent_any = false;
  FlowId id = bearer.first_flow;
  const std::uint32_t count = bearer.flow_count;
  for (std::uint32_t i = 0; i < count && bearer.allowance(now) > Bytes{}; ++i) {
    Flow& flow = shard_.registry.flow(id);
    const FlowId next = flow.bearer_next;
    tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
    const bool chosen = !short_flows_only || bearer.is_short(flow.sent_to_radio);
    if (flow.terminated() && chosen && endpoint.can_send_now()) {
      const Bytes before = bearer.allowance(now);
      flows_.send_to_radio(flow, bearer, count == 1 ? before : std::min(before, turn), now);
      if (bearer.allowance(now) != before) {
        sent_any = true;
        // The flow's window to the server, its timers and its share have to be updated.
        flows_.schedule(flow, id, StreamEvents::to_radio);
        bearer.first_flow = next;
      }
    }
    id = next;
  }
  return sent_any && bearer.rate_control().window_source() == tcp::WindowSource::allowance;
}

/// Makes all flows of the bearer that have unsent data send what the windows of their per-flow controllers allow. A new
/// Node-B report may have opened these windows.
void ReportDispatcher::serve_flow_windows(Bearer& bearer, Instant now) {
  for_each_flow(shard_.registry, bearer, [&](Flow& flow, FlowId id) {
    if (flow.terminated() && flow.share.backlog != 0) flows_.schedule(flow, id, StreamEvents::to_radio);
  });
  // The next report starts with another flow.
  if (bearer.flow_count > 0) bearer.first_flow = shard_.registry.flow(bearer.first_flow).bearer_next;
  flows_.serve_pending(now);
}

/// Appends the status of each UE whose bearers have changed since the last call, or of every UE if `all` is true. A UE
/// with several bearers gets one common status. The statuses are for a message to the Node-B.
void ReportDispatcher::collect_status(std::vector<control::feedback::BearerStatus>& out, bool all) {
  if (all) {
    shard_.registry.take_changed([](const Bearer&, BearerId) {});
    shard_.registry.bearers().for_each([&](BearerId id, const Bearer& bearer) {
      const bool alone = &bearer.sibling() == &bearer;
      if (alone || shard_.registry.find_bearer(bearer.ue()) == id) out.push_back(status_of(bearer));
    });
    return;
  }
  shard_.registry.take_changed([&](Bearer& bearer, BearerId) {
    bearer.for_each_sibling([this](const Bearer& other) { shard_.registry.forget_change(other.id); });
    const bool alone = &bearer.sibling() == &bearer;
    out.push_back(status_of(alone ? bearer : shard_.registry.bearer(shard_.registry.find_bearer(bearer.ue()))));
  });
}

}  // namespace sluice::proxy
