#include "dataplane/packet/join.hpp"

#include <cassert>
#include <cstring>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/pool.hpp"

namespace sluice::packet {
namespace {

/// True if both payloads together have at most `most` bytes, and no other handle refers to the buffer of `held`.
bool may_join(const Packet& held, const Packet& added, std::uint32_t most) {
  return std::uint32_t{held.note().payload_len} + added.note().payload_len <= most && !held.shared();
}

/// True if the payload of `held` can be moved in its buffer so that `more` bytes fit after it, with a full headroom
/// before it.
bool may_move(const Packet& held, std::uint16_t more) {
  return held.size() == held.note().payload_len && std::uint32_t{header_room} + held.size() + more <= held.capacity();
}

}  // namespace

bool join(Packet& first, const Packet& second, std::uint32_t most) noexcept {
  PacketNote& note = first.note();
  const PacketNote& more = second.note();
  if (!may_join(first, second, most)) return false;
  if (more.payload_len > first.tailroom()) {
    if (!may_move(first, more.payload_len)) return false;
    first.move_to(header_room);
  }
  std::memcpy(first.append(more.payload_len), second.payload().data(), more.payload_len);
  note.payload_sum = append_suffix(note.payload_sum, more.payload_sum, note.payload_len);
  note.payload_len = static_cast<std::uint16_t>(note.payload_len + more.payload_len);
  return true;
}

bool join_front(const Packet& first, Packet& second, std::uint32_t most) noexcept {
  const PacketNote& more = first.note();
  PacketNote& note = second.note();
  assert(second.size() == note.payload_len);
  if (!may_join(second, first, most)) return false;
  if (second.headroom() < header_room + more.payload_len) {
    if (!may_move(second, more.payload_len)) return false;
    second.move_to(static_cast<std::uint16_t>(second.capacity() - second.size()));
  }
  std::memcpy(second.prepend(more.payload_len), first.payload().data(), more.payload_len);
  note.payload_sum = append_suffix(more.payload_sum, note.payload_sum, more.payload_len);
  note.payload_len = second.size();
  note.seq = more.seq;
  return true;
}

}  // namespace sluice::packet
