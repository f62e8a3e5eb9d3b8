// Reports and allowances: what the Node-B says of a UE's queue, and what the UE's connections may send because of it.

#include <algorithm>
#include <utility>

#include "proxy/shard_impl.hpp"

namespace sluice::proxy {
namespace {

/// What one flow may send in its turn while others of the bearer wait.
constexpr Bytes turn{2 * 1500};

}  // namespace

/// Its amounts and rates are bounded by now.
void Shard::Impl::on_report(const ReportArrival& report, Instant now) {
  counters_.add(Counter::reports);
  const BearerId id = registry_.find_bearer(report.bearer.ue);
  if (id == flow::no_flow) {
    counters_.add(Counter::reports_unknown_bearer);
    return;
  }
  if (!registry_.bearer(id).heeds(report, now)) {
    counters_.add(Counter::reports_elsewhere);
    return;
  }
  if (registry_.bearer(id).changes_reporter(report)) counters_.add(Counter::reporters_changed);
  count_group(registry_.bearer(id), report);
  Bearer* bearer = &registry_.bearer(id);
  do {
    if (!take_report(*bearer, report, now)) return;
    bearer = &bearer->sibling();
  } while (bearer->id != id);
  queue_.flush(now);
}

/// False when the report is stale, which it then is for all of the UE's bearers.
bool Shard::Impl::take_report(Bearer& bearer, const ReportArrival& report, Instant now) {
  const bool before = bearer.steered();
  if (bearer.on_report(report, now, share_of(bearer)) == Bearer::Verdict::stale) {
    counters_.add(Counter::reports_stale);
    return false;
  }
  if (bearer.steered() != before) {
    counters_.add(bearer.steered() ? Counter::recoveries : Counter::fallbacks);
    steer(bearer, now);
  }
  serve_bearer(bearer.id, now);
  if (bearer.shut_flows > 0) [[unlikely]]
    serve_shut(bearer, now);
  regulator_.on_report(bearer.id, now);
  reschedule_bearer(bearer.id);
  return true;
}

/// Servers that were left without a window may get one again.
void Shard::Impl::serve_shut(Bearer& bearer, Instant now) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < bearer.flow_count; ++i) {
    Flow& flow = registry_.flow(id);
    if (flow.shut) mark(flow, id, Streams::to_radio);
    id = flow.bearer_next;
  }
  serve_marked(now);
}

/// What a bearer under SMVS gets of the grant for the whole queue: as many parts as it has flows that wait, of those of
/// all its siblings under SMVS.
double Shard::Impl::share_of(const Bearer& bearer) {
  if (&bearer.sibling() == &bearer) return 1;
  std::uint32_t waiting = std::max(bearer.backlogged_flows, 1U);
  const std::uint32_t own = waiting;
  for (const Bearer* other = &bearer.sibling(); other != &bearer; other = &other->sibling()) {
    if (other->treatment().mode == Mode::smvs) waiting += other->backlogged_flows;
  }
  return static_cast<double>(own) / waiting;
}

void Shard::Impl::count_group(const Bearer& bearer, const ReportArrival& report) {
  const control::feedback::BearerReport& now = report.bearer;
  const control::feedback::BearerReport& before = bearer.last_report();
  GroupTotals& group = groups_[bearer.ordinary() ? 1 : 0];
  ++group.reports;
  const bool comparable = bearer.reported() && bearer.reporter() == report.sender;
  if (comparable && now.transmitted >= before.transmitted) group.transmitted += now.transmitted - before.transmitted;
  if (comparable && now.dropped >= before.dropped) group.dropped += now.dropped - before.dropped;
  group.queue_bytes += static_cast<double>(now.queue.count());
  if (now.mean_service_rate > Rate()) {
    group.queue_delay_s += static_cast<double>(now.queue.count()) / now.mean_service_rate.bytes_per_second();
  }
}

