#pragma once

#include <cstdint>

#include "control/ack_release.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/end_to_end/ack_windows.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"
#include "proxy/end_to_end/parts.hpp"

namespace sluice::proxy {

/// ACKs of UEs that wait as their law wants it: which flows hold some, when they go on, and that none waits for long.
/// They leave in the order in which they came, with the window that the law gives when they do. Thread: its shard's.
class HeldAcks {
 public:
  /// What it is given outlives it.
  HeldAcks(flow::Slab<EndToEndFlow>& flows, const EndToEndParts& parts, AckWindows& windows)
      : flows_(flows), parts_(parts), windows_(windows) {}

  /// An ACK that acknowledges `ack`, its TCP header at `l4_offset`, waits from now on.
  void hold(EndToEndFlow& flow, EndToEndId id, packet::Packet&& packet, std::uint16_t l4_offset, Bytes ack,
            Instant now);
  /// Those of the flow that the law releases go on.
  void release(EndToEndFlow& flow, EndToEndId id, const control::AckRelease& release, Instant now);
  /// Those of the flow whose time is up go on.
  void release_overdue(EndToEndFlow& flow, EndToEndId id, Instant now);
  /// When the oldest of the flow's is to go on at the latest; never when none waits.
  [[nodiscard]] Instant due(const EndToEndFlow& flow) const;
  /// The bearer has a new report, or has none any more.
  void on_report(Bearer& bearer, Instant now);
  /// ACKs wait although packet buffers are short.
  [[nodiscard]] bool in_need() const { return waiting_ > 0 && parts_.budget.tight(); }
  /// Goes on with a walk over the flows: what waits takes buffers that others need.
  [[gnu::cold, gnu::noinline]] void free_some(Instant now);

 private:
  void release_front(EndToEndFlow& flow, EndToEndId id, Instant now);
  void join_holding(EndToEndFlow& flow, EndToEndId id);
  void leave_holding(EndToEndFlow& flow, EndToEndId id);

  flow::Slab<EndToEndFlow>& flows_;
  EndToEndParts parts_;
  AckWindows& windows_;
  std::uint32_t waiting_ = 0;     ///< of all connections
  std::uint32_t next_freed_ = 0;  ///< flow to look at next when they are to be freed
};

}  // namespace sluice::proxy
