// Splitting again: a connection that was released is split again when it is quiet, and its hosts cannot tell.

#include <gtest/gtest.h>

#include "proxy/engine/end_to_end/tracked_connection.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

/// A connection that carried 1000 bytes each way and was released. Its hosts have sent more since.
struct Handed {
  explicit Handed(const proxy::ShardConfig& config = shard_config()) : lab(config), hosts(lab) {
    hosts.open();
    hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
    hosts.ue(Flags::ack_bit, 0, 1000, std::string(1000, 'b'));
    hosts.server(Flags::ack_bit, 1000, 1000);
    hosts.ue(Flags::ack_bit, 1000, 1000);
    lab.pass_time(std::chrono::milliseconds(100));
  }
  void release() {
    lab.shard.release(hosts.ue_to_server.src, lab.now);
    EXPECT_EQ(lab.shard.flow_count(), 0U);
  }
  /// Both hosts send, and everything is acknowledged.
  void speak() {
    hosts.server(Flags::ack_bit, 1000, 1000, std::string(500, 'c'));
    hosts.ue(Flags::ack_bit, 1000, 1500);
    hosts.ue(Flags::ack_bit, 1000, 1500, std::string(500, 'd'));
    hosts.server(Flags::ack_bit, 1500, 1500);
    lab.forget_output();
  }
  [[nodiscard]] std::uint64_t split_again() const { return lab.count(Counter::flows_split_again); }

  ProxyLab lab;
  ScriptedHosts hosts;
};

TEST(SplitAgain, ACommandSplitsAQuietConnectionWithItsNextData) {
  Handed h;
  h.release();
  h.speak();
  h.hosts.server(Flags::ack_bit, 1500, 1500, std::string(100, 'e'));
  EXPECT_EQ(h.split_again(), 0U) << "nobody has asked for it";
  h.hosts.ue(Flags::ack_bit, 1500, 1600);
  h.lab.shard.split_again(h.hosts.ue_to_server.src);
  h.lab.forget_output();
  h.hosts.server(Flags::ack_bit, 1600, 1500, std::string(1000, 'f'));
  EXPECT_EQ(h.split_again(), 1U);
  EXPECT_EQ(h.lab.shard.flow_count(), 1U);
  const auto data = h.lab.next(Side::radio);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload, std::string(1000, 'f'));
  EXPECT_EQ(data->segment().seq, h.hosts.server_isn + 1601);
  EXPECT_EQ(data->segment().ack, h.hosts.ue_isn + 1501);
  EXPECT_EQ(data->segment().ts_value, 7U);
  EXPECT_TRUE(data->checksum_good);
  h.hosts.server(Flags::ack_bit, 2600, 1500, std::string(1000, 'g'));
  const auto ack = h.lab.next(Side::core);
  ASSERT_TRUE(ack) << "acknowledged here";
  EXPECT_EQ(ack->segment().ack, h.hosts.server_isn + 3601);
}

TEST(SplitAgain, AConnectionCanBeReleasedAgain) {
  Handed h;
  h.release();
  h.speak();
  h.lab.shard.split_again({});
  h.hosts.ue(Flags::ack_bit, 1500, 1500, "once more");
  ASSERT_EQ(h.split_again(), 1U);
  h.hosts.server(Flags::ack_bit, 1500, 1509);
  h.release();
  EXPECT_EQ(h.lab.count(Counter::released_command), 2U);
  h.lab.forget_output();
  h.hosts.server(Flags::ack_bit, 1500, 1509, "bye");
  const auto seen = h.lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, "bye");
  EXPECT_TRUE(h.lab.silent(Side::core)) << "not acknowledged here";
}

