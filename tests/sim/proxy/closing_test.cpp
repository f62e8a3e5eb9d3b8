// How connections end through the relay: what the other host sees, and when. Every row of proxy/CLOSING.md is a test
// here, and every test a row.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

/// Returns a configuration with short timeouts.
proxy::ShardConfig impatient() {
  proxy::ShardConfig config = shard_config();
  config.tcp.max_retransmissions = 3;
  return config;
}

class Closing : public ScriptedShard {
 protected:
  Closing() : ScriptedShard(impatient()) {}

  /// Expects a reset to the other host because `gone` never acknowledges its data.
  void expect_told_of_a_host_that_is_gone(Side gone) {
    hosts.open();
    if (gone == Side::radio) {
      hosts.server(Flags::ack_bit, 0, 0, std::string(100, 'z'));
    } else {
      hosts.ue(Flags::ack_bit, 0, 0, std::string(100, 'u'));
    }
    lab.forget_output();
    lab.pass_time(std::chrono::seconds(120));
    expect_newest(opposite(gone), Flags::rst_bit);
    EXPECT_EQ(lab.count(Counter::flows_timed_out), 1U);
    EXPECT_EQ(lab.shard.flow_count(), 0U);
  }
  /// Expects that the newest frame has this flag and drops the others.
  Seen expect_newest(Side out, std::uint8_t flag) {
    const auto seen = lab.last(out);
    EXPECT_TRUE(seen && (seen->segment().flags.bits & flag) != 0);
    return seen.value_or(Seen{});
  }
  /// Expects that no sent frame has the flag, and drops all of them.
  void expect_none(Side out, std::uint8_t flag) {
    while (const auto seen = lab.next(out)) EXPECT_EQ(seen->segment().flags.bits & flag, 0) << "it overtook data";
  }
  /// Both hosts have closed, the UE first, and both FINs are acknowledged.
  void close_by_ue() {
    hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
    hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
    hosts.ue(Flags::ack_bit, 1, 1);
  }
  /// The server has closed first and waits; the relay remembers both ends.
  void close_by_server() {
    hosts.open();
    hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
    hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 1);
    hosts.server(Flags::ack_bit, 1, 1);
  }
  /// 2000 bytes have come from the server, and the UE's buffer is full after the first half.
  void fill_the_ue() {
    hosts.open();
    hosts.ue_window = 0;
    hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
    hosts.ue(Flags::ack_bit, 0, 1000);
    hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  }
  /// How long it takes until a reset comes out, `most` at most, while the UE answers that its window is closed.
  int minutes_until_reset(Side out, int most) {
    for (int second = 0; second < most * 60; ++second) {
      lab.pass_time(std::chrono::seconds(1));
      const auto last = lab.last(out);
      if (last && last->segment().flags.rst()) return second / 60;
      if (last) hosts.ue(Flags::ack_bit, 0, 1000);
    }
    return most + 1;
  }
  /// Then there is room.
  void empty_the_ue() {
    hosts.ue_window = 1000;
    hosts.ue(Flags::ack_bit, 0, 1000);
  }
};

TEST_F(Closing, AFinFollowsTheBytesBeforeIt) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'd'));
  hosts.server(Flags::ack_bit | Flags::fin_bit, 1000, 0);
  const auto data = lab.next(Side::radio);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload.size(), 1000U);
  const Seen fin = expect_newest(Side::radio, Flags::fin_bit);
  EXPECT_EQ(fin.segment().seq + fin.segment().payload_len, hosts.server_isn + 1 + 1000);
}

TEST_F(Closing, HalfCloseLeavesTheOtherDirectionOpen) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  expect_newest(Side::core, Flags::fin_bit);
  hosts.server(Flags::ack_bit, 0, 1);
  lab.forget_output();
  hosts.server(Flags::ack_bit, 0, 1, "still talking");
  const auto data = lab.last(Side::radio);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload, "still talking");
}

TEST_F(Closing, AFlowIsRemovedAfterBothFins) {
  hosts.open();
  close_by_ue();
  lab.pass_time(std::chrono::seconds(3));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_closed), 1U);
}

TEST_F(Closing, AResetWaitsForAcknowledgedBytes) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1448, 'r'));
  hosts.server(Flags::ack_bit, 1448, 0, std::string(1448, 'r'));
  hosts.server(Flags::rst_bit | Flags::ack_bit, 2896, 0);
  expect_none(Side::radio, Flags::rst_bit);
  hosts.ue(Flags::ack_bit, 0, 2896);
  const Seen reset = expect_newest(Side::radio, Flags::rst_bit);
  EXPECT_EQ(reset.segment().seq, hosts.server_isn + 1 + 2896);
  EXPECT_TRUE(reset.checksum_good);
  lab.pass_time(std::chrono::seconds(2));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_reset), 1U);
}

