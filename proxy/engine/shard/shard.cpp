// Owns the components of a shard and connects them: Classifier, SplitFlows, EndToEndFlows, ReportDispatcher, Forwarder.
// ShardThread and the virtual-time network of the emulator call it; each call passes the time in. Invariant: receive()
// and advance() return with the transmit queue flushed.
#include "proxy/engine/shard/shard.hpp"

#include <algorithm>

#include "proxy/engine/relay/undelivered_ack_limit.hpp"
#include "proxy/engine/shard/classifier.hpp"
#include "proxy/engine/shard/crashed_connections.hpp"
#include "proxy/engine/shard/describe.hpp"
#include "proxy/engine/shard/flow_walk.hpp"
#include "proxy/engine/shard/forwarder.hpp"
#include "proxy/engine/shard/handback_router.hpp"
#include "proxy/engine/shard/handshake_tracker.hpp"
#include "proxy/engine/shard/memory_relief.hpp"
#include "proxy/engine/shard/policy_switch.hpp"
#include "proxy/engine/shard/report_dispatcher.hpp"
#include "proxy/engine/split/split_flows.hpp"

namespace sluice::proxy {

/// Components of a shard in the order of their construction. Each component calls only components that are constructed
/// before it.
struct Shard::Parts {
  Parts(const ShardConfig& configuration, packet::PacketPool& pool, Transmitter& transmitter,
        const flow::HashKey& hash_key, Instant origin, FlowJournal journal)
      : config(configuration),
        policies(config.policy_set()),
        secret(hash_key),
        queue(transmitter, counters, config.ports),
        budget(config.limits, pool),
        registry(config, policies, secret, origin),
        records(config.limits.max_flows),
        context{config, pool, registry, queue, counters, budget, times, fragment_ids, records},
        end_to_end(config, {registry, queue, counters, budget, records}, origin),
        uplink(context),
        flows(context, end_to_end, uplink, journal, secret),
        flow_walk(context, flows),
        relief(context, flows, flow_walk),
        cross_traffic(context, passing),
        bearers(context, flows, end_to_end, cross_traffic),
        forwarder(context, end_to_end, cross_traffic, flows.buffer_quota(), passing, uplink),
        handshakes(context, flows, end_to_end, forwarder, secret),
        handback_router(context, flows, end_to_end, forwarder, handshakes),
        policy_switch(context, flows, end_to_end, bearers, forwarder, cross_traffic),
        classifier(context,
                   {flows, end_to_end, forwarder, handshakes, handback_router, crashed_connections, cross_traffic}) {
    if (policies.needs_feedback()) forwarder.count_radio();
  }

  /// True if advance() has nothing to do, which is so for most calls. Each kind of work that advance() does must be
  /// tested here.
  [[nodiscard]] bool is_at_rest(Instant now) const {
    return registry.is_at_rest(now) && end_to_end.is_at_rest(now) && !flows.has_pending() && !flow_walk.active() &&
           !relief.active() && queue.empty() && !crashed_connections;
  }
  /// Probes the hosts of crashed connections. Frees the component when no connection is left, because is_at_rest() is
  /// false while it exists.
  void advance_crashed_connections(Instant now) {
    if (now >= crashed_connections->next_deadline()) crashed_connections->advance(now, context);
    if (crashed_connections->size() == 0) crashed_connections.reset();
  }
  /// Handles expired timers and pending work of all components.
  [[gnu::noinline]] void advance(Instant now) {
    if (!registry.timers().is_quiet(now)) run_due(now);
    if (flow_walk.active()) [[unlikely]]
      flow_walk.step(now);
    if (relief.active()) [[unlikely]]
      relief.step(now);
    if (cross_traffic.ended()) [[unlikely]]
      cross_traffic.flush_all(now);
    flows.serve_pending(now);
    end_to_end.advance(now);
    registry.release_idle_histories(now);
    if (crashed_connections) [[unlikely]]
      advance_crashed_connections(now);
    queue.flush(now);
  }
  [[gnu::noinline]] void run_due(Instant now) {
    registry.timers().run_due(
        now, [&](FlowId id) { flows.on_due(id, now); }, [&](BearerId id) { bearers.on_due(id, now); });
  }

