#pragma once

#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/seq.hpp"

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

}  // namespace sluice::tcp
