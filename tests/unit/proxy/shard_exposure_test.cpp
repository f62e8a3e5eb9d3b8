// What is acknowledged to one host before the other one has it.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Side;
using tcp::Flags;

proxy::ShardConfig capped(std::optional<Bytes> per_flow, std::optional<Bytes> per_bearer = {}) {
  proxy::ShardConfig config;
  config.mode = proxy::Mode::i_tcp;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 8;
  config.limits.exposure_per_flow = per_flow;
  config.limits.exposure_per_bearer = per_bearer;
  return config;
}

/// The newest acknowledgement that came out towards the server, counted from its first byte; nothing when none did.
std::optional<std::int32_t> acknowledged(ProxyLab& lab, const ScriptedHosts& hosts) {
  std::optional<std::int32_t> newest;
  while (const auto seen = lab.next(Side::core)) newest = seen->segment().ack - (hosts.server_isn + 1);
  return newest;
}

void send(ScriptedHosts& hosts, std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) hosts.server(Flags::ack_bit, from + i * 1000, 0, std::string(1000, 'x'));
}

TEST(Exposure, ZeroAcknowledgesNothingBeforeTheOtherHostHas) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  send(hosts, 0, 4);
  lab.pass_time(std::chrono::milliseconds(100));
  EXPECT_FALSE(acknowledged(lab, hosts)) << "not even late, and no duplicate either";
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(acknowledged(lab, hosts), 2000);
  hosts.ue(Flags::ack_bit, 0, 4000);
  EXPECT_EQ(acknowledged(lab, hosts), 4000);
}

TEST(Exposure, ACapIsReachedAndNotPassed) {
  ProxyLab lab(capped(Bytes(2500)));
  ScriptedHosts hosts(lab);
  hosts.open();
  send(hosts, 0, 5);
  EXPECT_EQ(acknowledged(lab, hosts), 2500);
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(acknowledged(lab, hosts), 4500);
}

TEST(Exposure, AFinIsAcknowledgedWhenTheOtherHostHasIt) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  EXPECT_FALSE(acknowledged(lab, hosts));
  hosts.ue(Flags::ack_bit, 0, 1);
  EXPECT_EQ(acknowledged(lab, hosts), 1);
}

TEST(Exposure, AHoleIsReportedWhenEverythingBeforeItIsAcknowledged) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  send(hosts, 0, 1);
  send(hosts, 2000, 1);
  EXPECT_FALSE(acknowledged(lab, hosts)) << "a block now would make the first segment look lost";
  hosts.ue(Flags::ack_bit, 0, 1000);
  const auto report = lab.next(Side::core);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->segment().ack, hosts.server_isn + 1001);
  ASSERT_EQ(report->segment().sack_count, 1);
  EXPECT_EQ(report->segment().sack_blocks[0].left, hosts.server_isn + 2001);
}

TEST(Exposure, TheBearersCapHoldsForItsConnectionsTogether) {
  ProxyLab lab(capped({}, Bytes(3000)));
  ScriptedHosts one(lab);
  ScriptedHosts two(lab);
  two.ue_to_server.src_port = 40001;
  one.open();
  two.open();
  send(one, 0, 2);
  EXPECT_EQ(acknowledged(lab, one), 2000);
  send(two, 0, 2);
  EXPECT_EQ(acknowledged(lab, two), 1000);
  two.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(acknowledged(lab, two), 2000) << "delivered bytes are never held up";
  one.ue(Flags::ack_bit, 0, 2000);
  lab.forget_output();
  send(two, 2000, 3);
  EXPECT_EQ(acknowledged(lab, two), 5000);
}

TEST(Exposure, ClosedConnectionsGiveTheirShareBack) {
  ProxyLab lab(capped({}, Bytes(2000)));
  ScriptedHosts one(lab);
  one.open();
  send(one, 0, 2);
  one.ue(Flags::rst_bit | Flags::ack_bit, 0, 0);
  ScriptedHosts two(lab);
  two.ue_to_server.src_port = 40001;
  two.open();
  send(two, 0, 2);
  EXPECT_EQ(acknowledged(lab, two), 2000);
}

TEST(Exposure, IsSampled) {
  ProxyLab lab(capped({}));
  ScriptedHosts hosts(lab);
  hosts.open();
  lab.shard.sample_exposure(100);
  EXPECT_EQ(lab.shard.exposure().count(), 2U);
  EXPECT_EQ(lab.shard.exposure().largest(), 0U);
  send(hosts, 0, 2);
  lab.shard.sample_exposure(100);
  EXPECT_EQ(lab.shard.exposure().count(), 4U);
  EXPECT_EQ(lab.shard.exposure().largest(), 2000U);
}

}  // namespace
}  // namespace sluice::test
