// The bearer's allowance: what a report lets its flows send, and what happens when reports do not come.

#include <gtest/gtest.h>

#include <random>

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

class ShardSmvs : public testing::Test {
 protected:
  explicit ShardSmvs(const proxy::ShardConfig& config = smvs_config()) : lab{config} {}

  void report(Bytes allowance) { report_from(0, control::feedback::RadioState::normal, allowance); }
  /// Reports from the Node-B named `sender`; each sender numbers its datagrams separately.
  void report_from(std::uint64_t sender, control::feedback::RadioState state, Bytes allowance) {
    proxy::ReportArrival arrival = reports.next();
    arrival.sender = sender;
    arrival.epoch += sender;
    if (sender != 0) arrival.sequence += 5000 - 1000 * sender;
    arrival.bearer.state = state;
    arrival.bearer.arrived = 1'000'000 * sender;
    arrival.bearer.allowance = allowance;
    reports.send(arrival);
  }
  /// Reports a queue that all bytes counted in `arrived` have reached.
  void report_queue(Bytes queue, Bytes allowance) {
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.queue = queue;
    arrival.bearer.arrived = arrived;
    arrival.bearer.allowance = allowance;
    reports.send(arrival);
  }
  /// Reports a buffer that the link empties in `drained_in` when it is full.
  void report_buffer(Duration drained_in) {
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.buffer = arrival.bearer.mean_service_rate.in(drained_in);
    arrival.bearer.allowance = Bytes(0);
    reports.send(arrival);
  }
  /// The window that the server has, by the newest word to it: how much more it may send than what was offered.
  std::int64_t advertised() {
    while (const auto seen = lab.next(Side::core)) {
      edge = seen->segment().ack + (std::uint32_t{seen->segment().window} << hosts.options.window_scale);
    }
    return edge - (hosts.server_isn + 1 + offered);
  }
  /// IP bytes of data that came out towards the UE.
  std::int64_t data_sent() {
    std::int64_t bytes = 0;
    while (const auto seen = lab.next(Side::radio)) {
      if (!seen->payload.empty()) bytes += seen->parsed.ip_length;
    }
    arrived += static_cast<std::uint64_t>(bytes);
    return bytes;
  }
  void offer(std::uint32_t segments, std::uint32_t size = 1000) {
    for (std::uint32_t i = 0; i < segments; ++i, offered += size) {
      hosts.server(Flags::ack_bit, offered, 0, std::string(size, 's'));
    }
  }

  ProxyLab lab;
  ScriptedHosts hosts{lab};
  ScriptedReports reports{lab, hosts};
  std::uint32_t offered = 0;
  std::uint64_t arrived = 0;
  tcp::SeqNum edge;
};

TEST_F(ShardSmvs, SendsExactlyTheAllowance) {
  hosts.open();
  report(Bytes(0));
  offer(10);
  EXPECT_EQ(data_sent(), 0);
  report(Bytes(3200));
  EXPECT_EQ(data_sent(), 3 * 1052);
  lab.pass_time(std::chrono::milliseconds(1));
  EXPECT_EQ(data_sent(), 0) << "an allowance is for one step";
}

TEST_F(ShardSmvs, FractionsOfAPacketAccumulate) {
  hosts.open();
  report(Bytes(0));
  offer(10);
  std::int64_t sent = 0;
  for (int step = 0; step < 20; ++step) {
    report(Bytes(300));
    sent += data_sent();
    lab.pass_time(period);
  }
  EXPECT_GE(sent, 4 * 1052);
  EXPECT_LE(sent, 20 * 300);
}

TEST_F(ShardSmvs, AnUnusedAllowanceDoesNotAccumulate) {
  hosts.open();
  for (int step = 0; step < 50; ++step) {
    report(Bytes(3200));
    lab.pass_time(period);
  }
  offer(40);
  EXPECT_LE(data_sent(), 3200) << "one step's worth, however long the flow was idle";
}

