#pragma once

#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/tracked_connection.hpp"

namespace sluice::proxy {

/// Tracks end-to-end connections whose policy requires a split, until they are idle and can be split. Thread: the
/// shard's.
class SplitCandidates {
 public:
  /// Reserves entries for `max_flows_at_once` connections.
  explicit SplitCandidates(std::uint32_t max_flows_at_once) : tracked_(max_flows_at_once) {}

  /// True if the end-to-end connection can be split just before this segment is processed. The segment must have a
  /// correct checksum, and must not have been passed to track().
  [[nodiscard]] bool may_be_split(const EndToEndFlow& flow, Side in, const tcp::Segment& segment) const;
  /// Tracks a segment of a connection that is to be split later.
  void track(EndToEndFlow& flow, Side in, const packet::Packet& packet, const packet::Parsed& parsed);
  /// Stops tracking, because the connection stays end to end or is closed.
  void give_up(EndToEndFlow& flow);
  /// Returns the state of both hosts of an end-to-end connection, derived from its segments and from the windows
  /// advertised to the hosts. Requires may_be_split().
  [[nodiscard]] TrackedConnection where(const EndToEndFlow& flow) const;

 private:
  flow::Slab<TrackedConnection> tracked_;
};

}  // namespace sluice::proxy
