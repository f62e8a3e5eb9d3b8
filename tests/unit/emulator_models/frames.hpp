#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/ip_address.hpp"
#include "emulator/net/element.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator::test {

inline IpAddress address(const std::string& text) {
  return IpAddress::parse(text).value();
}

inline Instant at_ms(double milliseconds) {
  return Instant(from_seconds(milliseconds / 1000));
}

inline packet::Packet packet_of(const std::vector<std::uint8_t>& bytes) {
  packet::Packet packet = sluice::test::pool().allocate();
  if (!packet) throw std::runtime_error("the test's packet pool is exhausted");
  std::copy(bytes.begin(), bytes.end(), packet.append(static_cast<std::uint16_t>(bytes.size())));
  return packet;
}

/// An Ethernet frame with an IPv4 or IPv6 packet of `length` bytes to `to`, everything else zero.
inline std::vector<std::uint8_t> frame_bytes(const IpAddress& to, std::size_t length) {
  std::vector<std::uint8_t> bytes(14 + length, 0);
  std::uint8_t* const ip = bytes.data() + 14;
  if (to.is_v4()) {
    bytes[12] = 0x08;
    ip[0] = 0x45;
    ip[2] = static_cast<std::uint8_t>(length >> 8);
    ip[3] = static_cast<std::uint8_t>(length & 0xff);
    std::copy_n(to.octets.begin() + 12, 4, ip + 16);
  } else {
    bytes[12] = 0x86;
    bytes[13] = 0xdd;
    ip[0] = 0x60;
    ip[4] = static_cast<std::uint8_t>((length - 40) >> 8);
    ip[5] = static_cast<std::uint8_t>((length - 40) & 0xff);
    std::copy_n(to.octets.begin(), 16, ip + 24);
  }
  return bytes;
}

inline packet::Packet frame(const IpAddress& to, std::size_t length) {
  return packet_of(frame_bytes(to, length));
}

/// An Ethernet frame with an IPv4 packet of `length` bytes from `from`, whose last byte is `mark`.
inline packet::Packet frame_from(const IpAddress& from, std::size_t length, std::uint8_t mark = 0) {
  std::vector<std::uint8_t> bytes = frame_bytes(address("192.0.2.1"), length);
  std::copy_n(from.octets.begin() + 12, 4, bytes.begin() + 14 + 12);
  bytes.back() = mark;
  return packet_of(bytes);
}

/// A TCP segment of `length` IP bytes (>= 22) of the flow from `port`.
inline packet::Packet segment(std::uint16_t port, std::size_t length, bool ecn_capable = false) {
  std::vector<std::uint8_t> bytes = frame_bytes(address("10.45.0.2"), length);
  bytes[14 + 1] = ecn_capable ? 2 : 0;
  bytes[14 + 9] = 6;
  bytes[14 + 20] = static_cast<std::uint8_t>(port >> 8);
  bytes[14 + 21] = static_cast<std::uint8_t>(port & 0xff);
  return packet_of(bytes);
}

/// Writes down when a packet came and how large its frame was, and keeps nothing else.
class Recorder final : public Element {
 public:
  struct Entry {
    Instant at;
    std::size_t size;
    std::uint8_t mark;  ///< the frame's last byte
    bool operator==(const Entry&) const = default;
  };
  void receive(packet::Packet packet, Instant now) override {
    entries.push_back({now, packet.size(), packet.size() > 0 ? packet.data()[packet.size() - 1] : std::uint8_t{0}});
  }
  std::vector<Entry> entries;
};

}  // namespace sluice::emulator::test
