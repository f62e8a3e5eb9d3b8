// What happens at every limit. proxy/LIMITS.md has a row for each of these tests.

#include <gtest/gtest.h>

#include "proxy/engine/flow_table/registry.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

/// Takes buffers out of the pool until this share of all is in use.
std::vector<packet::Packet> hog(double share) {
  std::vector<packet::Packet> taken;
  while (pool().in_use() < share * pool().capacity()) taken.push_back(pool().allocate());
  return taken;
}

/// Returns the right edge of the window last advertised to the server, from its first byte; drops the sent frames.
std::int64_t edge_for_server(ProxyLab& lab, const ScriptedHosts& hosts) {
  std::int64_t edge = 0;
  while (const auto seen = lab.next(Side::core)) {
    edge = seen->segment().ack - (hosts.server_isn + 1) + (std::int64_t{seen->segment().window} << 7);
  }
  return edge;
}

/// Three connections of one UE.
void open_three(ScriptedHosts& hosts) {
  for (std::uint16_t port = 1; port <= 3; ++port) {
    hosts.ue_to_server.src_port = port;
    hosts.open();
  }
}

TEST(Limits, ConnectionsBeyondMaxFlowsPassUnsplit) {
  proxy::ShardConfig config = shard_config();
  config.limits.max_flows = 2;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  open_three(hosts);
  EXPECT_EQ(lab.shard.flow_count(), 2U);
  EXPECT_EQ(lab.count(Counter::forward_flow_limit), 2U);
  hosts.server(Flags::ack_bit, 0, 0, "untouched");
  EXPECT_EQ(lab.next(Side::radio)->payload, "untouched");
  EXPECT_TRUE(lab.silent(Side::core));
}

TEST(Limits, EndToEndConnectionsBeyondMaxFlowsAreNotTracked) {
  proxy::ShardConfig config = shard_config(proxy::Mode::wrs);
  config.intercept = proxy::Intercept::regulate;
  config.limits.max_flows = 2;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  open_three(hosts);
  EXPECT_EQ(lab.shard.flow_count(), 2U);
  EXPECT_EQ(lab.count(Counter::flows_regulated), 2U);
  EXPECT_EQ(lab.count(Counter::forward_flow_limit), 2U);
  EXPECT_EQ(lab.count(Counter::handshakes_displaced), 0U);
}