TEST(SplitAgain, TheAdvertisedWindowIsNotShrunk) {
  Handed h;
  h.release();
  h.speak();  // the server has granted 1000 * 128 bytes from 1500 on
  h.lab.shard.split_again({});
  h.hosts.ue(Flags::ack_bit, 1500, 1500, std::string(1000, 'u'));
  ASSERT_EQ(h.split_again(), 1U);
  h.lab.forget_output();
  h.hosts.ue(Flags::ack_bit, 2500, 1500, std::string(1000, 'v'));
  const auto ack = h.lab.next(Side::radio);
  ASSERT_TRUE(ack);
  const tcp::SeqNum edge = ack->segment().ack + (std::uint32_t{ack->segment().window} << 7);
  EXPECT_GE(edge + 127, h.hosts.ue_isn + 1 + 1500 + 128'000) << "the right edge has not moved back";
}

/// The tracker has not seen those bytes, so their retransmission looks new although the UE may have them.
TEST(SplitAgain, ARetransmissionOfBytesForwardedDuringTheHandbackSplitsNothing) {
  Handed h;
  h.hosts.server(Flags::ack_bit, 1000, 1000, std::string(500, 'c'));  // ours until the UE has it
  h.lab.shard.release(h.hosts.ue_to_server.src, h.lab.now);
  ASSERT_EQ(h.lab.shard.flow_count(), 1U);
  h.hosts.server(Flags::ack_bit, 1500, 1000, std::string(500, 'd'));  // passes, and its acknowledgement is lost
  h.hosts.ue(Flags::ack_bit, 1000, 1500);
  ASSERT_EQ(h.lab.shard.flow_count(), 0U);
  h.hosts.server(Flags::ack_bit, 1000, 1000, std::string(500, 'c'));
  h.hosts.ue(Flags::ack_bit, 1000, 1500);
  h.lab.shard.split_again({});
  h.hosts.server(Flags::ack_bit, 1500, 1000, std::string(500, 'd'));
  EXPECT_EQ(h.split_again(), 0U);
}

TEST(SplitAgain, AcknowledgedBytesDoNotPreventTheSplitAfterANumberWrap) {
  proxy::TrackedConnection connection;
  proxy::TrackedHost& server = connection.host(Side::core);
  server.next = tcp::SeqNum(1000);
  server.unseen = tcp::SeqNum(2000);
  tcp::Segment ack;
  ack.flags.bits = Flags::ack_bit;
  ack.window = 65535;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    ack.ack = tcp::SeqNum(i << 30);
    connection.host(Side::radio).edge = ack.ack;
    ASSERT_EQ(connection.track(Side::radio, ack), proxy::TrackedConnection::Tracked::more);
  }
  tcp::Segment data = ack;
  data.seq = ack.ack;
  data.ack = tcp::SeqNum(0);
  ASSERT_EQ(connection.track(Side::core, data), proxy::TrackedConnection::Tracked::more) << "it speaks";
  data.payload_len = 100;
  EXPECT_TRUE(connection.may_be_split(Side::core, data));
}

// Each segment must have a timestamp if both hosts agreed on them. One without it shows no clock of its host.
TEST(SplitAgain, AClockIsKnownOnlyFromTimestamps) {
  proxy::TrackedConnection connection;
  connection.handshake.initiator_options.timestamps = connection.handshake.responder_options.timestamps = true;
  tcp::Segment ack;
  ack.flags.bits = Flags::ack_bit;
  ack.window = 1000;
  tcp::Segment dated = ack;
  dated.has_timestamps = true;
  dated.ts_value = 100;
  tcp::Segment data = dated;
  data.payload_len = 100;
  using enum proxy::TrackedConnection::Tracked;
  ASSERT_EQ(connection.track(Side::radio, dated), more);
  ASSERT_EQ(connection.track(Side::core, ack), more);
  EXPECT_FALSE(connection.may_be_split(Side::radio, data)) << "the clock of the server is not known";
  ASSERT_EQ(connection.track(Side::core, dated), more);
  EXPECT_TRUE(connection.may_be_split(Side::radio, data));
  tcp::Segment undated = ack;
  undated.ts_value = 5000;  // contents without the option
  ASSERT_EQ(connection.track(Side::radio, undated), more);
  EXPECT_EQ(connection.host(Side::radio).ts_value, 100U);
  EXPECT_TRUE(connection.may_be_split(Side::radio, data));
}

