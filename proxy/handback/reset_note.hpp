#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/handback/release_reason.hpp"

namespace sluice::proxy {

/// Why the proxy sends a reset is noted in the reset's own packet buffer, for captures. A buffer keeps its note when it
/// is used again, so a note is valid only for a reset with the sequence number that it names.
inline constexpr std::uint64_t reset_note_mark = 0x736c'7569'6372'7374U & ~std::uint64_t{0xff};

/// Notes why `frame` is sent, which is a reset with this sequence number.
inline void note_reset(const packet::Packet& frame, tcp::SeqNum seq, ResetReason reason) {
  packet::PacketNote& note = frame.note();
  note.seq = seq.raw();
  note.scratch64 = reset_note_mark | static_cast<std::uint8_t>(reason);
}

/// Returns why the proxy sends this frame; none for anything but a reset of its own.
[[nodiscard]] inline ResetReason reset_reason_of(const packet::Packet& frame, const packet::Parsed& parsed) {
  const packet::PacketNote& note = frame.note();
  const std::uint64_t reason = note.scratch64 ^ reset_note_mark;
  if (!parsed.segment.flags.rst() || note.seq != parsed.segment.seq.raw() || reason >= reset_reason_count)
    return ResetReason::none;
  return static_cast<ResetReason>(reason);
}

}  // namespace sluice::proxy
