// What somebody sends who knows addresses and ports of a connection and cannot see it: its numbers are guesses, and
// nothing changes.

#include <gtest/gtest.h>

#include <random>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

constexpr std::array<std::uint8_t, 6> other_mac = {2, 0, 0, 0, 0, 9};

/// The same packet by way of another router.
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

class Blind : public ScriptedShard {
 protected:
  Blind() : ScriptedShard(config()) {}
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

TEST_F(Blind, HeadersAreNotLearnedFromSegmentsOutsideTheWindow) {
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

TEST_F(Blind, AnotherRouterIsLearnedFromTheNextSegmentThatIsTaken) {
  hosts.open();
  const tcp::Segment next = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1, hosts.ue_isn.raw() + 1);
  lab.put(Side::core, rerouted(hosts.frame(false, next, "by another way"), 50));
  const auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->parsed.ttl, 50);
  EXPECT_TRUE(std::equal(other_mac.begin(), other_mac.end(), seen->frame.begin() + 6));
}

/// Our acknowledgement went to the router that is no more, so nothing new comes by the other one.
TEST_F(Blind, AnotherRouterIsLearnedFromARepetition) {
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

TEST_F(Blind, AForgedSegmentKeepsNoSilentConnectionSplit) {
  hosts.open();
  for (int i = 0; i < 12; ++i) {
    lab.pass_time(std::chrono::seconds(10));
    forge(Flags::ack_bit, guess(), guess(), "forged");
  }
  EXPECT_EQ(lab.count(Counter::let_go_idle), 1U);
}

TEST_F(Blind, AForgedSegmentDoesNotAnswerForAHostThatIsGone) {
  hosts.open();
  tcp::Segment question = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw(), hosts.server_isn.raw() + 1);
  lab.put(Side::radio, hosts.frame(true, question));
  ASSERT_FALSE(lab.silent(Side::core)) << "it goes on to the server";
  lab.forget_output();
  forge(Flags::ack_bit, guess(), guess());
  EXPECT_TRUE(lab.silent(Side::radio));
  hosts.server(Flags::ack_bit, 0, 0);
  EXPECT_FALSE(lab.silent(Side::radio));
}

/// It would run ahead of the server's own for ever.
TEST_F(Blind, ATimestampIsNotLearnedBeforeTheAcknowledgementIsFoundGood) {
  hosts.open();
  forge(Flags::ack_bit, 0, guess(), "in the window by chance");
  EXPECT_EQ(data_to_the_ue(0).segment().ts_value, 7U);
}

TEST_F(Blind, AForgedFinDoesNotProlongTheEnd) {
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

}  // namespace
}  // namespace sluice::test
