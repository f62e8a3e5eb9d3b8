#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "tests/support/eal.hpp"

namespace sluice::packet::test {

using Bytes = std::vector<std::uint8_t>;

/// A packet that holds these bytes.
inline Packet packet_of(std::span<const std::uint8_t> bytes) {
  Packet packet = sluice::test::pool().allocate();
  std::ranges::copy(bytes, packet.append(static_cast<std::uint16_t>(bytes.size())));
  return packet;
}

inline Bytes operator+(Bytes front, const Bytes& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

inline Bytes big16(unsigned value) {
  return {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

inline Bytes macs() {
  return {0x02, 0, 0, 0, 0, 0xbb, 0x02, 0, 0, 0, 0, 0xaa};
}

inline Bytes ethernet(unsigned type, const Bytes& rest) {
  return macs() + big16(type) + rest;
}

/// The checksum of the book, written to `at`: RFC 1071, a word at a time.
inline void put_checksum(Bytes& bytes, std::size_t at, const Bytes& pseudo_header = {}) {
  std::uint32_t sum = 0;
  const auto add = [&sum](const Bytes& part) {
    for (std::size_t i = 0; i < part.size(); i += 2) {
      sum += static_cast<std::uint32_t>(part[i] << 8) | (i + 1 < part.size() ? part[i + 1] : 0U);
      sum = (sum & 0xffffU) + (sum >> 16);
    }
  };
  bytes[at] = bytes[at + 1] = 0;
  add(pseudo_header);
  add(bytes);
  const auto checksum = static_cast<std::uint16_t>(~sum);
  bytes[at] = static_cast<std::uint8_t>(checksum >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(checksum);
}

inline const Bytes v4_src = {10, 45, 0, 2}, v4_dst = {198, 51, 100, 7};
inline const Bytes v6_src = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
inline const Bytes v6_dst = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34};

/// IPv4 with a right checksum; DF, id 0x1234, TOS 0xb8, TTL 61.
inline Bytes ipv4(std::uint8_t protocol, const Bytes& rest, const Bytes& options = {}, unsigned fragment = 0x4000) {
  const std::size_t header = 20 + options.size();
  Bytes ip = Bytes{static_cast<std::uint8_t>(0x40 | (header / 4)), 0xb8} +
             big16(static_cast<unsigned>(header + rest.size())) + Bytes{0x12, 0x34} + big16(fragment) +
             Bytes{61, protocol, 0, 0} + v4_src + v4_dst + options;
  put_checksum(ip, 10);
  return ip + rest;
}

/// IPv6, traffic class 0xb8, flow label 0xabcde, hop limit 61.
inline Bytes ipv6(std::uint8_t next_header, const Bytes& rest) {
  return Bytes{0x6b, 0x8a, 0xbc, 0xde} + big16(static_cast<unsigned>(rest.size())) + Bytes{next_header, 61} + v6_src +
         v6_dst + rest;
}

inline Bytes pseudo_v4(std::uint8_t protocol, std::size_t length) {
  return v4_src + v4_dst + Bytes{0, protocol} + big16(static_cast<unsigned>(length));
}

inline Bytes pseudo_v6(std::uint8_t protocol, std::size_t length) {
  return v6_src + v6_dst + Bytes{0, 0} + big16(static_cast<unsigned>(length)) + Bytes{0, 0, 0, protocol};
}

/// TCP from port 40000 to 443, seq 0x01020304, ack 0x0a0b0c0d, window 0x2000, urgent pointer 0; no checksum.
inline Bytes tcp(std::uint8_t flags, const Bytes& options = {}, const Bytes& payload = {}) {
  return Bytes{0x9c,
               0x40,
               0x01,
               0xbb,
               1,
               2,
               3,
               4,
               0x0a,
               0x0b,
               0x0c,
               0x0d,
               static_cast<std::uint8_t>((20 + options.size()) / 4 << 4),
               flags,
               0x20,
               0,
               0,
               0,
               0,
               0} +
         options + payload;
}

inline Bytes tcp_over_v4(std::uint8_t flags, const Bytes& options = {}, const Bytes& payload = {}) {
  Bytes segment = tcp(flags, options, payload);
  put_checksum(segment, 16, pseudo_v4(6, segment.size()));
  return ethernet(0x0800, ipv4(6, segment));
}

inline Bytes tcp_over_v6(std::uint8_t flags, const Bytes& options = {}, const Bytes& payload = {}) {
  Bytes segment = tcp(flags, options, payload);
  put_checksum(segment, 16, pseudo_v6(6, segment.size()));
  return ethernet(0x86dd, ipv6(6, segment));
}

/// Puts a VLAN tag in front of the EtherType.
inline Bytes tagged(Bytes frame, unsigned tpid, unsigned tci) {
  const Bytes tag = big16(tpid) + big16(tci);
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  return frame;
}

inline constexpr std::uint8_t syn_flag = 0x02, ack_flag = 0x10, psh_ack = 0x18;

}  // namespace sluice::packet::test