// However many timers expire together, a packet that arrives meanwhile waits for one batch only.
TEST(Limits, ExpiredTimersRunInBoundedBatches) {
  constexpr std::uint32_t connections = 1000;
  proxy::ShardConfig config = shard_config();
  config.limits.max_flows = 2 * connections;
  config.limits.max_bearers = connections;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  for (std::uint32_t i = 0; i < connections; ++i) {
    hosts.ue_to_server.src = IpAddress::v4(10, 45, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
    hosts.open();
  }
  lab.now += config.timeouts.idle + std::chrono::seconds(1);
  std::uint32_t left = lab.shard.flow_count();
  ASSERT_EQ(left, connections);
  for (int calls = 0; left > 0 && calls < 100; ++calls) {
    ASSERT_LE(lab.shard.next_deadline(), lab.now);
    lab.shard.advance(lab.now);
    ASSERT_LE(left - lab.shard.flow_count(), proxy::max_timers_at_once);
    left = lab.shard.flow_count();
  }
  EXPECT_EQ(lab.count(Counter::released_idle), connections);
}

TEST(Limits, UesBeyondMaxBearersPassUnsplit) {
  proxy::ShardConfig config = shard_config();
  config.limits.max_bearers = 2;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  for (std::uint8_t host = 2; host <= 4; ++host) {
    hosts.ue_to_server.src = IpAddress::v4(10, 45, 0, host);
    hosts.open();
  }
  EXPECT_EQ(lab.shard.bearer_count(), 2U);
  EXPECT_EQ(lab.count(Counter::forward_flow_limit), 2U);
}

TEST(Limits, AdvertisedWindowsStayWithinTheRelayBuffer) {
  proxy::ShardConfig config = shard_config();
  config.limits.relay_buffer = Bytes(70000);
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  std::uint32_t sent = 0;
  std::uint32_t edge = 70000 / 128 * 128;  // the ACK that completes the handshake is cut down to this
  while (sent + 1000 <= edge && sent < 100000) {
    hosts.server(Flags::ack_bit, sent, 0, std::string(1000, 'w'));
    sent += 1000;
    lab.pass_time(std::chrono::milliseconds(50));
    while (const auto ack = lab.next(Side::core)) {
      edge = static_cast<std::uint32_t>(ack->segment().ack - (hosts.server_isn + 1)) + ack->segment().window * 128U;
    }
  }
  EXPECT_GE(sent, 68000U);
  EXPECT_LE(edge, 70000U);
}

TEST(Limits, WindowsShrinkWhenBuffersGetShort) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.window = 8000;  // the UE takes more than the relay holds
  hosts.open();
  const auto exchange = [&](std::uint32_t from) {
    hosts.server(Flags::ack_bit, from, 0, std::string(1000, 'a'));
    hosts.server(Flags::ack_bit, from + 1000, 0, std::string(1000, 'a'));
    hosts.ue(Flags::ack_bit, 0, from + 2000);
    lab.pass_time(std::chrono::milliseconds(50));
    return edge_for_server(lab, hosts);
  };
  const std::int64_t plenty = exchange(0);
  EXPECT_GT(plenty, 500'000);
  const auto taken = hog(0.7);
  lab.pass_time(std::chrono::milliseconds(2));
  // What was acknowledged before, and was not worth a segment then, may still be advertised: less than two segments.
  const std::int64_t short_of = exchange(2000);
  EXPECT_LT(short_of, plenty + 2 * 1460);
  EXPECT_GT(short_of, plenty - 128) << "the right edge never moves back, but for the rounding of the field";
  for (std::uint32_t from = 4000; from < 40'000; from += 2000) {
    const std::int64_t later = exchange(from);
    EXPECT_LT(later, short_of + 128) << "it gets no further, but for the rounding";
    EXPECT_GT(later, short_of - 128);
  }
}

/// What the UE may be sent of the server's bytes beyond those it has acknowledged.
std::string numbered(std::uint32_t from, std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>((from + i) * 7);
  return bytes;
}

TEST(Limits, OneUeIsLimitedToItsShareOfBuffers) {
  proxy::ShardConfig config = shard_config();
  config.limits.ue_share = 0.01;  // 215 kB
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.window = 8000;
  hosts.open();
  for (std::uint32_t sent = 0; sent < 400'000; sent += 1000) {
    hosts.server(Flags::ack_bit, sent, 0, std::string(1000, 'a'));
    hosts.ue(Flags::ack_bit, 0, sent + 1000);
  }
  EXPECT_LE(edge_for_server(lab, hosts) - 400'000, 215'000 * 2 / 3);
}

TEST(Limits, ShortBuffersDropOutOfOrderData) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 1000, 0, numbered(1000, 1000));
  const auto held = pool().in_use();
  auto taken = hog(0.85);
  lab.pass_time(std::chrono::milliseconds(200));
  EXPECT_EQ(lab.count(Counter::out_of_order_dropped), 1U);
  EXPECT_LT(pool().in_use() - taken.size(), held);
  hosts.server(Flags::ack_bit, 2000, 0, numbered(2000, 1000));
  EXPECT_EQ(lab.count(Counter::payload_refused), 1U);
  // In-order data is accepted, and refused or dropped data is retransmitted.
  hosts.server(Flags::ack_bit, 0, 0, numbered(0, 1000));
  taken.clear();
  lab.pass_time(std::chrono::milliseconds(2));
  hosts.server(Flags::ack_bit, 1000, 0, numbered(1000, 1000));
  hosts.server(Flags::ack_bit, 2000, 0, numbered(2000, 1000));
  for (std::uint32_t from = 0; from < 3000; from += 1000) {
    EXPECT_EQ(lab.next(Side::radio)->payload, numbered(from, 1000));
  }
}

TEST(Limits, PayloadIsRefusedBeforeTheReserveIsUsed) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, numbered(0, 1400));
  const auto taken = hog(0.95);  // most of the reserve is left
  lab.pass_time(std::chrono::milliseconds(2));
  hosts.server(Flags::ack_bit, 1400, 0, numbered(1400, 1400));
  hosts.server(Flags::ack_bit, 2800, 0, numbered(2800, 1400));
  EXPECT_EQ(lab.count(Counter::payload_refused), 0U);
  hosts.server(Flags::ack_bit, 4200, 0, numbered(4200, 1400));
  EXPECT_EQ(lab.count(Counter::payload_refused), 1U) << "it holds two segments and more";
  EXPECT_EQ(lab.last(Side::core)->segment().ack - (hosts.server_isn + 1), 4200) << "and is not acknowledged";
  hosts.ue(Flags::ack_bit, 0, 4200);
  hosts.server(Flags::ack_bit, 4200, 0, numbered(4200, 1400));
  EXPECT_EQ(lab.last(Side::radio)->payload, numbered(4200, 1400));
}

