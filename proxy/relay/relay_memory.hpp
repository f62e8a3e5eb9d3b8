#pragma once

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/segment.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/demand.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/flows/memory_budget.hpp"
#include "proxy/shard/config.hpp"

namespace sluice::proxy {

/// What each direction of a split connection may hold of the shard's packet memory, and which payload is refused when
/// little is left. Thread: the shard's.
class RelayMemory {
 public:
  /// `config` and `budget` outlive it.
  RelayMemory(const ShardConfig& config, MemoryBudget& budget);

  /// Reads the pool's level where that is due. True when it was read anew.
  bool look(Instant now);
  /// So few buffers are left that new connections go unsplit (limits.refuse_flows_at).
  [[nodiscard]] bool refuses_flows() const { return refuses_flows_; }
  /// What one direction may hold of which nothing is known, by the buffers left.
  [[nodiscard]] Bytes unasked() const { return unasked_; }

  /// What the direction that comes in on `in`, and holds `held`, may hold and advertise: by need as far as the budget
  /// goes, beyond the need while there is plenty; two segments in any case, or it would never move again.
  [[nodiscard]] Bytes limit(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now);
  /// The direction that comes in on `in` has shown to need more than is granted unasked: what it may hold follows what
  /// is acknowledged.
  [[nodiscard]] bool goes_by_need(const Flow& flow, Side in) const {
    return flow.demands != no_id && demand_of(flow, in).bytes() > plenty_;
  }
  /// limit() was looked at so lately that it need not be again, of the direction that comes in on `in`. In between the
  /// host behind it has room for what the other one acknowledges.
  [[nodiscard]] bool limit_is_fresh(const Flow& flow, Side in, Instant now) const {
    return flow.demands != no_id && demand_of(flow, in).is_fresh(now);
  }
  /// What it has shown to need, as far as the budget goes.
  [[nodiscard]] Bytes need(Flow& flow, const Bearer& bearer, Side in, Bytes held, Instant now);
  /// The same as limit() for a connection that has only begun.
  [[nodiscard]] Bytes first_limit(const Bearer& bearer) const;

  /// Tells the budget what the flow has advertised. `events`: what has happened to its streams. Returns the bytes
  /// that it holds and has advertised, both ways.
  [[nodiscard]] std::uint32_t note(Flow& flow, StreamEvents events);
  /// The same where nothing has happened but that the leg's host was told of its window.
  void note_told(Leg& leg) {
    budget_.commit(leg.commitment, static_cast<std::uint32_t>(leg.endpoint.advertised().count()));
  }
  /// The flow ends.
  void forget(Flow& flow);

  /// Whether payload that has come is kept. All is while there is memory. When little is left, what comes before its
  /// turn is not, since it may wait for long; nor, when nothing is left, what belongs to a connection that holds two
  /// segments already. None of it was acknowledged, so its sender sends it again.
  [[nodiscard]] bool keeps(const Flow& flow, Side in, const tcp::Segment& segment) const {
    return !budget_.tight() || keeps_though_tight(flow, in, segment);
  }

 private:
  /// What a connection is granted without having shown that it needs it, while the budget has room for that.
  static constexpr Bytes most_unasked{1024 * 1024};

  /// Of the direction that comes in on `in`. Requires that the flow has any.
  [[nodiscard]] const Demand& demand_of(const Flow& flow, Side in) const {
    return demands_[flow.demands][static_cast<std::size_t>(opposite(in))];
  }
  /// Of a direction that has `shown` a need and has committed `own`, of which `unasked` might be without need.
  [[nodiscard]] Bytes bounded_need(Bytes own, Bytes shown, Bytes unasked) const;
  [[nodiscard]] Bytes need_of(Flow& flow, const Bearer& bearer, Side in, Instant now);
  template <Side in>
  [[nodiscard]] std::uint32_t note_direction(Flow& flow, bool fed);
  [[nodiscard, gnu::cold, gnu::noinline]] bool keeps_though_tight(const Flow& flow, Side in,
                                                                  const tcp::Segment& segment) const;

  const ShardConfig& config_;
  MemoryBudget& budget_;
  flow::Slab<Demands> demands_;
  Bytes unasked_;
  Bytes plenty_;  ///< most_unasked, or all that a direction may have
  bool refuses_flows_ = false;
};

}  // namespace sluice::proxy
