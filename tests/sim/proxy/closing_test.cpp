// How connections end through the relay: what the other host sees, and when. Every row of proxy/CLOSING.md is a test
// here, and every test a row.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

/// The newest frame that came out, if any.
std::optional<Seen> last(ProxyLab& lab, Side out) {
  std::optional<Seen> newest;
  while (auto seen = lab.next(out)) newest = std::move(seen);
  return newest;
}

/// Data towards `gone` is never acknowledged: the other host hears of it.
void expect_told_of_a_host_that_is_gone(Side gone) {
  proxy::ShardConfig config = shard_config();
  config.tcp.max_retransmissions = 3;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  if (gone == Side::radio) {
    hosts.server(Flags::ack_bit, 0, 0, std::string(100, 'z'));
  } else {
    hosts.ue(Flags::ack_bit, 0, 0, std::string(100, 'u'));
  }
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(120));
  const auto reset = last(lab, opposite(gone));
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(lab.count(Counter::flows_timed_out), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Closing, AFinFollowsTheBytesBeforeIt) {
  ProxyLab lab(shard_config());
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

TEST(Closing, HalfCloseLeavesTheOtherDirectionOpen) {
  ProxyLab lab(shard_config());
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

TEST(Closing, AfterBothFinsTheFlowIsGone) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  hosts.ue(Flags::ack_bit, 1, 1);
  lab.pass_time(std::chrono::seconds(3));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_closed), 1U);
}

TEST(Closing, AResetWaitsForAcknowledgedBytes) {
  ProxyLab lab(shard_config());
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

TEST(Closing, AResetOfAnEmptyRelayPassesAtOnce) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 0, 0);
  const auto reset = last(lab, Side::core);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(reset->segment().seq, hosts.ue_isn + 1);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Closing, AResetThatIsNotExactEndsNothing) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 100, 0);
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  const auto challenge = lab.next(Side::radio);
  ASSERT_TRUE(challenge) << "RFC 5961: a challenge ACK";
  EXPECT_FALSE(challenge->segment().flags.rst());
  EXPECT_TRUE(lab.silent(Side::core));
}

TEST(Closing, AUeThatIsGoneIsToldToTheServer) {
  expect_told_of_a_host_that_is_gone(Side::radio);
}

TEST(Closing, AddressesMayBeUsedAgainAtOnce) {
  ProxyLab lab(shard_config());
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

TEST(Closing, AFinIsAcknowledgedHereAndPassedAtOnce) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  const auto fin = last(lab, Side::core);
  ASSERT_TRUE(fin);
  EXPECT_TRUE(fin->segment().flags.fin());
  EXPECT_EQ(fin->segment().seq, hosts.ue_isn + 1);
  const auto ack = last(lab, Side::radio);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->segment().ack, hosts.ue_isn + 2);
  EXPECT_FALSE(ack->segment().flags.fin()) << "the server has not closed";
}

TEST(Closing, AFinWaitsForAClosedWindowToTakeTheBytesBeforeIt) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue_window = 0;
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  hosts.server(Flags::ack_bit | Flags::fin_bit, 2000, 0);
  while (const auto seen = lab.next(Side::radio)) EXPECT_FALSE(seen->segment().flags.fin());
  hosts.ue_window = 1000;
  hosts.ue(Flags::ack_bit, 0, 1000);
  const auto fin = last(lab, Side::radio);
  ASSERT_TRUE(fin);
  EXPECT_TRUE(fin->segment().flags.fin());
  EXPECT_EQ(fin->segment().seq + fin->segment().payload_len, hosts.server_isn + 1 + 2000);
}

TEST(Closing, ALostFinIsRepeatedByUs) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(3));
  const auto fin = lab.next(Side::radio);
  ASSERT_TRUE(fin);
  EXPECT_TRUE(fin->segment().flags.fin());
  EXPECT_TRUE(lab.silent(Side::core));
}

TEST(Closing, AFinThatComesTwiceIsPassedOnce) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
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

TEST(Closing, FinsThatCrossEndBothSides) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  EXPECT_TRUE(last(lab, Side::radio)->segment().flags.fin());
  hosts.ue(Flags::ack_bit, 1, 1);
  hosts.server(Flags::ack_bit, 1, 1);
  lab.pass_time(std::chrono::seconds(3));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_closed), 1U);
}

TEST(Closing, AHalfClosedConnectionThatIsSilentGoesBackToItsHosts) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit, 0, 1);
  lab.pass_time(std::chrono::seconds(301));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::let_go_idle), 1U);
  lab.forget_output();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  EXPECT_TRUE(lab.next(Side::radio)->segment().flags.fin());
}

