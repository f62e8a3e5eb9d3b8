#pragma once

#include <algorithm>
#include <cstdint>

#include "proxy/engine/flow/eviction_queue.hpp"
#include "proxy/engine/flow_table/registry.hpp"
#include "proxy/engine/relay/relay.hpp"

namespace sluice::proxy {

/// Queue of split connections in TIME-WAIT (RFC 9293 section 3.6.1), ordered by age. In this state only a retransmitted
/// FIN is answered. The queue has space for a quarter of limits.max_flows connections, but at least for 16. The oldest
/// connection is removed when another one needs its place. Later segments of a removed connection are forwarded
/// unchanged, which is correct because the proxy uses the hosts' own sequence numbers. Thread: the shard's.
class TimeWaitQueue {
 public:
  /// Reserves places for a quarter of `max_flows` connections, but at least 16.
  explicit TimeWaitQueue(std::uint32_t max_flows) : ages_(std::max<std::uint32_t>(max_flows / 4, 16)) {}

  /// Adds a connection that both hosts have closed. Must be called once for each connection. If the queue was full,
  /// returns the oldest flow, which the caller must close; else no_id.
  FlowId enter(Flow& flow, FlowId id, Registry& registry) {
    flow.in_time_wait = true;
    flow.handshake.ticket = ++last_ticket_;
    return still_in_time_wait(ages_.push(id, last_ticket_), registry);
  }
  /// Removes and returns the oldest flow in TIME-WAIT, which the caller must close. Returns no_id if none of the four
  /// oldest entries refers to such a flow any more.
  FlowId oldest(Registry& registry) {
    constexpr int attempts = 4;
    for (int i = 0; i < attempts; ++i) {
      const FlowId id = still_in_time_wait(ages_.pop(), registry);
      if (id != no_id) return id;
    }
    return no_id;
  }

 private:
  /// Returns the id of a queue entry if its flow is still the same connection and in TIME-WAIT; else no_id, because ids
  /// are reused.
  static FlowId still_in_time_wait(const EvictionQueue::Entry& entry, Registry& registry) {
    if (entry.id == no_id || !registry.flows().contains(entry.id)) return no_id;
    const Flow& flow = registry.flow(entry.id);
    return flow.in_time_wait && flow.handshake.ticket == entry.ticket ? entry.id : no_id;
  }

  EvictionQueue ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