TEST_F(ShardSmvs, RetransmissionsCountAsInjected) {
  hosts.open();
  report(Bytes(5000));
  offer(2);
  EXPECT_EQ(data_sent(), 2 * 1052);
  report(Bytes(0));
  for (int step = 0; step < 400; ++step) {
    report(Bytes(0));
    lab.pass_time(period);
  }
  EXPECT_EQ(data_sent(), 0) << "the timer ran out, but nothing may be injected";
  report(Bytes(1100));
  EXPECT_EQ(data_sent(), 1052);
  EXPECT_GE(lab.count(Counter::retransmitted_radio), 1U);
}

TEST_F(ShardSmvs, CongestionControlSendsWithoutReports) {
  hosts.open();
  offer(5);
  EXPECT_EQ(data_sent(), 5 * 1052) << "no report yet";
}

TEST_F(ShardSmvs, LateReportsCauseAFallbackAndARecovery) {
  hosts.open();
  report(Bytes(0));
  offer(20);
  EXPECT_EQ(data_sent(), 0);
  lab.pass_time(std::chrono::milliseconds(200));
  EXPECT_EQ(lab.count(Counter::fallbacks), 1U);
  EXPECT_GT(data_sent(), 0) << "ordinary congestion control goes on";
  hosts.ue(Flags::ack_bit, 0, 5000);
  static_cast<void>(data_sent());
  report(Bytes(0));
  EXPECT_EQ(lab.count(Counter::recoveries), 2U);
  offer(5);
  EXPECT_EQ(data_sent(), 0);
}

TEST_F(ShardSmvs, StepsThatEmptyAFullBufferAreCounted) {
  hosts.open();
  report_buffer(2 * period);
  EXPECT_EQ(lab.count(Counter::steps_too_long), 0U);
  report_buffer(period / 2);
  EXPECT_EQ(lab.count(Counter::steps_too_long), 1U);
  report_buffer(period / 2);
  EXPECT_EQ(lab.count(Counter::steps_too_long), 1U) << "still the same";
  report_buffer(2 * period);
  report_buffer(period / 2);
  EXPECT_EQ(lab.count(Counter::steps_too_long), 2U);
}

TEST_F(ShardSmvs, ALinkThatVariesWithinItsStepsIsCountedOnce) {
  hosts.open();
  std::mt19937_64 random(1);
  const auto run = [&](int steps_of_a_rate) {
    double rate = 1e6;
    for (int step = 0; step < 600; ++step) {
      if (step % steps_of_a_rate == 0) rate = std::uniform_real_distribution<>(1e6, 1e7)(random);
      proxy::ReportArrival arrival = reports.next();
      arrival.bearer.queue = Bytes(1000);
      arrival.bearer.service_rate = Rate::bits_per_second(rate);
      arrival.bearer.allowance = Bytes(0);
      reports.send(arrival);
    }
  };
  run(8);
  EXPECT_EQ(lab.count(Counter::steps_too_coarse), 0U);
  run(1);
  EXPECT_EQ(lab.count(Counter::steps_too_coarse), 1U);
  run(1);
  EXPECT_EQ(lab.count(Counter::steps_too_coarse), 1U) << "still the same";
}

TEST_F(ShardSmvs, StepsOfABufferOfUnknownSizeAreNeverTooLong) {
  hosts.open();
  report_buffer(Duration::zero());
  EXPECT_EQ(lab.count(Counter::steps_too_long), 0U);
}

TEST_F(ShardSmvs, AfterAHandoverOnlyTheNewNodeBSteers) {
  using enum control::feedback::RadioState;
  hosts.open();
  report_from(1, normal, Bytes(0));
  offer(30);
  EXPECT_EQ(data_sent(), 0);
  report_from(2, normal, Bytes(5000));
  EXPECT_EQ(data_sent(), 0) << "the UE is still with the first";
  EXPECT_EQ(lab.count(Counter::reports_elsewhere), 1U);
  report_from(1, handover, Bytes(0));
  report_from(2, handover, Bytes(5000));
  EXPECT_EQ(data_sent(), 0) << "it is with neither";
  report_from(2, normal, Bytes(2200));
  EXPECT_EQ(data_sent(), 2 * 1052) << "its sequence numbers are below the first one's and do not matter";
  report_from(1, normal, Bytes(9000));
  report_from(1, handover, Bytes(9000));
  EXPECT_EQ(data_sent(), 0) << "late on the way";
  EXPECT_EQ(lab.count(Counter::reports_elsewhere), 4U);
  EXPECT_EQ(lab.count(Counter::reports_stale), 0U);
  EXPECT_EQ(lab.count(Counter::fallbacks), 0U);
  EXPECT_EQ(lab.count(Counter::reporters_changed), 1U);
  report_from(2, handover, Bytes(0));
  report_from(1, normal, Bytes(1100));
  EXPECT_EQ(data_sent(), 1052) << "and back again";
  EXPECT_EQ(lab.count(Counter::reporters_changed), 2U);
}

