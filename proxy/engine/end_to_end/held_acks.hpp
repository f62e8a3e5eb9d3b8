#pragma once

#include <cstdint>

#include "control/window_laws/ack_release.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/end_to_end/ack_rewriter.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/parts.hpp"

namespace sluice::proxy {

/// Stores the delayed ACKs of UEs and forwards them in order of arrival, at the latest when their delay reaches its
/// limit. The window that is written into an ACK is computed when it is forwarded. Thread: its shard's.
class HeldAcks {
 public:
  /// Keeps references to its arguments, which outlive the object.
  HeldAcks(flow::Slab<EndToEndFlow>& flows, const EndToEndParts& parts, AckRewriter& rewriter)
      : flows_(flows), parts_(parts), rewriter_(rewriter) {}

  /// Delays an ACK for position `ack`, whose TCP header begins at `l4_offset`.
  [[gnu::noinline]] void hold(EndToEndFlow& flow, EndToEndId id, packet::Packet&& packet, std::uint16_t l4_offset,
                              Bytes ack, Instant now);
  /// Forwards those delayed ACKs of the flow that its rate controller releases.
  void release(EndToEndFlow& flow, EndToEndId id, const control::AckRelease& release, Instant now);
  /// Forwards the flow's delayed ACKs that have reached the maximum delay.
  void release_overdue(EndToEndFlow& flow, EndToEndId id, Instant now);
  /// Returns when the flow's oldest delayed ACK must be forwarded; `never` if none is delayed.
  [[nodiscard]] Instant due(const EndToEndFlow& flow) const;
  /// Forwards those delayed ACKs of the bearer's flows that their controllers release, because a Node-B report has
  /// arrived or reports are missing.
  void on_report(Bearer& bearer, Instant now);
  /// True if ACKs are delayed although packet buffers are low; free_some() then forwards them.
  [[nodiscard]] bool in_need() const { return waiting_ > 0 && parts_.budget.is_low(); }
  /// Continues a scan over the flows that forwards delayed ACKs, because their packet buffers are needed.
  [[gnu::cold, gnu::noinline]] void free_some(Instant now);

 private:
  /// Forwards the flow's oldest delayed ACK.
  [[gnu::noinline]] void release_front(EndToEndFlow& flow, EndToEndId id, Instant now);
  /// Adds the flow to its bearer's list of flows with delayed ACKs.
  void join_holding(EndToEndFlow& flow, EndToEndId id);
  /// Removes the flow from its bearer's list of flows with delayed ACKs.
  void leave_holding(EndToEndFlow& flow, EndToEndId id);

  flow::Slab<EndToEndFlow>& flows_;
  EndToEndParts parts_;
  AckRewriter& rewriter_;
  std::uint32_t waiting_ = 0;     ///< number of delayed ACKs of all connections
  std::uint32_t next_freed_ = 0;  ///< index of the flow with which the scan for low memory continues
};

}  // namespace sluice::proxy
