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

proxy::ShardConfig link_config(double share = 0.8, Mode mode = Mode::smvs) {
  proxy::ShardConfig config = shard_config(mode);
  config.smvs.law = proxy::ControllerLocation::proxy;
  config.scone_link_share = share;
  return config;
}

/// A UE with a TCP connection, whose radio queue a Node-B reports.
class ShardSconeByLink : public ShardScone {
 protected:
  explicit ShardSconeByLink(const proxy::ShardConfig& config = link_config()) : ShardScone(config) { hosts.open(); }

  /// Sends reports each 100 ms. The link transmits at `bps`, and `queue` bytes wait for it.
  void report(Duration duration, double bps, std::int64_t queue = 20'000) {
    constexpr Duration step = 100ms;
    for (Duration past{}; past < duration; past += step) {
      transmitted += bps / 8 * to_seconds(step);
      proxy::ReportArrival arrival = reports.next();
      arrival.period = step;
      arrival.sender = node_b;
      arrival.bearer.queue = Bytes(queue);
      arrival.bearer.transmitted = static_cast<std::uint64_t>(transmitted);
      arrival.bearer.arrived = arrival.bearer.transmitted + static_cast<std::uint64_t>(queue);
      reports.send(arrival);
      lab.pass_time(step);
    }
    lab.forget_output();
  }

  ScriptedReports reports{lab, hosts};
  double transmitted = 0;
  std::uint64_t node_b = 1;
};

TEST_F(ShardSconeByLink, AdvisesAShareOfTheLongTermRate) {
  report(60s, 8e6);
  EXPECT_EQ(advised(), 36) << "6.3 Mb/s are the largest rate of a signal below 0.8 · 8 Mb/s";
  EXPECT_EQ(lab.count(Counter::scone_lowered), 1U);
  EXPECT_EQ(lab.count(Counter::scone_lowered_to_link), 1U);
  EXPECT_EQ(pass(scone(20)), scone(20));
  EXPECT_EQ(lab.count(Counter::scone_kept), 1U);
}

TEST_F(ShardSconeByLink, AdvisesNothingWhileTheRateIsUnknown) {
  EXPECT_EQ(advised(), packet::no_scone_advice) << "no report";
  report(5s, 8e6);
  EXPECT_EQ(advised(), packet::no_scone_advice) << "too short a time";
  report(120s, 8e6, 0);
  EXPECT_EQ(advised(), packet::no_scone_advice) << "nothing waited for the link, so the rate is that of the server";
  EXPECT_EQ(lab.count(Counter::scone_rate_unknown), 3U);
  EXPECT_EQ(lab.count(Counter::scone_lowered), 0U);
}

TEST_F(ShardSconeByLink, AdvisesNothingToAUeWithoutReports) {
  report(60s, 8e6);
  hosts.ue_to_server.src = IpAddress::v4(10, 45, 0, 3);
  EXPECT_EQ(advised(), packet::no_scone_advice);
}

TEST_F(ShardSconeByLink, TheRateIsForgottenAndMeasuredAgain) {
  report(60s, 8e6);
  lab.pass_time(5min);
  EXPECT_EQ(advised(), packet::no_scone_advice);
  report(60s, 2e6);
  EXPECT_EQ(advised(), 24) << "1.6 Mb/s";
}

TEST_F(ShardSconeByLink, CountersOfAnotherNodeBAreNotCompared) {
  report(60s, 8e6);
  lab.pass_time(3s);
  node_b = 2;
  transmitted += 1e9;
  report(60s, 8e6);
  EXPECT_EQ(advised(), 36);
}

TEST_F(ShardSconeByLink, HostileReportsGiveNoAdviceAboveTheLinkOrNone) {
  report(60s, 8e6);
  transmitted = 1.8e19;
  report(100ms, 0);
  transmitted = 0;
  report(30s, 8e6);
  EXPECT_EQ(advised(), 36);
}

