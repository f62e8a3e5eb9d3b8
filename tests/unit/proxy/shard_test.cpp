// Tests of one shard between scripted hosts: handshakes, split data, and connections that pass unsplit.
#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

/// received = optimised + forwarded + dropped, whatever happened.
void expect_accounted(const ProxyLab& lab) {
  const proxy::Counters& counters = lab.shard.counters();
  EXPECT_EQ(counters.received(), counters[Counter::optimised] + counters.forwarded() + counters.dropped());
}

TEST(Shard, TheHandshakePassesUnchanged) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  const auto same = [&](bool from_ue, const tcp::Segment& segment, Side in) {
    packet::Packet frame = hosts.frame(from_ue, segment);
    const std::vector<std::uint8_t> before(frame.data(), frame.data() + frame.size());
    lab.put(in, std::move(frame));
    const auto seen = lab.next(opposite(in));
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->frame, before);
  };
  same(true, hosts.segment(Flags::syn_bit, 1000, 0), Side::radio);
  same(false, hosts.segment(Flags::syn_bit | Flags::ack_bit, 5000, 1001), Side::core);
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
  same(true, hosts.segment(Flags::ack_bit, 1001, 5001), Side::radio);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_TRUE(lab.silent(Side::core));
  expect_accounted(lab);
}

TEST(Shard, DataIsAcknowledgedByTheProxyAndKeepsItsNumbers) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  const std::string first(1448, 'a');
  const std::string second(1448, 'b');
  hosts.server(Flags::ack_bit, 0, 0, first);
  hosts.server(Flags::ack_bit | Flags::psh_bit, 1448, 0, second);
  lab.pass_time(std::chrono::milliseconds(50));

  auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, first);
  EXPECT_EQ(seen->segment().seq, hosts.server_isn + 1);
  EXPECT_TRUE(seen->checksum_good);
  EXPECT_EQ(seen->parsed.src, hosts.ue_to_server.dst);
  EXPECT_TRUE(std::equal(hosts.ue_mac.begin(), hosts.ue_mac.end(), seen->frame.begin()));
  seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, second);

  seen.reset();
  while (auto ack = lab.next(Side::core)) seen = std::move(ack);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->segment().ack, hosts.server_isn + 1 + 2896);
  EXPECT_EQ(seen->segment().seq, hosts.ue_isn + 1);
  EXPECT_TRUE(seen->checksum_good);
  expect_accounted(lab);
}

TEST(Shard, ConsumesEveryFrameOfABurst) {
  ProxyLab lab{shard_config()};
  ScriptedHosts hosts{lab};
  hosts.open();
  const auto data = [&](std::uint32_t offset, std::uint32_t ack) {
    return hosts.frame(
        false, hosts.segment(tcp::Flags::ack_bit, hosts.server_isn.raw() + 1 + offset, hosts.ue_isn.raw() + 1 + ack),
        std::string(100, 's'));
  };
  std::array<packet::Packet, 5> burst{data(0, 0), data(0, 0), data(50'000'000, 0), data(100, 77), data(300, 0)};
  lab.shard.receive(proxy::Side::core, burst, lab.now);
  for (std::size_t i = 0; i < burst.size(); ++i) EXPECT_FALSE(burst[i]) << "number " << i;
  EXPECT_EQ(lab.count(proxy::Counter::optimised), burst.size());
}

TEST(Shard, UnacknowledgedDataIsRetransmittedToTheUe) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(500, 'x'));
  ASSERT_TRUE(lab.next(Side::radio));
  lab.pass_time(std::chrono::seconds(3));
  const auto again = lab.next(Side::radio);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->payload, std::string(500, 'x'));
  EXPECT_TRUE(again->checksum_good);
  EXPECT_GE(lab.count(Counter::retransmitted_radio), 1U);
  EXPECT_GE(lab.count(Counter::timeouts_radio), 1U);
  hosts.ue(Flags::ack_bit, 0, 500);
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(10));
  EXPECT_TRUE(lab.silent(Side::radio));
}

