// What is acknowledged to one host before the other one has it.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Side;
using tcp::Flags;

proxy::ShardConfig capped(std::optional<Bytes> per_flow, std::optional<Bytes> per_bearer = {}) {
  proxy::ShardConfig config;
  config.mode = proxy::Mode::i_tcp;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 8;
  config.limits.exposure_per_flow = per_flow;
  config.limits.exposure_per_bearer = per_bearer;
  return config;
}

/// The newest acknowledgement that came out towards the server, counted from its first byte; nothing when none did.
std::optional<std::int32_t> acknowledged(ProxyLab& lab, const ScriptedHosts& hosts) {
  std::optional<std::int32_t> newest;
  while (const auto seen = lab.next(Side::core)) newest = seen->segment().ack - (hosts.server_isn + 1);
  return newest;
}

void send(ScriptedHosts& hosts, std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) hosts.server(Flags::ack_bit, from + i * 1000, 0, std::string(1000, 'x'));
}

TEST(Exposure, ACapOfZeroAcknowledgesOnlyDeliveredBytes) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  send(hosts, 0, 4);
  lab.pass_time(std::chrono::milliseconds(100));
  EXPECT_FALSE(acknowledged(lab, hosts)) << "not even late, and no duplicate either";
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(acknowledged(lab, hosts), 2000);
  hosts.ue(Flags::ack_bit, 0, 4000);
  EXPECT_EQ(acknowledged(lab, hosts), 4000);
}

TEST(Exposure, ACapIsReachedAndNotExceeded) {
  ProxyLab lab(capped(Bytes(2500)));
  ScriptedHosts hosts(lab);
  hosts.open();
  send(hosts, 0, 5);
  EXPECT_EQ(acknowledged(lab, hosts), 2500);
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(acknowledged(lab, hosts), 4500);
}

TEST(Exposure, UnacknowledgedSegmentsAreCutThrough) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  send(hosts, 0, 1);  // the first one is what headers are learned from
  const std::uint64_t before = lab.count(proxy::Counter::segments_cut_through);
  send(hosts, 1000, 3);
  hosts.ue(Flags::ack_bit, 0, 4000);
  send(hosts, 4000, 2);
  EXPECT_EQ(lab.count(proxy::Counter::segments_cut_through) - before, 5U);
  EXPECT_EQ(acknowledged(lab, hosts), 4000);
}

TEST(Exposure, AFinIsAcknowledgedWhenTheOtherHostAcknowledgesIt) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  EXPECT_FALSE(acknowledged(lab, hosts));
  hosts.ue(Flags::ack_bit, 0, 1);
  EXPECT_EQ(acknowledged(lab, hosts), 1);
}

TEST(Exposure, SackBlocksAreSentOnceAllBeforeTheHoleIsAcknowledged) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  send(hosts, 0, 1);
  send(hosts, 2000, 1);
  EXPECT_FALSE(acknowledged(lab, hosts)) << "a block now would make the first segment look lost";
  hosts.ue(Flags::ack_bit, 0, 1000);
  const auto report = lab.next(Side::core);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->segment().ack, hosts.server_isn + 1001);
  ASSERT_EQ(report->segment().sack_count, 1);
  EXPECT_EQ(report->segment().sack_blocks[0].left, hosts.server_isn + 2001);
}

/// A UE whose program does not read: it takes 2048 bytes, and its host answers from then on that the window is closed.
class StalledReader : public testing::Test {
 protected:
  void stall() {
    hosts.ue_window = 16;  // of 128 bytes
    hosts.open();
    hosts.server(Flags::ack_bit, 0, 0, std::string(1024, 'x'));
    hosts.server(Flags::ack_bit, 1024, 0, std::string(1024, 'x'));
    lab.forget_output();
    hosts.ue_window = 0;
    hosts.ue(Flags::ack_bit, 0, 2048);
  }
  /// The server asks for its window, as Linux does or with the next byte.
  void probe(bool with_a_byte) {
    const std::uint32_t base = hosts.server_isn.raw() + 1;
    const tcp::Segment probe =
        hosts.segment(Flags::ack_bit, with_a_byte ? base + 2048 : base + 2047, hosts.ue_isn.raw() + 1);
    lab.put(Side::core, hosts.frame(false, probe, with_a_byte ? "x" : ""));
  }
  void expect_probed_end_to_end(bool with_a_byte);

 public:
  ProxyLab lab{capped(Bytes(0))};
  ScriptedHosts hosts{lab};
};

