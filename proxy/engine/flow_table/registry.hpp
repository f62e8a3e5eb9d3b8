#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/id_set.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/engine/base/recovery_states.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/flow_table/connection_table.hpp"
#include "proxy/engine/flow_table/link_rates.hpp"
#include "proxy/engine/flow_table/timers.hpp"
#include "proxy/engine/policy/active_policies.hpp"

namespace sluice::proxy {

/// Returns the key of the connection of a segment that arrived on `in`.
[[nodiscard]] inline flow::FlowKey key_of(Side in, const packet::Parsed& parsed) {
  return in == Side::radio ? flow::FlowKey::from_ue(parsed) : flow::FlowKey::from_server(parsed);
}

/// Returns the key of the connection of a frame that arrived on `in`. Requires that parse_fast() or parse_fast_syn()
/// has accepted the frame.
[[nodiscard]] inline flow::ShortKey key_of_common(Side in, std::span<const std::uint8_t> frame) {
  const std::uint8_t* const at = frame.data() + packet::common_frame::addresses_at;
  return in == Side::radio ? flow::ShortKey::from_ue(at) : flow::ShortKey::from_server(at);
}

/// Connections and bearers of a shard, with their lookup tables, timers and pools. Address space is reserved at
/// construction; later calls allocate nothing. Thread: the shard's.
class Registry {
 public:
  /// Creates empty tables. `secret` keys the hashes, so that attackers cannot choose connections that collide. `origin`
  /// is the start of the timers' clock; no later call has an earlier time.
  Registry(const ShardConfig& config, const Policies& policies, const flow::HashKey& secret, Instant origin);

  /// Returns the lookup table from 5-tuple to connection.
  [[nodiscard]] ConnectionTable& connections() { return connections_; }
  [[nodiscard]] const ConnectionTable& connections() const { return connections_; }
  /// Returns the timers of flows and bearers.
  [[nodiscard]] Timers& timers() { return timers_; }
  /// Returns the active policies.
  [[nodiscard]] ActivePolicies& policies() { return policies_; }
  [[nodiscard]] const ActivePolicies& policies() const { return policies_; }
  /// True if the bearer was created under policies that are no longer active.
  [[nodiscard]] bool is_outdated(const Bearer& bearer) const { return bearer.generation != policies_.generation(); }

  /// Creates a flow and adds it to the bearer of its UE. Creates the bearer if needed. Returns no_id if the maximum
  /// number of flows or bearers is reached, or if the key is in use.
  FlowId open(const flow::FlowKey& key, PolicyIndex policy, Instant now) {
    return open(key, connections_.tag_of(key), policy, now);
  }
  FlowId open(const flow::FlowKey& key, flow::KeyTag tag, PolicyIndex policy, Instant now);
  /// Returns the key of a flow.
  [[nodiscard]] flow::FlowKey key_of(FlowId id) const { return connections_.key_of(id); }
  [[nodiscard]] FlowId id_of(const Flow& flow) const { return flows_.index_of(flow); }
  [[nodiscard]] flow::FlowKey key_of(const Flow& flow) const { return key_of(id_of(flow)); }
  /// Returns a view of a flow's key for writing packet headers. `ip_version` must be the IP version of the flow.
  [[nodiscard]] flow::KeyView view_of(const Flow& flow, std::uint8_t ip_version) const {
    return connections_.view_of(flows_.index_of(flow), ip_version);
  }
  /// True if another flow can be created.
  [[nodiscard]] bool has_space() const { return flows_.size() < flows_.capacity(); }
  /// Removes the flow from its bearer, the table and the timers, and destroys it. Its packets are freed.
  void close(FlowId id, Instant now);

  /// Returns one bearer of the UE; CircularListHook::sibling() leads to the UE's other bearers. Returns no_flow if the
  /// UE has none.
  [[nodiscard]] BearerId find_bearer(const IpAddress& ue) const;
  /// Looks up one bearer for each UE in `ues`, like find_bearer() but with prefetching. `out` must be at least as long
  /// as `ues`, which contains at most max_found_at_once addresses.
  void find_bearers(std::span<const IpAddress> ues, std::span<BearerId> out) const;
  static constexpr std::size_t max_found_at_once = flow::KeyBurst::most;
  /// Returns the version number of the bearer table. While it is unchanged, earlier results of find_bearer() are valid.
  [[nodiscard]] std::uint32_t bearer_changes() const { return entry_table_.changes(); }
  /// Returns the bearer of the UE `of` under a policy. If there is none, creates it with the measurements of the UE's
  /// other bearers. Returns no_id if the maximum number of bearers is reached.
  BearerId bearer_of(const IpAddress& of, PolicyIndex policy, Instant now);
  /// Returns the bearer of a UE that may have no connection, and creates it if needed, like bearer_of(). The caller
  /// must set the bearer's timer. Returns no_flow if the UE is in the control group (limited by no rate controller), or
  /// if seven eighths of limits.max_bearers are used. The rest is for UEs with connections.
  BearerId bearer_without_connection(const IpAddress& ue, PolicyIndex policy, Instant now);
  /// Sets the decision log, which names the UE whose controllers are recorded. With null, ends the recording.
  void trace(control::DecisionLog* trace);
  /// Moves the flow to another bearer.
  void move(FlowId id, BearerId to);
  /// Decrements the bearer's number of end-to-end connections, because one has ended. A bearer without connections is
  /// closed at once or after the idle timeout.
  void drop_end_to_end(BearerId id, Instant now);
  /// Returns the long-term rates of the UEs' radio links. They are only known while a policy advises a share of them.
  [[nodiscard]] LinkRates& link_rates() { return link_rates_; }
  /// Scans some send histories once per millisecond. Frees those of UEs to which no packet can be in flight between
  /// proxy and Node-B any more. While a policy advises a share of link rates, also samples the rates of the other UEs.
  void release_idle_histories(Instant now) {
    if (now >= next_history_scan_) scan_histories(now);
  }
  /// True if no timer has expired and release_idle_histories() has nothing to do.
  [[nodiscard]] bool is_at_rest(Instant now) const { return timers_.is_quiet(now) && now < next_history_scan_; }
  /// Destroys a bearer that has no connections.
  void close_bearer(BearerId id);