TEST(Shard, TheWindowOfABearerIsNotBelowTheBytesInFlight) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  const auto bearer = [&] {
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    return bearers.at(0);
  };
  for (std::uint32_t i = 0; i < 30; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
  EXPECT_EQ(bearer().window, bearer().congestion_window) << "nothing is lost";
  tcp::Segment report = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1);
  report.sack_count = 1;
  report.sack_blocks[0] = {hosts.server_isn + 1001, hosts.server_isn + 2001};
  lab.put(Side::radio, hosts.frame(true, report));
  ASSERT_GT(bearer().in_flight, bearer().congestion_window) << "a recovery has made the congestion window smaller";
  EXPECT_EQ(bearer().window, bearer().in_flight) << "nothing more may be sent";
}

TEST(Shard, TheAckThatCompletesTheHandshakeMayBringData) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  hosts.send_syn_ack();
  lab.forget_output();
  hosts.ue(Flags::ack_bit | Flags::psh_bit, 0, 0, "GET / HTTP/1.1");
  const auto seen = lab.next(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, "GET / HTTP/1.1");
  EXPECT_EQ(seen->segment().ack, hosts.server_isn + 1);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST(Shard, DataBehindAHoleDuringTheHandshakeIsNotSplit) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  hosts.send_syn_ack();
  lab.forget_output();
  hosts.ue(Flags::ack_bit, 100, 0, std::string(50, 'B'));  // lost before us, or passed before we were there?
  const auto seen = lab.next(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, std::string(50, 'B'));
  EXPECT_EQ(lab.count(Counter::forward_handshake_unseen), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Shard, ARetransmittedSynOfAnOlderConnectionDoesNotSplitIt) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();                                      // a copy: the first one went by before we were there
  hosts.ue(Flags::ack_bit, 0, 0, std::string(16, 'g'));  // it acknowledges a SYN-ACK that we have not seen
  EXPECT_EQ(lab.count(Counter::forward_handshake_unseen), 1U);
  hosts.send_syn_ack();  // repeated as well
  hosts.ue(Flags::ack_bit, 16, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Shard, ARefusalIsForwardedFromTheServer) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  lab.forget_output();
  lab.put(Side::core, hosts.frame(false, hosts.segment(Flags::rst_bit | Flags::ack_bit, 0, hosts.ue_isn.raw() + 1)));
  const auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->segment().flags.rst());
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_refused), 1U);
  expect_accounted(lab);
}

TEST(Shard, ABlindResetDoesNotEndAHandshake) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  lab.put(Side::core, hosts.frame(false, hosts.segment(Flags::rst_bit | Flags::ack_bit, 0, 77)));
  EXPECT_EQ(lab.count(Counter::flows_refused), 0U);
  hosts.send_syn_ack();
  EXPECT_EQ(lab.shard.flow_count(), 1U);
}

TEST(Shard, ConnectionsOlderThanTheProxyPassUnchanged) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.server(Flags::ack_bit, 100, 0, "data");
  hosts.ue(Flags::ack_bit, 0, 104);
  hosts.ue(Flags::rst_bit, 0, 104);
  EXPECT_EQ(lab.count(Counter::forward_mid_flow), 3U);
  EXPECT_EQ(lab.next(Side::radio)->payload, "data");
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  expect_accounted(lab);
}

TEST(Shard, ASynWithDataPassesUnsplit) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::syn_bit, 1000, 0), "early"));
  EXPECT_EQ(lab.count(Counter::forward_syn_data), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_FALSE(lab.silent(Side::core));
}

