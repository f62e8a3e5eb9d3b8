// Tables of a shard: creates, finds and removes flows and UE bearers and keeps their rings, timers and change marks
// consistent. Called by all parts of the shard. Invariants: nothing allocates after construction, and a bearer exists
// while a flow or end-to-end connection refers to it.
#include "proxy/engine/flow_table/registry.hpp"

#include <cassert>

#include "control/decision_log/decision_log.hpp"

namespace sluice::proxy {
namespace {

/// Returns the key under which a UE's bearers are stored in the bearer table. The server address is unused, but has the
/// family of the UE's address. The key of an IPv4 UE thus has the short form (flow::ShortKey).
flow::FlowKey entry_key(const IpAddress& ue) {
  flow::FlowKey key;
  key.ue = ue;
  if (ue.is_v4()) key.server = IpAddress::v4(0, 0, 0, 0);
  return key;
}

/// Returns the short form of the key of an IPv4 UE in the bearer table. Equals flow::ShortKey::of(entry_key(ue)).
flow::ShortKey short_entry_key(const IpAddress& ue) {
  return {{ue.words()[1] >> 32U, 0}};
}

/// Interval between two steps of the scan that frees send histories of silent UEs. A step scans 16 entries. If the pool
/// has many entries, a history is therefore freed only seconds after its UE has become silent.
constexpr Duration history_scan_period = std::chrono::milliseconds(1);
constexpr std::uint32_t histories_per_scan = 16;

/// Returns the UE's bearer for an active policy, or no_flow if there is none. `entry` is any bearer of the UE. A UE has
/// at most one bearer for each policy, and usually only one.
BearerId bearer_under(Registry& registry, BearerId entry, PolicyIndex policy) {
  if (entry == flow::no_flow) return flow::no_flow;
  const Bearer* each = &registry.bearer(entry);
  do {
    if (each->policy == policy && !registry.is_outdated(*each)) return each->id;
    each = &each->sibling();
  } while (each->id != entry);
  return flow::no_flow;
}

}  // namespace

Registry::Registry(const ShardConfig& config, const Policies& policies, const flow::HashKey& secret, Instant origin)
    : config_(config),
      recovery_states_(2 * config.limits.max_flows),
      policies_(policies, recovery_states_),
      flows_(config.limits.max_flows),
      pools_(2 * config.limits.max_bearers),
      bearers_(2 * config.limits.max_bearers),
      connections_(config.limits.max_flows, secret),
      link_rates_(2 * config.limits.max_bearers),
      entry_table_(2 * config.limits.max_bearers, secret),
      changed_bearers_(2 * config.limits.max_bearers),
      cross_traffic_woken_(2 * config.limits.max_bearers),
      timers_(flows_, bearers_, origin) {}

FlowId Registry::open(const flow::FlowKey& key, flow::KeyTag tag, PolicyIndex policy, Instant now) {
  const FlowId id = flows_.emplace();
  if (id == flow::Slab<Flow>::none) return no_id;
  const BearerId bearer = bearer_of(key.ue, policy, now);
  if (bearer == no_id || !connections_.enter(key, tag, id)) {
    flows_.erase(id);
    return no_id;
  }
  Flow& flow = flows_[id];
  flow.last_activity = now;
  flow.bearer = bearer;
  join(bearers_[bearer], id);
  return id;
}

void Registry::close(FlowId id, Instant now) {
  Flow& flow = flows_[id];
  Bearer& bearer = bearers_[flow.bearer];
  leave(bearer, id);
  record_change(flow.bearer);
  close_if_unused(flow.bearer, now);
  connections_.erase_flow(id);
  timers_.forget_flow(id);
  flows_.erase(id);
}

void Registry::drop_end_to_end(BearerId id, Instant now) {
  --bearers_[id].end_to_end_count;
  close_if_unused(id, now);
}

void Registry::close_if_unused(BearerId id, Instant now) {
  Bearer& bearer = bearers_[id];
  if (bearer.in_use()) return;
  if (!bearer.used() && !bearer.has_cross_traffic_queue()) {
    close_bearer(id);  // handshake without a connection: a port scan must not fill the table
    return;
  }
  bearer.empty_since = now;
  timers_.schedule(bearer, now + config_.timeouts.idle);
}

/// Returns the address under which a UE's bearer is stored. It is the address of the UE, or that of a configured prefix
/// whose UEs share one queue.
const IpAddress& Registry::queue_of(const IpAddress& ue) const {
  for (const IpPrefix& shared : config_.shared_queues) {
    if (shared.contains(ue)) return shared.address;
  }
  return ue;
}

BearerId Registry::find_bearer(const IpAddress& ue) const {
  return entry_of(queue_of(ue));
}

/// Returns one bearer of a UE, from which the UE's other bearers can be reached; no_flow if there is none. `ue` is the
/// address under which the bearers are stored.
BearerId Registry::entry_of(const IpAddress& ue) const {
  return ue.is_v4() ? entry_table_.find(short_entry_key(ue)) : entry_table_.find(entry_key(ue));
}

void Registry::find_bearers(std::span<const IpAddress> ues, std::span<BearerId> out) const {
  assert(ues.size() <= max_found_at_once && out.size() >= ues.size());
  flow::KeyBurst keys;
  keys.begin(ues.size());
  for (std::size_t i = 0; i < ues.size(); ++i) keys.set(i, entry_key(queue_of(ues[i])));
  entry_table_.lookup_burst(keys, out);
}

BearerId Registry::bearer_without_connection(const IpAddress& ue, PolicyIndex policy, Instant now) {
  const std::uint32_t limit = config_.limits.max_bearers;
  if (in_control_group(ue) || bearers_.size() >= limit - limit / 8) return flow::no_flow;
  const BearerId id = bearer_of(ue, policy, now);
  return id == no_id ? flow::no_flow : id;
}

BearerId Registry::bearer_of(const IpAddress& of, PolicyIndex policy, Instant now) {
  const IpAddress& ue = queue_of(of);
  const BearerId entry = entry_of(ue);
  if (const BearerId known = bearer_under(*this, entry, policy); known != flow::no_flow) return known;
  const bool moving = entry != flow::no_flow && is_outdated(bearers_[entry]);
  if (bearers_.size() >= config_.limits.max_bearers && !moving) return no_id;
  const BearerId id = bearers_.emplace(policies_.current().settings(policy), ue, pools_, in_control_group(ue));
  if (id == flow::Slab<Bearer>::none) return no_id;
  if (entry == flow::no_flow && !entry_table_.insert(entry_key(ue), id)) {
    bearers_.erase(id);
    return no_id;
  }
  Bearer& bearer = bearers_[id];
  bearer.id = id;
  bearer.policy = policy;
  bearer.generation = policies_.generation();
  bearer.empty_since = now;
  if (trace_ != nullptr && queue_of(trace_->selection().ue) == ue) bearer.trace = trace_;
  record_change(id);
  if (entry == flow::no_flow) return id;
  bearer.inherit(bearers_[entry], now);
  link_rates_.inherit(bearer, bearers_[entry]);
  bearer.join_ring(bearers_[entry]);
  bearer.recompute_counting();
  return id;
}

void Registry::close_bearer(BearerId id) {
  Bearer& bearer = bearers_[id];
  Bearer& other = bearer.sibling();
  bearer.leave_ring();
  other.recompute_counting();
  if (find_bearer(bearer.ue()) == id) {
    if (&other != &bearer) {
      entry_table_.reassign(entry_key(bearer.ue()), other.id);
    } else {
      entry_table_.erase(entry_key(bearer.ue()));
    }
  }
  timers_.forget_bearer(id);
  changed_bearers_.erase(id);
  cross_traffic_woken_.erase(id);
  link_rates_.forget(bearer);
  bearers_.erase(id);
}

void Registry::scan_histories(Instant now) {
  next_history_scan_ = now + history_scan_period;
  flow::Slab<RecentSends>& pool = pools_.recent_sends;
  for (std::uint32_t i = 0; i < histories_per_scan; ++i) {
    if (history_cursor_ >= pool.high_watermark()) history_cursor_ = 0;
    if (pool.contains(history_cursor_)) {
      Bearer& bearer = bearers_[pool[history_cursor_].bearer];
      if (policies_.advises_link_rates()) [[unlikely]]
        link_rates_.sample(bearer, now);
      bearer.sent().release_idle(now, pool);
    }
    ++history_cursor_;
  }
}

void Registry::trace(control::DecisionLog* trace) {
  if (trace_ != nullptr) set_trace(nullptr);
  trace_ = trace;
  if (trace_ != nullptr) set_trace(trace_);
}

/// Makes all bearers of the UE that `trace` names write their controllers' inputs and decisions to this log. With null,
/// ends the recording.
void Registry::set_trace(control::DecisionLog* trace) {
  const BearerId first = find_bearer(trace_->selection().ue);
  if (first == flow::no_flow) return;
  Bearer* each = &bearers_[first];
  do {
    each->trace = trace;
    each = &each->sibling();
  } while (each->id != first);
}

void Registry::move(FlowId id, BearerId to) {
  Flow& flow = flows_[id];
  leave(bearers_[flow.bearer], id);
  flow.bearer = to;
  join(bearers_[to], id);
  record_change(to);
}

void Registry::join(Bearer& bearer, FlowId id) {
  Flow& flow = flows_[id];
  if (bearer.first_flow == no_id) {
    flow.bearer_next = flow.bearer_previous = id;
    bearer.first_flow = id;
  } else {
    Flow& first = flows_[bearer.first_flow];
    flow.bearer_next = bearer.first_flow;
    flow.bearer_previous = first.bearer_previous;
    flows_[first.bearer_previous].bearer_next = id;
    first.bearer_previous = id;
  }
  ++bearer.flow_count;
}

void Registry::leave(Bearer& bearer, FlowId id) {
  Flow& flow = flows_[id];
  if (--bearer.flow_count == 0) {
    bearer.first_flow = no_id;
    return;
  }
  flows_[flow.bearer_previous].bearer_next = flow.bearer_next;
  flows_[flow.bearer_next].bearer_previous = flow.bearer_previous;
  if (bearer.first_flow == id) bearer.first_flow = flow.bearer_next;
}

}  // namespace sluice::proxy
