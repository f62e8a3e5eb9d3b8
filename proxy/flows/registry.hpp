#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/id_set.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/flow/timer_wheel.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/disturbances.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/shard/config.hpp"

namespace sluice::proxy {

/// The connection of a segment that came in on `in`.
[[nodiscard]] inline flow::FlowKey key_of(Side in, const packet::Parsed& parsed) {
  return in == Side::radio ? flow::FlowKey::from_ue(parsed) : flow::FlowKey::from_server(parsed);
}

/// The same of a frame that parse_usual() or parse_usual_syn() took.
[[nodiscard]] inline flow::ShortKey key_of_usual(Side in, std::span<const std::uint8_t> frame) {
  const std::uint8_t* const at = frame.data() + packet::usual_frame::addresses_at;
  return in == Side::radio ? flow::ShortKey::from_ue(at) : flow::ShortKey::from_server(at);
}

/// Of the timers that are due together a call of Shard::advance() runs so many of each kind; packets come before the
/// rest. A million connections that end at once hold up nobody: so many take less than 100 us to end.
inline constexpr std::uint32_t most_timers_at_once = 64;

/// The shard's connections and bearers: who they are, where they live, when they next want to be looked at. All address
/// space is taken at construction; nothing here allocates afterwards. Thread: its shard's.
class Registry {
 public:
  using ConnectionId = std::uint32_t;

  /// `secret` keeps outsiders from choosing connections that collide; `origin` is not later than any time passed in.
  Registry(const ShardConfig& config, const Policies& policies, const flow::HashKey& secret, Instant origin);

  /// Who a connection is: a flow by its own id, a regulated connection by one behind all of those, or no_flow.
  [[nodiscard]] ConnectionId find(const flow::FlowKey& key) const { return connections_.find(key); }
  [[nodiscard]] ConnectionId find(const flow::FlowKey& key, flow::KeyTag tag) const {
    return connections_.find(key, tag);
  }
  [[nodiscard]] ConnectionId find(const flow::ShortKey& key, flow::KeyTag tag) const {
    return connections_.find(key, tag);
  }
  void find_burst(const flow::KeyBurst& keys, std::span<ConnectionId> out, std::span<std::uint32_t> tags) const {
    connections_.lookup_burst(keys, out, tags);
  }
  /// While this number stands, what was found is still so, and what was not.
  [[nodiscard]] std::uint32_t changes() const { return connections_.changes(); }
  /// While this number stands, what was found is.
  [[nodiscard]] std::uint32_t removals() const { return connections_.removals(); }
  [[nodiscard]] bool is_flow(ConnectionId id) const { return id < flows_.capacity(); }
  [[nodiscard]] bool is_end_to_end(ConnectionId id) const { return id - flows_.capacity() < flows_.capacity(); }
  [[nodiscard]] EndToEndId end_to_end(ConnectionId id) const { return id - flows_.capacity(); }
  /// From now on the connection is found as this one; false when it is another already.
  bool enter_end_to_end(const flow::FlowKey& key, EndToEndId id) {
    return connections_.insert(key, id + flows_.capacity());
  }
  void erase(const flow::FlowKey& key) { connections_.erase(key); }
  /// Where a key goes in every table of the shard.
  [[nodiscard]] flow::KeyTag tag_of(const flow::FlowKey& key) const { return connections_.tag_of(key); }
  [[nodiscard]] flow::KeyTag tag_of(const flow::ShortKey& key) const { return connections_.tag_of(key); }
  /// A new flow, entered in its bearer, which is made where it is the UE's first. no_id when a limit is reached.
  FlowId open(const flow::FlowKey& key, PolicyIndex policy, Instant now) { return open(key, tag_of(key), policy, now); }
  FlowId open(const flow::FlowKey& key, flow::KeyTag tag, PolicyIndex policy, Instant now);
  /// Who the flow is.
  [[nodiscard]] flow::FlowKey key_of(FlowId id) const { return connections_.key_of(id); }
  [[nodiscard]] flow::FlowKey key_of(const Flow& flow) const { return key_of(flows_.index_of(flow)); }
  /// The same for who writes it into packets of that IP version, which is the flow's.
  [[nodiscard]] flow::KeyView view_of(const Flow& flow, std::uint8_t ip_version) const {
    return connections_.view_of(flows_.index_of(flow), ip_version);
  }
  /// There is a place for another flow.
  [[nodiscard]] bool has_room() const { return flows_.size() < flows_.capacity(); }
  /// Takes the flow out of its bearer, the table and the timers and destroys it; its packets go back to the pool.
  void close(FlowId id, Instant now);

