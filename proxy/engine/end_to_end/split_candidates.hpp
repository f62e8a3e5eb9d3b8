#pragma once

#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/tracked_connection.hpp"

namespace sluice::proxy {

/// Tracks connections that pass end to end although their policy splits, until they are idle and can be split. Thread:
/// its shard's.
class SplitCandidates {
 public:
  /// Reserves entries for `max_flows_at_once` connections.
  explicit SplitCandidates(std::uint32_t max_flows_at_once) : tracked_(max_flows_at_once) {}

  /// True if the end-to-end connection can be split before this segment is processed. Requires that the segment was
  /// neither tracked nor received, and has a good checksum.
  [[nodiscard]] bool may_be_split(const EndToEndFlow& flow, Side in, const tcp::Segment& segment) const;
  /// Tracks a segment of a connection that is to be split but cannot be split yet.
  void track(EndToEndFlow& flow, Side in, const packet::Packet& packet, const packet::Parsed& parsed);
  /// Stops tracking, because the connection stays end to end or is closed.
  void give_up(EndToEndFlow& flow);
  /// Returns the state of both hosts of an end-to-end connection, derived from its segments and the windows that were
  /// advertised in the hosts' names. Requires may_be_split().
  [[nodiscard]] TrackedConnection where(const EndToEndFlow& flow) const;

 private:
  flow::Slab<TrackedConnection> tracked_;
};

}  // namespace sluice::proxy
