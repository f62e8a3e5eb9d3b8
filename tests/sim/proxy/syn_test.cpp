// How connections begin through the proxy: the handshake stays the hosts' own, whatever happens to it.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;
using Octets = std::vector<std::uint8_t>;

proxy::ShardConfig split_config() {
  proxy::ShardConfig config;
  config.mode = proxy::Mode::i_tcp;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 64;
  return config;
}

/// A shard that splits, and the hosts of one connection.
class Syn : public ScriptedShard {
 protected:
  Syn() : ScriptedShard(split_config()) {}
};
using SynFlood = Syn;

Octets octets_of(const packet::Packet& packet) {
  return {packet.data(), packet.data() + packet.size()};
}

/// Data from the server is acknowledged without the UE: the connection is split.
void expect_split(ProxyLab& lab, ScriptedHosts& hosts) {
  lab.forget_output();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 's'));
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 's'));
  EXPECT_TRUE(lab.next(Side::core));
}

TEST_F(Syn, ARetransmittedSynPassesAndTheConnectionIsSplit) {
  for (int i = 0; i < 3; ++i) {
    hosts.send_syn();
    EXPECT_TRUE(lab.next(Side::core)) << "each copy is the server's to answer";
    lab.pass_time(std::chrono::seconds(1));
  }
  hosts.send_syn_ack();
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_opened), 1U);
  expect_split(lab, hosts);
}

TEST_F(Syn, ALostSynAckIsRetransmittedByTheServer) {
  hosts.send_syn();
  hosts.send_syn_ack();
  lab.forget_output();
  hosts.send_syn_ack();
  EXPECT_TRUE(lab.next(Side::radio)->segment().flags.syn());
  hosts.ue(Flags::ack_bit, 0, 0);
  expect_split(lab, hosts);
}

TEST_F(Syn, ASynAckRetransmittedAfterTheSplitIsAcknowledgedForTheUe) {
  hosts.open();
  hosts.send_syn_ack();  // the last word of the handshake was lost behind us
  const auto ack = lab.next(Side::core);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->segment().ack, hosts.server_isn + 1);
  EXPECT_TRUE(lab.silent(Side::radio));
}

TEST_F(Syn, ANewSynOfTheSamePortsReplacesTheHandshake) {
  hosts.send_syn();
  hosts.ue_isn = tcp::SeqNum(77'000);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
  expect_split(lab, hosts);
}

TEST_F(Syn, ASimultaneousOpenPassesUnsplit) {
  hosts.send_syn();
  lab.put(Side::core, hosts.frame(false, hosts.segment(Flags::syn_bit, hosts.server_isn.raw(), 0)));
  EXPECT_TRUE(lab.next(Side::radio));
  EXPECT_EQ(lab.count(Counter::forward_simultaneous_open), 0U) << "anybody can send a SYN";
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::syn_bit | Flags::ack_bit, hosts.ue_isn.raw(),
                                                       hosts.server_isn.raw() + 1)));
  EXPECT_EQ(lab.count(Counter::forward_simultaneous_open), 1U);
  lab.put(Side::core, hosts.frame(false, hosts.segment(Flags::syn_bit | Flags::ack_bit, hosts.server_isn.raw(),
                                                       hosts.ue_isn.raw() + 1)));
  hosts.server(Flags::ack_bit, 0, 0, "hello");
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(Syn, AServerMayOpenTheConnectionToTheUe) {
  lab.put(Side::core, hosts.frame(false, hosts.segment(Flags::syn_bit, hosts.server_isn.raw(), 0)));
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::syn_bit | Flags::ack_bit, hosts.ue_isn.raw(),
                                                       hosts.server_isn.raw() + 1)));
  hosts.server(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
  expect_split(lab, hosts);
}

TEST_F(Syn, ANewerSynEndsTimeWait) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  hosts.ue(Flags::ack_bit, 1, 1);
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "in TIME-WAIT";
  hosts.ue_isn = tcp::SeqNum(900'000);
  lab.forget_output();
  hosts.send_syn();
  EXPECT_TRUE(lab.next(Side::core)->segment().flags.syn()) << "the server decides (RFC 6191)";
}

