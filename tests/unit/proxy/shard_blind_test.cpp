// Tests of blind attackers who know addresses and ports of a connection but not its sequence numbers (RFC 5961). Their
// guessed numbers change nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

constexpr std::array<std::uint8_t, 6> other_mac = {2, 0, 0, 0, 0, 9};

/// Returns the same packet, received from another router.
packet::Packet rerouted(const packet::Packet& packet, std::uint8_t ttl) {
  packet::Packet other = pool().allocate();
  std::copy(packet.data(), packet.data() + packet.size(), other.append(packet.size()));
  std::copy(other_mac.begin(), other_mac.end(), other.data() + 6);
  std::uint8_t* const ip = other.data() + 14;
  ip[8] = ttl;
  packet::store16(ip + 10, 0);
  packet::store16(ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({ip, 20})));
  return other;
}

class BlindAttack : public ScriptedShard {
 protected:
  explicit BlindAttack(const proxy::ShardConfig& of = config()) : ScriptedShard(of) {}
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config();
    config.timeouts.idle = std::chrono::seconds(60);
    return config;
  }
  /// Forged in the server's name. The numbers are counted from the first byte of data, as the hosts' are.
  void forge(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, const std::string& payload = {},
             std::uint8_t ttl = 1) {
    tcp::Segment segment = hosts.segment(flags, hosts.server_isn.raw() + 1 + seq, hosts.ue_isn.raw() + 1 + ack);
    segment.ts_value = 1'000'000;
    lab.put(Side::core, rerouted(hosts.frame(false, segment, payload), ttl));
  }
  void forge_from_ue(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, const std::string& payload = {}) {
    tcp::Segment segment = hosts.segment(flags, hosts.ue_isn.raw() + 1 + seq, hosts.server_isn.raw() + 1 + ack);
    lab.put(Side::radio, rerouted(hosts.frame(true, segment, payload), 1));
  }
  /// Thirty-two random bits that lie in no window of the script's.
  [[nodiscard]] std::uint32_t guess() { return static_cast<std::uint32_t>(random_() % 0xf0000000U) + 0x08000000U; }
  [[nodiscard]] Seen data_to_the_ue(std::uint32_t from) {
    lab.forget_output();
    hosts.server(Flags::ack_bit, from, 0, std::string(100, 'd'));
    const auto seen = lab.next(Side::radio);
    EXPECT_TRUE(seen);
    return seen ? *seen : Seen{};
  }

 private:
  std::mt19937 random_{4};
};

TEST_F(BlindAttack, HeadersAreNotLearnedFromSegmentsOutsideTheWindow) {
  hosts.open();
  for (int i = 0; i < 300; ++i) {
    forge(Flags::ack_bit, guess(), guess(), "forged");
    forge(Flags::ack_bit, 0, guess(), "a number is guessed right");
    forge(Flags::ack_bit, guess(), 0);
    forge(Flags::syn_bit, guess(), 0);
    forge(Flags::rst_bit, guess(), 0);
  }
  const Seen seen = data_to_the_ue(0);
  EXPECT_EQ(seen.parsed.ttl, 64);
  EXPECT_TRUE(std::equal(ScriptedHosts::server_mac.begin(), ScriptedHosts::server_mac.end(), seen.frame.begin() + 6));
  EXPECT_EQ(seen.payload, std::string(100, 'd'));
}

TEST_F(BlindAttack, AnotherRouterIsLearnedFromTheNextAcceptedSegment) {
  hosts.open();
  const tcp::Segment next = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1, hosts.ue_isn.raw() + 1);
  lab.put(Side::core, rerouted(hosts.frame(false, next, "by another way"), 50));
  const auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->parsed.ttl, 50);
  EXPECT_TRUE(std::equal(other_mac.begin(), other_mac.end(), seen->frame.begin() + 6));
}

/// The proxy's acknowledgement went to the router that is gone, so nothing new arrives through the other one.
TEST_F(BlindAttack, AnotherRouterIsLearnedFromARetransmission) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, "acknowledged to a dead router");
  const tcp::Segment again = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1, hosts.ue_isn.raw() + 1);
  lab.put(Side::core, rerouted(hosts.frame(false, again, "acknowledged to a dead router"), 50));
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(2));
  const auto seen = lab.last(Side::radio);
  ASSERT_TRUE(seen) << "the UE has not acknowledged it";
  EXPECT_EQ(seen->parsed.ttl, 50);
}