TEST_F(Closing, AResetOfAnEmptyRelayPassesAtOnce) {
  hosts.open();
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 0, 0);
  const Seen reset = expect_newest(Side::core, Flags::rst_bit);
  EXPECT_EQ(reset.segment().seq, hosts.ue_isn + 1);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(Closing, AResetWithAnInexactNumberEndsNothing) {
  hosts.open();
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 100, 0);
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  const auto challenge = lab.next(Side::radio);
  ASSERT_TRUE(challenge) << "RFC 5961: a challenge ACK";
  EXPECT_FALSE(challenge->segment().flags.rst());
  EXPECT_TRUE(lab.silent(Side::core));
}

TEST_F(Closing, TheServerIsResetWhenTheUeIsGone) {
  expect_told_of_a_host_that_is_gone(Side::radio);
}

TEST_F(Closing, AddressesMayBeReusedAtOnce) {
  hosts.open();
  close_by_ue();
  hosts.ue_isn = tcp::SeqNum(900000);
  hosts.server_isn = tcp::SeqNum(700000);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, "second life");
  const auto data = lab.last(Side::radio);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload, "second life");
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
}

TEST_F(Closing, AFinIsAcknowledgedByTheProxyAndForwardedAtOnce) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  const Seen fin = expect_newest(Side::core, Flags::fin_bit);
  EXPECT_EQ(fin.segment().seq, hosts.ue_isn + 1);
  const auto ack = lab.last(Side::radio);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->segment().ack, hosts.ue_isn + 2);
  EXPECT_FALSE(ack->segment().flags.fin()) << "the server has not closed";
}

TEST_F(Closing, AFinWaitsForAClosedWindowToTakeTheBytesBeforeIt) {
  fill_the_ue();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 2000, 0);
  expect_none(Side::radio, Flags::fin_bit);
  empty_the_ue();
  const Seen fin = expect_newest(Side::radio, Flags::fin_bit);
  EXPECT_EQ(fin.segment().seq + fin.segment().payload_len, hosts.server_isn + 1 + 2000);
}

TEST_F(Closing, ALostFinIsRetransmittedByTheProxy) {
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(3));
  const auto fin = lab.next(Side::radio);
  ASSERT_TRUE(fin);
  EXPECT_TRUE(fin->segment().flags.fin());
  EXPECT_TRUE(lab.silent(Side::core));
}

TEST_F(Closing, ARetransmittedFinIsForwardedOnce) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit, 0, 1);
  lab.forget_output();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  EXPECT_TRUE(lab.silent(Side::core));
  const auto ack = lab.next(Side::radio);
  ASSERT_TRUE(ack) << "its sender missed our acknowledgement";
  EXPECT_EQ(ack->segment().ack, hosts.ue_isn + 2);
}

TEST_F(Closing, CrossingFinsCloseBothSides) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  expect_newest(Side::radio, Flags::fin_bit);
  hosts.ue(Flags::ack_bit, 1, 1);
  hosts.server(Flags::ack_bit, 1, 1);
  lab.pass_time(std::chrono::seconds(3));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_closed), 1U);
}

TEST_F(Closing, ASilentHalfClosedConnectionIsReleased) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit, 0, 1);
  lab.pass_time(std::chrono::seconds(301));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_idle), 1U);
  lab.forget_output();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  EXPECT_TRUE(lab.next(Side::radio)->segment().flags.fin());
}

TEST_F(Closing, AResetByTheUeInADownloadReachesTheServerAtOnce) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1448, 'd'));
  hosts.server(Flags::ack_bit, 1448, 0, std::string(1448, 'd'));
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 0, 1448);
  const Seen reset = expect_newest(Side::core, Flags::rst_bit);  // the bytes for the UE cannot be delivered any more
  EXPECT_EQ(reset.segment().seq, hosts.ue_isn + 1);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_reset), 1U);
}

TEST_F(Closing, AResetWaitsForAClosedWindow) {
  fill_the_ue();
  hosts.server(Flags::rst_bit | Flags::ack_bit, 2000, 0);
  expect_none(Side::radio, Flags::rst_bit);
  empty_the_ue();
  EXPECT_EQ(lab.last(Side::radio)->payload, std::string(1000, 'b'));
  hosts.ue(Flags::ack_bit, 0, 2000);
  expect_newest(Side::radio, Flags::rst_bit);
}