TEST_F(ShardSmvs, AStatusNamesItsReporter) {
  using enum control::feedback::RadioState;
  std::vector<control::feedback::BearerStatus> statuses;
  hosts.open();
  lab.shard.collect_status(statuses, true);
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_FALSE(statuses[0].reporter) << "none so far";
  report_from(5, normal, Bytes(3000));
  statuses.clear();
  lab.shard.collect_status(statuses, true);
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].reporter, 5U);
  EXPECT_GT(statuses[0].applied_sequence, 0U);
}

TEST_F(ShardSmvs, ASilentNodeBIsReplacedIfItsHandoverReportWasLost) {
  using enum control::feedback::RadioState;
  hosts.open();
  report_from(1, normal, Bytes(0));
  offer(10);
  lab.pass_time(std::chrono::milliseconds(6));
  static_cast<void>(data_sent());  // one step at the mean rate bridges what is missing
  report_from(2, normal, Bytes(9000));
  EXPECT_EQ(data_sent(), 0);
  EXPECT_EQ(lab.count(Counter::reports_elsewhere), 1U);
  lab.pass_time(std::chrono::milliseconds(14));
  static_cast<void>(data_sent());
  report_from(2, normal, Bytes(2200));
  EXPECT_GT(data_sent(), 0);
  EXPECT_EQ(lab.count(Counter::reports_elsewhere), 1U);
}

TEST_F(ShardSmvs, OneMissingReportIsExtrapolated) {
  hosts.open();
  report(Bytes(0));
  offer(20);
  lab.pass_time(period);
  EXPECT_EQ(data_sent(), 0);
  lab.pass_time(std::chrono::milliseconds(4));
  const std::int64_t one_step = Rate::bits_per_second(5e6).in(period).count();
  const std::int64_t sent = data_sent();
  EXPECT_GT(sent, one_step - 1052);
  EXPECT_LE(sent, one_step);
}

TEST_F(ShardSmvs, ALateReportDoesNotRepeatAnExtrapolatedAllowance) {
  hosts.open();
  report(Bytes(0));
  offer(20);
  lab.pass_time(std::chrono::milliseconds(9));
  const std::int64_t bridged = data_sent();
  ASSERT_GT(bridged, 0);
  const Bytes one_step = Rate::bits_per_second(5e6).in(period);
  report(one_step);
  EXPECT_LE(bridged + data_sent(), one_step.count() + 1500);
}

TEST_F(ShardSmvs, ARestartedNodeBDoesNotReduceItsAllowanceByExtrapolatedOnes) {
  hosts.open();
  report(Bytes(0));
  offer(20);
  lab.pass_time(std::chrono::milliseconds(9));
  ASSERT_GT(data_sent(), 0) << "the allowance was extrapolated";
  const Bytes one_step = Rate::bits_per_second(5e6).in(period);
  proxy::ReportArrival arrival = reports.next();
  ++arrival.epoch;
  arrival.sequence = 1;
  arrival.bearer.allowance = one_step;
  reports.send(arrival);
  EXPECT_GT(data_sent(), one_step.count() - 1052);
}

TEST_F(ShardSmvs, AnOldReportChangesNothing) {
  hosts.open();
  report(Bytes(0));
  report(Bytes(0));
  offer(5);
  proxy::ReportArrival old = reports.next();
  old.sequence = 1;
  old.bearer.allowance = Bytes(50000);
  reports.send(old);
  EXPECT_EQ(data_sent(), 0);
  EXPECT_EQ(lab.count(Counter::reports_stale), 1U);
}

