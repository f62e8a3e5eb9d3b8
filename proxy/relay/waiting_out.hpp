#pragma once

#include <algorithm>
#include <cstdint>

#include "proxy/flows/age_ring.hpp"
#include "proxy/flows/registry.hpp"
#include "proxy/relay/relay.hpp"

namespace sluice::proxy {

/// Connections of which nothing is left but to answer a FIN that comes again (TIME-WAIT, RFC 9293 section 3.6.1), by
/// age. They may have a quarter of the places that connections have (16 at least), and the oldest go when a new
/// connection finds none: what comes of them afterwards passes to the host itself, whose numbers it bears, and which
/// waits as long as its own system wants. Thread: the shard's.
class WaitingOut {
 public:
  explicit WaitingOut(std::uint32_t max_flows) : ages_(std::max<std::uint32_t>(max_flows / 4, 16)) {}

  /// Both hosts have closed it; once for each connection. The one that has to go for it, or no_id.
  FlowId enter(Flow& flow, FlowId id, Registry& registry) {
    flow.waits_out = true;
    flow.handshake.ticket = ++last_ticket_;
    return still_waiting(ages_.push(id, last_ticket_), registry);
  }
  /// The one that waits for longest, which has to go; no_id when none was found among the oldest few.
  FlowId oldest(Registry& registry) {
    constexpr int attempts = 4;
    for (int i = 0; i < attempts; ++i) {
      const FlowId id = still_waiting(ages_.pop(), registry);
      if (id != no_id) return id;
    }
    return no_id;
  }

 private:
  static FlowId still_waiting(const AgeRing::Entry& entry, Registry& registry) {
    if (entry.id == no_id || !registry.flows().contains(entry.id)) return no_id;
    const Flow& flow = registry.flow(entry.id);
    return flow.waits_out && flow.handshake.ticket == entry.ticket ? entry.id : no_id;
  }

  AgeRing ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
