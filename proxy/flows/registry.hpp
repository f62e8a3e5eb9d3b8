#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/id_set.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/connection_table.hpp"
#include "proxy/flows/disturbances.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/flows/timers.hpp"
#include "proxy/policy/policies_in_force.hpp"
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

/// The shard's connections and bearers, and where they live: which flows are whose, and what of a UE is found by its
/// address. All address space is taken at construction; nothing here allocates afterwards. Thread: its shard's.
class Registry {
 public:
  /// `secret` keeps outsiders from choosing connections that collide; `origin` is not later than any time passed in.
  Registry(const ShardConfig& config, const Policies& policies, const flow::HashKey& secret, Instant origin);

  /// Who the connections are.
  [[nodiscard]] ConnectionTable& connections() { return connections_; }
  [[nodiscard]] const ConnectionTable& connections() const { return connections_; }
  /// When flows and bearers want to be looked at.
  [[nodiscard]] Timers& timers() { return timers_; }
  [[nodiscard]] PoliciesInForce& policies() { return policies_; }
  [[nodiscard]] const PoliciesInForce& policies() const { return policies_; }
  [[nodiscard]] bool is_outdated(const Bearer& bearer) const { return bearer.generation != policies_.generation(); }

  /// A new flow, entered in its bearer, which is made where it is the UE's first. no_id when a limit is reached.
  FlowId open(const flow::FlowKey& key, PolicyIndex policy, Instant now) {
    return open(key, connections_.tag_of(key), policy, now);
  }
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
  /// The UE's bearer under that policy, made where there is none: it goes on from what its siblings have measured.
  /// no_id when there is no room.
  BearerId bearer_of(const IpAddress& of, PolicyIndex policy, Instant now);
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
  /// No timer can be due, and let_rest() does not look.
  [[nodiscard]] bool is_at_rest(Instant now) const { return timers_.is_quiet(now) && now < next_rest_; }
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

 private:
  [[gnu::noinline]] void look_for_silent(Instant now);
  [[nodiscard]] BearerId entry_of(const IpAddress& ue) const;
  [[nodiscard]] const IpAddress& queue_of(const IpAddress& ue) const;
  void set_trace(control::LawTrace* trace);
  void rest_if_unused(BearerId id, Instant now);
  void join(Bearer& bearer, FlowId id);
  void leave(Bearer& bearer, FlowId id);

  const ShardConfig& config_;
  control::LawTrace* trace_ = nullptr;
  Disturbances disturbances_;
  PoliciesInForce policies_;
  flow::Slab<Flow> flows_;
  BearerParts parts_;
  flow::Slab<Bearer> bearers_;
  ConnectionTable connections_;
  flow::FlowTable entry_table_;  ///< by UE: one of its bearers, the entry to their ring
  flow::IdSet changed_bearers_;
  Timers timers_;
  Instant next_rest_{};          ///< when let_rest() looks again …
  std::uint32_t rest_next_ = 0;  ///< … and where in the pool
};

}  // namespace sluice::proxy
