#pragma once

#include <cstdint>

#include "control/window_laws/ack_release.hpp"
#include "dataplane/flow/slab.hpp"
#include "proxy/engine/end_to_end/ack_rewriter.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/parts.hpp"

namespace sluice::proxy {

/// Stores delayed ACKs of UEs and forwards them in order of arrival, each at the latest when the maximum delay is over.
/// The window in an ACK is computed when the ACK is forwarded. Thread: the shard's.
class HeldAcks {
 public:
  /// Stores references to its arguments, which must outlive the object.
  HeldAcks(flow::Slab<EndToEndFlow>& flows, const EndToEndParts& parts, AckRewriter& rewriter)
      : flows_(flows), parts_(parts), rewriter_(rewriter) {}

  /// Delays an ACK that acknowledges the first `ack` bytes of the stream. Its TCP header begins at `l4_offset`.
  [[gnu::noinline]] void hold(EndToEndFlow& flow, EndToEndId id, packet::Packet&& packet, std::uint16_t l4_offset,
                              Bytes ack, Instant now);
  /// Forwards those delayed ACKs of the flow that its rate controller releases.
  void release(EndToEndFlow& flow, EndToEndId id, const control::AckRelease& release, Instant now);
  /// Forwards the delayed ACKs of the flow whose maximum delay is over.
  void release_overdue(EndToEndFlow& flow, EndToEndId id, Instant now);
  /// Returns when the oldest delayed ACK of the flow must be forwarded; `never` if there is none.
  [[nodiscard]] Instant due(const EndToEndFlow& flow) const;
  /// Forwards the delayed ACKs that the controllers of the bearer's flows release. Called when a Node-B report has
  /// arrived or reports are missing.
  void on_report(Bearer& bearer, Instant now);
  /// True if packet buffers are scarce and there are delayed ACKs, which free_some() then forwards.
  [[nodiscard]] bool must_free_buffers() const { return waiting_ > 0 && parts_.budget.is_low(); }
  /// Scans at most 128 flows and forwards their delayed ACKs, because packet buffers are scarce. The next call
  /// continues with the next flows.
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
  std::uint32_t next_freed_ = 0;  ///< index of the flow at which free_some() continues its scan
};

}  // namespace sluice::proxy
