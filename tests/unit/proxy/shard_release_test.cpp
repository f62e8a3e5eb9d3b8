// Handback: a split connection goes back to its hosts, and they cannot tell.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::HandbackBlocker;
using proxy::Side;
using tcp::Flags;

/// Many flows; an end that comes soon; and with a hundred buffers in use they are short.
proxy::ShardConfig split_config() {
  proxy::ShardConfig config = shard_config();
  config.limits.max_flows = 1000;
  config.limits.release_flows_at = 0.005;
  config.tcp.max_retransmissions = 3;
  return config;
}

class ShardRelease : public ScriptedShard {
 protected:
  explicit ShardRelease(const proxy::ShardConfig& config = split_config()) : ScriptedShard(config) {}

  void release() { lab.shard.release(hosts.ue_to_server.src, lab.now); }
  [[nodiscard]] std::uint32_t staying(HandbackBlocker blocker) const {
    return lab.shard.staying().by_blocker[static_cast<std::size_t>(blocker)];
  }
  /// Phase and reason of the only connection that is shown.
  [[nodiscard]] std::pair<std::string, std::string> only_flow() const {
    std::vector<proxy::FlowInfo> flows;
    lab.shard.describe_flows(flows, 4);
    if (flows.size() != 1) return {};
    return {flows[0].phase, flows[0].reason};
  }
  /// Puts a segment in and expects the very same frame at the other side.
  void expect_untouched(bool from_ue, std::uint8_t flags, std::uint32_t seq, std::uint32_t ack,
                        const std::string& payload = {}) {
    const std::uint32_t own = (from_ue ? hosts.ue_isn : hosts.server_isn).raw() + 1;
    const std::uint32_t other = (from_ue ? hosts.server_isn : hosts.ue_isn).raw() + 1;
    packet::Packet frame = hosts.frame(from_ue, hosts.segment(flags, own + seq, other + ack), payload);
    const std::vector<std::uint8_t> before(frame.data(), frame.data() + frame.size());
    lab.forget_output();
    lab.put(from_ue ? Side::radio : Side::core, std::move(frame));
    const auto seen = lab.next(from_ue ? Side::core : Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->frame, before);
    EXPECT_TRUE(lab.silent(from_ue ? Side::radio : Side::core)) << "nobody answers on the other one's behalf";
  }
  /// 1000 bytes of the server's that the UE has not acknowledged are ours when the connection is released.
  void release_with_data() {
    hosts.open();
    hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
    release();
    lab.forget_output();
  }
};
class ShardDrain : public ShardRelease {};

TEST_F(ShardRelease, AUeIsKnownWhileItHasAConnectionAndWhileOneThatWentBackIsTracked) {
  const IpAddress ue = hosts.ue_to_server.src;
  EXPECT_FALSE(lab.shard.release(ue, lab.now));
  EXPECT_FALSE(lab.shard.split_again(ue));
  hosts.open();
  EXPECT_TRUE(lab.shard.split_again(ue));
  EXPECT_FALSE(lab.shard.release(hosts.ue_to_server.dst, lab.now)) << "a server is no UE";
  EXPECT_TRUE(lab.shard.release(ue, lab.now));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_TRUE(lab.shard.release(ue, lab.now));
  EXPECT_TRUE(lab.shard.split_again(ue));
}

TEST_F(ShardRelease, AUeWithReportsButWithoutConnectionsHasNoneToRelease) {
  proxy::ShardConfig config = split_config();
  config.mode = proxy::Mode::smvs;
  ProxyLab reported(config);
  ScriptedHosts script(reported);
  ScriptedReports(reported, script).queue(1000);
  const IpAddress ue = script.ue_to_server.src;
  EXPECT_FALSE(reported.shard.release(ue, reported.now));
  EXPECT_FALSE(reported.shard.split_again(ue));
  script.open();
  EXPECT_TRUE(reported.shard.release(ue, reported.now));
}

TEST_F(ShardRelease, AnEmptyRelayIsReleasedAtOnce) {
  hosts.open();
  release();
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_command), 1U);
  expect_untouched(false, Flags::ack_bit, 0, 0, "from the server");
  expect_untouched(true, Flags::ack_bit, 0, 15, "from the UE");
  expect_untouched(true, Flags::ack_bit | Flags::fin_bit, 11, 15);
}

