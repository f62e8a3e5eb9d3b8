// Connections that pass end to end under a law: what becomes of each ACK.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Mode;
using proxy::Side;
using tcp::Flags;

proxy::ShardConfig config_of(Mode mode) {
  proxy::ShardConfig config = shard_config(mode);
  config.intercept = proxy::Intercept::regulate;
  return config;
}

struct Lab : ReportedDownload {
  explicit Lab(Mode mode) : Lab(config_of(mode)) {}
  explicit Lab(const proxy::ShardConfig& config) : ReportedDownload(config) { hosts.window = 1000; }

  /// Reports that say the same, as long as that takes.
  void keep_reporting(Duration time, std::int64_t buffer, std::uint64_t arrived, std::uint64_t transmitted) {
    for (const Instant end = lab.now + time; lab.now < end;) {
      lab.pass_time(ScriptedReports::period);
      reports.queue(buffer, arrived, transmitted);
    }
  }
  /// Ten segments stand in a buffer that holds no more.
  void open_with_a_full_buffer() {
    hosts.open();
    reports.queue(10'000);
    data(10);
    keep_reporting(std::chrono::milliseconds(50), 10'000, 10'520, 0);
  }
  void data(std::uint32_t segments) {
    offer(segments);
    packets_sent();
  }
  /// Bytes of window in the next frame towards the server.
  std::int64_t window() {
    const auto seen = lab.next(Side::core);
    if (!seen) return -1;
    EXPECT_TRUE(seen->checksum_good);
    return std::int64_t{seen->segment().window} << hosts.options.window_scale;
  }
};

TEST(ShardRegulate, TheProxyAcknowledgesNothingItself) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.reports.queue(50'000);
  lab.data(3);
  EXPECT_TRUE(lab.lab.silent(Side::core));
  EXPECT_EQ(lab.lab.count(Counter::flows_split), 0U);
  EXPECT_EQ(lab.lab.count(Counter::flows_regulated), 1U);
}

TEST(ShardRegulate, TheWindowIsRewrittenAndTheRightEdgeStays) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  EXPECT_EQ(lab.lab.shard.flow_count(), 1U);
  lab.reports.queue(20'000);
  lab.data(4);
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  // The handshake's last ACK offered 128000 bytes: the edge stays there, the window shrinks by what is acknowledged.
  EXPECT_EQ(lab.window(), 126'080) << "to the unit of 128 bytes";
  lab.data(126);
  lab.hosts.ue(Flags::ack_bit, 0, 120'000);
  EXPECT_EQ(lab.window(), 19'968) << "20000 in units of 128 bytes";
}

// The controller requests less than a unit of 8 KiB, which the field would round to zero.
TEST(ShardRegulate, RoundingToTheScaleDoesNotCloseTheWindow) {
  Lab lab(Mode::wrs);
  lab.hosts.options.window_scale = 13;
  lab.hosts.window = 20;
  lab.hosts.open();
  lab.reports.queue(1'000);
  lab.data(160);
  lab.hosts.ue(Flags::ack_bit, 0, 160'000);
  EXPECT_EQ(lab.window(), 8'192) << "the rest of what the handshake gave, rounded up";
  lab.data(8);
  lab.hosts.ue(Flags::ack_bit, 0, 168'000);
  EXPECT_EQ(lab.window(), 8'192) << "beyond it";
}

// The controller requests less than two segments with any unit, so the field holds two, rounded up to the unit.
TEST(ShardRegulate, TheWindowIsAtLeastTwoSegmentsWithEveryScale) {
  for (std::uint8_t scale = 0; scale <= 14; ++scale) {
    SCOPED_TRACE(int{scale});
    Lab lab(Mode::wrs);
    lab.hosts.options.window_scale = scale;
    lab.hosts.window = static_cast<std::uint16_t>(64'000 >> scale);
    lab.hosts.open();
    lab.reports.queue(1'000);
    const std::uint32_t unit = 1U << scale;
    const std::uint32_t least = (2 * std::uint32_t{lab.hosts.options.mss} + unit - 1) / unit * unit;
    std::uint32_t sent = 64;  // segments of 1000 bytes; past the handshake's right edge
    lab.data(64);
    lab.hosts.ue(Flags::ack_bit, 0, sent * 1000);
    for (int i = 0; i < 2; ++i) {
      const auto more = static_cast<std::uint32_t>(lab.window() / 1000 + 1);
      lab.data(more);
      sent += more;
      lab.hosts.ue(Flags::ack_bit, 0, sent * 1000);
    }
    EXPECT_EQ(lab.window(), least);
  }
}

TEST(ShardRegulate, ASmallerWindowOfTheHostIsNotRewritten) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.reports.queue(50'000);
  lab.data(1);
  lab.hosts.window = 10;
  lab.hosts.ue(Flags::ack_bit, 0, 1000);
  EXPECT_EQ(lab.window(), 1280);
}

TEST(ShardRegulate, WithoutReportsNothingChanges) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.data(1);
  lab.hosts.ue(Flags::ack_bit, 0, 1000);
  EXPECT_EQ(lab.window(), 128'000);
  EXPECT_EQ(lab.lab.count(Counter::windows_rewritten), 0U);
}

TEST(ShardRegulate, AResetWithTheNumberOfTheFinEndsTheConnection) {
  for (const std::uint32_t seq : {0U, 1U}) {
    Lab lab(Mode::wrs);
    lab.hosts.open();
    lab.hosts.server(Flags::fin_bit | Flags::ack_bit, 0, 0);
    lab.hosts.ue(Flags::ack_bit, 0, 1);
    EXPECT_EQ(lab.lab.shard.flow_count(), 1U);
    lab.hosts.server(Flags::rst_bit, seq, 0);
    EXPECT_EQ(lab.lab.shard.flow_count(), 0U);
  }
}

TEST(ShardRegulate, AHeldAckIsReleasedByTheQueueOrItsTimeout) {
  Lab lab(Mode::ack_regulator);
  lab.open_with_a_full_buffer();
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.window(), -1) << "the buffer is full";
  EXPECT_EQ(lab.lab.count(Counter::acks_held), 1U);
  lab.keep_reporting(std::chrono::milliseconds(140), 10'000, 10'520, 0);
  EXPECT_EQ(lab.window(), -1);
  lab.keep_reporting(std::chrono::milliseconds(20), 10'000, 10'520, 0);
  EXPECT_EQ(lab.window(), 128'000) << "as it came";
  EXPECT_EQ(lab.lab.count(Counter::acks_overdue), 1U);
}

TEST(ShardRegulate, HeldAcksAreReleasedWhenBuffersAreShort) {
  Lab lab(Mode::ack_regulator);
  lab.open_with_a_full_buffer();
  for (std::uint32_t i = 1; i <= 3; ++i) lab.hosts.ue(Flags::ack_bit, 0, 2000 * i);
  ASSERT_TRUE(lab.lab.silent(Side::core));
  std::vector<packet::Packet> taken;
  while (pool().available() > pool().capacity() / 10) taken.push_back(pool().allocate());
  lab.lab.pass_time(std::chrono::milliseconds(2));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    const auto ack = lab.lab.next(Side::core);
    ASSERT_TRUE(ack) << "the hold is longer than that";
    EXPECT_EQ(ack->segment().ack.raw(), lab.hosts.server_isn.raw() + 1 + 2000 * i);
  }
  EXPECT_EQ(lab.lab.count(Counter::acks_freed), 3U);
  lab.hosts.ue(Flags::ack_bit, 0, 8000);
  EXPECT_FALSE(lab.lab.silent(Side::core)) << "no more are made to wait";
  EXPECT_NE(lab.lab.shard.next_deadline(), Instant{}) << "nothing is left to do";
}

/// The deduction prevents that many ACKs accumulate between two updates of the pool's state.
TEST(ShardRegulate, HeldAcksAreDeductedFromTheBudgetAtOnce) {
  proxy::ShardConfig config = config_of(Mode::ack_regulator);
  config.limits.refuse_flows_at = 1;
  Lab lab(config);
  lab.open_with_a_full_buffer();
  std::vector<packet::Packet> taken;
  const double tight_at = config.limits.reserve + (1 - config.limits.reserve) / 8;
  const auto nearly_low = static_cast<std::uint32_t>(pool().capacity() * tight_at) + 10;
  while (pool().available() > nearly_low) taken.push_back(pool().allocate());
  lab.keep_reporting(std::chrono::milliseconds(2), 10'000, 10'520, 0);
  std::uint32_t waiting = 0;
  for (std::uint32_t i = 1; i <= 40; ++i) {
    lab.hosts.ue(Flags::ack_bit, 0, 2000 + i);
    waiting += lab.lab.silent(Side::core) ? 1U : 0U;
    while (lab.lab.next(Side::core)) {
    }
  }
  EXPECT_GT(waiting, 5U);
  EXPECT_LT(waiting, 15U);
}

TEST(ShardRegulate, DataOfTheUeReleasesHeldAcks) {
  Lab lab(Mode::ack_regulator);
  lab.open_with_a_full_buffer();
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  ASSERT_TRUE(lab.lab.silent(Side::core));
  lab.hosts.ue(Flags::ack_bit, 0, 4000, "request");
  const auto first = lab.lab.next(Side::core);
  const auto second = lab.lab.next(Side::core);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->payload.empty());
  EXPECT_EQ(second->payload, "request");
}

TEST(ShardRegulate, LateReportsReleaseHeldAcksWithTheNextAck) {
  Lab lab(Mode::ack_regulator);
  lab.open_with_a_full_buffer();
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  lab.hosts.ue(Flags::ack_bit, 0, 4000);
  ASSERT_TRUE(lab.lab.silent(Side::core));
  lab.lab.pass_time(std::chrono::milliseconds(60));
  ASSERT_EQ(lab.lab.count(Counter::fallbacks), 1U);
  EXPECT_TRUE(lab.lab.silent(Side::core));
  lab.hosts.ue(Flags::ack_bit, 0, 6000);
  EXPECT_EQ(lab.lab.next(Side::core)->segment().ack.raw(), lab.hosts.server_isn.raw() + 1 + 2000);
  EXPECT_EQ(lab.lab.next(Side::core)->segment().ack.raw(), lab.hosts.server_isn.raw() + 1 + 4000);
  EXPECT_TRUE(lab.lab.silent(Side::core));
  lab.lab.pass_time(std::chrono::milliseconds(160));
  EXPECT_FALSE(lab.lab.silent(Side::core)) << "and no later than ever";
}

TEST(ShardRegulate, AResetEndsTheConnectionAndReleasesHeldAcks) {
  Lab lab(Mode::ack_regulator);
  lab.open_with_a_full_buffer();
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  lab.hosts.ue(Flags::rst_bit, 0, 0);
  ASSERT_FALSE(lab.lab.silent(Side::core));
  EXPECT_FALSE(lab.lab.next(Side::core)->segment().flags.rst());
  EXPECT_TRUE(lab.lab.next(Side::core)->segment().flags.rst());
  EXPECT_EQ(lab.lab.shard.flow_count(), 0U);
}

TEST(ShardRegulate, ADamagedSegmentPassesWithoutBeingTracked) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.reports.queue(20'000);
  tcp::Segment ack = lab.hosts.segment(Flags::ack_bit, lab.hosts.ue_isn.raw() + 1, lab.hosts.server_isn.raw() + 1);
  packet::Packet frame = lab.hosts.frame(true, ack);
  frame.data()[frame.size() - 1] ^= 1U;  // in the timestamps
  lab.lab.put(Side::radio, std::move(frame));
  EXPECT_EQ(lab.lab.count(Counter::forward_regulated_unread), 1U);
  const auto seen = lab.lab.next(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->segment().window, 1000);
}

TEST(ShardRegulate, ANewConnectionMayReuseTheAddresses) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.hosts.ue_isn = tcp::SeqNum(900'000);
  lab.hosts.server_isn = tcp::SeqNum(77);
  lab.hosts.open();
  EXPECT_EQ(lab.lab.count(Counter::flows_regulated), 2U);
  EXPECT_EQ(lab.lab.shard.flow_count(), 1U);
}

proxy::ShardConfig observing(Mode law) {
  proxy::ShardConfig config = config_of(Mode::observe);
  config.intercept = proxy::Intercept::automatic;
  config.observed = law;
  config.smvs.law = proxy::ControllerLocation::nodeb;
  return config;
}

TEST(ShardObserve, WindowsAreComputedAndNotWritten) {
  Lab lab(observing(Mode::wrs));
  lab.hosts.open();
  lab.reports.queue(20'000);
  lab.data(4);
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.window(), 128'000) << "as it came";
  EXPECT_EQ(lab.lab.count(Counter::windows_rewritten), 0U);
  std::vector<proxy::BearerInfo> bearers;
  lab.lab.shard.describe_bearers(bearers, 10);
  ASSERT_EQ(bearers.size(), 1U);
  EXPECT_EQ(bearers[0].observed.decisions, 1U);
  EXPECT_EQ(bearers[0].observed.decided_bytes, 20'000);
  EXPECT_EQ(bearers[0].observed.actual_bytes, 2000);
}

TEST(ShardObserve, TheWindowIsUnknownIfTheProxySplitsNoConnection) {
  Lab lab(observing(Mode::wrs));
  lab.hosts.open();
  lab.data(4);
  std::vector<proxy::BearerInfo> bearers;
  lab.lab.shard.describe_bearers(bearers, 10);
  ASSERT_EQ(bearers.size(), 1U);
  EXPECT_FALSE(bearers[0].window);
}

TEST(ShardObserve, AcksThatAControllerWouldHoldAreForwarded) {
  Lab lab(observing(Mode::ack_regulator));
  lab.open_with_a_full_buffer();
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.window(), 128'000);
  std::vector<proxy::BearerInfo> bearers;
  lab.lab.shard.describe_bearers(bearers, 10);
  EXPECT_EQ(bearers.at(0).observed.waits, 1U);
  EXPECT_EQ(lab.lab.count(Counter::acks_held), 0U);
}

TEST(ShardObserve, AllowancesAreRecordedBesideTheSentBytes) {
  Lab lab(observing(Mode::smvs));
  lab.hosts.open();
  lab.reports.queue(0);
  lab.data(3);
  lab.reports.queue(0);
  std::vector<proxy::BearerInfo> bearers;
  lab.lab.shard.describe_bearers(bearers, 10);
  EXPECT_EQ(bearers.at(0).observed.decisions, 2U);
  EXPECT_GE(bearers.at(0).observed.actual_bytes, 3 * 1052);
  EXPECT_EQ(lab.lab.count(Counter::flows_split), 0U);
}

/// The share of a buffer whose size is configured needs no reports, and the UEs of an access point share it.
TEST(ShardRegulate, UesBehindOneQueueShareItEquallyWithoutReports) {
  proxy::ShardConfig config = config_of(Mode::fair_share);
  config.laws.buffer = Bytes(60'000);
  config.shared_queues = {*IpPrefix::parse("10.45.0.0/24")};
  Lab lab(config);
  lab.hosts.open();
  lab.data(126);
  lab.hosts.ue(Flags::ack_bit, 0, 120'000);
  // 40 packets of 1500 bytes, of each of which 1000/1052 is payload, in units of 128 bytes.
  EXPECT_EQ(lab.window(), 56'960);
  ScriptedHosts neighbour(lab.lab);
  neighbour.ue_to_server.src = IpAddress::v4(10, 45, 0, 3);
  neighbour.window = 1000;
  neighbour.open();
  EXPECT_EQ(lab.lab.shard.flow_count(), 2U);
  lab.data(40);
  lab.hosts.ue(Flags::ack_bit, 0, 160'000);
  EXPECT_EQ(lab.window(), 28'416) << "half of it";
  ScriptedHosts elsewhere(lab.lab);
  elsewhere.ue_to_server.src = IpAddress::v4(10, 46, 0, 3);
  elsewhere.window = 1000;
  elsewhere.open();
  lab.data(20);
  lab.hosts.ue(Flags::ack_bit, 0, 180'000);
  EXPECT_EQ(lab.window(), 28'416) << "who is not of the prefix has a queue of his own";
}

TEST(ShardRegulate, ObserveModeShowsBytesInFlightAndBothWindows) {
  Lab lab(Mode::observe);
  lab.hosts.window = 1000;
  lab.hosts.ue_window = 500;
  lab.hosts.open();
  lab.data(3);
  lab.hosts.ue(Flags::ack_bit, 0, 1000, "request");
  std::vector<proxy::FlowInfo> flows;
  lab.lab.shard.describe_flows(flows, 2);
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].in_flight[0], Bytes(2000));
  EXPECT_EQ(flows[0].in_flight[1], Bytes(7));
  EXPECT_EQ(flows[0].peer_window[0], Bytes(500 << 7));
  EXPECT_EQ(flows[0].peer_window[1], Bytes(1000 << 7));
}

/// The Node-B shares its buffer among the connections that statuses report.
TEST(ShardRegulate, StatusesCountConnectionsThatPassEndToEnd) {
  Lab lab(Mode::gwa_fcfs);
  lab.hosts.open();
  lab.reports.queue(50'000);
  std::vector<control::feedback::BearerStatus> statuses;
  lab.lab.shard.collect_status(statuses, true);
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].active_flows, 1U);
}

TEST(ShardRegulate, BytesAreCountedOnlyIfAControllerMayLimitTheUe) {
  for (const double control_group : {0.0, 1.0}) {
    proxy::ShardConfig config = config_of(Mode::gwa_fcfs);
    config.control_group = control_group;
    Lab lab(config);
    lab.hosts.open();
    lab.data(3);
    std::vector<proxy::BearerInfo> bearers;
    lab.lab.shard.describe_bearers(bearers, 10);
    ASSERT_EQ(bearers.size(), 1U);
    EXPECT_EQ(lab.lab.count(Counter::flows_regulated), 1U);
    EXPECT_EQ(bearers[0].injected > 0, control_group == 0);
  }
}

}  // namespace
}  // namespace sluice::test