TEST_F(ShardSmvs, TheStatusReportsInjectedAndWaitingBytes) {
  hosts.open();
  report(Bytes(2200));
  offer(5);
  std::vector<control::feedback::BearerStatus> statuses;
  lab.shard.collect_status(statuses, false);
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].ue, hosts.ue_to_server.src);
  EXPECT_EQ(statuses[0].applied_sequence, reports.next().sequence - 1);
  EXPECT_EQ(statuses[0].backlog, Bytes(3000));
  EXPECT_EQ(statuses[0].active_flows, 1U);
  EXPECT_GE(statuses[0].injected, 2U * 1052);
  statuses.clear();
  lab.shard.collect_status(statuses, false);
  EXPECT_TRUE(statuses.empty()) << "nothing changed";
}

TEST_F(ShardSmvs, TheFlowsOfABearerShareItsAllowance) {
  hosts.open();
  const auto first_port = hosts.ue_to_server.src_port;
  hosts.ue_to_server.src_port = 40001;
  hosts.open();
  report(Bytes(0));
  for (const std::uint16_t port : {first_port, std::uint16_t{40001}}) {
    hosts.ue_to_server.src_port = port;
    offered = 0;
    offer(20);
  }
  report(Bytes(12 * 1052));
  std::array<int, 2> segments{};
  while (const auto seen = lab.next(Side::radio)) {
    if (!seen->payload.empty()) ++segments[seen->parsed.dst_port == first_port ? 0 : 1];
  }
  EXPECT_EQ(segments[0] + segments[1], 12);
  EXPECT_GE(std::min(segments[0], segments[1]), 4);
}

// Everything that a connection was given as window has come, was delivered and acknowledged: no packet, timer or window
// of its own is left that would look at it again. The radio queue that shut it is another connection's.
TEST_F(ShardSmvs, AClosedWindowReopensWhenTheQueueOfOthersDrains) {
  hosts.open();
  const std::uint16_t other_port = 40001;
  hosts.ue_to_server.src_port = other_port;
  hosts.open();
  hosts.ue_to_server.src_port = 40000;
  report_queue(Bytes(1'000'000), Bytes(1'000'000));
  offer(65);
  static_cast<void>(data_sent());
  hosts.ue(Flags::ack_bit, 0, offered);
  EXPECT_LT(advertised(), 1460) << "the first window and no more";
  for (int step = 0; step < 100; ++step) {
    lab.pass_time(period);
    report_queue(Bytes(1'000'000), Bytes(0));
  }
  EXPECT_LT(advertised(), 1460) << "not while that queue stands";
  report_queue(Bytes(0), Bytes(0));
  EXPECT_GT(advertised(), 10 * 1460);
  EXPECT_EQ(lab.count(Counter::fallbacks), 0U) << "nor was it that";
}

// The law counts what the radio carries, headers included. The window advertised to the server counts bytes of its
// stream only.
TEST_F(ShardSmvs, TheWindowOfTheServerExcludesHeaders) {
  hosts.open();
  const auto step = [&](std::uint32_t segments) {
    lab.pass_time(period);
    report_queue(Bytes(0), Bytes(1'000'000));
    offer(segments, 500);
    static_cast<void>(data_sent());
    hosts.ue(Flags::ack_bit, 0, offered);
  };
  for (int i = 0; i < 400; ++i) step(1);
  for (int i = 0; i < 100; ++i) step(0);  // nothing is in flight any more
  step(2);                                // two are acknowledged at once
  const proxy::SmvsSettings smvs = smvs_config().smvs;
  const control::SmvsParameters& law = smvs.parameters;
  const Rate rate = reports.next().bearer.mean_service_rate;
  const double radio = static_cast<double>(rate.in(2 * law.one_way_delay).count()) + control::smvs_reference(law, rate);
  const double relay = smvs.receive_window.reference.in_bytes(Bytes(40), rate);
  const double on_wire = static_cast<double>(advertised()) / 500 * 552;
  EXPECT_LE(on_wire, radio + relay);
  EXPECT_GE(on_wire, radio + relay - 2 * 552 - 1460 * 1.2) << "the last segments, and what a window update is worth";
}