TEST_F(Closing, AResetWaitsABoundedTimeForAClosedWindow) {
  fill_the_ue();
  hosts.server(Flags::rst_bit | Flags::ack_bit, 2000, 0);
  const int minutes = minutes_until_reset(Side::radio, 10);
  EXPECT_GE(minutes, 3);
  EXPECT_LE(minutes, 4);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(Closing, AConnectionIsResetWhenAHostAcceptsNothingForLong) {
  fill_the_ue();
  const int minutes = minutes_until_reset(Side::radio, 90);
  EXPECT_GE(minutes, 60);
  EXPECT_LE(minutes, 62);
  expect_newest(Side::core, Flags::rst_bit);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(Closing, AResetBehindAFinFollowsIt) {
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.ue(Flags::ack_bit, 0, 1);
  lab.forget_output();
  hosts.server(Flags::rst_bit, 1, 0);  // its program is gone, too
  const Seen reset = expect_newest(Side::radio, Flags::rst_bit);
  EXPECT_EQ(reset.segment().seq, hosts.server_isn + 2);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(Closing, DataForAClosedSocketIsAnsweredByTheHostsReset) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);  // close(), not shutdown()
  hosts.server(Flags::ack_bit, 0, 1, std::string(500, 'd'));
  lab.forget_output();
  hosts.ue(Flags::rst_bit, 1, 0);
  expect_newest(Side::core, Flags::rst_bit);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(Closing, TheUeIsResetWhenTheServerIsGone) {
  expect_told_of_a_host_that_is_gone(Side::core);
}

TEST_F(Closing, ANewSynOfARestartedUeEndsTheOldConnection) {
  hosts.open();
  hosts.ue_isn = tcp::SeqNum(900'000);
  hosts.send_syn();  // the UE has restarted
  const auto challenge = lab.last(Side::radio);
  ASSERT_TRUE(challenge) << "RFC 5961 section 4: what the server would have answered";
  EXPECT_TRUE(lab.silent(Side::core));
  EXPECT_EQ(challenge->segment().ack.raw(), 1001U);
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::rst_bit, challenge->segment().ack.raw(), 0)));
  expect_newest(Side::core, Flags::rst_bit);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  hosts.server_isn = tcp::SeqNum(700'000);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
}

// A server of short connections: those that are over must not keep new ones out until tcp.time_wait has passed.
TEST_F(Closing, TheOldestTimeWaitGivesItsPlaceToANewConnection) {
  constexpr std::uint16_t connections = 200;  // the shard has 64 places
  for (std::uint16_t i = 0; i < connections; ++i) {
    hosts.ue_to_server.src_port = static_cast<std::uint16_t>(20'000 + i);
    close_by_server();
  }
  EXPECT_EQ(lab.count(Counter::flows_split), connections);
  EXPECT_EQ(lab.count(Counter::forward_flow_limit), 0U);
  EXPECT_EQ(lab.shard.flow_count(), 16U) << "a quarter of the places";
  EXPECT_EQ(lab.count(Counter::time_waits_displaced), connections - 16U);
  EXPECT_EQ(lab.count(Counter::flows_closed), connections - 16U);
  lab.forget_output();
  // The last acknowledgement of an early one was lost. Its own host has the same numbers and answers.
  hosts.ue_to_server.src_port = 20'000;
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 1);
  const auto passed = lab.next(Side::core);
  ASSERT_TRUE(passed);
  EXPECT_TRUE(passed->segment().flags.fin());
  EXPECT_TRUE(lab.silent(Side::radio));
}

TEST_F(Closing, TimeWaitEndsByItself) {
  close_by_server();
  lab.pass_time(std::chrono::milliseconds(600));
  lab.forget_output();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 1);  // its acknowledgement was lost
  const auto again = lab.next(Side::radio);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->segment().flags.bits, Flags::ack_bit);
  EXPECT_TRUE(lab.silent(Side::core));
  lab.pass_time(std::chrono::milliseconds(600));
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "it has begun anew";
  lab.pass_time(std::chrono::milliseconds(600));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_closed), 1U);
  EXPECT_EQ(lab.count(Counter::flows_timed_out), 0U);
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_TRUE(lab.silent(Side::core));
}

TEST_F(Closing, ASynThatTimeWaitRefusesIsForwardedToTheServer) {
  close_by_server();
  ASSERT_EQ(lab.shard.flow_count(), 1U) << "within tcp.time_wait";
  const tcp::SeqNum old_server = hosts.server_isn;
  const tcp::SeqNum old_ue = hosts.ue_isn;
  hosts.ue_isn = old_ue - 50'000;  // neither a newer number nor a newer timestamp (RFC 6191)
  lab.forget_output();
  hosts.send_syn();
  const auto syn = lab.next(Side::core);
  ASSERT_TRUE(syn);
  EXPECT_TRUE(syn->segment().flags.syn());
  EXPECT_TRUE(lab.silent(Side::radio)) << "nobody answers on the server's behalf";
  const packet::Packet ack = hosts.frame(false, hosts.segment(Flags::ack_bit, old_server.raw() + 2, old_ue.raw() + 2));
  const std::vector<std::uint8_t> answer(ack.data(), ack.data() + ack.size());
  lab.put(Side::core, answer);
  const auto passed = lab.next(Side::radio);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->frame, answer);
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::rst_bit, old_ue.raw() + 2, 0)));
  const auto reset = lab.next(Side::core);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst()) << "ends the server's TIME-WAIT";
  hosts.server_isn = tcp::SeqNum(90'000);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
}

