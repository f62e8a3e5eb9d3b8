// What passes without control: bytes by handling and reason, and the table of the largest flows.

#include "proxy/engine/flow_table/passing_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dataplane/packet/headers.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Counter;
using proxy::Handling;
using proxy::Mode;
using proxy::PassingInfo;
using proxy::Side;
using tcp::Flags;

constexpr std::uint8_t udp = 17;
constexpr std::uint8_t esp = 50;

/// An IPv4 packet of a UE to 198.51.100.9. Ports are those of UDP; other protocols have what they like there.
std::vector<std::uint8_t> datagram(std::uint8_t ue, std::uint8_t protocol, std::uint16_t server_port,
                                   std::uint16_t length) {
  std::vector<std::uint8_t> frame(14U + length);
  frame[0] = frame[6] = 2;
  frame[12] = 8;
  std::uint8_t* const ip = frame.data() + 14;
  ip[0] = 0x45;
  packet::store_be16(ip + 2, length);
  ip[6] = 0x40;
  ip[8] = 64;
  ip[9] = protocol;
  std::copy_n(std::array<std::uint8_t, 8>{10, 45, 0, ue, 198, 51, 100, 9}.begin(), 8, ip + 12);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 20; i += 2) sum += packet::load_be16(ip + i);
  packet::store_be16(ip + 10, static_cast<std::uint16_t>(~(sum + (sum >> 16U))));
  packet::store_be16(ip + 20, 50000);
  packet::store_be16(ip + 22, server_port);
  packet::store_be16(ip + 24, static_cast<std::uint16_t>(length - 20));
  return frame;
}

std::vector<PassingInfo> passing(const ProxyLab& lab) {
  std::vector<PassingInfo> flows;
  lab.shard.describe_passing(flows, lab.now);
  std::sort(flows.begin(), flows.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return flows;
}

std::uint64_t passed(const ProxyLab& lab, Counter reason) {
  return lab.shard.counters().passed_bytes_at(static_cast<std::size_t>(reason));
}

TEST(Traffic, BytesAreCountedByHandlingAndReason) {
  ProxyLab lab(shard_config(Mode::i_tcp));
  ScriptedHosts hosts(lab);
  hosts.open();
  const std::uint64_t of_handshake = lab.shard.counters().bytes(Handling::passed);
  EXPECT_EQ(of_handshake, passed(lab, Counter::forward_handshake));
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 's'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  lab.put(Side::radio, datagram(2, udp, 443, 1228));
  constexpr std::uint64_t headers = 14 + 20 + 32;
  EXPECT_EQ(lab.shard.counters().bytes(Handling::split), (headers + 1000) + headers) << "data and its ACK";
  EXPECT_EQ(lab.shard.counters().bytes(Handling::controlled), 0U);
  EXPECT_EQ(passed(lab, proxy::counter_of(packet::ParseResult::udp)), 14U + 1228);
  EXPECT_EQ(lab.shard.counters().bytes(Handling::passed), of_handshake + 14 + 1228);
}

TEST(Traffic, BytesOfSplitAndRegulatedConnectionsUnderAControllerAreSteered) {
  for (const proxy::Intercept intercept : {proxy::Intercept::split, proxy::Intercept::regulate}) {
    SCOPED_TRACE(static_cast<int>(intercept));
    proxy::ShardConfig config = shard_config(Mode::smvs);
    config.smvs.law = proxy::ControllerLocation::acks;
    config.intercept = intercept;
    ProxyLab lab(config);
    ScriptedHosts hosts(lab);
    hosts.open();
    const std::uint64_t before = lab.shard.counters().bytes(Handling::controlled);
    hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 's'));
    EXPECT_EQ(lab.shard.counters().bytes(Handling::controlled) - before, 14U + 20 + 32 + 1000);
    EXPECT_EQ(lab.shard.counters().bytes(Handling::split), 0U);
  }
}

TEST(Traffic, CountersOfSeveralShardsAddUp) {
  proxy::Counters sum;
  sum.add_passed_bytes(Counter::forward_mid_flow, 100);
  sum.add_controlled_bytes(true, 30);
  proxy::Counters other;
  other.add_passed_bytes(Counter::forward_mid_flow, 1);
  other.add_controlled_bytes(false, 7);
  sum += other;
  EXPECT_EQ(sum.bytes(Handling::passed), 101U);
  EXPECT_EQ(sum.bytes(Handling::controlled), 30U);
  EXPECT_EQ(sum.bytes(Handling::split), 7U);
}

