#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/units/ip_address.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/end_to_end/tracked_connection.hpp"
#include "proxy/engine/flow/eviction_queue.hpp"
#include "proxy/engine/flow_table/flow_journal.hpp"

namespace sluice::proxy {

/// Connection that was split before, and now continues between its hosts.
struct ReleasedFlow {
  flow::FlowKey key;
  TrackedConnection connection;
  std::uint32_t ticket = 0;            ///< serial number of the connection, which shows whether its place was reused
  bool recovered = false;              ///< true if an earlier run of the program had split the connection
  bool wanted = false;                 ///< true if the connection may be split again as soon as `not_before` has passed
  std::uint8_t unsplittable_seen = 0;  ///< number of releases because of segments that cannot be split
  ReleaseReason reason = ReleaseReason::released_earlier_run;
  Instant not_before{};  ///< earliest time at which the connection may be split again
};
static_assert(sizeof(ReleasedFlow) <= 192 + 2 * sizeof(packet::HeaderTemplate));

/// Released connections: they were split, were handed back to their hosts, and are tracked while they pass unchanged,
/// so that they can be split again. A connection older than the proxy is not among them, because its SYN options are
/// unknown. The oldest are evicted when the table is full. All memory is allocated at construction. Thread: its
/// shard's.
class Released {
 public:
  static constexpr std::uint32_t none = no_id;
  /// Upper limit of unsplittable_seen, because the delay until the connection is split again does not grow beyond it.
  static constexpr std::uint8_t max_unsplittable = 11;

  /// Reserves places for a quarter of `max_flows` connections, at least 16.
  Released(std::uint32_t max_flows, const flow::HashKey& secret);

  /// Adds a released flow (handed back to its hosts). It may be split again unless an operator has released it. After a
  /// release because of an unsplittable segment the next split is delayed by one second, doubled for each further
  /// release, up to 17 minutes. Connections with regular fragments are thus rarely split. Returns how many other
  /// connections were evicted because the table was full.
  [[nodiscard]] std::uint32_t add(const flow::FlowKey& key, const Flow& flow, Instant now);
  /// Adds a connection that an earlier run of the program had split. It may be split again when its sequence numbers
  /// are known and no unseen data can be in flight (see record_data()). Returns how many other connections were evicted
  /// because the table was full.
  [[nodiscard]] std::uint32_t add(const RecoveredConnection& connection, const RunGap& gap);
  /// Records that data of the connection has passed. Data lost in the gap between the runs is retransmitted after at
  /// most twice the time since its last transmission (RFC 6298 section 5.5). A connection without data for longer has
  /// therefore lost nothing.
  void record_data(std::uint32_t id, Instant now);
  /// Handles a segment that cannot be split. If its numbers are plausible for a released connection (handed back to its
  /// hosts), the delay until that connection is split again restarts.
  void record_unsplittable(const flow::FlowKey& key, Side in, const tcp::Segment& segment, Instant now);
  /// Returns the index of the released connection (handed back to its hosts) with this key, or `none`.
  [[nodiscard]] std::uint32_t find(const flow::FlowKey& key) const { return size() == 0 ? none : table_.find(key); }
  /// Removes a released connection.
  void forget(std::uint32_t id);
  /// Permits all released connections (handed back to their hosts) of the UE, or of all UEs, to be split again. Returns
  /// true if there is at least one. Scans the whole table.
  bool want(const std::optional<IpAddress>& ue);
  /// True if some released connection (handed back to its hosts) belongs to the UE. Visits every released connection.
  [[nodiscard]] bool has(const IpAddress& ue);

  [[nodiscard]] TrackedConnection& connection(std::uint32_t id) { return flows_[id].connection; }
  /// True if the connection may be split again at time `now`.
  [[nodiscard]] bool wanted(std::uint32_t id, Instant now) const {
    return flows_[id].wanted && now >= flows_[id].not_before;
  }
  /// Returns how often the connection was handed back to its hosts because of segments that cannot be split.
  [[nodiscard]] std::uint8_t unsplittable_seen(std::uint32_t id) const { return flows_[id].unsplittable_seen; }
  /// Returns why the connection was handed back to its hosts.
  [[nodiscard]] ReleaseReason reason(std::uint32_t id) const { return flows_[id].reason; }
  [[nodiscard]] std::uint32_t size() const { return flows_.size(); }
  /// Appends a snapshot of each released connection (handed back to its hosts) to `out` until it has `limit` entries.
  void describe(std::vector<FlowInfo>& out, std::size_t limit);

 private:
  /// Allocates an entry for the key, or returns `none`. Increments `forgotten` for each connection evicted to make
  /// space.
  [[nodiscard]] std::uint32_t place(const flow::FlowKey& key, std::uint32_t& forgotten);
  /// Evicts a connection unless its place was reused. Returns true if one was evicted.
  [[nodiscard]] bool forget(const EvictionQueue::Entry& oldest);

  flow::Slab<ReleasedFlow> flows_;
  flow::FlowTable table_;
  EvictionQueue ages_;
  Instant gap_begin_{};  ///< time when an earlier run of the program was last known to run
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
