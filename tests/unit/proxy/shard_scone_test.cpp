// Tests of the rate that the proxy advises to the senders of QUIC flows: a scripted sender sends SCONE packets to a UE,
// and the frames towards the UE are examined.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/scone.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Counter;
using proxy::Mode;
using proxy::Side;
using Data = std::vector<std::uint8_t>;

constexpr std::uint8_t signal_of_10_mbps = 40;

proxy::ShardConfig advising_config(Mode mode = Mode::i_tcp) {
  proxy::ShardConfig config = shard_config(mode);
  config.scone_rate = Rate::bits_per_second(10e6);
  return config;
}

/// A server that sends datagrams of a QUIC connection to a UE.
class ShardScone : public testing::Test {
 protected:
  explicit ShardScone(const proxy::ShardConfig& config = advising_config()) : lab(config), hosts(lab) {}

  /// Returns a payload: a SCONE packet with this signal, and a QUIC packet with a short header and the same connection.
  static Data scone(std::uint8_t signal) {
    Data payload = {static_cast<std::uint8_t>(0xc0 | signal >> 1),
                    static_cast<std::uint8_t>(0x6f | (signal & 1U) << 7),
                    0x7d,
                    0xc0,
                    0xfd,
                    4,
                    0xd1,
                    0xd2,
                    0xd3,
                    0xd4,
                    0,
                    0x40,
                    0xd1,
                    0xd2,
                    0xd3,
                    0xd4};
    payload.resize(payload.size() + 30, 0xab);
    return payload;
  }
  /// Sends the payload through the proxy towards the UE, or towards the server, and returns the payload that comes out.
  Data pass(const Data& payload, std::uint16_t port = 443, Side in = Side::core) {
    packet::Packet packet = pool().allocate();
    std::copy(payload.begin(), payload.end(), packet.append(static_cast<std::uint16_t>(payload.size())));
    const auto header = packet::make_template(ScriptedHosts::server_mac, ScriptedHosts::ue_mac, 4);
    packet::Addresses addresses = in == Side::core ? hosts.ue_to_server.reversed() : hosts.ue_to_server;
    (in == Side::core ? addresses.src_port : addresses.dst_port) = port;
    packet::write_udp_headers(packet, header, addresses, 7);
    lab.put(in, std::move(packet));
    const auto seen = lab.next(proxy::opposite(in));
    if (!seen || seen->result != packet::ParseResult::udp) return {};
    const std::size_t l4 = seen->parsed.l4_offset;
    const std::span<const std::uint8_t> udp(seen->frame.data() + l4, seen->parsed.frame_length() - l4);
    const auto pseudo = packet::pseudo_header_sum(seen->parsed.src, seen->parsed.dst, packet::ip_protocol::udp,
                                                  static_cast<std::uint16_t>(udp.size()));
    EXPECT_EQ(packet::append_suffix(pseudo, packet::ones_complement_sum(udp), 0), 0xffff) << "the checksum is right";
    return Data(udp.begin() + packet::udp_length, udp.end());
  }
  /// Returns the signal that comes out if a SCONE packet without advice goes in.
  std::uint8_t advised(std::uint16_t port = 443) { return packet::scone_signal(pass(scone(127), port)); }

  ProxyLab lab;
  ScriptedHosts hosts;
};

TEST_F(ShardScone, LowersTheSignalToTheConfiguredRate) {
  EXPECT_EQ(pass(scone(127)), scone(signal_of_10_mbps));
  EXPECT_EQ(lab.count(Counter::scone_lowered), 1U);
  EXPECT_EQ(lab.count(proxy::counter_of(packet::ParseResult::udp)), 1U);
}

TEST_F(ShardScone, NeverRaisesASignal) {
  for (const std::uint8_t signal : {std::uint8_t{0}, std::uint8_t{39}, signal_of_10_mbps})
    EXPECT_EQ(pass(scone(signal)), scone(signal));
  EXPECT_EQ(lab.count(Counter::scone_kept), 3U);
  EXPECT_EQ(pass(scone(41)), scone(signal_of_10_mbps));
}

TEST_F(ShardScone, ChangesFewDatagramsOfAFlowPerPeriod) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(advised(), signal_of_10_mbps);
  EXPECT_EQ(advised(), packet::no_scone_advice);
  EXPECT_EQ(lab.count(Counter::scone_beyond_limit), 1U);
  EXPECT_EQ(advised(444), signal_of_10_mbps) << "another flow";
  lab.pass_time(67s);
  EXPECT_EQ(advised(), signal_of_10_mbps) << "the next period";
}

