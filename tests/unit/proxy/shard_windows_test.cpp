// Tests of split connections under per-flow window controllers: what a report allows each flow to have in flight.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Mode;
using proxy::Side;
using tcp::Flags;

constexpr Duration period = ScriptedReports::period;
constexpr std::int64_t packet = 1052;  ///< 1000 bytes of data as an IP packet

proxy::ShardConfig config_of(Mode mode) {
  proxy::ShardConfig config = shard_config(mode);
  config.tcp.initial_window_segments = 100;  // the law's window is what binds
  return config;
}

struct Lab : ReportedDownload {
  explicit Lab(Mode mode) : Lab(config_of(mode)) {}
  explicit Lab(const proxy::ShardConfig& config) : ReportedDownload(config) {}
};

TEST(ShardWindows, TheStaticRegulatorSendsOneBuffer) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.reports.queue(8 * packet);
  lab.offer(20);
  EXPECT_EQ(lab.packets_sent(), 8);
  lab.hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.packets_sent(), 2);
}

TEST(ShardWindows, TheDynamicRegulatorSendsAsTheQueueDrains) {
  Lab lab(Mode::wrd);
  lab.hosts.open();
  lab.reports.queue(8 * packet);
  lab.offer(20);
  ASSERT_EQ(lab.packets_sent(), 8);
  int sent = 0;
  for (int i = 0; i < 10; ++i) {
    lab.lab.pass_time(period);
    lab.reports.queue(8 * packet, 8 * packet, 4 * packet);
    sent += lab.packets_sent();
  }
  EXPECT_GE(sent, 3) << "four have left the queue, none is acknowledged";
  EXPECT_LE(sent, 4);
}

TEST(ShardWindows, TheWindowIsAtLeastTwoSegments) {
  Lab lab(Mode::fair_share);
  lab.hosts.open();
  lab.reports.queue(100);
  lab.offer(20);
  EXPECT_EQ(lab.packets_sent(), 2);
}

TEST(ShardWindows, CongestionControlSendsWithoutReports) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.offer(20);
  EXPECT_EQ(lab.packets_sent(), 20);
}

TEST(ShardWindows, LateReportsRemoveTheWindow) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.reports.queue(3 * packet);
  lab.offer(10);
  ASSERT_EQ(lab.packets_sent(), 3);
  lab.lab.pass_time(std::chrono::milliseconds(60));
  EXPECT_EQ(lab.packets_sent(), 7);
  EXPECT_EQ(lab.lab.count(Counter::fallbacks), 1U);
  lab.reports.queue(3 * packet);
  EXPECT_EQ(lab.lab.count(Counter::recoveries), 2U) << "the first report counts as one";
}

TEST(ShardWindows, TheConfiguredBufferOverridesTheReportedOne) {
  proxy::ShardConfig config = config_of(Mode::wrs);
  config.laws.buffer = Bytes(4 * packet);
  Lab lab(config);
  lab.hosts.open();
  lab.reports.queue(1'000'000);
  lab.offer(10);
  EXPECT_EQ(lab.packets_sent(), 4);
}

TEST(ShardWindows, AnAckOfLostDataOpensAtMostTheWindow) {
  Lab lab(Mode::wrs);
  lab.hosts.open();
  lab.reports.queue(4 * packet);
  lab.offer(20);
  ASSERT_EQ(lab.packets_sent(), 4);
  // The timer expires: all four segments count as lost and are retransmitted one by one by congestion control.
  for (int i = 0; i < 300; ++i) {
    lab.reports.queue(4 * packet);
    lab.lab.pass_time(period);
  }
  EXPECT_GE(lab.packets_sent(), 1);
  EXPECT_GE(lab.lab.count(Counter::timeouts_radio), 1U);
  lab.hosts.ue(Flags::ack_bit, 0, 4000);
  EXPECT_LE(lab.packets_sent(), 4);
}

}  // namespace
}  // namespace sluice::test