TEST_F(Syn, AChallengeAckForTheSynOfARestartedUePasses) {
  hosts.send_syn();
  lab.forget_output();
  lab.put(Side::core, hosts.frame(false, hosts.segment(Flags::ack_bit, 123'456, 999)));  // of its old connection
  EXPECT_TRUE(lab.next(Side::radio));
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::rst_bit, 999, 0)));
  EXPECT_TRUE(lab.next(Side::core));
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

/// A SYN (or SYN-ACK) of the UE's connection with these options instead of ours; checksum right.
packet::Packet with_options(const ScriptedHosts& hosts, bool from_ue, const Octets& options,
                            const std::string& payload = {}) {
  tcp::Segment syn =
      from_ue ? hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0)
              : hosts.segment(Flags::syn_bit | Flags::ack_bit, hosts.server_isn.raw(), hosts.ue_isn.raw() + 1);
  syn.has_timestamps = false;
  syn.syn = {};
  Octets content = options;
  content.insert(content.end(), payload.begin(), payload.end());
  packet::Packet frame = hosts.frame(from_ue, syn, std::string(content.begin(), content.end()));
  constexpr std::size_t ip = 14, tcp = 34, ours = 24;  // the builder's own MSS option takes four bytes
  std::uint8_t* const data = frame.data();
  std::memmove(data + tcp + 20, data + tcp + ours, content.size());
  frame.truncate(static_cast<std::uint16_t>(frame.size() - 4));
  data[tcp + 12] = static_cast<std::uint8_t>((20 + options.size()) / 4 << 4);
  const auto length = static_cast<std::uint16_t>(20 + content.size());
  packet::store_be16(data + ip + 2, static_cast<std::uint16_t>(20 + length));
  data[ip + 10] = data[ip + 11] = data[tcp + 16] = data[tcp + 17] = 0;
  packet::store16(data + ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({data + ip, 20})));
  const std::uint64_t pseudo = packet::pseudo_header_v4(data + ip + 12, 6, length);
  const std::uint16_t sum = packet::fold(pseudo + packet::ones_complement_sum({data + tcp, length}));
  packet::store16(data + tcp + 16, static_cast<std::uint16_t>(~sum));
  return frame;
}

struct Option {
  const char* name;
  Octets octets;
};
const Option not_understood[] = {
    {"MPTCP", {30, 12, 0x01, 0x81, 1, 2, 3, 4, 5, 6, 7, 8}},
    {"TCP-AO", {29, 4, 1, 1}},
    {"MD5", {19, 18, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 1}},
    {"Fast Open, asking for a cookie", {34, 2, 1, 1}},
    {"Fast Open with a cookie", {34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1}},
    {"an experiment", {253, 4, 0x12, 0x34}},
    {"a kind of the future", {200, 4, 0, 0}},
    {"a length that cannot be", {2, 77, 5, 0xb4}},
};

TEST(SynOptions, ConnectionsWithUnknownOptionsPassUnsplit) {
  for (const Option& option : not_understood) {
    for (const char* payload : {"", "early data"}) {
      SCOPED_TRACE(option.name);
      ProxyLab lab(split_config());
      ScriptedHosts hosts(lab);
      packet::Packet syn = with_options(hosts, true, option.octets, payload);
      const Octets frame = octets_of(syn);
      lab.put(Side::radio, std::move(syn));
      const auto seen = lab.next(Side::core);
      ASSERT_TRUE(seen);
      EXPECT_EQ(seen->frame, frame);
      EXPECT_TRUE(seen->checksum_good || seen->result != packet::ParseResult::tcp);
      EXPECT_EQ(lab.count(proxy::counter_of(packet::ParseResult::tcp_options_unknown)) +
                    lab.count(Counter::forward_multipath),
                1U);
      EXPECT_EQ(lab.shard.flow_count(), 0U);
    }
  }
}

TEST(SynOptions, ConnectionsWithUnknownOptionsInTheSynAckPassUnsplit) {
  for (const Option& option : not_understood) {
    SCOPED_TRACE(option.name);
    ProxyLab lab(split_config());
    ScriptedHosts hosts(lab);
    hosts.send_syn();
    packet::Packet syn_ack = with_options(hosts, false, option.octets);
    const Octets frame = octets_of(syn_ack);
    lab.put(Side::core, std::move(syn_ack));
    EXPECT_EQ(lab.next(Side::radio)->frame, frame);
    hosts.ue(Flags::ack_bit, 0, 0);
    EXPECT_EQ(lab.count(Counter::flows_split), 0U);
    EXPECT_EQ(lab.shard.flow_count(), 0U);
  }
}