TEST_F(StalledReader, TheSenderSeesTheWindowOfItsHost) {
  stall();
  const auto ack = lab.last(Side::core);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->segment().ack, hosts.server_isn + 2049) << "nothing stays unanswered";
  EXPECT_EQ(ack->segment().window, 0);
  hosts.ue_window = 100;
  hosts.ue(Flags::ack_bit, 0, 2048);
  EXPECT_EQ(lab.last(Side::core)->segment().window, 100);
}

TEST_F(StalledReader, TheAdvertisedWindowIsItsWindowPlusTheCap) {
  ProxyLab with_cap(capped(Bytes(5000)));
  ScriptedHosts pair(with_cap);
  pair.open();
  std::uint32_t sent = 0;
  for (; sent < 150'000; sent += 1000) {
    pair.server(Flags::ack_bit, sent, 0, std::string(1000, 'x'));
    if (sent < 100'000) pair.ue(Flags::ack_bit, 0, sent + 1000);
    std::optional<Seen> ack = with_cap.last(Side::core);
    if (!ack) continue;
    const std::int32_t edge = ack->segment().ack - (pair.server_isn + 1) + (ack->segment().window << 7);
    EXPECT_LE(edge, static_cast<std::int32_t>(std::min(sent + 1000, 100'000U) + 128'000 + 5000));
  }
}

void StalledReader::expect_probed_end_to_end(bool with_a_byte) {
  stall();
  lab.pass_time(std::chrono::seconds(1));
  lab.forget_output();
  probe(with_a_byte);
  EXPECT_TRUE(lab.silent(Side::core)) << "only the UE knows";
  const auto passed_on = lab.next(Side::radio);
  ASSERT_TRUE(passed_on);
  EXPECT_EQ(passed_on->segment().payload_len, 0);
  EXPECT_EQ(passed_on->segment().seq, hosts.server_isn + 2048) << "below what it expects, so that it must answer";
  hosts.ue(Flags::ack_bit, 0, 2048);
  const auto still = lab.last(Side::core);
  ASSERT_TRUE(still);
  EXPECT_EQ(still->segment().ack, hosts.server_isn + 2049);
  EXPECT_EQ(still->segment().window, 0);
  hosts.ue_window = 100;  // it has read meanwhile, and its update was lost
  probe(with_a_byte);
  hosts.ue(Flags::ack_bit, 0, 2048);
  EXPECT_EQ(lab.last(Side::core)->segment().window, 100);
}

TEST_F(StalledReader, AWindowProbeIsAnsweredByItsHost) {
  expect_probed_end_to_end(false);
}

TEST_F(StalledReader, AnOctetAtTheWindowEdgeIsAnswered) {
  expect_probed_end_to_end(true);
}

TEST_F(StalledReader, TheSenderIsNotResetHoweverLongItStalls) {
  stall();
  for (int minute = 0; minute < 200; ++minute) {
    lab.pass_time(std::chrono::minutes(1));
    lab.forget_output();
    probe(false);
    hosts.ue(Flags::ack_bit, 0, 2048);
    ASSERT_EQ(lab.last(Side::core)->segment().window, 0);
  }
  hosts.ue_window = 100;
  hosts.ue(Flags::ack_bit, 0, 2048);
  lab.forget_output();
  hosts.server(Flags::ack_bit, 2048, 0, std::string(1000, 'y'));
  EXPECT_EQ(lab.last(Side::radio)->payload, std::string(1000, 'y'));
}

TEST_F(StalledReader, AResetDoesNotWaitForUnacknowledgedBytes) {
  hosts.open();
  hosts.ue_window = 0;
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'x'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'x'));
  lab.forget_output();
  hosts.server(Flags::rst_bit | Flags::ack_bit, 2000, 0);
  const auto reset = lab.last(Side::radio);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(reset->segment().seq, hosts.server_isn + 1001) << "what the UE expects next";
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

/// What comes out on a side: payloads, and resets by their number from the first byte of the host that they are of.
std::vector<std::string> passed(ProxyLab& lab, Side out, tcp::SeqNum isn) {
  std::vector<std::string> all;
  while (const auto seen = lab.next(out)) {
    if (seen->segment().flags.rst()) all.push_back("reset " + std::to_string(seen->segment().seq - (isn + 1)));
    if (!seen->payload.empty()) all.push_back(std::to_string(seen->payload.size()) + " octets");
  }
  return all;
}

TEST(Exposure, AResetInTheMiddleOfATransferKeepsItsSequenceNumber) {
  for (const bool from_ue : {true, false}) {
    ProxyLab lab(capped(Bytes(0)));
    ScriptedHosts hosts(lab);
    hosts.open();
    const auto send = [&](std::uint8_t flags, std::uint32_t seq, const std::string& payload) {
      from_ue ? hosts.ue(flags, seq, 0, payload) : hosts.server(flags, seq, 0, payload);
    };
    send(Flags::ack_bit, 0, std::string(500, 'x'));
    send(Flags::rst_bit | Flags::ack_bit, 500, {});
    const Side out = from_ue ? Side::core : Side::radio;
    const tcp::SeqNum isn = from_ue ? hosts.ue_isn : hosts.server_isn;
    EXPECT_EQ(passed(lab, out, isn), (std::vector<std::string>{"500 octets", "reset 500"}));
    EXPECT_TRUE(passed(lab, opposite(out), isn).empty());
    EXPECT_EQ(lab.shard.flow_count(), 0U);
  }
}

TEST(Exposure, AResetBehindALossIsChallengedEndToEnd) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, std::string(500, 'x'));  // it is lost on its way to the server
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 500, 0);
  lab.forget_output();
  hosts.server(Flags::ack_bit, 0, 0);
  const auto challenge = lab.next(Side::radio);
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->segment().ack, hosts.ue_isn + 1);
  hosts.ue(Flags::rst_bit, 0, 0);
  EXPECT_EQ(passed(lab, Side::core, hosts.ue_isn), std::vector<std::string>{"reset 0"});
}