  [[nodiscard]] Flow& flow(FlowId id) { return flows_[id]; }
  [[nodiscard]] Bearer& bearer(BearerId id) { return bearers_[id]; }
  [[nodiscard]] flow::Slab<Flow>& flows() { return flows_; }
  [[nodiscard]] flow::Slab<Bearer>& bearers() { return bearers_; }

  /// Records that the status of the bearer (control::feedback::BearerStatus) may have changed, so that the new status
  /// is sent to the Node-B.
  void record_change(BearerId id) { changed_bearers_.insert(id); }
  /// Calls visit(bearer, id) once for each bearer whose status has changed since the last call.
  template <typename Visit>
  void take_changed(Visit&& visit) {
    changed_bearers_.drain([&](BearerId id) { visit(bearers_[id], id); });
  }
  /// Removes the bearer from the set of bearers whose status has changed, so that no status is sent for it.
  void forget_change(BearerId id) { changed_bearers_.erase(id); }

  /// Records that an ACK has arrived for the bearer, so that waiting cross traffic (packets of no split or end-to-end
  /// connection) may be sent.
  void wake_cross_traffic(BearerId id) {
    cross_traffic_woken_.insert(id);
    any_cross_traffic_woken_ = true;
  }
  [[nodiscard]] bool any_cross_traffic_woken() const { return any_cross_traffic_woken_; }
  /// Calls visit(bearer) once for each bearer that was passed to wake_cross_traffic() since the last call.
  template <typename Visit>
  void take_cross_traffic_woken(Visit&& visit) {
    any_cross_traffic_woken_ = false;
    cross_traffic_woken_.drain([&](BearerId id) { visit(bearers_[id]); });
  }

  /// Calls visit(flow, id) for all flows (handshakes and split connections) of a UE. `bearer` is any bearer of the UE.
  /// visit() must not close a flow.
  template <typename Visit>
  void for_each_flow_of(BearerId bearer, Visit&& visit) {
    Bearer* each = &bearers_[bearer];
    do {
      FlowId id = each->first_flow;
      for (std::uint32_t i = each->flow_count; i > 0; --i) {
        Flow& flow = flows_[id];
        visit(flow, id);
        id = flow.bearer_next;
      }
      each = &each->sibling();
    } while (each->id != bearer);
  }

  /// Returns the sums over all bearers that compare the controllers' decisions with the actual traffic in mode observe,
  /// in which decisions are not applied.
  [[nodiscard]] const Observed& observed() const { return pools_.observed; }

  /// True if a UE with the address `ue` is in the control group, whose connections no rate controller limits. UEs that
  /// share a queue are all in the group, or none of them is.
  [[nodiscard]] bool in_control_group(const IpAddress& ue) const {
    return policies_.current().in_control_group(queue_of(ue));
  }

 private:
  /// Scans the next send histories. Frees those of UEs to which no packet can be in flight between proxy and Node-B any
  /// more. Samples the links' rates if a policy needs them, because the UEs that have send histories are the active
  /// ones.
  [[gnu::noinline]] void scan_histories(Instant now);
  /// Returns one bearer of a UE, from which the UE's other bearers can be reached; no_flow if there is none. `ue` is
  /// the address under which the bearers are stored, see queue_of().
  [[nodiscard]] BearerId entry_of(const IpAddress& ue) const;
  /// Returns the address under which a UE's bearer is stored: that of the UE, or that of a configured prefix whose UEs
  /// share one queue.
  [[nodiscard]] const IpAddress& queue_of(const IpAddress& ue) const;
  /// Makes all bearers of the UE that `trace` names write their controllers' inputs and decisions to this log. With
  /// null, ends the recording.
  void set_trace(control::DecisionLog* trace);
  /// Closes a bearer that has no connections: at once, or after the idle timeout if a connection was established or the
  /// bearer limits cross traffic.
  void close_if_unused(BearerId id, Instant now);
  /// Adds the flow to the circular list of the bearer's flows.
  void join(Bearer& bearer, FlowId id);
  /// Removes the flow from the circular list of the bearer's flows.
  void leave(Bearer& bearer, FlowId id);

  const ShardConfig& config_;
  control::DecisionLog* trace_ = nullptr;
  RecoveryStates recovery_states_;
  ActivePolicies policies_;
  flow::Slab<Flow> flows_;
  BearerPools pools_;
  flow::Slab<Bearer> bearers_;
  ConnectionTable connections_;
  LinkRates link_rates_;
  flow::FlowTable entry_table_;  ///< maps the address of a UE to one of its bearers
  flow::IdSet changed_bearers_;
  flow::IdSet cross_traffic_woken_;
  Timers timers_;
  bool any_cross_traffic_woken_ = false;
  Instant next_history_scan_{};       ///< time at which the next scan of send histories is due
  std::uint32_t history_cursor_ = 0;  ///< index in the pool of send histories at which their next scan continues
};

}  // namespace sluice::proxy
