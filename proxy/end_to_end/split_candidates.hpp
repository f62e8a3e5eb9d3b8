#pragma once

#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"
#include "proxy/end_to_end/tracked_connection.hpp"

namespace sluice::proxy {

/// Connections that pass end to end under a policy that splits: tracked until a moment when they can be. Thread: its
/// shard's.
class SplitCandidates {
 public:
  explicit SplitCandidates(std::uint32_t most_flows) : tracked_(most_flows) {}

  /// It can be split from this segment on, which was neither tracked nor received and has a good checksum.
  [[nodiscard]] bool may_be_split(const EndToEndFlow& flow, Side in, const tcp::Segment& segment) const;
  /// Such a segment of a connection that is to be split and cannot be yet.
  void track(EndToEndFlow& flow, Side in, const packet::Packet& packet, const packet::Parsed& parsed);
  /// It stays end to end, or is closed.
  void give_up(EndToEndFlow& flow);
  /// Where its hosts stand, by what has passed and was advertised in their names. Requires that it may be split.
  [[nodiscard]] TrackedConnection where(const EndToEndFlow& flow) const;

 private:
  flow::Slab<TrackedConnection> tracked_;
};

}  // namespace sluice::proxy