TEST(Limits, TheLargestStalledConnectionsAreReset) {
  ProxyLab lab(shard_config());
  ScriptedHosts large(lab);
  large.open();
  for (std::uint32_t from = 0; from < 14'000; from += 1400) {
    large.server(Flags::ack_bit, from, 0, numbered(from, 1400));
  }
  ScriptedHosts small(lab);
  small.ue_to_server.src_port = 2;
  small.open();
  small.server(Flags::ack_bit, 0, 0, numbered(0, 1000));
  lab.pass_time(std::chrono::seconds(4));
  auto taken = hog(0.85);
  lab.pass_time(std::chrono::milliseconds(500));
  EXPECT_EQ(lab.count(Counter::flows_reset_memory), 0U) << "both may still be about to go on";
  lab.forget_output();
  // The smaller one's UE takes what it was sent.
  small.ue(Flags::ack_bit, 0, 1000);
  lab.pass_time(std::chrono::seconds(2));
  EXPECT_EQ(lab.count(Counter::flows_reset_memory), 1U);
  EXPECT_TRUE(lab.last(Side::radio)->segment().flags.rst());
  EXPECT_TRUE(lab.last(Side::core)->segment().flags.rst());
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  taken.clear();
  lab.pass_time(std::chrono::milliseconds(2));
  small.server(Flags::ack_bit, 1000, 0, numbered(1000, 1000));
  EXPECT_EQ(lab.last(Side::radio)->payload, numbered(1000, 1000));
}

TEST(Limits, NewConnectionsPassUnsplitWhenBuffersAreShort) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  const auto taken = hog(0.8);
  lab.pass_time(std::chrono::milliseconds(10));
  hosts.open();
  EXPECT_EQ(lab.count(Counter::forward_memory), 3U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Limits, NothingAcknowledgedIsLostWithoutBuffers) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  lab.forget_output();
  auto taken = hog(1);
  lab.pass_time(std::chrono::seconds(5));
  taken.clear();
  lab.pass_time(std::chrono::seconds(10));
  bool first = false;
  while (const auto seen = lab.next(Side::radio)) first = first || seen->payload == std::string(1000, 'a');
  EXPECT_TRUE(first) << "sent again as soon as it can be";
  // After this number of timeouts a black hole is suspected, so the rest may come in smaller segments.
  std::string rest;
  for (int acks = 0; acks < 4 && rest.size() < 1000; ++acks) {
    hosts.ue(Flags::ack_bit, 0, static_cast<std::uint32_t>(1000 + rest.size()));
    while (const auto seen = lab.next(Side::radio)) rest += seen->payload;
  }
  EXPECT_EQ(rest, std::string(1000, 'b'));
}

TEST(Limits, SegmentsBeyondTheReassemblyLimitAreRetransmitted) {
  proxy::ShardConfig config = shard_config();
  config.tcp.max_out_of_order = 2;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  for (const std::uint32_t at : {1000U, 2000U, 3000U}) hosts.server(Flags::ack_bit, at, 0, std::string(1000, 'x'));
  std::int32_t reported = 0;
  while (const auto seen = lab.next(Side::core)) {
    for (const tcp::SackBlock& block : seen->segment().sacks()) {
      reported = std::max(reported, block.right - (hosts.server_isn + 1));
    }
  }
  EXPECT_EQ(reported, 3000) << "what was not kept is not reported";
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'x'));
  hosts.server(Flags::ack_bit, 3000, 0, std::string(1000, 'x'));
  hosts.ue(Flags::ack_bit, 0, 4000);
  std::int32_t acknowledged = 0;
  lab.pass_time(std::chrono::milliseconds(50));
  while (const auto seen = lab.next(Side::core)) acknowledged = seen->segment().ack - (hosts.server_isn + 1);
  EXPECT_EQ(acknowledged, 4000);
}

