#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "dataplane/packet/build_datagram.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {

inline constexpr std::uint32_t segment_size = 1000;
/// Headers are counted as those of full segments: 14 of these fit 14600 bytes.
inline constexpr std::int64_t on_wire = segment_size + 52;

inline proxy::ShardConfig acks_config() {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = proxy::ControllerLocation::acks;
  return config;
}

/// Returns a datagram with these addresses and TOS byte, whose payload has `size` bytes: `first`, and then zeros.
inline packet::Packet datagram_of(bool from_ue, const packet::Addresses& addresses, std::size_t size,
                                  std::uint8_t first = 0, std::uint8_t tos = 0) {
  packet::Packet packet = pool().allocate();
  std::fill_n(packet.append(static_cast<std::uint16_t>(size)), size, std::uint8_t{0});
  packet.data()[0] = first;
  auto header = packet::make_template(from_ue ? ScriptedHosts::ue_mac : ScriptedHosts::server_mac,
                                      from_ue ? ScriptedHosts::server_mac : ScriptedHosts::ue_mac, 4);
  header.tos = tos;
  packet::write_udp_headers(packet, header, addresses, 7);
  return packet;
}

/// Downloads of a UE that the ACK-based controller steers.
class ShardAcks : public testing::Test {
 protected:
  explicit ShardAcks(const proxy::ShardConfig& config = acks_config()) : lab(config) {}

  /// IP bytes of data that came out towards the UE.
  std::int64_t data_sent() {
    std::int64_t bytes = 0;
    while (const auto seen = lab.next(proxy::Side::radio)) {
      if (!seen->payload.empty()) bytes += seen->parsed.ip_length;
    }
    return bytes;
  }
  void offer(ScriptedHosts& of, std::uint32_t& position, std::uint32_t segments) {
    for (std::uint32_t i = 0; i < segments; ++i, position += segment_size) {
      of.server(tcp::Flags::ack_bit, position, 0, std::string(segment_size, 's'));
    }
  }

 public:
  ProxyLab lab;
  ScriptedHosts hosts{lab};
  std::uint32_t offered = 0;
};

}  // namespace sluice::test
