// Split connections that no law steers: what their servers may send as their UEs acknowledge.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Side;
using tcp::Flags;

constexpr std::uint32_t segment_size = 1000;

/// A connection may hold less than its UE's window: its server is told of what memory has for it.
proxy::ShardConfig small_buffers() {
  proxy::ShardConfig config = shard_config();
  config.limits.relay_buffer = Bytes(100 * 1024);
  return config;
}

class ShardRoom : public ScriptedShard {
 protected:
  explicit ShardRoom(const proxy::ShardConfig& config = small_buffers()) : ScriptedShard(config) {}

  /// The server sends two segments at a time, and the UE acknowledges both a millisecond later.
  void download(std::uint32_t segments) {
    for (std::uint32_t i = 0; i < segments; i += 2) {
      for (int segment = 0; segment < 2; ++segment, offered_ += segment_size)
        hosts.server(Flags::ack_bit, offered_, 0, std::string(segment_size, 's'));
      lab.pass_time(1ms);
      hosts.ue(Flags::ack_bit, 0, offered_);
      lab.pass_time(1ms);
    }
  }
  /// What the server was told since the last time.
  std::vector<Bytes> windows() {
    std::vector<Bytes> told;
    while (const auto seen = lab.next(Side::core))
      told.emplace_back(std::int64_t{seen->segment().window} << hosts.options.window_scale);
    return told;
  }

  std::uint32_t offered_ = 0;
};

TEST_F(ShardRoom, AServerIsToldOfLessOnceBuffersAreShort) {
  hosts.open();
  download(200);
  ASSERT_GT(windows().back(), Bytes(90'000));
  std::vector<packet::Packet> taken;
  while (pool().in_use() < pool().capacity() * 6 / 10) taken.push_back(pool().allocate());
  download(200);
  EXPECT_LT(windows().back(), Bytes(64 * 1024)) << "what it has shown to need, and no more";
  taken.clear();
  download(200);
  EXPECT_GT(windows().back(), Bytes(90'000)) << "there is plenty again";
}

class ShardRoomOfOneUe : public ShardRoom {
 protected:
  static proxy::ShardConfig small_share() {
    proxy::ShardConfig config = small_buffers();
    config.limits.ue_share = 0.05;  // of 21 MB
    return config;
  }
  ShardRoomOfOneUe() : ShardRoom(small_share()) {}
};

TEST_F(ShardRoomOfOneUe, WhatItHasAcknowledgedTakesNoRoom) {
  hosts.open();
  download(3000);
  for (const Bytes window : windows()) ASSERT_GT(window, Bytes(90'000)) << "what has passed is not here";
}

}  // namespace
}  // namespace sluice::test
