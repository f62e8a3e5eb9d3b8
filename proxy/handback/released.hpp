#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/units/ip_address.hpp"
#include "proxy/end_to_end/tracked_connection.hpp"
#include "proxy/flows/age_ring.hpp"
#include "proxy/flows/flow_journal.hpp"
#include "proxy/shard/info.hpp"

namespace sluice::proxy {

/// A connection that was split and is its hosts' again.
struct ReleasedFlow {
  flow::FlowKey key;
  TrackedConnection connection;
  std::uint32_t ticket = 0;
  bool survivor = false;               ///< of an earlier run
  bool wanted = false;                 ///< it is to be split again when it can be …
  std::uint8_t unsplittable_seen = 0;  ///< so often it went because of what cannot be split
  ReleaseReason reason = ReleaseReason::released_earlier_run;
  Instant not_before{};  ///< … and no sooner
};
static_assert(sizeof(ReleasedFlow) <= 256);

/// The connections that were released, tracked while they pass untouched, so that one can be split again. Of a
/// connection that is older than the proxy the options are not known, and it is not among them. The oldest are
/// forgotten when there are too many; all memory at construction. Thread: its shard's.
class Released {
 public:
  static constexpr std::uint32_t none = no_id;
  /// More of that on one connection makes no difference.
  static constexpr std::uint8_t most_unsplittable = 11;

  Released(std::uint32_t max_flows, const flow::HashKey& secret);

  /// The flow is released. It is wanted back by itself unless an operator has sent it away; after what cannot be split
  /// not before a second, and twice as long after each further one, up to 17 minutes: hosts whose segments are cut
  /// again and again are not split again and again. Returns how many others are no longer tracked, since there was no
  /// place for it.
  [[nodiscard]] std::uint32_t add(const flow::FlowKey& key, const Flow& flow, Instant now);
  /// One that an earlier run had split; wanted back once it is known where its hosts stand, and that nothing is under
  /// way between them that nobody saw (see note_data()). Returns as the other.
  [[nodiscard]] std::uint32_t add(const Survivor& survivor, const RunGap& gap);
  /// Data has passed on it. What was lost in the gap is repeated, each time after at most twice the time that went by
  /// since (RFC 6298 section 5.5): a survivor that carries nothing for longer has lost nothing.
  void note_data(std::uint32_t id, Instant now);
  /// What cannot be split has come by. Where it is of one of these, by its numbers, that one's wait begins anew.
  void note_unsplittable(const flow::FlowKey& key, Side in, const tcp::Segment& segment, Instant now);
  [[nodiscard]] std::uint32_t find(const flow::FlowKey& key) const { return size() == 0 ? none : table_.find(key); }
  void forget(std::uint32_t id);
  /// Those of the UE (of all) are wanted back. Looks at every one.
  void want(const std::optional<IpAddress>& ue);

  [[nodiscard]] TrackedConnection& connection(std::uint32_t id) { return flows_[id].connection; }
  [[nodiscard]] bool wanted(std::uint32_t id, Instant now) const {
    return flows_[id].wanted && now >= flows_[id].not_before;
  }
  [[nodiscard]] std::uint8_t unsplittable_seen(std::uint32_t id) const { return flows_[id].unsplittable_seen; }
  /// Returns why the connection was released.
  [[nodiscard]] ReleaseReason reason(std::uint32_t id) const { return flows_[id].reason; }
  [[nodiscard]] std::uint32_t size() const { return flows_.size(); }
  /// Appends one entry for each connection, while `out` has fewer than `limit`.
  void describe(std::vector<FlowInfo>& out, std::size_t limit);

 private:
  /// A place under that key, or none; counts whom it took it from.
  [[nodiscard]] std::uint32_t place(const flow::FlowKey& key, std::uint32_t& forgotten);
  [[nodiscard]] bool forget(const AgeRing::Entry& oldest);

  flow::Slab<ReleasedFlow> flows_;
  flow::FlowTable table_;
  AgeRing ages_;
  Instant gap_begin_{};
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