TEST_F(ShardRelease, AConnectionKeepsItsReasonWhileItIsTracked) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, "held");
  release();
  EXPECT_EQ(only_flow().first, "handing back");
  EXPECT_EQ(only_flow().second, "released_command");
  hosts.ue(Flags::ack_bit, 0, 4);
  EXPECT_EQ(only_flow().first, "released");
  EXPECT_EQ(only_flow().second, "released_command");
  const std::uint64_t before = lab.count(Counter::forward_released_command);
  hosts.server(Flags::ack_bit, 4, 0, "more");
  hosts.ue(Flags::ack_bit, 0, 8);
  EXPECT_EQ(lab.count(Counter::forward_released_command), before + 2);
  EXPECT_EQ(lab.count(Counter::forward_mid_flow), 0U);
  hosts.server(Flags::rst_bit | Flags::ack_bit, 8, 0);
  EXPECT_EQ(lab.count(Counter::forward_released_command), before + 3);
  std::vector<proxy::FlowInfo> flows;
  lab.shard.describe_flows(flows, 4);
  EXPECT_TRUE(flows.empty()) << "it has ended";
}

// RFC 5961 section 5.2: a host discards a segment whose acknowledgement number is older than its largest window.
TEST_F(ShardRelease, WhatIsRetransmittedAcknowledgesAsTheHostItself) {
  release_with_data();
  std::uint32_t passed = 0;
  for (int i = 0; i < 300; ++i) {
    hosts.ue(Flags::ack_bit, passed, 0, std::string(1000, 'u'));
    passed += 1000;
    hosts.server(Flags::ack_bit, 1000, passed);
  }
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(3));
  const auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, std::string(1000, 'a'));
  EXPECT_EQ(seen->segment().ack, hosts.ue_isn + 1 + passed);
  EXPECT_EQ(seen->segment().window, hosts.window);
  hosts.ue(Flags::ack_bit, passed, 1000);
  EXPECT_EQ(lab.shard.flow_count(), 0U) << "nothing keeps the proxy";
}

// A blind sender that has guessed a sequence number in the window must guess the acknowledgement, too.
TEST_F(ShardRelease, AnAcknowledgementFarBeyondTheWindowChangesNoWindowDuringAHandback) {
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, std::string(1000, 'u'));  // the proxy has to deliver it to the server
  release();
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(2));
  const auto before = lab.last(Side::core);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->segment().payload_len, 1000);
  hosts.ue(Flags::ack_bit, 1000, 500'000'000);
  EXPECT_TRUE(lab.next(Side::core)) << "the server decides";
  lab.pass_time(std::chrono::seconds(5));
  const auto after = lab.last(Side::core);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->segment().payload_len, 1000);
  EXPECT_EQ(after->segment().ack, before->segment().ack);
  EXPECT_EQ(after->segment().window, before->segment().window);
}

// A host that has lost its state answers with the number that the retransmission acknowledged.
TEST_F(ShardRelease, AResetThatAnswersARetransmissionEndsTheProxysPartToo) {
  release_with_data();
  hosts.ue(Flags::ack_bit, 0, 0, std::string(1000, 'u'));
  hosts.server(Flags::ack_bit, 1000, 1000);
  lab.pass_time(std::chrono::seconds(1));
  lab.forget_output();
  hosts.ue(Flags::rst_bit, 1000, 0);
  const auto seen = lab.next(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->segment().flags.rst());
  EXPECT_EQ(seen->segment().seq, hosts.ue_isn + 1001);
  lab.pass_time(std::chrono::seconds(1));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

/// A proxy that acknowledges nothing ahead, so that its endpoints withhold acknowledgements.
class ShardReleaseUnexposed : public ShardRelease {
 protected:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = split_config();
    config.limits.exposure_per_flow = Bytes{};
    return config;
  }
  ShardReleaseUnexposed() : ShardRelease(config()) {}
};