TEST_F(BlindAttack, AForgedSegmentDoesNotDelayTheIdleTimeout) {
  hosts.open();
  for (int i = 0; i < 12; ++i) {
    lab.pass_time(std::chrono::seconds(10));
    forge(Flags::ack_bit, guess(), guess(), "forged");
  }
  EXPECT_EQ(lab.count(Counter::released_idle), 1U);
}

TEST_F(BlindAttack, AForgedSegmentIsNoAnswerToAKeepAlive) {
  hosts.open();
  tcp::Segment probe = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw(), hosts.server_isn.raw() + 1);
  lab.put(Side::radio, hosts.frame(true, probe));
  ASSERT_FALSE(lab.silent(Side::core)) << "it goes on to the server";
  lab.forget_output();
  forge(Flags::ack_bit, guess(), guess());
  EXPECT_TRUE(lab.silent(Side::radio));
  hosts.server(Flags::ack_bit, 0, 0);
  EXPECT_FALSE(lab.silent(Side::radio));
}

/// A forged timestamp would stay ahead of the server's own for ever.
TEST_F(BlindAttack, ATimestampIsLearnedOnlyWithAnAcceptableAck) {
  hosts.open();
  forge(Flags::ack_bit, 0, guess(), "in the window by chance");
  EXPECT_EQ(data_to_the_ue(0).segment().ts_value, 7U);
}

TEST_F(BlindAttack, AForgedFinDoesNotExtendTimeWait) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  hosts.ue(Flags::ack_bit, 1, 1);
  for (int i = 0; i < 10 && lab.shard.flow_count() != 0; ++i) {
    lab.pass_time(config().tcp.time_wait / 2);
    forge(Flags::ack_bit | Flags::fin_bit, 0x90000000U, 1);
  }
  EXPECT_EQ(lab.count(Counter::flows_closed), 1U);
}

TEST_F(BlindAttack, ForgedSegmentsNeitherEndNorChangeAHandshake) {
  const auto forge_all = [&] {
    for (const std::uint8_t flags : {std::uint8_t{0}, Flags::syn_bit, Flags::rst_bit, Flags::fin_bit}) {
      for (const std::uint8_t ack : {std::uint8_t{0}, Flags::ack_bit}) {
        const auto bits = static_cast<std::uint8_t>(flags | ack);
        forge(bits, guess(), guess());
        forge(bits, guess(), guess(), "forged");
        forge_from_ue(bits, guess(), guess());
        forge_from_ue(bits, guess(), guess(), "forged");
      }
    }
  };
  forge_from_ue(Flags::syn_bit, guess(), 0);
  forge_all();
  hosts.send_syn();
  hosts.send_syn_ack();
  forge_all();
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
  EXPECT_EQ(data_to_the_ue(0).parsed.ttl, 64);
  lab.forget_output();
  hosts.ue(Flags::ack_bit, 0, 100, "request");
  const auto seen = lab.last(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->parsed.ttl, 64);
}

