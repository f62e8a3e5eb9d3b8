#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

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
