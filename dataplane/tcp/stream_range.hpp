#pragma once

#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/seq.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/tick.hpp"

// Position of a queued packet's payload in the byte stream.

namespace sluice::tcp {

/// Returns the sequence number of the packet's first byte.
[[nodiscard]] inline SeqNum first(const packet::PacketNote& note) {
  return SeqNum(note.seq);
}
[[nodiscard]] inline SeqNum first(packet::Cursor at) {
  return first(at.note());
}

/// Returns the sequence number after the packet's last byte.
[[nodiscard]] inline SeqNum end(const packet::PacketNote& note) {
  return SeqNum(note.seq) + note.payload_len;
}
[[nodiscard]] inline SeqNum end(packet::Cursor at) {
  return end(at.note());
}

/// Returns the time of the packet's last transmission in a form that shows the order of transmissions. Within one tick,
/// retransmissions are ordered by the nanoseconds of their send time, which SendQueue::resent() sets for that purpose.
[[nodiscard]] inline Transmission transmission_of(const packet::PacketNote& note) {
  const auto below = static_cast<std::uint16_t>(note.sent.time_since_epoch().count() & 1023);
  const bool once = note.transmissions <= 1;
  return {tick::us(note.sent), end(note), once ? std::uint16_t{0} : static_cast<std::uint16_t>(below + 1U)};
}

}  // namespace sluice::tcp
