#include "emulator/net/end_marker.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sluice::emulator {
namespace {

constexpr std::size_t frame_size = 60;
constexpr std::size_t type_at = 12;  ///< offset of the EtherType in the frame

/// First bytes of a marker: IEEE Std 802 local experimental EtherType 1, then "SLEM".
constexpr std::array<std::uint8_t, 6> head = {0x88, 0xb5, 0x53, 0x4c, 0x45, 0x4d};
constexpr std::size_t ue_at = type_at + head.size();
constexpr std::size_t handover_at = ue_at + 4;

void write(std::uint8_t* at, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) *at++ = static_cast<std::uint8_t>(number >> shift);
}

std::uint32_t read(std::span<const std::uint8_t> frame, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | frame[at + i];
  return number;
}

}  // namespace

packet::Packet make_end_marker(packet::PacketPool& pool, const EndMarker& marker) {
  packet::Packet packet = pool.allocate();
  if (!packet) return packet;
  std::uint8_t* const frame = packet.append(frame_size);
  std::fill_n(frame, frame_size, std::uint8_t{0});
  std::copy(head.begin(), head.end(), frame + type_at);
  write(frame + ue_at, marker.ue);
  write(frame + handover_at, marker.handover);
  return packet;
}

std::optional<EndMarker> read_end_marker(std::span<const std::uint8_t> frame) {
  if (frame.size() < frame_size || !std::equal(head.begin(), head.end(), frame.begin() + type_at)) return std::nullopt;
  return EndMarker{read(frame, ue_at), read(frame, handover_at)};
}

}  // namespace sluice::emulator