TEST(Closing, AResetByTheUeInADownloadReachesTheServerAtOnce) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1448, 'd'));
  hosts.server(Flags::ack_bit, 1448, 0, std::string(1448, 'd'));
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 0, 1448);
  const auto reset = last(lab, Side::core);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst()) << "what was on its way to the UE has nobody to go to";
  EXPECT_EQ(reset->segment().seq, hosts.ue_isn + 1);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_reset), 1U);
}

TEST(Closing, AResetWaitsForAClosedWindowToo) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue_window = 0;
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  hosts.server(Flags::rst_bit | Flags::ack_bit, 2000, 0);
  while (const auto seen = lab.next(Side::radio)) EXPECT_FALSE(seen->segment().flags.rst());
  hosts.ue_window = 1000;
  hosts.ue(Flags::ack_bit, 0, 1000);
  EXPECT_EQ(last(lab, Side::radio)->payload, std::string(1000, 'b'));
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_TRUE(last(lab, Side::radio)->segment().flags.rst());
}

TEST(Closing, AResetBehindAFinFollowsIt) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.ue(Flags::ack_bit, 0, 1);
  lab.forget_output();
  hosts.server(Flags::rst_bit, 1, 0);  // its program is gone, too
  const auto reset = last(lab, Side::radio);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(reset->segment().seq, hosts.server_isn + 2);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Closing, DataForAProgramThatIsGoneIsAnsweredByItsHostsReset) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);  // close(), not shutdown()
  hosts.server(Flags::ack_bit, 0, 1, std::string(500, 'd'));
  lab.forget_output();
  hosts.ue(Flags::rst_bit, 1, 0);
  const auto reset = last(lab, Side::core);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Closing, AServerThatIsGoneIsToldToTheUe) {
  expect_told_of_a_host_that_is_gone(Side::core);
}

TEST(Closing, AUeThatForgotTheConnectionEndsItWithItsNextSyn) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue_isn = tcp::SeqNum(900'000);
  hosts.send_syn();  // the UE has restarted
  const auto challenge = last(lab, Side::radio);
  ASSERT_TRUE(challenge) << "RFC 5961 section 4: what the server would have answered";
  EXPECT_TRUE(lab.silent(Side::core));
  EXPECT_EQ(challenge->segment().ack.raw(), 1001U);
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::rst_bit, challenge->segment().ack.raw(), 0)));
  EXPECT_TRUE(last(lab, Side::core)->segment().flags.rst());
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  hosts.server_isn = tcp::SeqNum(700'000);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
}

/// The server has closed first and waits; the relay remembers both ends.
void close_by_server(ScriptedHosts& hosts) {
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 1);
  hosts.server(Flags::ack_bit, 1, 1);
}

TEST(Closing, ASynThatTimeWaitDoesNotTakeIsTheServersToAnswer) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  close_by_server(hosts);
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

TEST(Closing, AnOldSynAfterBothFinsEndsNothingThatLives) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  close_by_server(hosts);
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

TEST(Closing, AKeepAliveIsTheOtherHostsToAnswer) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  lab.put(Side::radio,
          hosts.frame(true, hosts.segment(Flags::ack_bit, hosts.ue_isn.raw(), hosts.server_isn.raw() + 1)));
  EXPECT_TRUE(lab.silent(Side::radio));
  const auto question = lab.next(Side::core);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->segment().seq, hosts.ue_isn);
  hosts.server(Flags::ack_bit, 0, 0);
  EXPECT_TRUE(lab.next(Side::radio));
}

TEST(Closing, ARefusalIsTheServersOwn) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  EXPECT_TRUE(lab.silent(Side::radio)) << "nobody answers on the server's behalf";
  const packet::Packet refusal =
      hosts.frame(false, hosts.segment(Flags::rst_bit | Flags::ack_bit, 0, hosts.ue_isn.raw() + 1));
  const std::vector<std::uint8_t> frame(refusal.data(), refusal.data() + refusal.size());
  lab.put(Side::core, frame);
  EXPECT_EQ(lab.next(Side::radio)->frame, frame);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(Closing, AServerThatNeverAnswersIsNotAnsweredFor) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  lab.pass_time(std::chrono::seconds(80));
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::handshake_timeouts), 1U);
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

TEST(Closing, AnUnreachableServerIsReportedByItsRouter) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
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

TEST(Closing, AnErrorOfARouterEndsNoOpenConnection) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  const packet::Packet data =
      hosts.frame(true, hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1), "x");
  lab.put(Side::core, unreachable(data, hosts, true));
  EXPECT_TRUE(lab.next(Side::radio)) << "the UE judges it (RFC 5461)";
  EXPECT_EQ(lab.shard.flow_count(), 1U);
}

}  // namespace
}  // namespace sluice::test
