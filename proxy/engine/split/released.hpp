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

/// Connection that was split before and that its hosts now continue.
struct ReleasedFlow {
  flow::FlowKey key;
  TrackedConnection connection;
  /// serial number of the connection; an EvictionQueue entry with another number belongs to an earlier connection with
  /// this id
  std::uint32_t ticket = 0;
  bool recovered = false;              ///< true if an earlier run of the program had split the connection
  bool may_split_again = false;        ///< true if the connection may be split again, from the time `not_before` on
  std::uint8_t unsplittable_seen = 0;  ///< number of handbacks to the hosts because of segments that a split does not
                                       ///< support
  ReleaseReason reason = ReleaseReason::released_earlier_run;
  Instant not_before{};  ///< earliest time at which the connection may be split again
};
static_assert(sizeof(ReleasedFlow) <= 192 + 2 * sizeof(packet::HeaderTemplate));

/// Table of released connections, that is, of connections that were split and then handed back to their hosts. They are
/// tracked while they are forwarded, so that they can be split again. Connections whose handshake no run of the proxy
/// has seen are not in the table, because the options in their SYNs are unknown. If the table is full, the oldest
/// entries are evicted. All memory is allocated at construction. Thread: the shard's.
class Released {
 public:
  static constexpr std::uint32_t none = no_id;
  /// Maximum value of ReleasedFlow::unsplittable_seen, at which the delay before the next split is longest (17
  /// minutes).
  static constexpr std::uint8_t max_unsplittable = 11;

  /// Reserves entries for a quarter of `max_flows` connections, but at least 16.
  Released(std::uint32_t max_flows, const flow::HashKey& secret);

  /// Adds a flow that was handed back to its hosts. Unless an operator has released it, it may be split again. After a
  /// handback because of a segment that a split does not support, the next split is delayed by one second. The delay
  /// doubles with each such handback, up to 17 minutes, so that connections with many fragments are rarely split.
  /// Returns how many other connections were evicted because the table was full.
  [[nodiscard]] std::uint32_t add(const flow::FlowKey& key, const Flow& flow, Instant now);
  /// Adds a connection that an earlier run of the program had split. It may be split again when its sequence numbers
  /// are known and no unseen data can be in flight; see record_data(). Returns how many other connections were evicted
  /// because the table was full.
  [[nodiscard]] std::uint32_t add(const RecoveredConnection& connection, const RunGap& gap);
  /// Records that data of the connection was forwarded at `now`, and delays its next split if an earlier run had split
  /// it. The data may be a retransmission of data that was lost while no proxy was running. Another retransmission
  /// follows after at most twice the time since the first transmission (RFC 6298 section 5.5). If no data passes for
  /// that time, nothing was lost.
  void record_data(std::uint32_t id, Instant now);
  /// Handles a segment that a split does not support. If its numbers are plausible for a connection in the table,
  /// restarts the delay before that connection is split again.
  void record_unsplittable(const flow::FlowKey& key, Side in, const tcp::Segment& segment, Instant now);
  /// Returns the index of the table's connection with this key, or `none`.
  [[nodiscard]] std::uint32_t find(const flow::FlowKey& key) const { return size() == 0 ? none : table_.find(key); }
  /// Removes a connection from the table.
  void forget(std::uint32_t id);
  /// Allows connections that were handed back to their hosts to be split again: those of one UE, or of all UEs. Returns
  /// true if there is at least one such connection. Scans the whole table.
  bool allow_split_again(const std::optional<IpAddress>& ue);
  /// True if a connection of the UE is in the table. Scans the whole table.
  [[nodiscard]] bool has(const IpAddress& ue);

  [[nodiscard]] TrackedConnection& connection(std::uint32_t id) { return flows_[id].connection; }
  /// True if the connection may be split again at time `now`.
  [[nodiscard]] bool may_split_again(std::uint32_t id, Instant now) const {
    return flows_[id].may_split_again && now >= flows_[id].not_before;
  }
  /// Returns how often the connection was handed back to its hosts because of segments that a split does not support.
  [[nodiscard]] std::uint8_t unsplittable_seen(std::uint32_t id) const { return flows_[id].unsplittable_seen; }
  /// Returns the reason why the connection was handed back to its hosts.
  [[nodiscard]] ReleaseReason reason(std::uint32_t id) const { return flows_[id].reason; }
  [[nodiscard]] std::uint32_t size() const { return flows_.size(); }
  /// Appends snapshots of the connections in the table to `out`, until `out` has `limit` entries.
  void describe(std::vector<FlowInfo>& out, std::size_t limit);

 private:
  /// Allocates an entry for the key, or returns `none`. Adds the number of connections that were evicted for it to
  /// `forgotten`.
  [[nodiscard]] std::uint32_t place(const flow::FlowKey& key, std::uint32_t& forgotten);
  /// Evicts the connection that `oldest` identifies. Returns false if its table entry was reused for another
  /// connection.
  [[nodiscard]] bool forget(const EvictionQueue::Entry& oldest);

  flow::Slab<ReleasedFlow> flows_;
  flow::FlowTable table_;
  EvictionQueue ages_;
  /// last time at which an earlier run of the program is known to have been running; hosts may still retransmit data
  /// from before it
  Instant gap_begin_{};
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