TEST_F(Syn, ASynWithoutOptionsIsSplit) {
  lab.put(Side::radio, with_options(hosts, true, {}));
  lab.put(Side::core, with_options(hosts, false, {}));
  hosts.options = {};
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST_F(Syn, DscpAndTtlFollowTheHosts) {
  hosts.open();
  std::uint32_t sent = 0;
  for (const auto& [tos, ttl] : {std::pair<int, int>{0xb8, 57}, {0x28, 57}, {0, 200}}) {
    packet::Packet data = hosts.frame(
        false, hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1 + sent, hosts.ue_isn.raw() + 1), "12345678");
    std::uint8_t* const ip = data.data() + 14;
    ip[1] = static_cast<std::uint8_t>(tos);
    ip[8] = static_cast<std::uint8_t>(ttl);
    ip[10] = ip[11] = 0;
    packet::store16(ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({ip, 20})));
    lab.forget_output();
    lab.put(Side::core, std::move(data));
    const auto seen = lab.next(Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->parsed.tos, tos);
    EXPECT_EQ(seen->parsed.ttl, ttl);
    sent += 8;
    hosts.ue(Flags::ack_bit, 0, sent);
  }
}

TEST_F(SynFlood, NewHandshakesReplaceTheOldest) {
  ScriptedHosts flood(lab);
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    flood.ue_to_server.src_port = port;
    flood.send_syn();
  }
  EXPECT_EQ(lab.shard.flow_count(), 0U) << "a SYN is a note, no more";
  EXPECT_EQ(lab.shard.bearer_count(), 0U);
  EXPECT_EQ(lab.count(Counter::handshakes_displaced), 1000U - 16U);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 1U) << "there is room for a connection that goes on";
}

TEST_F(SynFlood, AnsweredHandshakesReplaceEachOther) {
  ScriptedHosts flood(lab);
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    flood.ue_to_server.src_port = port;
    flood.send_syn();
    flood.send_syn_ack();
  }
  EXPECT_EQ(lab.shard.flow_count(), 16U) << "a quarter of the table";
  EXPECT_EQ(lab.count(Counter::handshakes_displaced), 1000U - 16U);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST_F(SynFlood, ALateSynAckOpensNothing) {
  hosts.send_syn();
  lab.pass_time(std::chrono::seconds(80));
  hosts.send_syn_ack();
  EXPECT_EQ(lab.count(Counter::forward_mid_flow), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

/// Many UEs may return at once, or one host may open many connections.
TEST(ConnectionOpening, ConnectionsOpenedTogetherAreAllSplit) {
  proxy::ShardConfig config;
  config.mode = proxy::Mode::i_tcp;
  ProxyLab lab(config);
  ScriptedHosts crowd(lab);
  constexpr std::uint16_t many = 200;
  std::array<std::vector<packet::Packet>, 3> words;
  for (std::uint16_t port = 1; port <= many; ++port) {
    crowd.ue_to_server.src_port = port;
    const std::uint32_t ue = crowd.ue_isn.raw();
    const std::uint32_t server = crowd.server_isn.raw();
    words[0].push_back(crowd.frame(true, crowd.segment(Flags::syn_bit, ue, 0)));
    words[1].push_back(crowd.frame(false, crowd.segment(Flags::syn_bit | Flags::ack_bit, server, ue + 1)));
    words[2].push_back(crowd.frame(true, crowd.segment(Flags::ack_bit, ue + 1, server + 1)));
  }
  lab.shard.receive(Side::radio, words[0], lab.now);
  lab.shard.receive(Side::core, words[1], lab.now);
  lab.shard.receive(Side::radio, words[2], lab.now);
  EXPECT_EQ(lab.count(Counter::flows_split), many);
}

TEST_F(SynFlood, AScanOfManyUesLeavesNoBearers) {
  ScriptedHosts scan(lab);
  for (std::uint32_t i = 0; i < 2000; ++i) {
    scan.ue_to_server.src = IpAddress::v4(10, 46, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
    lab.put(Side::core, scan.frame(false, scan.segment(Flags::syn_bit, i, 0)));
  }
  EXPECT_LE(lab.shard.bearer_count(), 16U);
  lab.pass_time(std::chrono::seconds(80));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.shard.bearer_count(), 0U);
}

/// Connections pass end to end and are tracked, under a law or observed.
class SynFloodEndToEnd : public testing::TestWithParam<proxy::Mode> {
 protected:
  SynFloodEndToEnd() {
    config_.mode = GetParam();
    config_.intercept = proxy::Intercept::regulate;
  }
  /// Sends a SYN from each of `ues` UEs; servers answer, the UEs do not.
  static void scan(ProxyLab& lab, std::uint8_t ues) {
    ScriptedHosts hosts(lab);
    for (std::uint8_t host = 1; host <= ues; ++host) {
      hosts.ue_to_server.src = IpAddress::v4(10, 46, 0, host);
      hosts.send_syn();
      hosts.send_syn_ack();
    }
  }
  proxy::ShardConfig config_ = split_config();
};

TEST_P(SynFloodEndToEnd, NewHandshakesReplaceTheOldest) {
  ProxyLab lab(config_);
  ScriptedHosts flood(lab);
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    flood.ue_to_server.src_port = port;
    flood.send_syn();
  }
  EXPECT_EQ(lab.shard.flow_count(), 0U) << "a SYN is a note, no more";
  EXPECT_EQ(lab.count(Counter::handshakes_displaced), 1000U - 16U);
  ScriptedHosts hosts(lab);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_regulated), 1U) << "there is room for a connection that goes on";
}