// What hosts acknowledge to each other is not what the proxy must deliver before it resets the other host.
TEST_F(ShardReleaseUnexposed, AHostThatNeverAcknowledgesEndsTheHandback) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  release();
  hosts.ue(Flags::ack_bit, 0, 0, std::string(1000, 'u'));
  hosts.server(Flags::ack_bit, 1000, 1000);
  lab.pass_time(std::chrono::seconds(120));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardRelease, AnIdleConnectionIsReleasedAsIdle) {
  hosts.open();
  lab.pass_time(proxy::ShardTimeouts{}.idle + std::chrono::seconds(1));
  EXPECT_EQ(only_flow().second, "released_idle");
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::forward_released_idle), 1U);
}

TEST_F(ShardRelease, OnlyTheNamedUeIsReleased) {
  hosts.open();
  ScriptedHosts other(lab);
  other.ue_to_server.src = IpAddress::v4(10, 45, 0, 3);
  other.open();
  release();
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  lab.shard.release(IpAddress::v4(10, 45, 0, 99), lab.now);
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  lab.shard.release({}, lab.now);
  lab.pass_time(std::chrono::milliseconds(1));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardRelease, AcknowledgedBytesAreDeliveredAndLaterOnesForwarded) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  lab.forget_output();
  release();
  EXPECT_EQ(staying(HandbackBlocker::delivering), 1U);
  expect_untouched(false, Flags::ack_bit, 2000, 0, std::string(500, 'c'));
  lab.pass_time(std::chrono::seconds(2));
  const auto again = lab.next(Side::radio);
  ASSERT_TRUE(again) << "ours is repeated until it is acknowledged";
  EXPECT_EQ(again->payload, std::string(1000, 'b'));
  lab.forget_output();
  hosts.ue(Flags::ack_bit, 0, 1000);
  EXPECT_TRUE(lab.silent(Side::core)) << "the server has had this acknowledgement, and more";
  expect_untouched(true, Flags::ack_bit, 0, 2500);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_command), 1U);
  const proxy::Counters& counters = lab.shard.counters();
  EXPECT_EQ(counters.received(), counters[Counter::optimised] + counters.forwarded() + counters.dropped());
}

TEST_F(ShardRelease, EachDirectionHasItsOwnHandbackPoint) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 0, std::string(700, 'u'));
  release();
  expect_untouched(true, Flags::ack_bit, 700, 1000, "more from the UE");
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "the server has not acknowledged what is ours";
  expect_untouched(false, Flags::ack_bit, 1000, 716);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardRelease, APendingAckIsSentFirst) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(100, 'd'));
  EXPECT_TRUE(lab.silent(Side::core)) << "it waits for company";
  hosts.ue(Flags::ack_bit, 0, 100);
  lab.forget_output();
  release();
  const auto ack = lab.next(Side::core);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->segment().ack, hosts.server_isn + 101);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardRelease, OurLostAckIsRepeated) {
  release_with_data();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  const auto ack = lab.next(Side::core);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->segment().ack, hosts.server_isn + 1001);
  EXPECT_TRUE(lab.silent(Side::radio)) << "the UE gets it from us, once";
}

TEST_F(ShardRelease, DuplicateAcksBeyondTheHandbackPointReachTheSender) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 0, std::string(10, 'u'));  // keeps the flow here
  release();
  tcp::Segment report = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 11, hosts.server_isn.raw() + 1001);
  report.sack_count = 1;
  report.sack_blocks[0] = {hosts.server_isn + 2001, hosts.server_isn + 3001};
  lab.forget_output();
  lab.put(Side::radio, hosts.frame(true, report));
  const auto seen = lab.next(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->segment().sack_count, 1);
}

TEST_F(ShardRelease, AWindowLargerThanThatOfTheOtherHostDelaysTheRelease) {
  hosts.open();
  hosts.ue_window = 10;  // of 128 bytes: the UE's buffer has filled up
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  lab.pass_time(std::chrono::milliseconds(50));
  release();
  EXPECT_EQ(staying(HandbackBlocker::window), 1U);
  lab.forget_output();
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "still split";
  hosts.ue_window = 1000;
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.shard.flow_count(), 0U) << "now the window is the UE's own";
}

