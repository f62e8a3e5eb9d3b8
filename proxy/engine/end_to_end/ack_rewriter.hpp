#pragma once

#include <cstdint>

#include "control/window_laws/ack_release.hpp"
#include "dataplane/packet/packet.hpp"
#include "proxy/engine/end_to_end/end_to_end_ack_control.hpp"
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"
#include "proxy/engine/end_to_end/parts.hpp"

namespace sluice::proxy {

/// Applies a connection's controller to the ACKs that pass end to end: which ACKs are forwarded, and the window written
/// into them. Keeps no state of its own. Thread: its shard's.
class AckRewriter {
 public:
  /// Keeps references to its arguments, which outlive it.
  AckRewriter(const EndToEndParts& parts, EndToEndAckControl& ack_control) : parts_(parts), ack_control_(ack_control) {}

  /// Creates the flow's per-flow window controller, because its bearer uses one. On a connection that already carries
  /// data the controller starts from the flow's part of the measured path capacity.
  void begin_law(EndToEndFlow& flow, Bearer& bearer, Instant now);
  /// Processes an ACK from the UE. Returns which delayed ACKs, this one included, are forwarded.
  [[nodiscard]] control::AckRelease ask_law(EndToEndFlow& flow, Bearer& bearer, const control::AckView& ack);
  /// Computes and records, in mode observe, the window that would be written, and changes nothing.
  void observe(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, std::uint16_t offered, bool waits, Instant now);
  /// Writes the window into an ACK that arrived on `in`. ACKs towards the UE are rewritten only for a controller of
  /// both directions. The other controllers know only the radio queue, in which the UE's own data does not wait.
  void rewrite(EndToEndFlow& flow, Side in, packet::Packet& packet, std::uint16_t l4_offset, Bytes ack, Instant now);

 private:
  /// True if a controller with feedback sets the flow's window.
  [[nodiscard]] static bool has_law(const EndToEndFlow& flow, const Bearer& bearer);
  /// Returns the controller's window, at least two segments.
  [[nodiscard]] Bytes law_window(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, Instant now);
  /// Returns the window for an ACK to the server, limited while the window reopens slowly.
  [[nodiscard]] Bytes window_towards_radio(EndToEndFlow& flow, Bearer& bearer, Bytes ack, Bytes offered, Instant now);

  EndToEndParts parts_;
  EndToEndAckControl& ack_control_;
};

}  // namespace sluice::proxy