/// A UE that has taken 1000 bytes, has 1000 more waiting here, and offers no window from then on.
struct StalledUe {
  explicit StalledUe(const proxy::ShardConfig& config) : lab(config) {
    hosts.open();
    hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
    hosts.ue_window = 0;
    hosts.ue(Flags::ack_bit, 0, 1000);
    hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
    lab.forget_output();
  }
  /// Answers all window probes for `time`. Returns true if the connection was reset meanwhile.
  bool answer_for(Duration time) {
    bool reset = false;
    for (const Instant end = lab.now + time; lab.now < end && !reset;) {
      lab.pass_time(std::chrono::seconds(1));
      bool asked = false;
      while (const auto seen = lab.next(Side::radio)) {
        asked = true;
        reset = reset || seen->segment().flags.rst();
      }
      if (asked && !reset) hosts.ue(Flags::ack_bit, 0, 1000);
    }
    return reset;
  }
  [[nodiscard]] bool server_was_reset() {
    const auto last = lab.last(Side::core);
    return last && last->segment().flags.rst();
  }

  ProxyLab lab;
  ScriptedHosts hosts{lab};
};

TEST(Limits, AStalledReaderLosesItsConnection) {
  const std::uint32_t before = pool().in_use();
  proxy::ShardConfig config = shard_config();
  config.timeouts.stalled = std::chrono::minutes(30);
  StalledUe stalled(config);
  EXPECT_FALSE(stalled.answer_for(std::chrono::minutes(29))) << "it may have paused";
  stalled.hosts.ue_window = 1;  // 128 bytes: it goes on a little
  stalled.hosts.ue(Flags::ack_bit, 0, 1000);
  stalled.lab.pass_time(std::chrono::minutes(1));
  stalled.hosts.ue_window = 0;
  stalled.hosts.ue(Flags::ack_bit, 0, 1128);
  stalled.lab.forget_output();
  for (int minute = 0; minute < 29; ++minute) {
    stalled.lab.pass_time(std::chrono::minutes(1));
    stalled.hosts.ue(Flags::ack_bit, 0, 1128);
  }
  EXPECT_EQ(stalled.lab.shard.flow_count(), 1U) << "what it took began the time anew";
  for (int minute = 0; minute < 3 && stalled.lab.shard.flow_count() != 0; ++minute) {
    stalled.hosts.ue(Flags::ack_bit, 0, 1128);
    stalled.lab.pass_time(std::chrono::minutes(1));
  }
  EXPECT_EQ(stalled.lab.shard.flow_count(), 0U);
  EXPECT_TRUE(stalled.server_was_reset());
  EXPECT_TRUE(stalled.lab.last(Side::radio)->segment().flags.rst());
  EXPECT_EQ(stalled.lab.count(Counter::flows_stalled), 1U);
  EXPECT_EQ(stalled.lab.count(Counter::flows_closed), 0U);
  EXPECT_EQ(pool().in_use(), before);
}

TEST(Limits, DataOfAnAbortedHostWaitsABoundedTimeForAClosedWindow) {
  const std::uint32_t before = pool().in_use();
  StalledUe stalled(shard_config());
  stalled.hosts.server(Flags::rst_bit | Flags::ack_bit, 2000, 0);
  EXPECT_FALSE(stalled.answer_for(std::chrono::minutes(2))) << "the reset waits for what was acknowledged";
  EXPECT_TRUE(stalled.answer_for(std::chrono::minutes(3)));
  EXPECT_EQ(stalled.lab.shard.flow_count(), 0U);
  EXPECT_EQ(stalled.lab.count(Counter::flows_orphaned), 1U);
  EXPECT_EQ(stalled.lab.count(Counter::flows_reset), 1U);
  EXPECT_EQ(pool().in_use(), before);
}

TEST(Limits, OutOfOrderSegmentsAreDroppedAfterATime) {
  const std::uint32_t before = pool().in_use();
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'x'));
  EXPECT_EQ(pool().in_use(), before + 1);
  lab.pass_time(std::chrono::seconds(59));
  EXPECT_EQ(pool().in_use(), before + 1);
  lab.pass_time(std::chrono::seconds(2));
  EXPECT_EQ(pool().in_use(), before);
  EXPECT_EQ(lab.count(Counter::out_of_order_dropped), 1U);
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'x'));
  lab.pass_time(std::chrono::milliseconds(50));
  EXPECT_EQ(lab.last(Side::core)->segment().ack, hosts.server_isn + 1001) << "the sender finds out and repeats it";
  lab.pass_time(std::chrono::seconds(301));
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "the UE has not acknowledged it";
}

}  // namespace
}  // namespace sluice::test