TEST_F(ShardRelease, TheLastAdvertisedWindowIsThatOfTheOtherHost) {
  hosts.ue_window = 10;
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1280, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1280);
  lab.pass_time(std::chrono::milliseconds(50));
  release();
  ASSERT_EQ(staying(HandbackBlocker::window), 0U);
  lab.forget_output();
  hosts.ue_window = 4000;
  hosts.ue(Flags::ack_bit, 0, 1280);
  const auto update = lab.next(Side::core);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->segment().window, 4000);
}

TEST_F(ShardRelease, AQuietConnectionAdvertisesTheWindowOfTheOtherHost) {
  hosts.ue_window = 500;
  hosts.open();
  for (std::uint32_t i = 0; i < 20; ++i) {
    hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 'w'));
    hosts.ue(Flags::ack_bit, 0, (i + 1) * 1000);
    lab.pass_time(std::chrono::milliseconds(50));
  }
  release();
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardRelease, AHoleIsFilledBeforeTheRelease) {
  hosts.open();
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  release();
  EXPECT_EQ(staying(HandbackBlocker::reordering), 1U);
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  EXPECT_EQ(staying(HandbackBlocker::delivering), 1U);
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardRelease, AHalfClosedConnectionIsReleased) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  release();
  EXPECT_EQ(staying(HandbackBlocker::delivering), 1U) << "the FIN is ours to deliver";
  expect_untouched(false, Flags::ack_bit, 0, 1, "still talking");
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  expect_untouched(false, Flags::ack_bit | Flags::fin_bit, 13, 1);
}

TEST_F(ShardRelease, AResetDuringAHandbackWaitsForOurBytes) {
  release_with_data();
  hosts.server(Flags::rst_bit | Flags::ack_bit, 1000, 0);
  EXPECT_TRUE(lab.silent(Side::radio));
  hosts.ue(Flags::ack_bit, 0, 1000);
  const auto reset = lab.next(Side::radio);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
  EXPECT_EQ(reset->segment().seq, hosts.server_isn + 1001);
}

TEST_F(ShardRelease, TheServerIsResetWhenTheUeIsGoneDuringAHandback) {
  release_with_data();
  lab.pass_time(std::chrono::seconds(60));
  const auto last = lab.last(Side::core);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->segment().flags.rst()) << "acknowledged bytes were not delivered, and the server hears of it";
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardRelease, AReleasedHandshakeIsForgotten) {
  hosts.send_syn();
  hosts.send_syn_ack();
  release();
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
}

TEST_F(ShardDrain, NoNewConnectionIsSplitDuringADrain) {
  hosts.open();
  lab.shard.drain(true);
  lab.pass_time(std::chrono::milliseconds(1));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_drain), 1U);
  hosts.ue_to_server.src_port = 40001;
  hosts.open();
  EXPECT_EQ(lab.count(Counter::forward_draining), 3U) << "all of its handshake";
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  lab.shard.drain(false);
  hosts.ue_to_server.src_port = 40002;
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
}

TEST_F(ShardDrain, ACancelledReleaseLeavesTheConnectionSplit) {
  hosts.open();
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));  // a hole: it cannot go yet
  lab.shard.drain(true);
  lab.pass_time(std::chrono::milliseconds(1));
  EXPECT_EQ(staying(HandbackBlocker::reordering), 1U);
  lab.shard.drain(false);
  lab.pass_time(std::chrono::milliseconds(1));
  EXPECT_EQ(staying(HandbackBlocker::none), 1U);
  lab.forget_output();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  const auto ack = lab.next(Side::core);
  ASSERT_TRUE(ack) << "acknowledged here again";
  EXPECT_EQ(ack->segment().ack, hosts.server_isn + 2001);
}

/// The server got a larger window than the UE offers, has used all of it, and closed.
TEST_F(ShardDrain, BytesHeldBehindAClosedWindowCountAsBrokenByAStop) {
  hosts.open();
  hosts.ue_window = 0;
  for (std::uint32_t i = 0; i < 4; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 4000, 0);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 1U);
  lab.shard.drain(true);
  lab.pass_time(std::chrono::seconds(1));
  EXPECT_EQ(staying(HandbackBlocker::window), 0U);
  EXPECT_EQ(staying(HandbackBlocker::delivering), 1U);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 1U);
  hosts.ue_window = 1000;
  hosts.ue(Flags::ack_bit, 0, 1000);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 1U) << "sent, and not acknowledged";
  hosts.ue(Flags::ack_bit, 0, 4000);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 1U) << "the FIN is still ours to deliver";
  hosts.ue(Flags::ack_bit, 0, 4001);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U);
}