TEST_F(Closing, AnOldSynAfterBothFinsEndsNoLiveConnection) {
  close_by_server();
  lab.forget_output();
  hosts.send_syn();  // the very first one again, late
  EXPECT_TRUE(lab.next(Side::core));
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 1);  // the acknowledgement of this one was lost
  const auto fin = lab.next(Side::core);
  ASSERT_TRUE(fin) << "the server answers it itself";
  EXPECT_TRUE(fin->segment().flags.fin());
  hosts.server(Flags::ack_bit, 1, 1);
  EXPECT_TRUE(lab.next(Side::radio));
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST_F(Closing, AKeepAliveIsAnsweredByTheOtherHost) {
  hosts.open();
  lab.put(Side::radio,
          hosts.frame(true, hosts.segment(Flags::ack_bit, hosts.ue_isn.raw(), hosts.server_isn.raw() + 1)));
  EXPECT_TRUE(lab.silent(Side::radio));
  const auto probe = lab.next(Side::core);
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->segment().seq, hosts.ue_isn);
  hosts.server(Flags::ack_bit, 0, 0);
  EXPECT_TRUE(lab.next(Side::radio));
}

TEST_F(Closing, ARefusalIsForwardedFromTheServer) {
  hosts.send_syn();
  EXPECT_TRUE(lab.silent(Side::radio)) << "nobody answers on the server's behalf";
  const packet::Packet refusal =
      hosts.frame(false, hosts.segment(Flags::rst_bit | Flags::ack_bit, 0, hosts.ue_isn.raw() + 1));
  const std::vector<std::uint8_t> frame(refusal.data(), refusal.data() + refusal.size());
  lab.put(Side::core, frame);
  EXPECT_EQ(lab.next(Side::radio)->frame, frame);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(Closing, TheProxyDoesNotAnswerForASilentServer) {
  hosts.send_syn();
  lab.pass_time(std::chrono::seconds(80));
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

/// An ICMP error of a router about a segment, as IPv4: type, code, and the header of what it is about.
std::vector<std::uint8_t> unreachable(const packet::Packet& about, const ScriptedHosts& hosts, bool to_ue) {
  constexpr std::size_t link = 14, ip = 20, icmp = 8, quoted = 28;
  std::vector<std::uint8_t> frame(link + ip + icmp + quoted, 0);
  const auto& destination = to_ue ? hosts.ue_mac : hosts.server_mac;
  std::copy(destination.begin(), destination.end(), frame.begin());
  std::copy_n(about.data() + 12, 2 + ip, frame.begin() + 12);
  std::uint8_t* const header = frame.data() + link;
  packet::store_be16(header + 2, static_cast<std::uint16_t>(ip + icmp + quoted));
  header[9] = 1;
  std::copy_n(about.data() + link + 12, 4, header + 16);  // back to who sent it
  std::copy_n(about.data() + link, quoted, header + ip + icmp);
  header[10] = header[11] = 0;
  packet::store16(header + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({header, ip})));
  header[ip] = 3;  // destination unreachable: host
  header[ip + 1] = 1;
  const std::uint16_t sum = packet::ones_complement_sum({header + ip, icmp + quoted});
  packet::store16(header + ip + 2, static_cast<std::uint16_t>(~sum));
  return frame;
}

TEST_F(Closing, AnUnreachableServerIsReportedByItsRouter) {
  hosts.send_syn();
  lab.forget_output();
  const packet::Packet syn = hosts.frame(true, hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0));
  const std::vector<std::uint8_t> error = unreachable(syn, hosts, true);
  lab.put(Side::core, error);
  const auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->frame, error);
  EXPECT_EQ(lab.count(proxy::counter_of(packet::ParseResult::icmp)), 1U);
}

TEST_F(Closing, AnErrorOfARouterEndsNoOpenConnection) {
  hosts.open();
  const packet::Packet data =
      hosts.frame(true, hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1), "x");
  lab.put(Side::core, unreachable(data, hosts, true));
  EXPECT_TRUE(lab.next(Side::radio)) << "the UE judges it (RFC 5461)";
  EXPECT_EQ(lab.shard.flow_count(), 1U);
}

}  // namespace
}  // namespace sluice::test