// The receiver forgets advice after 67 s.
TEST_F(ShardScone, TheAdviceNeverLapsesAfterABurstAtTheStart) {
  for (int i = 0; i < 10; ++i) pass(scone(127));
  for (int i = 0; i < 10; ++i) {
    lab.pass_time(30s);
    EXPECT_EQ(advised(), signal_of_10_mbps) << "after " << 30 * (i + 1) << " s";
  }
}

TEST_F(ShardScone, LeavesForeignDatagramsThatBeginLikeScone) {
  Data foreign = scone(127);
  foreign[12] ^= 1U;  // the connection ID behind the SCONE packet
  EXPECT_EQ(pass(foreign), foreign);
  EXPECT_EQ(lab.count(Counter::scone_unmatched), 1U);
  EXPECT_EQ(lab.count(Counter::scone_lowered), 0U);
  const Data ordinary(100, 0x40);
  EXPECT_EQ(pass(ordinary), ordinary);
  EXPECT_EQ(lab.count(proxy::counter_of(packet::ParseResult::udp)), 2U);
}

TEST_F(ShardScone, LeavesDatagramsOfTheUe) {
  EXPECT_EQ(pass(scone(127), 443, Side::radio), scone(127));
  EXPECT_EQ(lab.count(Counter::scone_lowered), 0U);
}

TEST_F(ShardScone, NeitherDropsNorDelaysWhatExceedsTheAdvice) {
  ASSERT_EQ(advised(), signal_of_10_mbps);
  const Data data(1200, 0x40);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(pass(data), data);
}

class ShardSconeOff : public ShardScone {
 protected:
  ShardSconeOff() : ShardScone(shard_config()) {}
};

TEST_F(ShardSconeOff, ChangesNothingByDefault) {
  EXPECT_EQ(pass(scone(127)), scone(127));
  EXPECT_EQ(lab.count(Counter::scone_lowered) + lab.count(Counter::scone_kept), 0U);
}

class ShardSconeObserved : public ShardScone {
 protected:
  ShardSconeObserved() : ShardScone(advising_config(Mode::observe)) {}
};

TEST_F(ShardSconeObserved, ChangesNothingInModeObserve) {
  EXPECT_EQ(pass(scone(127)), scone(127));
  EXPECT_EQ(lab.count(Counter::scone_observed), 1U);
  EXPECT_EQ(lab.count(Counter::scone_lowered), 0U);
}

class ShardSconeBypassed : public ShardScone {
 protected:
  ShardSconeBypassed() : ShardScone(advising_config(Mode::bypass)) {}
};

TEST_F(ShardSconeBypassed, ChangesNothingInModeBypass) {
  EXPECT_EQ(pass(scone(127)), scone(127));
  EXPECT_EQ(lab.count(Counter::scone_observed) + lab.count(Counter::scone_lowered), 0U);
}

proxy::ShardConfig by_policy_config() {
  proxy::ShardConfig config = shard_config();
  proxy::Policy video;
  video.ports = {{4433, 4433}};
  video.settings = config;
  video.settings.scone_rate = Rate::bits_per_second(1e6);
  config.policies = {video};
  return config;
}

class ShardSconeByPolicy : public ShardScone {
 protected:
  ShardSconeByPolicy() : ShardScone(by_policy_config()) {}
};

TEST_F(ShardSconeByPolicy, APolicySelectsTheRate) {
  EXPECT_EQ(advised(4433), 20);
  EXPECT_EQ(advised(443), packet::no_scone_advice);
}

proxy::ShardConfig spared_config(double control_group, bool is_ue) {
  proxy::ShardConfig config = advising_config();
  config.control_group = control_group;
  if (!is_ue) config.ue_prefixes = {*IpPrefix::parse("203.0.113.0/24")};
  return config;
}

class ShardSconeOfControlGroup : public ShardScone {
 protected:
  ShardSconeOfControlGroup() : ShardScone(spared_config(1, true)) {}
};

TEST_F(ShardSconeOfControlGroup, IsLeft) {
  EXPECT_EQ(advised(), packet::no_scone_advice);
}

class ShardSconeOfOtherHosts : public ShardScone {
 protected:
  ShardSconeOfOtherHosts() : ShardScone(spared_config(0, false)) {}
};

TEST_F(ShardSconeOfOtherHosts, IsLeft) {
  EXPECT_EQ(advised(), packet::no_scone_advice);
}

}  // namespace
}  // namespace sluice::test
