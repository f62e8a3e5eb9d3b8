#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/base/release_reason.hpp"

namespace sluice::proxy {

/// Upper 56 bits of a note that the proxy writes into the packet buffer of a RST that it sends. The low 8 bits contain
/// the ResetReason, which captures show. A note can remain in a reused buffer. It is therefore valid only for a RST
/// with the sequence number that is stored beside it.
inline constexpr std::uint64_t reset_note_mark = 0x736c'7569'6372'7374U & ~std::uint64_t{0xff};

/// Writes the reason of a RST into the packet buffer of `frame`, a RST with sequence number `seq`.
inline void note_reset(const packet::Packet& frame, tcp::SeqNum seq, ResetReason reason) {
  packet::PacketNote& note = frame.note();
  note.seq = seq.raw();
  note.scratch64 = reset_note_mark | static_cast<std::uint8_t>(reason);
}

/// Returns the reason why the proxy sends this RST. Returns `none` if the frame is not a RST of the proxy.
[[nodiscard]] inline ResetReason reset_reason_of(const packet::Packet& frame, const packet::Parsed& parsed) {
  const packet::PacketNote& note = frame.note();
  const std::uint64_t reason = note.scratch64 ^ reset_note_mark;
  if (!parsed.segment.flags.rst() || note.seq != parsed.segment.seq.raw() || reason >= reset_reason_count)
    return ResetReason::none;
  return static_cast<ResetReason>(reason);
}

}  // namespace sluice::proxy
