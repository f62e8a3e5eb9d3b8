#pragma once

#include "proxy/engine/shard/forwarder.hpp"
#include "proxy/engine/shard/report_dispatcher.hpp"

namespace sluice::proxy {

/// Activates other policies on a running shard. Each connection moves to the bearer for its new policy, and continues
/// under the new controller. Thread: the shard's.
class PolicySwitch {
 public:
  /// Stores references to its arguments, which must outlive the object.
  PolicySwitch(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, ReportDispatcher& bearers,
               Forwarder& forwarder, CrossTrafficSender& cross_traffic)
      : shard_(shard),
        flows_(flows),
        end_to_end_(end_to_end),
        bearers_(bearers),
        forwarder_(forwarder),
        cross_traffic_(cross_traffic) {}

  /// Activates `policies`, which must outlive the shard. The call takes time proportional to the number of connections.
  void apply(const Policies& policies, Instant now);

 private:
  /// Moves a flow to the bearer for its new policy. If that policy does not split, requests the flow's handback to its
  /// hosts; else cancels such a request.
  void rebind(Flow& flow, FlowId id, Instant now);

  const ShardContext& shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  ReportDispatcher& bearers_;
  Forwarder& forwarder_;
  CrossTrafficSender& cross_traffic_;
};

}  // namespace sluice::proxy
