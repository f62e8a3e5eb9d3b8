#include "dataplane/packet/join.hpp"

#include <cstring>

#include "dataplane/packet/checksum.hpp"

namespace sluice::packet {

bool join(Packet& first, const Packet& second, std::uint32_t most) noexcept {
  PacketNote& note = first.note();
  const PacketNote& more = second.note();
  if (std::uint32_t{note.payload_len} + more.payload_len > most) return false;
  if (more.payload_len > first.tailroom() || first.shared()) return false;
  std::memcpy(first.append(more.payload_len), second.bytes().last(more.payload_len).data(), more.payload_len);
  note.payload_sum = append_suffix(note.payload_sum, more.payload_sum, note.payload_len);
  note.payload_len = static_cast<std::uint16_t>(note.payload_len + more.payload_len);
  return true;
}

}  // namespace sluice::packet
