#pragma once

#include "proxy/shard/forwarder.hpp"
#include "proxy/steering/bearer_service.hpp"

namespace sluice::proxy {

/// Puts other policies in force on a running shard: every connection finds its new bearer and goes on under the new
/// law. Thread: the shard's.
class PolicySwitch {
 public:
  /// What it is given outlives it.
  PolicySwitch(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, BearerService& bearers,
               Forwarder& forwarder)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end), bearers_(bearers), forwarder_(forwarder) {}

  /// `policies` outlives the shard.
  void apply(const Policies& policies, Instant now);

 private:
  void rebind(Flow& flow, FlowId id, Instant now);

  const ShardContext& shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  BearerService& bearers_;
  Forwarder& forwarder_;
};

}  // namespace sluice::proxy
