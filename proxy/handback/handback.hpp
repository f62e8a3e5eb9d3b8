#pragma once

#include <cstdint>

#include "proxy/end_to_end/end_to_end_flows.hpp"
#include "proxy/handback/released.hpp"
#include "proxy/relay/exposure.hpp"
#include "proxy/relay/relay_memory.hpp"
#include "proxy/shard/context.hpp"

namespace sluice::proxy {

/// Split connections that go back to their hosts: asked to leave, led back while they are served, released when nothing
/// is left here, and tracked from then on. How a connection can change hands in the middle of a transfer stands in
/// seams.hpp. Thread: the shard's.
class Handback {
 public:
  /// What it is given outlives it.
  Handback(const ShardContext& shard, EndToEndFlows& end_to_end, const RelayMemory& memory, const Exposure& exposure,
           const flow::HashKey& secret)
      : shard_(shard),
        end_to_end_(end_to_end),
        memory_(memory),
        exposure_(exposure),
        released_(shard.config.limits.max_flows, secret) {}

  /// The flow is to go for this reason, as soon as its hosts cannot tell; ReleaseReason::none: it is to stay. False
  /// where nothing changes; otherwise the flow is to be served.
  [[nodiscard]] bool ask(Flow& flow, ReleaseReason reason) const;
  /// A flow that is to go is served: begins its handback, or sees to it that it can be begun.
  void advance(Flow& flow, Instant now);
  /// Nothing of it is left here: it can be released.
  [[nodiscard]] static bool is_complete(const Flow& flow);
  /// The flow is about to be forgotten; its connection goes on between its hosts, and is tracked where it may come
  /// back.
  void release(const Flow& flow, Instant now);

  /// The connections that were released.
  [[nodiscard]] Released& released() { return released_; }
  [[nodiscard]] const Released& released() const { return released_; }

 private:
  void begin_handback(Flow& flow, Instant now);

  const ShardContext& shard_;
  EndToEndFlows& end_to_end_;
  const RelayMemory& memory_;
  const Exposure& exposure_;
  Released released_;
};

}  // namespace sluice::proxy
