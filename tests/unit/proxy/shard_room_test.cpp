// Split connections that no law steers: what their servers may send as their UEs acknowledge.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/engine/flow/buffer_pool_budget.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Side;
using tcp::Flags;

constexpr std::uint32_t segment_size = 1000;

/// Returns limits with a small relay buffer, so that memory limits the server's window and not the UE's window.
proxy::ShardConfig small_buffers() {
  proxy::ShardConfig config = shard_config();
  config.limits.relay_buffer = Bytes(100 * 1024);
  return config;
}

class ShardBufferQuota : public ScriptedShard {
 protected:
  explicit ShardBufferQuota(const proxy::ShardConfig& config = small_buffers()) : ScriptedShard(config) {}

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
  /// Returns the windows that the server got since the last call.
  std::vector<Bytes> windows() {
    std::vector<Bytes> told;
    while (const auto seen = lab.next(Side::core))
      told.emplace_back(std::int64_t{seen->segment().window} << hosts.options.window_scale);
    return told;
  }

  std::uint32_t offered_ = 0;
};

TEST_F(ShardBufferQuota, ShortBuffersReduceTheWindowOfTheServer) {
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

/// The level of the pool is read once in a millisecond. What is taken meanwhile is counted.
class ShardBufferQuotaInOneBurst : public ShardBufferQuota {
 protected:
  /// Takes buffers until payload may use only `buffers` more before they are short.
  void leave(std::int64_t buffers) {
    const proxy::ShardLimits& limits = small_buffers().limits;
    const auto reserve = static_cast<std::int64_t>(limits.reserve * pool().capacity());
    const std::int64_t low = (pool().capacity() - reserve) / 8;
    while (pool().available() > reserve + low + buffers) taken_.push_back(pool().allocate());
    lab.pass_time(2ms);  // so that it is read with the next segment
  }
  [[nodiscard]] std::uint64_t passed() const { return lab.count(proxy::Counter::segments_cut_through); }
  /// Twenty times two segments that the UE has at once; returns how many passed in their own frames.
  std::uint64_t one_by_one() {
    const std::uint64_t before = passed();
    for (int i = 0; i < 40; ++i, offered_ += segment_size) {
      hosts.server(Flags::ack_bit, offered_, 0, std::string(segment_size, 's'));
      if (i % 2 == 1) hosts.ue(Flags::ack_bit, 0, offered_ + segment_size);
    }
    return passed() - before;
  }
  /// Sends eight segments in one burst and returns how many are cut through.
  std::uint64_t in_a_train() {
    const std::uint64_t before = passed();
    std::vector<packet::Packet> gro_run;
    for (int i = 0; i < 8; ++i, offered_ += segment_size) {
      const tcp::Segment segment =
          hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1 + offered_, hosts.ue_isn.raw() + 1);
      gro_run.push_back(hosts.frame(false, segment, std::string(segment_size, 's')));
    }
    lab.shard.receive(Side::core, gro_run, lab.now);
    hosts.ue(Flags::ack_bit, 0, offered_);
    return passed() - before;
  }

 private:
  std::vector<packet::Packet> taken_;
};

TEST_F(ShardBufferQuotaInOneBurst, CutThroughSegmentsAreCounted) {
  hosts.open();
  download(20);
  ASSERT_EQ(one_by_one(), 40U);
  leave(20);
  const std::uint64_t few = one_by_one();
  EXPECT_LE(few, 20U);
  EXPECT_GE(few, 15U);
}

TEST_F(ShardBufferQuotaInOneBurst, SegmentsOfAGroRunAreCounted) {
  hosts.open();
  download(20);
  ASSERT_EQ(in_a_train(), 8U);
  leave(5);
  const std::uint64_t few = in_a_train();
  EXPECT_LE(few, 5U);
  EXPECT_GE(few, 3U);
}

/// A connection is promised room for two seconds after it was served (BufferPoolBudget). Its timers may come later.
TEST(ShardBufferQuotaOfAnIdleConnection, IsFreedBeforeItsTimerExpires) {
  proxy::ShardConfig config = shard_config();
  config.tcp.delayed_ack = 450ms;  // for which the first segment sets a timer that the second one makes needless
  const auto reserve = static_cast<std::int64_t>(config.limits.reserve * pool().capacity());
  const std::int64_t whole = proxy::BufferPoolBudget::whole(config.limits, pool().capacity()).count();
  // Half of the budget is for those who have shown to need it; beyond there is a little more than for one connection.
  const std::int64_t left = (whole / 2 + 2'300'000) / proxy::BufferPoolBudget::payload_per_buffer;
  std::vector<packet::Packet> taken;
  while (pool().available() > reserve + left) taken.push_back(pool().allocate());
  const auto window_beside = [&](bool beside_idle, Duration idle) {
    ProxyLab lab(config);
    ScriptedHosts first(lab);
    first.window = 20'000;  // more than there is
    if (beside_idle) {
      first.send_syn();
      first.send_syn_ack();
      first.ue(Flags::ack_bit, 0, 0);
      first.server(Flags::ack_bit, 0, 0, std::string(segment_size, 's'));
      first.server(Flags::ack_bit, segment_size, 0, std::string(segment_size, 's'));  // and both are acknowledged
      first.ue(Flags::ack_bit, 0, 2 * segment_size);
    }
    lab.pass_time(idle);
    ScriptedHosts second(lab);
    second.ue_to_server.src = IpAddress::v4(10, 45, 0, 3);
    second.window = 20'000;
    second.open();
    lab.forget_output();
    second.server(Flags::ack_bit, 0, 0, std::string(segment_size, 's'));
    second.server(Flags::ack_bit, segment_size, 0, std::string(segment_size, 's'));
    return std::int64_t{lab.last(Side::core)->segment().window} << second.options.window_scale;
  };
  const std::int64_t alone = window_beside(false, 4s);
  EXPECT_LT(window_beside(true, 100ms), alone) << "the first one has its part";
  EXPECT_EQ(window_beside(true, 2250ms), alone);
}

class ShardBufferQuotaBelowAUnit : public ShardBufferQuota {
 protected:
  static proxy::ShardConfig tiny_share() {
    proxy::ShardConfig config = small_buffers();
    config.limits.ue_share = 0.0001;  // two kilobytes
    return config;
  }
  ShardBufferQuotaBelowAUnit() : ShardBufferQuota(tiny_share()) {}
};

// A window field counts units of 16 KiB. A window that is rounded down to none would never open again, because the
// server then sends nothing that the UE could acknowledge.
TEST_F(ShardBufferQuotaBelowAUnit, TheServerGetsOneUnit) {
  hosts.options.window_scale = 14;
  hosts.window = 64;
  hosts.open();
  download(40);
  const std::vector<Bytes> told = windows();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), Bytes(16 * 1024));
}

class ShardBufferQuotaOfOneUe : public ShardBufferQuota {
 protected:
  static proxy::ShardConfig small_share() {
    proxy::ShardConfig config = small_buffers();
    config.limits.ue_share = 0.05;  // of 21 MB
    return config;
  }
  ShardBufferQuotaOfOneUe() : ShardBufferQuota(small_share()) {}
};

TEST_F(ShardBufferQuotaOfOneUe, AcknowledgedBytesTakeNoBuffer) {
  hosts.open();
  download(3000);
  for (const Bytes window : windows()) ASSERT_GT(window, Bytes(90'000)) << "what has passed is not here";
}

}  // namespace
}  // namespace sluice::test
