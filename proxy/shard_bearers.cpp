// Reports and allowances: what the Node-B says of a UE's queue, and what the UE's connections may send because of it.

#include <algorithm>

#include "proxy/shard_impl.hpp"

namespace sluice::proxy {
namespace {

/// What one flow may send in its turn while others of the bearer wait.
constexpr Bytes turn{2 * 1500};

}  // namespace

void Shard::Impl::on_report(const ReportArrival& report, Instant now) {
  counters_.add(Counter::reports);
  const BearerId id = registry_.find_bearer(report.bearer.ue);
  if (id == flow::no_flow) {
    counters_.add(Counter::reports_unknown_bearer);
    return;
  }
  Bearer& bearer = registry_.bearer(id);
  const bool before = bearer.steered();
  if (bearer.on_report(report, now) == Bearer::Verdict::stale) {
    counters_.add(Counter::reports_stale);
    return;
  }
  if (bearer.steered() != before) {
    counters_.add(bearer.steered() ? Counter::recoveries : Counter::fallbacks);
    steer(bearer);
  }
  serve_bearer(id, now);
  regulator_.on_report(id, now);
  reschedule_bearer(id);
  queue_.flush(now);
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
      steer(bearer);
    }
    serve_bearer(id, now);
    regulator_.on_report(id, now);
  }
  reschedule_bearer(id);
}

void Shard::Impl::reschedule_bearer(BearerId id) {
  const Bearer& bearer = registry_.bearer(id);
  registry_.schedule_bearer(id, bearer.deadline());
  if (!bearer.in_use()) registry_.schedule_bearer(id, bearer.empty_since + config_.timeouts.idle);
}

void Shard::Impl::steer(Bearer& bearer) {
  FlowId id = bearer.first_flow;
  for (std::uint32_t i = 0; i < bearer.flow_count; ++i) {
    Flow& flow = registry_.flow(id);
    if (flow.phase == FlowPhase::split) {
      tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
      const Bytes seed = bearer.seed_window(endpoint.srtt()) / std::max<std::uint32_t>(bearer.backlogged_flows, 1);
      if (bearer.windowed()) begin_steering(flow, bearer);
      endpoint.set_window_source(bearer.window_source(), seed);
      mark(flow, id, Streams::both);
    }
    id = flow.bearer_next;
  }
}

void Shard::Impl::serve_bearer(BearerId id, Instant now) {
  Bearer& bearer = registry_.bearer(id);
  if (bearer.windowed()) {
    serve_windowed(bearer, now);
    return;
  }
  if (config_.smvs.short_flow > Bytes{}) {
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
    const bool chosen = !short_flows_only || flow.sent_to_radio < config_.smvs.short_flow;
    if (flow.phase == FlowPhase::split && chosen && endpoint.can_send_now()) {
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

void Shard::Impl::collect_status(std::vector<control::feedback::BearerStatus>& out, bool all) {
  registry_.bearers().for_each([&](BearerId, Bearer& bearer) {
    if (!all && !bearer.status_changed) return;
    bearer.status_changed = false;
    out.push_back(bearer.status(bearer.backlog));
  });
}

}  // namespace sluice::proxy