  /// One of the UE's bearers, which leads to the others; no_flow when it has none.
  [[nodiscard]] BearerId find_bearer(const IpAddress& ue) const;
  /// The same for the UEs of many reports, their memory fetched ahead. `out` is at least as long as `reports`, and both
  /// have most_found_at_once at most.
  void find_bearers(std::span<const ReportArrival> reports, std::span<BearerId> out) const;
  static constexpr std::size_t most_found_at_once = flow::KeyBurst::most;
  /// While this number stands, what was found by UE is still so.
  [[nodiscard]] std::uint32_t bearer_changes() const { return entry_table_.changes(); }
  /// Asks the processor to fetch when the bearer is to be looked at.
  void prefetch_timer(BearerId id) const { wheel_.prefetch(flows_.capacity() + id); }
  /// The UE's bearer under that policy, made where there is none: it goes on from what its siblings have measured.
  /// no_id when there is no room.
  BearerId bearer_of(const IpAddress& of, PolicyIndex policy, Instant now);
  /// From now on these treatments are in force. Bearers of the old ones are to be left and closed; until then there may
  /// be twice as many, and one that finds no room stays.
  void exchange_policies(const Policies& policies);
  [[nodiscard]] const Policies& policies() const { return *policies_; }
  /// Some bearer may have to know of connections that are young.
  [[nodiscard]] bool minds_young() const { return minds_young_; }
  /// What endpoints of connections that begin now go by. They keep it when policies are exchanged; one that has
  /// outlived 65 535 exchanges goes by that of newer ones.
  [[nodiscard]] const tcp::EndpointConfig& legs() const { return legs_[generation_]; }
  [[nodiscard]] bool is_outdated(const Bearer& bearer) const { return bearer.generation != generation_; }
  /// Who wants to know from now on what the laws of a UE decide; null: nobody.
  void trace(control::LawTrace* trace);
  /// The flow goes to another bearer.
  void move(FlowId id, BearerId to);
  /// A connection of the bearer that passed end to end has gone.
  void drop_end_to_end(BearerId id, Instant now);
  /// Looks at the next few bearers that keep more than the sum of what they sent, once in a while: those that have been
  /// silent for long give it back.
  void let_rest(Instant now) {
    if (now >= next_rest_) look_for_silent(now);
  }
  /// Destroys a bearer that is not in use.
  void close_bearer(BearerId id);

  [[nodiscard]] Flow& flow(FlowId id) { return flows_[id]; }
  [[nodiscard]] Bearer& bearer(BearerId id) { return bearers_[id]; }
  [[nodiscard]] flow::Slab<Flow>& flows() { return flows_; }
  [[nodiscard]] flow::Slab<Bearer>& bearers() { return bearers_; }

  /// There is something new to tell of the bearer, or of its flows.
  void note_change(BearerId id) { changed_bearers_.insert(id); }
  /// Of those of which there was, since the last call; visit(bearer, id) is called once for each.
  template <typename Visit>
  void take_changed(Visit&& visit) {
    changed_bearers_.drain([&](BearerId id) { visit(bearers_[id], id); });
  }
  /// Nothing that was new of the bearer is any more.
  void forget_change(BearerId id) { changed_bearers_.erase(id); }

  /// Calls visit(flow, id) for the flows of a UE, of which `bearer` is one bearer. None may be closed meanwhile.
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

  /// Looks at the flow no later than `when`; an earlier appointment stands.
  void schedule_flow(Flow& flow, FlowId id, Instant when) {
    if (when >= flow.deadline) return;
    flow.deadline = when;
    wheel_.schedule(id, when);
  }
  /// Looks at it then, whatever was appointed.
  void reschedule_flow(Flow& flow, FlowId id, Instant when) {
    flow.deadline = when;
    wheel_.cancel(id);
    wheel_.schedule(id, when);
  }
  /// The same for a bearer.
  void schedule_bearer(BearerId id, Instant when);
  /// Looks at the bearer at `when`, whatever was appointed; `never`: not at all.
  void reschedule_bearer(BearerId id, Instant when);
  /// Nothing can be due.
  [[nodiscard]] bool is_quiet(Instant now) const { return wheel_.is_quiet(now); }
  /// Nor does let_rest() look.
  [[nodiscard]] bool is_at_rest(Instant now) const { return is_quiet(now) && now < next_rest_; }
  /// Calls on_flow(id) and on_bearer(id) for what is due, most_timers_at_once of it. They reschedule themselves.
  template <typename OnFlow, typename OnBearer>
  void run_due(Instant now, OnFlow&& on_flow, OnBearer&& on_bearer) {
    wheel_.advance(now, most_timers_at_once, [&](std::uint32_t id) {
      if (id < flows_.capacity()) {
        flows_[id].deadline = never;
        on_flow(id);
      } else {
        bearers_[id - flows_.capacity()].wheel_deadline = never;
        on_bearer(id - flows_.capacity());
      }
    });
  }
  [[nodiscard]] Instant next_deadline() const { return wheel_.next(); }

 private:
  void enforce(const Policies& policies);
  [[gnu::noinline]] void look_for_silent(Instant now);
  [[nodiscard]] BearerId entry_of(const IpAddress& ue) const;
  [[nodiscard]] const IpAddress& queue_of(const IpAddress& ue) const;
  void set_trace(control::LawTrace* trace);
  void rest_if_unused(BearerId id, Instant now);
  void join(Bearer& bearer, FlowId id);
  void leave(Bearer& bearer, FlowId id);

  const ShardConfig& config_;
  const Policies* policies_ = nullptr;
  control::LawTrace* trace_ = nullptr;
  std::uint16_t generation_ = 1;
  bool minds_young_ = false;  ///< the policies in force do, or those of bearers that are left from before
  flow::LazyArray<tcp::EndpointConfig> legs_;  ///< by generation of policies
  Disturbances disturbances_;
  flow::Slab<Flow> flows_;
  BearerParts parts_;
  flow::Slab<Bearer> bearers_;
  flow::FlowTable connections_;  ///< of both kinds
  flow::FlowTable entry_table_;  ///< by UE: one of its bearers, the entry to their ring
  flow::IdSet changed_bearers_;
  flow::TimerWheel wheel_;       ///< ids: flows first, then bearers
  Instant next_rest_{};          ///< when let_rest() looks again …
  std::uint32_t rest_next_ = 0;  ///< … and where in the pool
};

}  // namespace sluice::proxy
