#pragma once

#include "dataplane/flow/slab.hpp"
#include "proxy/bearer/bearer.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/steering/governed_flow.hpp"

namespace sluice::proxy {

/// Split connections under a law that gives each flow a window: it bounds what is in flight towards the UE beside the
/// congestion window, as the window of an ACK does in the law's paper. Thread: the shard's.
class FlowWindows {
 public:
  /// `registry` outlives it.
  FlowWindows(const Registry& registry, std::uint32_t max_flows) : registry_(registry), laws_(max_flows) {}

  /// Tells the flow's law what the UE has acknowledged and the Node-B has reported since the flow was served last.
  [[gnu::noinline]] void follow(Flow& flow, Bearer& bearer, Instant now);
  /// What may be sent now so that no more than the window is in flight, as IP bytes.
  [[nodiscard, gnu::noinline]] Bytes room(Flow& flow, Bearer& bearer, Instant now);
  /// Segments of so many IP bytes went towards the UE. Nothing where the flow has no law.
  void sent(const Flow& flow, const Bearer& bearer, Bytes bytes) {
    if (flow.governed != no_id) [[unlikely]]
      note_sent(flow, bearer, bytes);
  }
  /// Feedback takes over on a running flow: its law goes on from the flow's part of what the path was measured to hold.
  void begin(Flow& flow, Bearer& bearer, Instant now);
  /// The flow ends, or has another bearer from now on.
  void forget(Flow& flow, Bearer& bearer);

 private:
  [[nodiscard]] GovernedFlow* law_of(Flow& flow, Bearer& bearer);
  [[gnu::noinline]] void note_sent(const Flow& flow, const Bearer& bearer, Bytes bytes);

  const Registry& registry_;
  flow::Slab<GovernedFlow> laws_;
};

}  // namespace sluice::proxy
