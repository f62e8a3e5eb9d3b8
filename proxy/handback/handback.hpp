#pragma once

#include <cstdint>

#include "proxy/end_to_end/regulator.hpp"
#include "proxy/handback/released.hpp"
#include "proxy/shard/context.hpp"
#include "proxy/split/exposure.hpp"
#include "proxy/split/relay_memory.hpp"

namespace sluice::proxy {

/// Split connections that go back to their hosts: asked to go, led out while they are served, let go when nothing is
/// left here, and followed from then on. How a connection can change hands in the middle of a transfer stands in
/// handover.hpp. Thread: the shard's.
class Handback {
 public:
  /// What it is given outlives it.
  Handback(const ShardContext& shard, Regulator& regulator, const RelayMemory& memory, const Exposure& exposure,
           const flow::HashKey& secret)
      : shard_(shard),
        regulator_(regulator),
        memory_(memory),
        exposure_(exposure),
        released_(shard.config.limits.max_flows, secret) {}

  /// The flow is to go for this reason, as soon as its hosts cannot tell; LetGo::no: it is to stay. False where
  /// nothing changes; otherwise the flow is to be served.
  [[nodiscard]] bool ask(Flow& flow, LetGo reason) const;
  /// A flow that is to go is served: begins its handback, or sees to it that it can be begun.
  void advance(Flow& flow, Instant now);
  /// Nothing of it is left here: it can be let go.
  [[nodiscard]] static bool is_complete(const Flow& flow);
  /// The flow is about to be forgotten; its connection goes on between its hosts, and is followed where it may come
  /// back.
  void let_go(const Flow& flow, Instant now);

  /// The connections that were let go.
  [[nodiscard]] Released& released() { return released_; }
  [[nodiscard]] const Released& released() const { return released_; }

 private:
  void lead_out(Flow& flow, Instant now);

  const ShardContext& shard_;
  Regulator& regulator_;
  const RelayMemory& memory_;
  const Exposure& exposure_;
  Released released_;
};

}  // namespace sluice::proxy