TEST(SplitAgain, AWindowInAnUnreadSegmentCountsAsAdvertised) {
  proxy::TrackedConnection connection;
  tcp::Segment ack;
  ack.flags.bits = Flags::ack_bit;
  ack.window = 1000;
  ASSERT_EQ(connection.track(Side::radio, ack), proxy::TrackedConnection::Tracked::more);
  EXPECT_EQ(connection.host(Side::radio).edge, tcp::SeqNum(1000));
  ack.window = 5000;
  connection.record_unseen(Side::radio, ack);
  EXPECT_EQ(connection.host(Side::radio).edge, tcp::SeqNum(5000));
  ack.ack = tcp::SeqNum(1U << 31);
  connection.record_unseen(Side::radio, ack);
  EXPECT_EQ(connection.host(Side::radio).edge, tcp::SeqNum(5000)) << "no host has sent so much";
}

TEST(SplitAgain, NothingIsSplitWhileDataIsInFlight) {
  Handed h;
  h.release();
  h.speak();
  h.lab.shard.split_again({});
  h.hosts.server(Flags::ack_bit, 2500, 1500, std::string(100, 'x'));  // what came before it was lost
  EXPECT_EQ(h.split_again(), 0U);
  h.hosts.server(Flags::ack_bit, 1500, 1500, std::string(1000, 'y'));  // and comes again
  EXPECT_EQ(h.split_again(), 0U);
  h.hosts.server(Flags::ack_bit, 2600, 1500, std::string(100, 'z'));
  EXPECT_EQ(h.split_again(), 0U) << "the UE has acknowledged none of it";
  h.hosts.ue(Flags::ack_bit, 1500, 2700);
  h.hosts.server(Flags::ack_bit, 2700, 1500, std::string(100, 'z'));
  EXPECT_EQ(h.split_again(), 1U);
}

TEST(SplitAgain, NothingIsSplitBeforeBothHostsHaveSent) {
  Handed h;
  h.release();
  h.lab.shard.split_again({});
  h.hosts.server(Flags::ack_bit, 1000, 1000, std::string(500, 'c'));
  EXPECT_EQ(h.split_again(), 0U) << "what the UE grants now is not known";
}

TEST(SplitAgain, OldTimestampsUrgentDataAndEcnFlagsSplitNothing) {
  Handed h;
  h.release();
  h.speak();
  h.lab.shard.split_again({});
  tcp::Segment next = h.hosts.segment(Flags::ack_bit, h.hosts.server_isn.raw() + 1501, h.hosts.ue_isn.raw() + 1501);
  next.ts_value = 6;
  h.lab.put(Side::core, h.hosts.frame(false, next, "old"));
  next.ts_value = 7;
  for (const std::uint8_t flag : {Flags::urg_bit, Flags::cwr_bit, Flags::ece_bit}) {
    next.flags.bits = static_cast<std::uint8_t>(Flags::ack_bit | flag);
    next.urgent = 3;
    h.lab.put(Side::core, h.hosts.frame(false, next, "new"));
  }
  EXPECT_EQ(h.split_again(), 0U);
}

