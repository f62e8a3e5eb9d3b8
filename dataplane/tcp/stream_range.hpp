#pragma once

#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/rack.hpp"
#include "dataplane/tcp/seq.hpp"
#include "dataplane/tcp/tick.hpp"

// Where the payload of a packet that is kept lies in the stream.

namespace sluice::tcp {

/// The number of its first byte.
[[nodiscard]] inline SeqNum first(const packet::PacketNote& note) {
  return SeqNum(note.seq);
}
[[nodiscard]] inline SeqNum first(packet::Cursor at) {
  return first(at.note());
}

/// The number behind its last byte.
[[nodiscard]] inline SeqNum end(const packet::PacketNote& note) {
  return SeqNum(note.seq) + note.payload_len;
}
[[nodiscard]] inline SeqNum end(packet::Cursor at) {
  return end(at.note());
}

/// The transmission of a packet that was sent last. Below a tick the time of a copy is its order: SendQueue::resent().
[[nodiscard]] inline Transmission transmission_of(const packet::PacketNote& note) {
  const auto below = static_cast<std::uint16_t>(note.sent.time_since_epoch().count() & 1023);
  const bool once = note.transmissions <= 1;
  return {tick::micro(note.sent), end(note), once ? std::uint16_t{0} : static_cast<std::uint16_t>(below + 1U)};
}

}  // namespace sluice::tcp