TEST_F(ShardDrain, AConnectionThatHoldsNothingIsNotBrokenByAStop) {
  hosts.open();
  EXPECT_EQ(lab.shard.staying().total, 1U);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U);
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U) << "not acknowledged yet: its sender would repeat it";
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'a'));
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 1U);
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U);
  hosts.server(Flags::rst_bit | Flags::ack_bit, 2000, 0);
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U) << "the reset has passed";
}

TEST_F(ShardDrain, AConnectionThatAStopWouldNotBreakStaysUnexposed) {
  hosts.open();
  hosts.ue_window = 10;
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  lab.pass_time(std::chrono::milliseconds(50));
  lab.shard.drain(true);
  lab.pass_time(std::chrono::milliseconds(50));
  ASSERT_EQ(staying(HandbackBlocker::window), 1U);
  lab.forget_output();
  for (std::uint32_t i = 1; i < 5; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 'b'));
  lab.pass_time(std::chrono::milliseconds(100));
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U) << "the window stands, but nothing more acknowledged";
  hosts.ue_window = 1000;
  hosts.ue(Flags::ack_bit, 0, 2000);
  lab.pass_time(std::chrono::milliseconds(100));
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U);
  EXPECT_EQ(lab.last(Side::core)->segment().ack, hosts.server_isn + 2001) << "what is delivered";
}

TEST_F(ShardDrain, AfterACancelledDrainBytesAreAcknowledgedEarlyAgain) {
  hosts.open();
  hosts.ue_window = 10;
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  lab.pass_time(std::chrono::milliseconds(50));
  lab.shard.drain(true);
  lab.pass_time(std::chrono::milliseconds(50));
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  lab.forget_output();
  lab.shard.drain(false);
  lab.pass_time(std::chrono::milliseconds(50));
  const auto ack = lab.last(Side::core);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->segment().ack, hosts.server_isn + 2001);
}

TEST_F(ShardDrain, ManyFlowsAreWalkedInSteps) {
  for (std::uint16_t i = 0; i < 500; ++i) {
    hosts.ue_to_server.src_port = static_cast<std::uint16_t>(20'000 + i);
    hosts.open();
  }
  lab.shard.drain(true);
  lab.shard.advance(lab.now);
  EXPECT_GT(lab.shard.flow_count(), 300U) << "packets get their turn in between";
  lab.pass_time(std::chrono::milliseconds(1));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_drain), 500U);
}

TEST_F(ShardRelease, ShortBuffersReleaseFlowsThatHoldNone) {
  hosts.open();
  std::vector<packet::Packet> hogs;
  for (int i = 0; i < 100; ++i) hogs.push_back(pool().allocate());
  lab.now += std::chrono::milliseconds(10);
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "it holds a packet";
  hosts.ue(Flags::ack_bit, 0, 1000);
  lab.pass_time(std::chrono::milliseconds(50));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_memory), 1U);
}

/// Each host still has to get a FIN or to have its own acknowledged.
TEST_F(ShardRelease, ShortBuffersDoNotReleaseClosingFlows) {
  for (const bool by_ue : {true, false}) {
    SCOPED_TRACE(by_ue);
    ProxyLab other(split_config());
    ScriptedHosts closing(other);
    closing.open();
    if (by_ue) {
      closing.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
      closing.server(Flags::ack_bit, 0, 1);
    } else {
      closing.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
      closing.ue(Flags::ack_bit, 0, 1);
    }
    std::vector<packet::Packet> hogs;
    for (int i = 0; i < 100; ++i) hogs.push_back(pool().allocate());
    other.pass_time(std::chrono::seconds(10));
    EXPECT_EQ(other.shard.flow_count(), 1U);
    EXPECT_EQ(other.count(Counter::released_memory), 0U);
  }
}

}  // namespace
}  // namespace sluice::test
