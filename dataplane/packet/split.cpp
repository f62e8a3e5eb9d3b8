#include "dataplane/packet/split.hpp"

#include <cassert>
#include <cstring>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/pool.hpp"

namespace sluice::packet {
void skip_front(Packet& packet, std::uint16_t count) noexcept {
  PacketNote& note = packet.note();
  assert(count < note.payload_len);
  note.header_len = static_cast<std::uint16_t>(note.header_len + count);
  note.payload_len = static_cast<std::uint16_t>(note.payload_len - count);
  note.seq += count;
  note.payload_sum = ones_complement_sum(packet.payload());
}

Packet split_front(Packet& packet, std::uint16_t count) noexcept {
  assert(count > 0 && count < packet.note().payload_len);
  Packet front = allocate_from(packet.buffer()->pool);
  if (!front) return {};
  const auto bytes = packet.payload().first(count);
  if (front.tailroom() < count) return {};
  std::memcpy(front.append(count), bytes.data(), count);
  front.note() = PacketNote{};
  front.note().received = packet.note().received;
  front.note().payload_len = count;
  front.note().payload_sum = ones_complement_sum(bytes);
  front.note().seq = packet.note().seq;
  skip_front(packet, count);
  return front;
}

}  // namespace sluice::packet