/// The proxy runs the controller, and a flow that has sent thirty segments is no longer short.
class ShardSmvsShortFlowPriority : public ShardSmvs {
 protected:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
    config.smvs.law = proxy::ControllerLocation::proxy;
    config.smvs.short_flow = Bytes(30'000);
    return config;
  }
  ShardSmvsShortFlowPriority() : ShardSmvs(config()) {}
  /// Returns by how much the queue exceeds its reference.
  double error_after_a_step() {
    lab.pass_time(period);
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.queue = Bytes(10'000);
    arrival.bearer.arrived = transmitted_ + 10'000;
    arrival.bearer.transmitted = transmitted_;
    transmitted_ += 3125;  // 5 Mb/s
    reports.send(arrival);
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    return bearers.at(0).predicted_error;
  }

 private:
  std::uint64_t transmitted_ = 0;
};

TEST_F(ShardSmvsShortFlowPriority, ASynHalvesTheReference) {
  hosts.open();
  offer(40);
  for (int i = 0; i < 200; ++i) {
    error_after_a_step();
    if (const std::int64_t sent = data_sent(); sent == 0) continue;
    hosts.ue(Flags::ack_bit, 0, std::min(offered, 39'000U));
  }
  const double before = error_after_a_step();
  hosts.ue_to_server.src_port = 40001;
  hosts.send_syn();
  const double reference = control::smvs_reference(config().smvs.parameters, Rate::bits_per_second(5e6));
  EXPECT_NEAR(error_after_a_step() - before, reference / 2, 100);
  for (int i = 0; i < 210; ++i) error_after_a_step();
  EXPECT_NEAR(error_after_a_step(), before, 100) << "nobody has answered for a second";
}

/// The second loop as the paper has it: around what the relay holds, in steps of time.
class ShardSlidingWindow : public ShardSmvs {
 protected:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = smvs_config();
    config.smvs.receive_window.law = control::SecondLoopController::sliding_mode;
    config.smvs.receive_window.sliding.step = period;
    config.smvs.receive_window.sliding.delta = 0.9 / to_seconds(period);
    return config;
  }
  ShardSlidingWindow() : ShardSmvs(config()) {}
};

TEST_F(ShardSlidingWindow, TheServerGetsTheWindowThatTheRelayLacks) {
  hosts.open();
  const auto step = [&](std::uint32_t segments, Bytes allowance) {
    lab.pass_time(period);
    report_queue(Bytes(0), allowance);
    offer(segments);
    static_cast<void>(data_sent());
    hosts.ue(Flags::ack_bit, 0, offered);
  };
  for (int i = 0; i < 200; ++i) step(2, Bytes(1'000'000));
  const std::int64_t drained = advertised();
  EXPECT_GE(drained, 2000) << "what two segments a step leave a relay that is empty, and q0";
  // The radio takes nothing more: what is advertised and not used stays, and nothing is added.
  for (int i = 0; i < 4; ++i) step(2, Bytes(0));
  EXPECT_LE(advertised(), drained + 4 * 2000);
  for (int i = 0; i < 400 && advertised() >= 1000; ++i) step(1, Bytes(0));
  EXPECT_LT(advertised(), 1460) << "the relay holds q0 and more";
  const std::uint32_t held = offered;
  for (int i = 0; i < 20; ++i) step(0, Bytes(1'000'000));
  EXPECT_GE(advertised(), 2000) << "it has drained, and each report is a step";
  EXPECT_EQ(offered, held);
}

TEST_F(ShardSmvs, AHugeAllowanceIsAccepted) {
  hosts.open();
  report(Bytes(500));  // of which nothing fits
  offer(3);
  ASSERT_EQ(data_sent(), 0);
  report(Bytes::max());
  EXPECT_EQ(data_sent(), 3 * 1052);
}

TEST_F(ShardSmvs, AReportForAnUnknownUeIsCounted) {
  hosts.open();
  proxy::ReportArrival arrival;
  arrival.bearer.ue = IpAddress::v4(10, 45, 9, 9);
  lab.shard.on_report(arrival, lab.now);
  EXPECT_EQ(lab.count(Counter::reports_unknown_bearer), 1U);
}

}  // namespace
}  // namespace sluice::test