TEST_P(SynFloodEndToEnd, AnsweredHandshakesOfAFloodDoNotLast) {
  ProxyLab lab(config_);
  ScriptedHosts flood(lab);
  for (std::uint8_t host = 1; host <= 100; ++host) {
    flood.ue_to_server.src = IpAddress::v4(10, 46, 0, host);
    flood.send_syn();
    flood.send_syn_ack();
    lab.put(Side::radio, flood.frame(true, flood.segment(Flags::ack_bit, flood.ue_isn.raw() + 1, 77)));
  }
  EXPECT_EQ(lab.shard.flow_count(), 16U);
  EXPECT_EQ(lab.count(Counter::flows_regulated), 0U) << "nobody has answered what the servers said";
  lab.pass_time(std::chrono::seconds(80));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.shard.bearer_count(), 0U);
}

TEST_P(SynFloodEndToEnd, AScanWithoutFreePlacesLeavesNoBearers) {
  config_.limits.max_flows = 4;
  ProxyLab lab(config_);
  scan(lab, 16);
  EXPECT_EQ(lab.shard.flow_count(), 4U);
  EXPECT_EQ(lab.shard.bearer_count(), 4U);
  lab.pass_time(std::chrono::seconds(80));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.shard.bearer_count(), 0U);
}

TEST_P(SynFloodEndToEnd, AScanOfTooManyUesDoesNotBlockOtherConnections) {
  config_.limits.max_bearers = 8;
  ProxyLab lab(config_);
  scan(lab, 100);
  EXPECT_EQ(lab.shard.bearer_count(), 8U);
  ScriptedHosts hosts(lab);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_regulated), 1U);
}

TEST_P(SynFloodEndToEnd, EstablishedConnectionsStayTracked) {
  ProxyLab lab(config_);
  ScriptedHosts hosts(lab);
  for (std::uint16_t port = 1; port <= 48; ++port) {
    hosts.ue_to_server.src_port = port;
    hosts.open();
  }
  ScriptedHosts flood(lab);
  flood.ue_to_server.src = IpAddress::v4(10, 45, 0, 77);
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    flood.ue_to_server.src_port = port;
    flood.send_syn();
    flood.send_syn_ack();
  }
  EXPECT_EQ(lab.shard.flow_count(), 48U + 16U);
  const std::uint64_t before = lab.count(Counter::forward_regulated);
  for (std::uint16_t port = 1; port <= 48; ++port) {
    hosts.ue_to_server.src_port = port;
    hosts.server(Flags::ack_bit, 0, 0, "still known");
  }
  EXPECT_EQ(lab.count(Counter::forward_regulated) - before, 48U);
}

INSTANTIATE_TEST_SUITE_P(Modes, SynFloodEndToEnd, testing::Values(proxy::Mode::wrs, proxy::Mode::observe),
                         [](const auto& mode) { return mode.param == proxy::Mode::wrs ? "Regulated" : "Observed"; });

TEST_F(SynFlood, AnEstablishedConnectionSurvives) {
  hosts.open();
  ScriptedHosts flood(lab);
  flood.ue_to_server.src = IpAddress::v4(10, 45, 0, 77);
  std::string arrived;
  for (std::uint32_t i = 0; i < 500; ++i) {
    for (std::uint16_t k = 0; k < 20; ++k) {
      flood.ue_to_server.src_port = static_cast<std::uint16_t>(1 + (i * 20 + k) % 60'000);
      flood.send_syn();
    }
    lab.forget_output();
    hosts.server(Flags::ack_bit, i * 100, 0, std::string(100, static_cast<char>('a' + i % 26)));
    while (const auto seen = lab.next(Side::radio)) arrived += seen->payload;
    hosts.ue(Flags::ack_bit, 0, (i + 1) * 100);
  }
  ASSERT_EQ(arrived.size(), 50'000U);
  for (std::size_t i = 0; i < arrived.size(); ++i) ASSERT_EQ(arrived[i], static_cast<char>('a' + i / 100 % 26));
  EXPECT_EQ(lab.count(Counter::retransmitted_radio), 0U);
  EXPECT_EQ(lab.count(Counter::flows_opened), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 1U);
}

}  // namespace
}  // namespace sluice::test