void Shard::Impl::on_bearer_due(BearerId id, Instant now) {
  Bearer& bearer = registry_.bearer(id);
  if (!bearer.in_use() && now - bearer.empty_since >= config_.timeouts.idle) {
    registry_.close_bearer(id);
    return;
  }
  const bool before = bearer.steered();
  if (bearer.on_deadline(now)) {
    if (bearer.steered() != before) {
      counters_.add(Counter::fallbacks);
      steer(bearer, now);
    }
    serve_bearer(id, now);
    regulator_.on_report(id, now);
  }
  reschedule_bearer(id);
}

void Shard::Impl::reschedule_bearer(BearerId id) {
  // Nearly always a report has put the deadline off: the bearer is not looked at for that.
  const Bearer& bearer = registry_.bearer(id);
  const Instant idle = bearer.in_use() ? never : bearer.empty_since + config_.timeouts.idle;
  registry_.reschedule_bearer(id, std::min(bearer.deadline(), idle));
}

void Shard::Impl::steer(Bearer& bearer, Instant now) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < bearer.flow_count; ++i) {
    Flow& flow = registry_.flow(id);
    steer(flow, id, bearer, now);
    id = flow.bearer_next;
  }
}

void Shard::Impl::steer(Flow& flow, FlowId id, Bearer& bearer, Instant now) {
  if (!flow.terminated()) return;
  tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
  const Bytes seed = bearer.seed_window(endpoint.srtt()) / std::max<std::uint32_t>(bearer.backlogged_flows, 1);
  endpoint.set_window_source(bearer.window_source(), seed);
  if (bearer.bounds()) begin_steering(flow, bearer, now);
  mark(flow, id, Streams::both);
}

void Shard::Impl::serve_bearer(BearerId id, Instant now) {
  Bearer& bearer = registry_.bearer(id);
  if (bearer.bounds()) {
    serve_windowed(bearer, now);
    return;
  }
  if (bearer.treatment().smvs.short_flow > Bytes{}) {
    while (bearer.allowance() > Bytes{} && serve_round(bearer, true, now)) {
    }
  }
  while (bearer.allowance() > Bytes{} && serve_round(bearer, false, now)) {
  }
  serve_marked(now);
}

bool Shard::Impl::serve_round(Bearer& bearer, bool short_flows_only, Instant now) {
  bool sent_any = false;
  FlowId id = bearer.first_flow;
  const std::uint32_t count = bearer.flow_count;
  for (std::uint32_t i = 0; i < count && bearer.allowance() > Bytes{}; ++i) {
    Flow& flow = registry_.flow(id);
    const FlowId next = flow.bearer_next;
    tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
    const bool chosen = !short_flows_only || flow.sent_to_radio < bearer.treatment().smvs.short_flow;
    if (flow.terminated() && chosen && endpoint.can_send_now()) {
      const Bytes before = bearer.allowance();
      emit(flow, bearer, Side::radio, count == 1 ? before : std::min(before, turn), now);
      if (bearer.allowance() != before) {
        sent_any = true;
        mark(flow, id, Streams::to_radio);  // its window towards the server, its timers and its backlog follow
        bearer.first_flow = next;
      }
    }
    id = next;
  }
  return sent_any && bearer.window_source() == tcp::WindowSource::allowance;
}

/// One for each UE: of its bearers together.
void Shard::Impl::collect_status(std::vector<control::feedback::BearerStatus>& out, bool all) {
  registry_.bearers().for_each([&](BearerId id, Bearer& bearer) {
    // Of several bearers of a UE the entry to their ring speaks for all; one alone is its entry.
    const bool alone = &bearer.sibling() == &bearer;
    if (!alone && registry_.find_bearer(bearer.ue()) != id) return;
    bool changed = std::exchange(bearer.status_changed, false);
    for (Bearer* other = &bearer.sibling(); other != &bearer; other = &other->sibling()) {
      changed = std::exchange(other->status_changed, false) || changed;
    }
    if (!all && !changed) return;
    control::feedback::BearerStatus status = bearer.status(bearer.backlog);
    for (const Bearer* other = &bearer.sibling(); other != &bearer; other = &other->sibling()) {
      const control::feedback::BearerStatus more = other->status(other->backlog);
      status.backlog += more.backlog;
      status.allowance_left += more.allowance_left;
      status.active_flows += more.active_flows;
    }
    out.push_back(status);
  });
}

}  // namespace sluice::proxy