  const ShardConfig config;
  const Policies policies;  ///< policies of the configuration
  const flow::HashKey secret;
  Counters counters;
  Times times;
  FragmentIds fragment_ids;
  TransmitQueue queue;
  BufferPoolBudget budget;
  Registry registry;
  ConnectionRecords records;
  const ShardContext context;
  EndToEndFlows end_to_end;
  UplinkAqm uplink;
  SplitFlows flows;
  FlowWalk flow_walk;
  MemoryRelief relief;
  PassingTraffic passing;
  CrossTrafficSender cross_traffic;
  ReportDispatcher bearers;
  Forwarder forwarder;
  HandshakeTracker handshakes;
  HandbackRouter handback_router;
  PolicySwitch policy_switch;
  /// Crashed connections of an earlier run, which must be reset because acknowledged bytes are lost. Not set if there
  /// are none.
  std::optional<CrashedConnections> crashed_connections;
  Classifier classifier;
  ExposureSample exposure;
  FlowStats flow_stats{times};
};

Shard::Shard(const ShardConfig& config, packet::PacketPool& pool, Transmitter& transmitter, const flow::HashKey& secret,
             Instant origin, FlowJournal journal)
    : parts_(std::make_unique<Parts>(config, pool, transmitter, secret, origin, journal)) {}
Shard::~Shard() = default;

void Shard::inherit(std::span<const CrashedConnection> crashed_connections, std::span<JournalEntry> entries,
                    Duration keep) {
  if (crashed_connections.empty()) return;
  parts_->crashed_connections.emplace(std::vector(crashed_connections.begin(), crashed_connections.end()), entries,
                                      parts_->secret, keep);
}

void Shard::adopt_recovered(std::span<const RecoveredConnection> recovered, const RunGap& gap) {
  Released& released = parts_->flows.handback().released();
  for (const RecoveredConnection& connection : recovered)
    parts_->context.counters.add(Counter::released_untracked, released.add(connection, gap));
}

void Shard::receive(Side in, std::span<packet::Packet> burst, Instant now) {
  parts_->relief.look(now);
  parts_->classifier.receive(in, burst, now);
  parts_->queue.flush(now);
}

void Shard::receive_observed(Side in, std::span<packet::Packet> burst, Instant now, PacketObserver& observer) {
  parts_->relief.look(now);
  parts_->classifier.receive_observed(in, burst, now, observer);
  parts_->queue.flush(now);
}

void Shard::advance(Instant now) {
  Parts& parts = *parts_;
  parts.relief.look(now);
  if (!parts.is_at_rest(now)) parts.advance(now);
}

Instant Shard::next_deadline() const {
  if (parts_->flow_walk.active() || parts_->relief.active()) return Instant{};
  const Instant due = std::min(parts_->registry.timers().next(), parts_->end_to_end.next_deadline());
  return parts_->crashed_connections ? std::min(due, parts_->crashed_connections->next_deadline()) : due;
}

void Shard::on_reports(std::span<ReportArrival> reports, Instant now) {
  for (ReportArrival& report : reports) control::feedback::bound(report.bearer);
  parts_->bearers.on_reports(reports, now);
}

void Shard::on_omissions(std::span<const OmissionNotice> omissions, Instant now) {
  parts_->bearers.on_omissions(omissions, now);
}

void Shard::trace(control::DecisionLog* trace) {
  parts_->registry.trace(trace);
}

void Shard::collect_status(std::vector<control::feedback::BearerStatus>& out, bool all) {
  parts_->bearers.collect_status(out, all);
}

void Shard::apply(const Policies& policies, Instant now) {
  parts_->policy_switch.apply(policies, now);
}

GroupStatistics Shard::groups() const {
  GroupStatistics sum = parts_->bearers.groups();
  for (std::size_t i = 0; i < sum.size(); ++i) sum.at(i) += parts_->flow_stats.queues().at(i);
  sum.front().observed += parts_->registry.observed();  // nothing is observed for the control group
  return sum;
}

void Shard::set_port(Side side, const packet::LinkLimit& limit, Instant now) {
  parts_->flows.set_port(side, limit, now);
}

bool Shard::release(const std::optional<IpAddress>& ue, Instant now) {
  Parts& parts = *parts_;
  if (!ue) {
    parts.flow_walk.begin(ReleaseReason::released_command);
    return true;
  }
  const BearerId bearer = parts.registry.find_bearer(*ue);
  if (bearer == flow::no_flow) return parts.flows.handback().released().has(*ue);
  bool found = false;
  parts.registry.for_each_flow_of(bearer, [&](Flow& flow, FlowId id) {
    parts.flows.request_release(flow, id, ReleaseReason::released_command);
    found = true;
  });
  parts.flows.serve_pending(now);
  parts.queue.flush(now);
  return found || parts.flows.handback().released().has(*ue);
}

void Shard::drain(bool on) {
  parts_->handshakes.drain(on);
  parts_->flow_walk.begin(on ? ReleaseReason::released_drain : ReleaseReason::none);
}

bool Shard::split_again(const std::optional<IpAddress>& ue) {
  if (parts_->flows.handback().released().allow_split_again(ue)) return true;
  bool found = false;
  const BearerId bearer = ue ? parts_->registry.find_bearer(*ue) : flow::no_flow;
  if (bearer != flow::no_flow) parts_->registry.for_each_flow_of(bearer, [&](Flow&, FlowId) { found = true; });
  return found;
}

void Shard::abort_all() {
  parts_->handshakes.drain(true);
  parts_->cross_traffic.end();
  parts_->flow_walk.begin_end_all();
}

bool Shard::draining() const {
  return parts_->handshakes.draining();
}

bool Shard::scan_in_progress() const {
  return parts_->flow_walk.active();
}

StayingFlows Shard::staying() const {
  return count_staying(parts_->registry);
}

void Shard::sample_exposure(std::uint32_t most) {
  parts_->exposure.take(parts_->registry.flows(), most);
}

void Shard::sample_flow_stats(std::uint32_t most, Instant now) {
  parts_->flow_stats.look(parts_->registry, most, now);
}

const FlowStateCounts& Shard::flow_state_counts() const {
  return parts_->flow_stats.counts();
}

const Times& Shard::times_taken() const {
  return parts_->times;
}

std::uint32_t Shard::end_to_end_count() const {
  return parts_->end_to_end.size();
}

void Shard::record_connections(ConnectionSink& sink) {
  parts_->records.begin(sink);
}

void Shard::describe_passing(std::vector<PassingInfo>& out, Instant now) const {
  parts_->passing.describe(out, now);
}

const Histogram& Shard::exposure() const {
  return parts_->exposure.bytes();
}

const Counters& Shard::counters() const {
  return parts_->counters;
}

std::uint32_t Shard::flow_count() const {
  return parts_->registry.flows().size() + parts_->end_to_end.size();
}

std::uint32_t Shard::bearer_count() const {
  return parts_->registry.bearers().size();
}

std::uint32_t Shard::released_count() const {
  return parts_->flows.handback().released().size();
}

void Shard::describe_flows(std::vector<FlowInfo>& out, std::size_t limit) const {
  proxy::describe_flows(parts_->registry, out, limit);
  parts_->end_to_end.describe(out, limit);
  parts_->flows.handback().released().describe(out, limit);
}

void Shard::describe_bearers(std::vector<BearerInfo>& out, std::size_t limit) const {
  proxy::describe_bearers(parts_->registry, out, limit);
}

}  // namespace sluice::proxy
