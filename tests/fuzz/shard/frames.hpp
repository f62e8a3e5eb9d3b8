#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/pool.hpp"

namespace sluice::proxy::fuzz {

/// A frame on a wire: bytes that belong to no pool.
using Frame = std::vector<std::uint8_t>;

inline Frame bytes_of(const packet::Packet& packet) {
  return {packet.data(), packet.data() + packet.size()};
}

/// A buffer of `pool` with the frame in it; empty where the pool has none or the frame does not fit.
inline packet::Packet to_packet(packet::PacketPool& pool, const Frame& frame) {
  packet::Packet packet = pool.allocate();
  if (!packet || frame.size() > packet.tailroom()) return {};
  if (!frame.empty()) {
    std::memcpy(packet.append(static_cast<std::uint16_t>(frame.size())), frame.data(), frame.size());
  }
  return packet;
}

/// Where the IP header of a frame of ours begins: none of the model's hosts sends VLAN tags.
inline constexpr std::size_t ip_at = packet::ethernet_length;

inline bool is_v4(const Frame& frame) {
  return frame.size() >= ip_at + packet::ipv4_length && packet::load_be16(&frame[12]) == packet::ethertype::ipv4;
}
inline bool is_v6(const Frame& frame) {
  return frame.size() >= ip_at + packet::ipv6_length && packet::load_be16(&frame[12]) == packet::ethertype::ipv6;
}

/// Writes length and checksum of an IPv4 header of `header` bytes.
inline void seal_v4(Frame& frame, std::size_t header) {
  std::uint8_t* const ip = &frame[ip_at];
  ip[0] = static_cast<std::uint8_t>(0x40U | header / 4);
  packet::store_be16(ip + 2, static_cast<std::uint16_t>(frame.size() - ip_at));
  packet::store16(ip + 10, 0);
  packet::store16(ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({ip, header})));
}

inline auto behind(Frame& frame, std::size_t at) {
  return frame.begin() + static_cast<std::ptrdiff_t>(at);
}

/// The same packet with four bytes of IPv4 options, or an extension header of IPv6: of no effect either.
inline void disguise(Frame& frame) {
  if (is_v4(frame) && frame[ip_at] == 0x45) {
    frame.insert(behind(frame, ip_at + packet::ipv4_length), 4, std::uint8_t{1});
    seal_v4(frame, packet::ipv4_length + 4);
  } else if (is_v6(frame)) {
    const Frame extension{frame[ip_at + 6], 0, 1, 4, 0, 0, 0, 0};
    frame[ip_at + 6] = packet::ip_protocol::destination_options;
    frame.insert(behind(frame, ip_at + packet::ipv6_length), extension.begin(), extension.end());
    packet::store_be16(&frame[ip_at + 4], static_cast<std::uint16_t>(frame.size() - ip_at - packet::ipv6_length));
  }
}

/// Cuts an IPv4 packet without options in two behind `first` bytes, a multiple of 8; nothing where that cannot be.
inline std::optional<std::pair<Frame, Frame>> cut(const Frame& frame, std::size_t first, std::uint16_t id) {
  constexpr std::size_t headers = ip_at + packet::ipv4_length;
  if (!is_v4(frame) || frame[ip_at] != 0x45 || first == 0 || headers + first >= frame.size()) return std::nullopt;
  std::pair<Frame, Frame> parts{frame, frame};
  parts.first.resize(headers + first);
  parts.second.erase(behind(parts.second, headers), behind(parts.second, headers + first));
  packet::store_be16(&parts.first[ip_at + 6], 0x2000);
  packet::store_be16(&parts.second[ip_at + 6], static_cast<std::uint16_t>(first / 8));
  for (Frame* const part : {&parts.first, &parts.second}) {
    packet::store_be16(&(*part)[ip_at + 4], id);
    seal_v4(*part, packet::ipv4_length);
  }
  return parts;
}

/// A host's IP layer: takes off what disguise() put on, puts together what cut() has cut.
class IpLayer {
 public:
  /// The whole packet, or nothing while a part of it is missing.
  std::optional<Frame> take(Frame frame) {
    if (is_v6(frame) && frame[ip_at + 6] == packet::ip_protocol::destination_options && frame.size() > ip_at + 48) {
      frame[ip_at + 6] = frame[ip_at + packet::ipv6_length];
      frame.erase(behind(frame, ip_at + 40), behind(frame, ip_at + 48));
      packet::store_be16(&frame[ip_at + 4], static_cast<std::uint16_t>(frame.size() - ip_at - packet::ipv6_length));
    }
    if (!is_v4(frame)) return frame;
    const std::size_t header = std::size_t{frame[ip_at]} % 16 * 4;
    if (header > packet::ipv4_length && frame.size() > ip_at + header) {
      frame.erase(behind(frame, ip_at + packet::ipv4_length), behind(frame, ip_at + header));
      seal_v4(frame, packet::ipv4_length);
    }
    return (packet::load_be16(&frame[ip_at + 6]) & 0x3fffU) != 0 ? assemble(std::move(frame)) : std::move(frame);
  }

 private:
  std::optional<Frame> assemble(Frame part) {
    constexpr std::size_t headers = ip_at + packet::ipv4_length;
    const std::uint16_t id = packet::load_be16(&part[ip_at + 4]);
    const auto other = waiting_.find(id);
    if (other == waiting_.end()) {
      waiting_[id] = std::move(part);
      return std::nullopt;
    }
    Frame first = std::move(other->second);
    waiting_.erase(other);
    if ((packet::load_be16(&first[ip_at + 6]) & 0x1fffU) != 0) std::swap(first, part);
    const std::size_t offset = (packet::load_be16(&part[ip_at + 6]) & 0x1fffU) * std::size_t{8};
    if (first.size() != headers + offset) return std::nullopt;  // the same part twice
    first.insert(first.end(), behind(part, headers), part.end());
    packet::store_be16(&first[ip_at + 6], 0);
    seal_v4(first, packet::ipv4_length);
    return first;
  }

  std::map<std::uint16_t, Frame> waiting_;
};

}  // namespace sluice::proxy::fuzz