TEST(SplitAgain, AForgedSegmentSplitsNothing) {
  Handed h;
  h.release();
  h.speak();
  h.lab.shard.split_again({});
  h.hosts.server(Flags::ack_bit, 900'000, 1500, "far away");
  h.hosts.server(Flags::ack_bit, 1500, 1400, "an old acknowledgement");
  h.hosts.server(Flags::ack_bit, 1500, 1600, "of what was never sent");
  EXPECT_EQ(h.split_again(), 0U);
}

TEST(SplitAgain, AConnectionThatEndsIsForgotten) {
  Handed h;
  h.release();
  h.speak();
  h.lab.shard.split_again({});
  h.hosts.server(Flags::ack_bit | Flags::fin_bit, 1500, 1500);
  h.hosts.ue(Flags::ack_bit, 1500, 1501, "half closed");
  h.hosts.ue(Flags::ack_bit, 1511, 1501, "half closed");
  EXPECT_EQ(h.split_again(), 0U);
}

TEST(SplitAgain, ANewConnectionReplacesAReleasedOne) {
  Handed h;
  h.release();
  h.lab.shard.split_again({});
  h.hosts.ue_isn = tcp::SeqNum(900'000);
  h.hosts.server_isn = tcp::SeqNum(700'000);
  h.hosts.open();
  EXPECT_EQ(h.lab.count(Counter::flows_split), 2U);
  EXPECT_EQ(h.split_again(), 0U);
}

TEST(SplitAgain, ACancelledDrainSplitsAgainByItself) {
  Handed h;
  h.lab.shard.drain(true);
  h.lab.pass_time(std::chrono::milliseconds(1));
  ASSERT_EQ(h.lab.shard.flow_count(), 0U);
  h.speak();
  h.hosts.ue(Flags::ack_bit, 1500, 1500, "while it drains");
  EXPECT_EQ(h.split_again(), 0U);
  h.hosts.server(Flags::ack_bit, 1500, 1515);
  h.lab.shard.drain(false);
  h.hosts.ue(Flags::ack_bit, 1515, 1500, "afterwards");
  EXPECT_EQ(h.split_again(), 1U);
}

TEST(SplitAgain, FreeBuffersSplitAgainByThemselves) {
  proxy::ShardConfig config = shard_config();
  config.limits.release_flows_at = 0.005;  // 82 buffers
  config.limits.refuse_flows_at = 0.004;
  Handed h(config);
  std::vector<packet::Packet> hogs;
  for (int i = 0; i < 100; ++i) hogs.push_back(pool().allocate());
  h.lab.now += std::chrono::milliseconds(10);
  h.hosts.ue(Flags::ack_bit, 1000, 1000);
  h.lab.pass_time(std::chrono::milliseconds(50));
  ASSERT_EQ(h.lab.count(Counter::released_memory), 1U);
  h.speak();
  h.hosts.ue(Flags::ack_bit, 1500, 1500, "still short");
  EXPECT_EQ(h.split_again(), 0U);
  h.hosts.server(Flags::ack_bit, 1500, 1511);
  hogs.clear();
  h.lab.now += std::chrono::milliseconds(10);
  h.hosts.ue(Flags::ack_bit, 1511, 1500, "enough again");
  EXPECT_EQ(h.split_again(), 1U);
}

TEST(SplitAgain, AnIdleConnectionIsSplitWhenItSendsAgain) {
  Handed h;
  h.lab.pass_time(std::chrono::seconds(400));
  ASSERT_EQ(h.lab.count(Counter::released_idle), 1U);
  h.speak();
  h.hosts.ue(Flags::ack_bit, 1500, 1500, "hello again");
  EXPECT_EQ(h.split_again(), 1U);
}

TEST(SplitAgain, ConnectionsOlderThanTheProxyStayForwarded) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.ue(Flags::ack_bit, 0, 0, "in the middle");
  hosts.server(Flags::ack_bit, 0, 13);
  lab.shard.split_again({});
  hosts.ue(Flags::ack_bit, 13, 0, "of it");
  EXPECT_EQ(lab.count(Counter::flows_split_again), 0U);
  EXPECT_EQ(lab.count(Counter::forward_mid_flow), 3U);
}

TEST(SplitAgain, TheOldestReleasedConnectionsAreEvicted) {
  ProxyLab lab(shard_config());  // 16 places
  ScriptedHosts hosts(lab);
  for (std::uint16_t i = 0; i < 20; ++i) {
    hosts.ue_to_server.src_port = static_cast<std::uint16_t>(20'000 + i);
    hosts.open();
    lab.shard.release({}, lab.now);
    lab.pass_time(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(lab.shard.released_count(), 16U);
  EXPECT_EQ(lab.count(Counter::released_untracked), 4U);
  lab.shard.split_again({});
  for (std::uint16_t i = 0; i < 20; ++i) {
    hosts.ue_to_server.src_port = static_cast<std::uint16_t>(20'000 + i);
    hosts.ue(Flags::ack_bit, 0, 0);
    hosts.server(Flags::ack_bit, 0, 0);
    hosts.ue(Flags::ack_bit, 0, 0, "x");
  }
  EXPECT_EQ(lab.count(Counter::flows_split_again), 16U);
  EXPECT_EQ(lab.shard.released_count(), 0U);
}

}  // namespace
}  // namespace sluice::test