TEST(Exposure, AResetAfterATimeoutReachesAHostWithoutTheData) {
  ProxyLab lab(capped(Bytes(0)));
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, std::string(500, 'x'));
  lab.pass_time(std::chrono::seconds(5));
  lab.forget_output();
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 500, 0);
  EXPECT_EQ(passed(lab, Side::core, hosts.ue_isn), (std::vector<std::string>{"reset 0", "reset 500"}));
}

TEST(Exposure, AWindowThatNeverOpenedIsProbedEndToEndEvenWithoutACap) {
  ProxyLab lab(capped({}));
  ScriptedHosts hosts(lab);
  hosts.ue_window = 0;
  hosts.open();
  lab.put(Side::core,
          hosts.frame(false, hosts.segment(Flags::ack_bit, hosts.server_isn.raw(), hosts.ue_isn.raw() + 1)));
  EXPECT_TRUE(lab.next(Side::radio)) << "the relay is empty: it is the UE's window that the server asks for";
  hosts.ue_window = 1000;
  hosts.ue(Flags::ack_bit, 0, 0);
  const auto update = lab.last(Side::core);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->segment().window, 1000);
}

TEST(Exposure, TheCapOfABearerIsSharedByItsConnections) {
  ProxyLab lab(capped({}, Bytes(3000)));
  ScriptedHosts one(lab);
  ScriptedHosts two(lab);
  two.ue_to_server.src_port = 40001;
  one.open();
  two.open();
  send(one, 0, 2);
  EXPECT_EQ(acknowledged(lab, one), 2000);
  send(two, 0, 2);
  EXPECT_EQ(acknowledged(lab, two), 1000);
  two.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(acknowledged(lab, two), 2000) << "delivered bytes are never held up";
  one.ue(Flags::ack_bit, 0, 2000);
  lab.forget_output();
  send(two, 2000, 3);
  EXPECT_EQ(acknowledged(lab, two), 5000);
}

TEST(Exposure, ClosedConnectionsReturnTheirShare) {
  ProxyLab lab(capped({}, Bytes(2000)));
  ScriptedHosts one(lab);
  one.open();
  send(one, 0, 2);
  one.ue(Flags::rst_bit | Flags::ack_bit, 0, 0);
  ScriptedHosts two(lab);
  two.ue_to_server.src_port = 40001;
  two.open();
  send(two, 0, 2);
  EXPECT_EQ(acknowledged(lab, two), 2000);
}

TEST(Exposure, SamplesAreTakenPerConnection) {
  ProxyLab lab(capped({}));
  ScriptedHosts hosts(lab);
  hosts.open();
  lab.shard.sample_exposure(100);
  EXPECT_EQ(lab.shard.exposure().count(), 2U);
  EXPECT_EQ(lab.shard.exposure().largest(), 0U);
  send(hosts, 0, 2);
  lab.shard.sample_exposure(100);
  EXPECT_EQ(lab.shard.exposure().count(), 4U);
  EXPECT_EQ(lab.shard.exposure().largest(), 2000U);
}

}  // namespace
}  // namespace sluice::test