TEST_F(BlindAttack, AHandshakeThatOnlyForgedSegmentsContinueTimesOut) {
  hosts.send_syn();
  hosts.send_syn_ack();
  for (int i = 0; i < 100; ++i) {
    lab.pass_time(std::chrono::seconds(1));
    forge(Flags::ack_bit, guess(), guess(), "forged");
  }
  EXPECT_EQ(lab.count(Counter::handshake_timeouts), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(BlindAttack, ForgedSynsOfKnownConnectionsDisplaceOnlyEachOther) {
  constexpr std::uint16_t first_port = 20'000, places = 16;
  const auto use_port = [&](int i) { hosts.ue_to_server.src_port = static_cast<std::uint16_t>(first_port + i); };
  for (int i = 0; i < places; ++i) {
    use_port(i);
    hosts.open();
  }
  lab.shard.release({}, lab.now);
  lab.pass_time(std::chrono::milliseconds(1));
  ASSERT_EQ(lab.shard.released_count(), places);
  use_port(places);
  hosts.send_syn();
  hosts.ue_isn = tcp::SeqNum(0x70000000U);
  for (int i = 0; i <= places; ++i) {
    use_port(i);
    hosts.send_syn();  // by another number
  }
  for (int i = 0; i <= places; ++i) {
    use_port(i);
    hosts.send_syn_ack();
    hosts.ue(Flags::ack_bit, 0, 0);
    EXPECT_EQ(lab.count(Counter::flows_split), static_cast<std::uint64_t>(places + i)) << "all but the oldest";
  }
}

TEST_F(BlindAttack, ForgedSegmentsDoNotRemoveAReleasedConnection) {
  hosts.open();
  lab.shard.release(hosts.ue_to_server.src, lab.now);
  lab.shard.split_again({});
  hosts.server(Flags::ack_bit, 0, 0, "answer");
  hosts.ue(Flags::ack_bit, 0, 6, "request");
  hosts.server(Flags::ack_bit, 6, 7);
  for (int i = 0; i < 100; ++i) {
    for (const std::uint8_t flags : {Flags::syn_bit, Flags::rst_bit, Flags::fin_bit, Flags::ack_bit}) {
      forge(flags, guess(), 0);
      forge(static_cast<std::uint8_t>(flags | Flags::ack_bit), guess(), guess(), "forged");
      forge_from_ue(static_cast<std::uint8_t>(flags | Flags::ack_bit), guess(), guess());
    }
    forge(Flags::ack_bit, 6, guess());
    forge(Flags::ack_bit, guess(), 7, "forged");
  }
  hosts.server(Flags::ack_bit, 6, 7, "next");
  EXPECT_EQ(lab.count(Counter::flows_split_again), 1U);
}

/// A forged ACK would discard bytes that only we hold and have acknowledged.
TEST_F(BlindAttack, AForgedAckDoesNotDropOurBytesDuringAHandback) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  lab.shard.release(hosts.ue_to_server.src, lab.now);
  for (int i = 0; i < 100; ++i) {
    forge_from_ue(Flags::ack_bit, 0, guess());
    forge_from_ue(Flags::ack_bit, guess(), 1000);
    forge_from_ue(Flags::ack_bit, guess(), guess(), "forged");
  }
  lab.forget_output();
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  lab.pass_time(std::chrono::seconds(2));
  const auto again = lab.next(Side::radio);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->payload, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

/// The UE's window stays closed for long while its own data continues beyond the handback point; its ACKs are still
/// accepted.
TEST_F(BlindAttack, AcksAreAcceptedHoweverFarTheHostIsBeyondTheHandbackPoint) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  lab.shard.release(hosts.ue_to_server.src, lab.now);
  std::uint32_t sent = 0;
  for (int i = 0; i < 2000; ++i, sent += 1000) {
    hosts.ue(Flags::ack_bit, sent, 0, std::string(1000, 'u'));
    hosts.server(Flags::ack_bit, 1000, sent + 1000);
  }
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  hosts.ue(Flags::ack_bit, sent, 1000, "more");
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

class BlindAttackEndToEnd : public BlindAttack {
 protected:
  explicit BlindAttackEndToEnd(proxy::Mode mode = proxy::Mode::wrs) : BlindAttack(config(mode)) {}
  static proxy::ShardConfig config(proxy::Mode mode) {
    proxy::ShardConfig config = shard_config(mode);
    config.intercept = proxy::Intercept::regulate;
    return config;
  }
  [[nodiscard]] proxy::FlowInfo info() const {
    std::vector<proxy::FlowInfo> flows;
    lab.shard.describe_flows(flows, 1);
    return flows.empty() ? proxy::FlowInfo{} : flows[0];
  }
  /// With every number wrong, and with one of them right.
  void forge_all(std::uint32_t server_next, std::uint32_t ue_next) {
    for (int i = 0; i < 50; ++i) {
      for (const std::uint8_t flags : {Flags::syn_bit, Flags::rst_bit, Flags::fin_bit, Flags::ack_bit}) {
        for (const std::uint8_t ack : {std::uint8_t{0}, Flags::ack_bit}) {
          const auto bits = static_cast<std::uint8_t>(flags | ack);
          forge(bits, guess(), guess());
          forge(bits, guess(), ue_next, "forged");
          forge_from_ue(bits, guess(), guess());
          forge_from_ue(bits, guess(), server_next, "forged");
        }
      }
      forge(Flags::ack_bit, server_next, guess(), "forged");
      forge_from_ue(Flags::ack_bit, ue_next, guess());
    }
  }
};

TEST_F(BlindAttackEndToEnd, RegulationContinues) {
  ScriptedReports reports(lab, hosts);
  hosts.open();
  reports.queue(20'000);
  for (std::uint32_t i = 0; i < 120; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
  hosts.ue(Flags::ack_bit, 0, 100'000);
  const proxy::FlowInfo before = info();
  forge_all(120'000, 0);
  const proxy::FlowInfo after = info();
  EXPECT_STREQ(after.phase, "regulated");
  EXPECT_THAT(after.in_flight, testing::ElementsAreArray(before.in_flight));
  EXPECT_THAT(after.peer_window, testing::ElementsAreArray(before.peer_window));
  lab.forget_output();
  reports.queue(20'000);
  hosts.ue(Flags::ack_bit, 0, 120'000);
  const auto ack = lab.next(Side::core);
  ASSERT_TRUE(ack);
  EXPECT_LE(ack->segment().window << 7, 20'000 + 8'000);
  EXPECT_EQ(lab.count(Counter::flows_regulated), 1U);
}

TEST_F(BlindAttackEndToEnd, AForgedSynLeavesNoHandshake) {
  hosts.open();
  forge_from_ue(Flags::syn_bit, guess(), 0);
  EXPECT_STREQ(info().phase, "regulated");
  EXPECT_EQ(lab.shard.flow_count(), 1U);
}

TEST_F(BlindAttackEndToEnd, AHandshakeTimesOutDespiteForgedSegments) {
  hosts.send_syn();
  hosts.send_syn_ack();
  for (int i = 0; i < 100; ++i) {
    lab.pass_time(std::chrono::seconds(1));
    hosts.server(Flags::ack_bit, 0, 0, "data for nobody");
    forge_from_ue(Flags::ack_bit, guess(), guess());
  }
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(BlindAttackEndToEnd, ForgedSegmentsDoNotChangeAHandshake) {
  forge_from_ue(Flags::syn_bit, guess(), 0);
  hosts.send_syn();
  forge(Flags::syn_bit | Flags::ack_bit, guess(), guess());
  hosts.send_syn_ack();
  forge_all(100'000, 100'000);
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_regulated), 1U);
  EXPECT_STREQ(info().phase, "regulated");
}

TEST_F(BlindAttackEndToEnd, ANewHandshakeOfBothHostsReplacesTheConnection) {
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, "the old one");
  hosts.ue_isn = tcp::SeqNum(0x80000000U);
  hosts.server_isn = tcp::SeqNum(0x40000000U);
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, "the new one");
  EXPECT_EQ(lab.count(Counter::flows_regulated), 2U);
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(info().in_flight[1], Bytes(11));
}

class BlindAttackHeldAcks : public BlindAttackEndToEnd {
 protected:
  BlindAttackHeldAcks() : BlindAttackEndToEnd(proxy::Mode::ack_regulator) {}
};

TEST_F(BlindAttackHeldAcks, AreNotReleasedByForgedSegments) {
  ScriptedReports reports(lab, hosts);
  hosts.open();
  reports.queue(10'000);
  for (std::uint32_t i = 0; i < 10; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
  for (int i = 0; i < 10; ++i) {
    lab.pass_time(ScriptedReports::period);
    reports.queue(10'000, 10'520, 0);
  }
  hosts.ue(Flags::ack_bit, 0, 2000);
  ASSERT_EQ(info().acks_held, 1U);
  forge_all(10'000, 0);
  EXPECT_EQ(info().acks_held, 1U);
}

}  // namespace
}  // namespace sluice::test