TEST_F(ShardSconeByLink, APolicySwitchKeepsWhatIsMeasured) {
  report(60s, 8e6);
  proxy::Policies other;
  other.otherwise = link_config(0.4);
  lab.shard.apply(other, lab.now);
  EXPECT_EQ(advised(), 30) << "3.2 Mb/s";
  proxy::Policies off;
  off.otherwise = link_config(0);
  lab.shard.apply(off, lab.now);
  EXPECT_EQ(advised(), packet::no_scone_advice);
  lab.shard.apply(other, lab.now);
  EXPECT_EQ(advised(), 30);
}

/// The UE has one more connection, under another policy.
TEST_F(ShardSconeByLink, ABearerOfAnotherPolicyKnowsTheRateToo) {
  proxy::Policies two;
  two.otherwise = link_config();
  proxy::Policy other;
  other.ports = {{22, 22}};
  other.settings = link_config();
  two.list = {other};
  lab.shard.apply(two, lab.now);
  report(60s, 8e6);
  hosts.ue_to_server.dst_port = 22;
  hosts.open();
  EXPECT_EQ(advised(), 36);
  report(60s, 2e6);
  EXPECT_LT(advised(444), 36);
}

class ShardSconeByBoth : public ShardSconeByLink {
 protected:
  ShardSconeByBoth() : ShardSconeByLink(both()) {}
  static proxy::ShardConfig both() {
    proxy::ShardConfig config = link_config();
    config.scone_rate = Rate::bits_per_second(2e6);
    return config;
  }
};

TEST_F(ShardSconeByBoth, TheConfiguredRateStaysALimit) {
  EXPECT_EQ(advised(), 26) << "2 Mb/s while the link is unknown";
  report(60s, 8e6);
  EXPECT_EQ(advised(), 26);
  EXPECT_EQ(lab.count(Counter::scone_lowered_to_link), 0U);
  report(300s, 1e6);
  EXPECT_EQ(advised(), 18) << "0.8 Mb/s";
  EXPECT_EQ(lab.count(Counter::scone_lowered_to_link), 1U);
}

class ShardSconeOfNextUe : public ShardSconeByLink {
 protected:
  ShardSconeOfNextUe() : ShardSconeByLink(brief()) {}
  static proxy::ShardConfig brief() {
    proxy::ShardConfig config = link_config();
    config.timeouts.idle = 1s;
    return config;
  }
};

TEST_F(ShardSconeOfNextUe, ANewUeInThePlaceOfAnotherStartsWithoutARate) {
  report(60s, 8e6);
  ASSERT_EQ(advised(), 36);
  hosts.ue(tcp::Flags::rst_bit | tcp::Flags::ack_bit, 0, 0);
  lab.pass_time(5s);  // the bearer ends
  hosts.ue_to_server.src = IpAddress::v4(10, 45, 0, 3);
  hosts.open();
  EXPECT_EQ(advised(), packet::no_scone_advice);
}

class ShardSconeByLinkPlain : public ShardSconeByLink {
 protected:
  ShardSconeByLinkPlain() : ShardSconeByLink(link_config(1, Mode::i_tcp)) {}
};

TEST_F(ShardSconeByLinkPlain, ReportsSufficeWithoutARateController) {
  report(60s, 8e6);
  EXPECT_EQ(advised(), 38) << "7.9 Mb/s";
}

class ShardSconeByLinkObserved : public ShardSconeByLink {
 protected:
  ShardSconeByLinkObserved() : ShardSconeByLink(link_config(0.8, Mode::observe)) {}
};

TEST_F(ShardSconeByLinkObserved, CountsAndChangesNothing) {
  report(60s, 8e6);
  EXPECT_EQ(advised(), packet::no_scone_advice);
  EXPECT_EQ(lab.count(Counter::scone_observed), 1U);
}

}  // namespace
}  // namespace sluice::test
