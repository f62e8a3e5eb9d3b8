#pragma once

#include "dataplane/flow/slab.hpp"
#include "dataplane/tcp/segment.hpp"
#include "proxy/flows/demand.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/flows/memory_budget.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/steering/bearer.hpp"

namespace sluice::proxy {

/// What each direction of a split connection may hold of the shard's packet memory, and which payload is refused when
/// little is left. Thread: the shard's.
class RelayMemory {
 public:
  /// `config` and `budget` outlive it.
  RelayMemory(const ShardConfig& config, MemoryBudget& budget)
      : config_(config), budget_(budget), demands_(config.limits.max_flows), unasked_(config.limits.relay_buffer) {}

  /// Reads the pool's level where that is due. True when it was read anew.
  bool look(Instant now);
  /// So few buffers are left that new connections go unsplit (limits.refuse_flows_at).
  [[nodiscard]] bool refuses_flows() const { return refuses_flows_; }
  /// What one direction may hold of which nothing is known, by the buffers left.
  [[nodiscard]] Bytes unasked() const { return unasked_; }

  /// What the direction that comes in on `in` may hold and advertise: by need as far as the budget goes, beyond the
  /// need while there is plenty; two segments in any case, or it would never move again.
  [[nodiscard]] Bytes limit(Flow& flow, const Bearer& bearer, Side in, Instant now);
  /// What it has shown to need, as far as the budget goes.
  [[nodiscard]] Bytes need(Flow& flow, Side in, Instant now);
  /// The same as limit() for a connection that has only begun.
  [[nodiscard]] Bytes first_limit(const Bearer& bearer) const;

  /// Tells the budget what the flow has advertised. `pending`: the streams on which something came. Returns the bytes
  /// that it holds and has advertised, both ways.
  [[nodiscard]] std::uint32_t note(Flow& flow, Streams pending);
  /// The flow ends.
  void forget(Flow& flow);

  /// Whether payload that has come is kept. All is while there is memory. When little is left, what comes before its
  /// turn is not, since it may wait for long; nor, when nothing is left, what belongs to a connection that holds two
  /// segments already. None of it was acknowledged, so its sender sends it again.
  [[nodiscard]] bool keeps(const Flow& flow, Side in, const tcp::Segment& segment) const {
    return !budget_.tight() || keeps_though_tight(flow, in, segment);
  }

 private:
  [[nodiscard]] Bytes need_of(Flow& flow, Side in, Instant now);
  [[nodiscard, gnu::cold, gnu::noinline]] bool keeps_though_tight(const Flow& flow, Side in,
                                                                  const tcp::Segment& segment) const;

  const ShardConfig& config_;
  MemoryBudget& budget_;
  flow::Slab<Demands> demands_;
  Bytes unasked_;
  bool refuses_flows_ = false;
};

}  // namespace sluice::proxy
