// Tests of hosts that announce a larger MSS than the proxy's ports carry.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

struct Way {
  const char* name;
  proxy::Mode mode;
  proxy::Intercept intercept = proxy::Intercept::split;
};

class ShardMss : public testing::TestWithParam<Way> {
 protected:
  static proxy::ShardConfig narrow(std::uint16_t radio, std::uint16_t core) {
    proxy::ShardConfig config = shard_config();
    config.mode = GetParam().mode;
    config.intercept = GetParam().intercept;
    config.ports = {packet::LinkLimit{.mtu = radio}, packet::LinkLimit{.mtu = core}};
    config.clamp_mss = true;
    return config;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, ShardMss,
                         testing::Values(Way{"bypass", proxy::Mode::bypass}, Way{"i_tcp", proxy::Mode::i_tcp},
                                         Way{"smvs_regulate", proxy::Mode::smvs, proxy::Intercept::regulate}),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(ShardMss, ASynAnnouncesWhatBothPortsCarry) {
  for (const bool radio_is_narrow : {true, false}) {
    ProxyLab lab(narrow(radio_is_narrow ? 1400 : 1500, radio_is_narrow ? 1500 : 1400));
    ScriptedHosts hosts(lab);
    for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}}) {
      hosts.ip_version = version;
      if (version == 6) {
        hosts.ue_to_server.src = *IpAddress::parse("2001:db8::2");
        hosts.ue_to_server.dst = *IpAddress::parse("2001:db8:1::7");
      }
      hosts.options.mss = 8960;
      const std::uint16_t expected = version == 4 ? 1360 : 1340;
      hosts.send_syn();
      const auto syn = lab.next(Side::core);
      ASSERT_TRUE(syn);
      EXPECT_EQ(syn->segment().syn.mss, expected);
      EXPECT_TRUE(syn->checksum_good);
      hosts.send_syn_ack();
      const auto answer = lab.next(Side::radio);
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->segment().syn.mss, expected);
      EXPECT_TRUE(answer->checksum_good);
    }
    EXPECT_EQ(lab.count(Counter::mss_clamped), 4U);
  }
}

TEST_P(ShardMss, AnMssThatFitsStays) {
  ProxyLab lab(narrow(1500, 9000));
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  EXPECT_EQ(lab.next(Side::core)->segment().syn.mss, 1460);
  EXPECT_EQ(lab.count(Counter::mss_clamped), 0U);
}

TEST_P(ShardMss, ByDefaultSynsPassUntouched) {
  proxy::ShardConfig config = narrow(1280, 1500);
  config.clamp_mss = false;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  EXPECT_EQ(lab.next(Side::core)->segment().syn.mss, 1460);
}

TEST_P(ShardMss, AChangedMtuAppliesToTheNextSyn) {
  ProxyLab lab(narrow(1500, 1500));
  ScriptedHosts hosts(lab);
  lab.shard.set_port(Side::radio, {.mtu = 1280}, lab.now);
  hosts.send_syn();
  EXPECT_EQ(lab.next(Side::core)->segment().syn.mss, 1240);
}

/// A split leg sends segments that fit the MSS that its peer has announced and its own port.
TEST(ShardMssOfALeg, ASplitLegSendsSegmentsOfTheClampedSize) {
  proxy::ShardConfig config = shard_config();
  config.ports = {packet::LinkLimit{.mtu = 1400}, packet::LinkLimit{.mtu = 9000}};
  config.clamp_mss = true;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.options.mss = 8960;
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1300, 's'));
  hosts.server(Flags::ack_bit, 1300, 0, std::string(1300, 's'));
  while (const auto sent = lab.next(Side::radio)) EXPECT_LE(sent->frame.size(), 1414U);
}

}  // namespace
}  // namespace sluice::test
