// How connections end through the relay: what the other side sees, and when.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

proxy::ShardConfig split_config() {
  proxy::ShardConfig config;
  config.mode = proxy::Mode::i_tcp;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 8;
  return config;
}

/// The newest frame that came out, if any.
std::optional<Seen> last(ProxyLab& lab, Side out) {
  std::optional<Seen> newest;
  while (auto seen = lab.next(out)) newest = std::move(seen);
  return newest;
}

TEST(ShardClose, AFinFollowsTheBytesBeforeIt) {
  ProxyLab lab(split_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'd'));
  hosts.server(Flags::ack_bit | Flags::fin_bit, 1000, 0);
  const auto data = lab.next(Side::radio);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload.size(), 1000U);
  const auto fin = last(lab, Side::radio);
  ASSERT_TRUE(fin);
  EXPECT_TRUE(fin->segment().flags.fin());
  EXPECT_EQ(fin->segment().seq + fin->segment().payload_len, hosts.server_isn + 1 + 1000);
}

TEST(ShardClose, HalfCloseLeavesTheOtherDirectionOpen) {
  ProxyLab lab(split_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  const auto fin = last(lab, Side::core);
  ASSERT_TRUE(fin);
  EXPECT_TRUE(fin->segment().flags.fin());
  hosts.server(Flags::ack_bit, 0, 1);
  lab.forget_output();
  hosts.server(Flags::ack_bit, 0, 1, "still talking");
  const auto data = last(lab, Side::radio);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload, "still talking");
}

TEST(ShardClose, AfterBothFinsTheFlowIsGone) {
  ProxyLab lab(split_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  hosts.ue(Flags::ack_bit, 1, 1);
  lab.pass_time(std::chrono::seconds(3));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_closed), 1U);
}

TEST(ShardClose, AResetWaitsForAcknowledgedBytes) {
  ProxyLab lab(split_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1448, 'r'));
  hosts.server(Flags::ack_bit, 1448, 0, std::string(1448, 'r'));
  hosts.server(Flags::rst_bit | Flags::ack_bit, 2896, 0);
  while (const auto seen = lab.next(Side::radio))
    EXPECT_FALSE(seen->segment().flags.rst()) << "the reset overtook data";
  hosts.ue(Flags::ack_bit, 0, 2896);
  const auto reset = last(lab, Side::radio);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(reset->segment().seq, hosts.server_isn + 1 + 2896);
  EXPECT_TRUE(reset->checksum_good);
  lab.pass_time(std::chrono::seconds(2));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_reset), 1U);
}

TEST(ShardClose, AResetOfAnEmptyRelayPassesAtOnce) {
  ProxyLab lab(split_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 0, 0);
  const auto reset = last(lab, Side::core);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(reset->segment().seq, hosts.ue_isn + 1);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(ShardClose, AResetThatIsNotExactEndsNothing) {
  ProxyLab lab(split_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 100, 0);
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  const auto challenge = lab.next(Side::radio);
  ASSERT_TRUE(challenge) << "RFC 5961: a challenge ACK";
  EXPECT_FALSE(challenge->segment().flags.rst());
  EXPECT_TRUE(lab.silent(Side::core));
}

TEST(ShardClose, AUeThatIsGoneIsToldToTheServer) {
  proxy::ShardConfig config = split_config();
  config.tcp.max_retransmissions = 3;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(100, 'z'));
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(120));
  const auto reset = last(lab, Side::core);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(lab.count(Counter::flows_timed_out), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(ShardClose, AddressesMayBeUsedAgainAtOnce) {
  ProxyLab lab(split_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  hosts.ue(Flags::ack_bit, 1, 1);
  hosts.ue_isn = tcp::SeqNum(900000);
  hosts.server_isn = tcp::SeqNum(700000);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, "second life");
  const auto data = last(lab, Side::radio);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload, "second life");
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
}

}  // namespace
}  // namespace sluice::test
