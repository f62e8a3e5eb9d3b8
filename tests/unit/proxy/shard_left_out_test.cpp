// A UE that reports leave out because nothing of it has changed.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

constexpr Duration period = ScriptedReports::period;

proxy::ShardConfig smvs_config() {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = proxy::ControllerLocation::nodeb;
  return config;
}

/// A Node-B that leaves out UEs of which nothing has changed.
class ShardOmittedUes : public testing::Test {
 protected:
  /// IP bytes of data that came out towards the UE.
  std::int64_t data_sent() {
    std::int64_t bytes = 0;
    while (const auto seen = lab.next(Side::radio)) {
      if (!seen->payload.empty()) bytes += seen->parsed.ip_length;
    }
    return bytes;
  }
  void offer(std::uint32_t segments) {
    for (std::uint32_t i = 0; i < segments; ++i, offered += 1000) {
      hosts.server(Flags::ack_bit, offered, 0, std::string(1000, 's'));
    }
  }
  /// Passes a period in which the Node-B sends and omits the UE.
  void leave_out() {
    lab.pass_time(period);
    notice.sequence = ++sequence;
    notice.sender_time = lab.now.time_since_epoch();
    lab.shard.on_omissions({&notice, 1}, lab.now);
  }
  /// Passes a period in which one of the Node-B's datagrams is lost.
  void lose() {
    ++sequence;
    notice.since = sequence + 1;
    leave_out();
  }
  void name(Bytes allowance) {
    proxy::ReportArrival arrival = reports.next();
    arrival.sequence = ++sequence;
    arrival.bearer.allowance = allowance;
    reports.send(arrival);
    notice.epoch = arrival.epoch;
  }
  [[nodiscard]] std::uint64_t falls() const { return lab.count(Counter::fallbacks); }

  ProxyLab lab{smvs_config()};
  ScriptedHosts hosts{lab};
  ScriptedReports reports{lab, hosts};
  std::uint32_t offered = 0;
  std::uint64_t sequence = 0;
  proxy::OmissionNotice notice{0, 0, 0, 1, {}, period, std::chrono::milliseconds(100)};
};

TEST_F(ShardOmittedUes, AnOmittedUeStaysSteered) {
  hosts.open();
  name(Bytes(3200));
  for (int i = 0; i < 100; ++i) leave_out();
  EXPECT_EQ(falls(), 0U);
  offer(10);
  EXPECT_EQ(data_sent(), 3 * 1052) << "what was granted last, once";
}

TEST_F(ShardOmittedUes, StepsContinueAfterSendingBytesUnknownToTheNodeB) {
  hosts.open();
  name(Bytes(3200));
  for (int i = 0; i < 20; ++i) leave_out();
  offer(30);
  EXPECT_EQ(data_sent(), 3 * 1052);
  leave_out();
  leave_out();
  EXPECT_GE(data_sent(), 3 * 1052) << "a step at the mean rate, as for a report that is late";
}

TEST_F(ShardOmittedUes, SilenceOfTheNodeBCausesAFallbackOnceDataWaits) {
  hosts.open();
  name(Bytes(3200));
  for (int i = 0; i < 10; ++i) leave_out();
  lab.pass_time(6 * period);
  EXPECT_EQ(falls(), 0U) << "nobody wants to know";
  offer(10);
  EXPECT_EQ(data_sent(), 3 * 1052) << "what was granted before";
  lab.pass_time(2 * period);
  EXPECT_EQ(falls(), 1U);
  EXPECT_GT(data_sent(), 0);
}

TEST_F(ShardOmittedUes, SilenceOfTheNodeBCausesAFallbackWithoutAnAllowance) {
  hosts.open();
  name(Bytes(0));
  for (int i = 0; i < 10; ++i) leave_out();
  lab.pass_time(6 * period);
  offer(10);
  EXPECT_EQ(data_sent(), 0);
  lab.pass_time(2 * period);
  EXPECT_EQ(falls(), 1U);
  EXPECT_GT(data_sent(), 0);
}

TEST_F(ShardOmittedUes, AnIdleUeFallsBackAfterItsRefreshIntervalHasPassed) {
  hosts.open();
  name(Bytes(3200));
  for (int i = 0; i < 10; ++i) leave_out();
  lab.pass_time(std::chrono::milliseconds(100));
  EXPECT_EQ(falls(), 1U) << "and the Node-B was silent";
}

TEST_F(ShardOmittedUes, AfterALossAUeStaysSteeredUntilItsNextRefresh) {
  hosts.open();
  name(Bytes(3200));
  for (int i = 0; i < 10; ++i) leave_out();
  lose();
  for (int i = 0; i < 20; ++i) leave_out();
  EXPECT_EQ(falls(), 0U) << "one refresh";
  for (int i = 0; i < 6; ++i) leave_out();
  EXPECT_EQ(falls(), 1U) << "its turn has passed";
  name(Bytes(3200));
  EXPECT_EQ(lab.count(Counter::recoveries), 2U);
  for (int i = 0; i < 100; ++i) leave_out();
  EXPECT_EQ(falls(), 1U) << "nothing is missing since";
}

TEST_F(ShardOmittedUes, ContinuedLossesDoNotDelayTheFallbackForever) {
  hosts.open();
  name(Bytes(3200));
  for (int i = 0; i < 500; ++i) lose();
  EXPECT_EQ(falls(), 1U) << "no report counts for longer than two seconds";
}

TEST_F(ShardOmittedUes, AReportIsValidForAtMostTheLongestSilence) {
  hosts.open();
  name(Bytes(3200));
  for (int i = 0; i < 395; ++i) leave_out();
  EXPECT_EQ(falls(), 0U);
  for (int i = 0; i < 10; ++i) leave_out();
  EXPECT_EQ(falls(), 1U);
}

TEST_F(ShardOmittedUes, OmissionNoticesOfAnotherNodeBOrEpochAreIgnored) {
  for (int what = 0; what < 2; ++what) {
    hosts.ue_to_server.src_port = static_cast<std::uint16_t>(40000 + what);
    hosts.open();
    name(Bytes(3200));
    const std::uint64_t before = falls();
    if (what == 0) notice.sender = 9;
    if (what == 1) notice.epoch = 9;
    for (int i = 0; i < 8; ++i) leave_out();
    EXPECT_EQ(falls(), before + 1) << what;
    notice.sender = 0;
  }
}

}  // namespace
}  // namespace sluice::test