TEST(PassingTraffic, LargestFlowsHaveTheirBytesAndReason) {
  ProxyLab lab(shard_config(Mode::i_tcp));
  for (int i = 0; i < 20'000; ++i) {
    lab.put(Side::radio, datagram(2, udp, 443, 1200));
    if (i % 4 == 0) lab.put(Side::radio, datagram(3, esp, 7, 1200));
    lab.put(Side::radio, datagram(4, udp, 53, 60));
  }
  const std::vector<PassingInfo> flows = passing(lab);
  ASSERT_GE(flows.size(), 2U);
  EXPECT_EQ(flows[0].protocol, udp);
  EXPECT_EQ(flows[0].ue, IpAddress::v4(10, 45, 0, 2));
  EXPECT_EQ(flows[0].server, IpAddress::v4(198, 51, 100, 9));
  EXPECT_EQ(flows[0].ue_port, 50000);
  EXPECT_EQ(flows[0].server_port, 443);
  EXPECT_STREQ(flows[0].reason, "forward_udp");
  EXPECT_NEAR(static_cast<double>(flows[0].bytes), 20'000 * 1214, 0.1 * 20'000 * 1214);
  EXPECT_EQ(flows[1].protocol, esp);
  EXPECT_EQ(flows[1].server_port, 0) << "ESP has no ports";
  EXPECT_STREQ(flows[1].reason, "forward_not_tcp");
  EXPECT_NEAR(static_cast<double>(flows[1].bytes), 5000 * 1214, 0.2 * 5000 * 1214);
}

/// A sample stands for 2 KiB at first, then for a 64th of the bytes of all samples, and for 64 KiB at most.
TEST(PassingTraffic, ASampleStandsForABoundedPartOfTheBytesBefore) {
  ProxyLab lab(shard_config(Mode::i_tcp));
  std::uint64_t sampled = 0;
  while (sampled < 5'000'000) {
    lab.put(Side::radio, datagram(2, udp, 443, 60));
    const std::vector<PassingInfo> flows = passing(lab);
    if (flows.empty() || flows[0].bytes == sampled) continue;
    EXPECT_EQ(flows[0].bytes - sampled, std::clamp<std::uint64_t>(sampled / 64, 2048, 65536)) << "after " << sampled;
    sampled = flows[0].bytes;
  }
}

TEST(PassingTraffic, BothDirectionsAreOneFlow) {
  ProxyLab lab(shard_config(Mode::bypass));
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  hosts.send_syn_ack();
  for (std::uint32_t i = 0; i < 50; ++i) {
    hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
    hosts.ue(Flags::ack_bit, 0, i * 1000);
  }
  const std::vector<PassingInfo> flows = passing(lab);
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].ue, hosts.ue_to_server.src);
  EXPECT_STREQ(flows[0].reason, "forward_bypass_mode");
}

TEST(PassingTraffic, AFloodOfFlowsLeavesTheLargeOneInATableOfConstantSize) {
  ProxyLab lab(shard_config(Mode::i_tcp));
  std::uint16_t port = 1;
  for (int i = 0; i < 5000; ++i) {
    for (int k = 0; k < 4; ++k) lab.put(Side::radio, datagram(5, udp, ++port, 300));
    lab.put(Side::radio, datagram(2, udp, 443, 1200));
  }
  const std::vector<PassingInfo> flows = passing(lab);
  EXPECT_EQ(flows.size(), proxy::PassingTraffic::capacity);
  EXPECT_EQ(flows[0].server_port, 443) << "half of the bytes";
  EXPECT_GE(flows[0].bytes, 5000U * 1100);
  EXPECT_GT(flows.back().uncertain, 0U) << "a small flow has the bytes of those before it";
}

TEST(PassingTraffic, ASilentFlowMakesPlace) {
  ProxyLab lab(shard_config(Mode::i_tcp));
  for (int i = 0; i < 100; ++i) lab.put(Side::radio, datagram(2, udp, 443, 1200));
  EXPECT_EQ(passing(lab).size(), 1U);
  lab.pass_time(61s);
  EXPECT_TRUE(passing(lab).empty());
  for (int i = 0; i < 100; ++i) lab.put(Side::radio, datagram(3, udp, 53, 1200));
  const std::vector<PassingInfo> flows = passing(lab);
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].uncertain, 0U);
}

TEST(PassingTraffic, FramesWithoutIpAreCountedAndNotListed) {
  ProxyLab lab(shard_config(Mode::i_tcp));
  std::vector<std::uint8_t> arp(60);
  arp[12] = 8;
  arp[13] = 6;
  for (int i = 0; i < 100; ++i) lab.put(Side::radio, arp);
  EXPECT_EQ(passed(lab, proxy::counter_of(packet::ParseResult::arp)), 6000U);
  EXPECT_TRUE(passing(lab).empty());
}

}  // namespace
}  // namespace sluice::test