/// Opens a connection that offers accurate ECN, which the server answers with `ace` (RFC 9768 table 2), and sends a
/// first data segment.
void open_with_accurate_offer(ProxyLab& lab, ScriptedHosts& hosts, std::uint8_t ace) {
  tcp::Segment syn = hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0);
  syn.flags.bits |= tcp::ace_bits(7);
  lab.put(Side::radio, hosts.frame(true, syn));
  EXPECT_EQ(lab.next(Side::core)->segment().flags.bits, syn.flags.bits) << "AE passes, too";
  tcp::Segment answer = hosts.segment(Flags::syn_bit | Flags::ack_bit, hosts.server_isn.raw(), hosts.ue_isn.raw() + 1);
  answer.flags.bits |= tcp::ace_bits(ace);
  lab.put(Side::core, hosts.frame(false, answer));
  EXPECT_EQ(lab.next(Side::radio)->segment().flags.bits, answer.flags.bits);
  hosts.ue(Flags::ack_bit, 0, 0);
  hosts.ue(Flags::ack_bit, 0, 0, "request");
  lab.forget_output();
}

TEST(Shard, AnOfferOfAccurateEcnWithoutAgreementIsSplit) {
  for (const std::uint8_t ace : std::initializer_list<std::uint8_t>{0, 1}) {  // no ECN, and classic ECN
    ProxyLab lab(shard_config());
    ScriptedHosts hosts(lab);
    open_with_accurate_offer(lab, hosts, ace);
    EXPECT_EQ(lab.count(Counter::flows_split), 1U) << int{ace};
    EXPECT_EQ(lab.count(Counter::forward_accurate_ecn), 0U);
    expect_accounted(lab);
  }
}

TEST(Shard, NothingIsLearnedFromADamagedHandshake) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  packet::Packet damaged = hosts.frame(true, hosts.segment(Flags::syn_bit, 1000, 0));
  damaged.data()[damaged.size() - 1] ^= 0x08;  // the window scale: the server will drop this and see a good one later
  lab.put(Side::radio, std::move(damaged));
  EXPECT_EQ(lab.count(Counter::forward_handshake_damaged), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  hosts.send_syn();
  damaged = hosts.frame(false, hosts.segment(Flags::syn_bit | Flags::ack_bit, 5000, 1001));
  damaged.data()[38] ^= 0x01;  // its sequence number
  lab.put(Side::core, std::move(damaged));
  EXPECT_EQ(lab.count(Counter::forward_handshake_damaged), 2U);
  hosts.send_syn_ack();
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST(Shard, BypassForwardsEverything) {
  proxy::ShardConfig config = shard_config();
  config.mode = proxy::Mode::bypass;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  hosts.send_syn_ack();
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::forward_bypass_mode), 3U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  expect_accounted(lab);
}

TEST(Shard, AHostOutsideTheUePrefixesIsForwarded) {
  proxy::ShardConfig config = shard_config();
  config.ue_prefixes = {*IpPrefix::parse("10.99.0.0/16")};
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  EXPECT_EQ(lab.count(Counter::forward_not_ue), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Shard, ASegmentWithAWrongChecksumIsDropped) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  packet::Packet frame = hosts.frame(false, hosts.segment(Flags::ack_bit, 5001, 1001), "payload");
  frame.data()[frame.size() - 1] ^= 0x40;
  lab.put(Side::core, std::move(frame));
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.count(Counter::drop_tcp_checksum), 1U);
  expect_accounted(lab);
}

TEST(Shard, AnUnfinishedHandshakeTimesOut) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  EXPECT_EQ(lab.shard.flow_count(), 0U) << "a SYN alone is nothing";
  hosts.send_syn_ack();
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  lab.pass_time(std::chrono::seconds(80));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::handshake_timeouts), 1U);
}

TEST(Shard, AnIdleConnectionIsReleased) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  lab.pass_time(std::chrono::seconds(301));
  EXPECT_EQ(lab.count(Counter::released_idle), 1U);
  hosts.server(Flags::ack_bit, 0, 0, "hello again");
  const auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, "hello again");
  EXPECT_TRUE(lab.silent(Side::core)) << "nobody acknowledges on the UE's behalf any more";
}

}  // namespace
}  // namespace sluice::test
