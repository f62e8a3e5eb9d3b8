#pragma once

#include <cstdint>

#include "control/window_laws/ack_release.hpp"
#include "dataplane/packet/packet.hpp"
#include "proxy/engine/end_to_end/end_to_end_ack_control.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/parts.hpp"

namespace sluice::proxy {

/// Applies the rate controller to the ACKs of an end-to-end connection. Decides which ACKs are forwarded or delayed,
/// and writes the window that the controller computes into them. Has no state of its own. Thread: the shard's.
class AckRewriter {
 public:
  /// Stores references to its arguments, which must outlive the object.
  AckRewriter(const EndToEndParts& parts, EndToEndAckControl& ack_control) : parts_(parts), ack_control_(ack_control) {}

  /// Creates the per-flow window controller that the policy of the UE's bearer requires. If the connection already
  /// carries data, the first window is (rate of the link × round-trip time) / number of active flows.
  [[gnu::cold, gnu::noinline]] void begin_controller(EndToEndFlow& flow, Bearer& bearer, Instant now);
  /// Passes an ACK from the UE to the flow's rate controller. Returns which delayed ACKs, this one included, may be
  /// forwarded.
  [[nodiscard]] control::AckRelease pass_to_controller(EndToEndFlow& flow, Bearer& bearer, const control::AckView& ack);
  /// Computes and records, in mode observe, the window that would be written into an ACK, and leaves the ACK unchanged.
  /// `ack` is the number of bytes of the stream that the ACK acknowledges. `offered` is the ACK's own window field.
  /// `waits` is true if the controller would delay the ACK.
  [[gnu::noinline]] void observe(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, std::uint16_t offered,
                                 bool waits, Instant now);
  /// Writes the controller's window into an ACK that arrived on `in`. `ack` is the number of bytes of the stream that
  /// it acknowledges, and `l4_offset` the offset of its TCP header. ACKs towards the UE are rewritten only if the
  /// controller limits both directions. Other controllers limit the radio queue of the downlink, which data from the UE
  /// does not pass.
  void rewrite(EndToEndFlow& flow, Side in, packet::Packet& packet, std::uint16_t l4_offset, Bytes ack, Instant now);

 private:
  /// True if a controller determines the flow's window now. A per-flow window controller does so only while it has
  /// input, such as Node-B reports that arrive in time.
  [[nodiscard]] static bool has_active_controller(const EndToEndFlow& flow, const Bearer& bearer);
  /// Returns the controller's window for an ACK that arrived on `in` and acknowledges the first `ack` bytes of the
  /// stream. The window is at least two segments.
  [[nodiscard]] Bytes controller_window(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, Instant now);
  /// Returns the window for an ACK to the server that acknowledges the first `ack` bytes of the stream; the window
  /// begins after these bytes. `offered` is the UE's own receive window in bytes. While Node-B reports are late, or
  /// after a change of controller, the window grows only gradually.
  [[nodiscard]] Bytes window_towards_radio(EndToEndFlow& flow, Bearer& bearer, Bytes ack, Bytes offered, Instant now);

  EndToEndParts parts_;
  EndToEndAckControl& ack_control_;
};

}  // namespace sluice::proxy
