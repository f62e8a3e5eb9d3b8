#include "proxy/shard.hpp"

#include <algorithm>

#include "proxy/handover.hpp"
#include "proxy/relay.hpp"
#include "proxy/shard_impl.hpp"

namespace sluice::proxy {

namespace {

const char* name_of(FlowPhase phase) {
  switch (phase) {
    case FlowPhase::syn:
    case FlowPhase::syn_ack:
      return "handshake";
    case FlowPhase::split:
      return "split";
    case FlowPhase::handing_over:
      return "handing over";
  }
  return "?";
}

}  // namespace

Shard::Impl::Impl(const ShardConfig& config, packet::PacketPool& pool, Transmitter& transmitter,
                  const flow::HashKey& secret, Instant origin, FlowJournal journal)
    : config_(config),
      first_policies_(config.treatments()),
      policies_(&first_policies_),
      radio_counted_(first_policies_.needs_feedback()),
      pool_(pool),
      queue_(transmitter, counters_),
      registry_(config_, first_policies_, secret, origin),
      parts_{pool_, budget_, queue_, counters_},
      window_loops_(config.limits.max_flows),
      governed_(config.limits.max_flows),
      paced_(config.limits.max_flows),
      regulator_(config_, {registry_, queue_, counters_, budget_}, origin),
      released_(config.limits.max_flows, secret),
      journal_(journal),
      secret_(secret),
      arrivals_(std::max<std::uint32_t>(config.limits.max_flows / 4, 16), Newcomers::Counts::first,
                config.timeouts.handshake, secret),
      newcomers_(std::max<std::uint32_t>(config.limits.max_flows / 16, 16), Newcomers::Counts::newest,
                 config.timeouts.handshake, secret),
      half_open_(config.limits.max_flows),
      budget_(config_.limits, pool),
      demands_(config.limits.max_flows),
      relay_limit_(config.limits.relay_buffer) {
  marked_.reserve(config.limits.max_flows + burst_size);  // and those that were closed in between
}

Shard::Impl::~Impl() = default;

void Shard::Impl::advance(Instant now) {
  look_at_memory(now);
  registry_.run_due(
      now, [&](FlowId id) { on_flow_due(id, now); }, [&](BearerId id) { on_bearer_due(id, now); });
  if (sweep_.active) [[unlikely]]
    sweep_on(now);
  if (reclaim_.active) [[unlikely]]
    reclaim_on(now);
  serve_marked(now);
  regulator_.advance(now);
  if (orphans_ && now >= orphans_->next_deadline()) [[unlikely]]
    orphans_->advance(now, parts_);
  queue_.flush(now);
}

Instant Shard::Impl::next_deadline() const {
  if (sweep_.active || reclaim_.active) return Instant{};
  const Instant due = std::min(registry_.next_deadline(), regulator_.next_deadline());
  return orphans_ ? std::min(due, orphans_->next_deadline()) : due;
}

void Shard::Impl::inherit(std::span<const Orphan> orphans, std::span<JournalEntry> entries, Duration keep) {
  if (!orphans.empty()) orphans_.emplace(std::vector(orphans.begin(), orphans.end()), entries, secret_, keep);
}

void Shard::Impl::describe_flows(std::vector<FlowInfo>& out, std::size_t limit) const {
  registry_.flows().for_each([&](FlowId, Flow& flow) {
    if (out.size() >= limit) return;
    FlowInfo info;
    info.ue = flow.key.ue;
    info.server = flow.key.server;
    info.ue_port = flow.key.ue_port;
    info.server_port = flow.key.server_port;
    info.phase = name_of(flow.phase);
    if (flow.let_go != LetGo::no && flow.terminated()) info.obstacle = to_string(handover::obstacle(flow)).data();
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
  regulator_.describe(out, limit);
}

void Shard::Impl::describe_bearers(std::vector<BearerInfo>& out, std::size_t limit) const {
  registry_.bearers().for_each([&](BearerId, Bearer& bearer) {
    if (out.size() >= limit) return;
    BearerInfo info;
    info.ue = bearer.ue();
    info.flows = bearer.flow_count + bearer.guests;
    info.mode = to_string(bearer.treatment().mode).data();
    info.policy = bearer.policy;
    info.ordinary = bearer.ordinary();
    info.observed = bearer.observed();
    info.steered = bearer.steered();
    info.allowance = bearer.granted();
    FlowId id = bearer.first_flow;
    for (std::uint32_t i = 0; i < bearer.flow_count; ++i) {
      const Flow& flow = registry_.flow(id);
      const tcp::Endpoint& endpoint = flow.leg(Side::radio).endpoint;
      if (flow.terminated()) {
        info.congestion_window += endpoint.cwnd();
        info.in_flight += endpoint.in_flight();
        info.held += relay::held_towards(flow, Side::radio);
      }
      id = flow.bearer_next;
    }
    info.unsent = bearer.backlog;
    info.injected = bearer.status(bearer.backlog).injected;
    info.queue = bearer.last_report().queue;
    info.service_rate = bearer.last_report().service_rate;
    info.mean_rate = bearer.mean_rate();
    info.predicted_error = bearer.law() != nullptr ? bearer.law()->state().predicted_error : 0;
    info.falls = bearer.falls();
    out.push_back(info);
  });
}

Shard::Shard(const ShardConfig& config, packet::PacketPool& pool, Transmitter& transmitter, const flow::HashKey& secret,
             Instant origin, FlowJournal journal)
    : impl_(std::make_unique<Impl>(config, pool, transmitter, secret, origin, journal)) {}
Shard::~Shard() = default;

void Shard::inherit(std::span<const Orphan> orphans, std::span<JournalEntry> entries, Duration keep) {
  impl_->inherit(orphans, entries, keep);
}

void Shard::receive(Side in, std::span<packet::Packet> burst, Instant now) {
  impl_->receive(in, burst, now);
}
void Shard::advance(Instant now) {
  impl_->advance(now);
}
Instant Shard::next_deadline() const {
  return impl_->next_deadline();
}
void Shard::on_report(ReportArrival report, Instant now) {
  control::feedback::bound(report.bearer);
  impl_->on_report(report, now);
}
void Shard::collect_status(std::vector<control::feedback::BearerStatus>& out, bool all) {
  impl_->collect_status(out, all);
}
void Shard::apply(const Policies& policies, Instant now) {
  impl_->apply(policies, now);
}
const GroupStatistics& Shard::groups() const {
  return impl_->groups();
}
void Shard::release(const std::optional<IpAddress>& ue, Instant now) {
  impl_->release(ue, now);
}
void Shard::take_up(const std::optional<IpAddress>& ue) {
  impl_->want_back(ue);
}
void Shard::drain(bool on) {
  impl_->drain(on);
}
void Shard::abort_all() {
  impl_->abort_all();
}
bool Shard::draining() const {
  return impl_->draining();
}
bool Shard::sweeping() const {
  return impl_->sweeping();
}
StayingFlows Shard::staying() const {
  return impl_->staying();
}
void Shard::sample_exposure(std::uint32_t most) {
  impl_->sample_exposure(most);
}
const Histogram& Shard::exposure() const {
  return impl_->exposure();
}
const Counters& Shard::counters() const {
  return impl_->counters();
}
std::uint32_t Shard::flow_count() const {
  return impl_->flow_count();
}
std::uint32_t Shard::bearer_count() const {
  return impl_->bearer_count();
}
std::uint32_t Shard::released_count() const {
  return impl_->released_count();
}
void Shard::describe_flows(std::vector<FlowInfo>& out, std::size_t limit) const {
  impl_->describe_flows(out, limit);
}
void Shard::describe_bearers(std::vector<BearerInfo>& out, std::size_t limit) const {
  impl_->describe_bearers(out, limit);
}

}  // namespace sluice::proxy
