#pragma once

#include <cstdint>

#include "control/ack_release.hpp"
#include "dataplane/packet/packet.hpp"
#include "proxy/end_to_end/clocked_acks.hpp"
#include "proxy/end_to_end/end_to_end_flow.hpp"
#include "proxy/end_to_end/parts.hpp"

namespace sluice::proxy {

/// What the law of a connection makes of the ACKs that pass: which of them go on, and the window that is written into
/// them. Keeps nothing of its own. Thread: its shard's.
class AckWindows {
 public:
  /// What it is given outlives it.
  AckWindows(const EndToEndParts& parts, ClockedAcks& clocked) : parts_(parts), clocked_(clocked) {}

  /// Its bearer gives windows, and the flow has no law yet. On a connection that carries data already the law goes on
  /// from its part of what the link was measured to take.
  void begin_law(EndToEndFlow& flow, Bearer& bearer, Instant now);
  /// An ACK has come from the UE: what goes on of those that wait and of this one.
  [[nodiscard]] control::AckRelease ask_law(EndToEndFlow& flow, Bearer& bearer, const control::AckView& ack);
  /// Computes the window that would be written, and leaves everything as it is.
  void observe(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, std::uint16_t offered, bool waits, Instant now);
  /// Writes the window that goes into an ACK. Of ACKs towards the UE only those of a law for both ways are rewritten;
  /// the other laws know the radio queue, where the UE's own data does not wait.
  void rewrite(EndToEndFlow& flow, Side in, packet::Packet& packet, std::uint16_t l4_offset, Bytes ack, Instant now);

 private:
  [[nodiscard]] static bool has_law(const EndToEndFlow& flow, const Bearer& bearer);
  [[nodiscard]] Bytes law_window(EndToEndFlow& flow, Bearer& bearer, Side in, Bytes ack, Instant now);
  [[nodiscard]] Bytes window_towards_radio(EndToEndFlow& flow, Bearer& bearer, Bytes ack, Bytes offered, Instant now);

  EndToEndParts parts_;
  ClockedAcks& clocked_;
};

}  // namespace sluice::proxy
