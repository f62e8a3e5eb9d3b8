// The law that needs no report: what the UE's acknowledgements let its flows send.

#include "tests/unit/proxy/shard_acks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/engine/rate_control/budget_sharing.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Side;
using tcp::Flags;

TEST_F(ShardAcks, TheInitialWindowIsSentWithoutReports) {
  hosts.open();
  offer(hosts, offered, 30);
  EXPECT_EQ(data_sent(), 14 * on_wire);
}

TEST_F(ShardAcks, EachAckRaisesTheBudgetAndSlowStartDoubles) {
  hosts.open();
  offer(hosts, offered, 60);
  const std::int64_t first = data_sent();
  lab.pass_time(20ms);
  hosts.ue(Flags::ack_bit, 0, static_cast<std::uint32_t>(first / on_wire * segment_size));
  EXPECT_NEAR(static_cast<double>(data_sent()), 2.0 * static_cast<double>(first), 1.5 * on_wire);
}

// A UE nearby acknowledges all that comes before more does, and what came within a millisecond has no rate.
TEST_F(ShardAcks, AFastRadioLegRaisesTheWindowOfTheServer) {
  hosts.open();
  std::uint32_t edge = 64240;
  std::uint32_t burst = 10 * segment_size;
  for (int trip = 0; trip < 12; ++trip, burst *= 2) {
    const std::uint32_t end = std::min(offered + burst, edge);
    while (offered + segment_size <= end) {
      offer(hosts, offered, 1);
      hosts.ue(Flags::ack_bit, 0, offered);
    }
    while (const auto seen = lab.next(Side::core)) {
      const tcp::SeqNum right =
          seen->segment().ack + (std::uint32_t{seen->segment().window} << hosts.options.window_scale);
      edge = std::max(edge, static_cast<std::uint32_t>(right - (hosts.server_isn + 1)));
    }
    while (lab.next(Side::radio)) {
    }
    lab.pass_time(100ms);
  }
  EXPECT_GT(edge - offered, 4U * 64 * 1024) << "it grows with what the server shows to send";
}

/// A number of the server's data that an ACK confirms, and the window field of that ACK.
using AckAndWindow = std::pair<std::uint32_t, std::uint16_t>;

/// Returns what the server of a slow download receives, whose UE acknowledges everything before more data arrives.
/// `cut_through`: false if each segment is rebuilt, so that each one serves its flow.
std::vector<AckAndWindow> received_by_server(bool cut_through) {
  proxy::ShardConfig config = acks_config();
  config.cut_through = cut_through;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  std::vector<AckAndWindow> received;
  std::uint32_t offered = 0;
  for (int i = 0; i < 400; ++i) {
    for (int segment = 0; segment <= i % 3; ++segment, offered += segment_size)
      hosts.server(Flags::ack_bit, offered, 0, std::string(segment_size, 's'));
    lab.pass_time(4ms);
    hosts.ue(Flags::ack_bit, 0, offered);
    lab.pass_time(i % 50 == 49 ? 900ms : 8ms);
    while (const auto seen = lab.next(Side::core))
      received.emplace_back(seen->segment().ack - hosts.server_isn, seen->segment().window);
    while (lab.next(Side::radio)) {
    }
  }
  EXPECT_EQ(lab.count(proxy::Counter::segments_cut_through) > 0, cut_through);
  return received;
}

TEST(ShardAcksDrained, WindowsAreThoseOfAFlowThatIsServed) {
  const std::vector<AckAndWindow> windows = received_by_server(true);
  EXPECT_GT(windows.size(), 200U);
  EXPECT_NE(windows.front().second, windows.back().second);
  EXPECT_EQ(windows, received_by_server(false));
}

/// The UE acknowledges all of two windows, and falls silent when its server has used up a third.
class ShardAcksOutage : public ShardAcks {
 protected:
  ShardAcksOutage() {
    hosts.open();
    for (int trip = 0; trip < 20; ++trip) {
      send_all();
      for (std::uint32_t at = acknowledged; at < offered; at += 2 * segment_size) {
        lab.pass_time(1ms);
        hosts.ue(Flags::ack_bit, 0, std::min(at + 2 * segment_size, offered));
      }
      acknowledged = offered;
    }
    send_all();
  }
  /// The server does what its window lets it. Returns whether that was anything.
  bool send_all() {
    while (const auto seen = lab.next(Side::core)) {
      const tcp::SeqNum right =
          seen->segment().ack + (std::uint32_t{seen->segment().window} << hosts.options.window_scale);
      edge = std::max(edge, static_cast<std::uint32_t>(right - (hosts.server_isn + 1)));
    }
    const std::uint32_t before = offered;
    while (offered + segment_size <= edge) offer(hosts, offered, 1);
    while (lab.next(Side::radio)) {
    }
    return offered != before;
  }
  std::uint32_t edge = 64240;
  std::uint32_t acknowledged = 0;
};

// A host that sends nothing for its retransmission timeout, at least 200 ms, restarts from the initial window.
TEST_F(ShardAcksOutage, AServerGetsAWindowBeforeItsTimeout) {
  const std::uint32_t before = offered;
  int silent = 0;
  int longest = 0;
  for (int i = 0; i < 400; ++i) {
    lab.pass_time(10ms);
    silent = send_all() ? 0 : silent + 1;
    longest = std::max(longest, silent);
  }
  EXPECT_LT(longest, 20);
  EXPECT_LE(offered - before, 40 * 3 * segment_size) << "a little at a time";
}

TEST_F(ShardAcksOutage, ASilentUeOpensNoWindow) {
  for (int i = 0; i < 800; ++i) {
    lab.pass_time(10ms);
    send_all();
  }
  const std::uint32_t before = offered;
  lab.pass_time(10s);
  send_all();
  EXPECT_EQ(offered, before);
}

TEST_F(ShardAcks, SegmentsConsideredLostAreNotInFlight) {
  hosts.open();
  offer(hosts, offered, 30);
  EXPECT_GT(data_sent(), 0);
  lab.pass_time(10s);
  EXPECT_GE(data_sent(), on_wire) << "it is sent again, whatever was in flight";
}

TEST_F(ShardAcks, TwoFlowsShareTheWindow) {
  hosts.open();
  offer(hosts, offered, 60);
  const std::int64_t first = data_sent();
  ScriptedHosts other{lab};
  other.ue_to_server.src_port = 40001;
  other.open();
  std::uint32_t of_other = 0;
  offer(other, of_other, 60);
  EXPECT_EQ(data_sent(), 0) << "the window is full";
  lab.pass_time(20ms);
  hosts.ue(Flags::ack_bit, 0, static_cast<std::uint32_t>(first / on_wire * segment_size));
  std::int64_t long_flow = 0;
  std::int64_t new_flow = 0;
  while (const auto seen = lab.next(Side::radio)) {
    if (seen->payload.empty()) continue;
    (seen->parsed.dst_port == 40001 ? new_flow : long_flow) += seen->parsed.ip_length;
  }
  EXPECT_GT(new_flow, 0);
  EXPECT_GT(long_flow, 0);
}

TEST_F(ShardAcks, AFlowThatEndsLeavesNothingInFlight) {
  hosts.open();
  offer(hosts, offered, 30);
  EXPECT_GT(data_sent(), 0);
  hosts.ue(Flags::rst_bit, 0, 0);
  hosts.server(Flags::rst_bit, offered, 0);
  lab.forget_output();
  ScriptedHosts other{lab};
  other.ue_to_server.src_port = 40001;
  other.open();
  std::uint32_t of_other = 0;
  offer(other, of_other, 30);
  EXPECT_EQ(data_sent(), 14 * on_wire);
}

/// A flow that waits for others is looked for among all of its UE's. One whose UE does not read is none of them, or
/// every packet of a UE with many such would have them all looked at.
TEST_F(ShardAcks, AFlowWithAClosedPeerWindowDoesNotWaitForBudget) {
  const auto waiting = [this] {
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    return bearers.at(0).waiting;
  };
  hosts.open();
  hosts.ue_window = 0;
  hosts.ue(Flags::ack_bit, 0, 0);
  offer(hosts, offered, 4);
  EXPECT_EQ(waiting(), 0U);
  ScriptedHosts other{lab};
  other.ue_to_server.src_port = 40001;
  other.open();
  std::uint32_t of_other = 0;
  offer(other, of_other, 30);
  EXPECT_EQ(waiting(), 1U) << "the law's window is full";
  const auto sent = static_cast<std::uint32_t>(data_sent() / on_wire * segment_size);
  ASSERT_GT(sent, 0U);
  other.ue_window = 0;
  lab.pass_time(20ms);
  other.ue(Flags::ack_bit, 0, sent);
  EXPECT_EQ(waiting(), 0U);
  other.ue_window = 1000;
  other.ue(Flags::ack_bit, 0, sent);
  EXPECT_GT(data_sent(), 0);
  other.ue(Flags::rst_bit, 0, 0);
  EXPECT_EQ(waiting(), 0U);
}

/// The first flow has the whole window in flight, and a newer one waits with nothing in flight.
class ShardAcksBudgetSharing : public ShardAcks {
 protected:
  /// Opens both flows, and between them `idle_flows` flows that have nothing to send.
  void begin(int idle_flows = 0) {
    hosts.open();
    offer(hosts, offered, 14);
    EXPECT_EQ(data_sent(), 14 * on_wire);
    std::vector<std::unique_ptr<ScriptedHosts>> idle;
    for (int i = 0; i < idle_flows; ++i) {
      idle.push_back(std::make_unique<ScriptedHosts>(lab));
      idle.back()->ue_to_server.src_port = static_cast<std::uint16_t>(41000 + i);
      idle.back()->open();
    }
    waiting.ue_to_server.src_port = 40001;
    waiting.open();
    offer(waiting, of_waiting, 20);
    EXPECT_EQ(data_sent(), 0) << "the window is full";
    lab.pass_time(20ms);
  }

 public:
  ScriptedHosts waiting{lab};
  std::uint32_t of_waiting = 0;
};

TEST_F(ShardAcksBudgetSharing, AWaitingFlowGetsTheBudgetOfAnIdleFlow) {
  begin();
  hosts.ue(Flags::ack_bit, 0, offered);
  EXPECT_GT(data_sent(), 0);
}

TEST_F(ShardAcksBudgetSharing, AWaitingFlowGetsTheBudgetPastManyIdleFlows) {
  begin(20);
  hosts.ue(Flags::ack_bit, 0, offered);
  EXPECT_GT(data_sent(), 0);
}

TEST_F(ShardAcksBudgetSharing, AWaitingFlowGetsTheBudgetOfAClosingFlow) {
  begin();
  hosts.server(Flags::fin_bit | Flags::ack_bit, offered, 0);
  data_sent();
  hosts.ue(Flags::ack_bit, 0, offered + 1);
  EXPECT_GT(data_sent(), 0);
}

TEST_F(ShardAcksBudgetSharing, AWaitingFlowGetsTheBudgetOfARecoveredFlow) {
  begin();
  hosts.ue(Flags::ack_bit, 0, 0);  // a duplicate: something is missing
  hosts.ue(Flags::ack_bit, 0, offered);
  EXPECT_GT(data_sent(), 0);
}

TEST_F(ShardAcksBudgetSharing, AWaitingFlowGetsTheBudgetOfAResetFlow) {
  begin();
  hosts.ue(Flags::rst_bit, 0, 0);
  hosts.server(Flags::rst_bit, offered, 0);
  EXPECT_GT(data_sent(), 0);
}

/// A download beside uploads of the same UE that their servers do not acknowledge: these have all that a UE may hold,
/// and the download's server is left without a window.
class ShardAcksClosedWindow : public ShardAcks {
 protected:
  static proxy::ShardConfig small_share() {
    proxy::ShardConfig config = acks_config();
    config.limits.ue_share = 0.006;  // of 21 MB
    return config;
  }
  ShardAcksClosedWindow() : ShardAcks(small_share()) {}

  /// The server sends four segments at a time while it may, and 5 ms later the UE acknowledges all but the last
  /// `unheard`.
  void download(int rounds, std::uint32_t unheard) {
    for (; rounds > 0 && offered + segment_size <= edge_; --rounds) {
      for (int i = 0; i < 4 && offered + segment_size <= edge_; ++i) offer(hosts, offered, 1);
      lab.pass_time(5ms);
      hosts.ue(Flags::ack_bit, 0, offered - unheard * segment_size);
      listen();
    }
  }
  /// Reads the windows that the server gets.
  void listen() {
    while (const auto seen = lab.next(Side::core)) {
      if (seen->parsed.src_port != hosts.ue_to_server.src_port) continue;
      const std::uint32_t window = std::uint32_t{seen->segment().window} << hosts.options.window_scale;
      edge_ = seen->segment().ack.raw() + window - (hosts.server_isn.raw() + 1);
    }
  }
  void begin_uploads() {
    std::uint16_t port = hosts.ue_to_server.src_port;
    for (ScriptedHosts& upload : uploads_) {
      upload.ue_to_server.src_port = ++port;
      upload.open();
      for (std::uint32_t sent = 0; sent < uploaded; sent += segment_size)
        upload.ue(Flags::ack_bit, sent, 0, std::string(segment_size, 'u'));
    }
  }
  void end_uploads() {
    for (ScriptedHosts& upload : uploads_) upload.ue(Flags::rst_bit, uploaded, 0);
    for (ScriptedHosts& upload : uploads_) upload.server(Flags::rst_bit, 0, 0);
    lab.forget_output();
  }

  static constexpr std::uint32_t uploaded = 60 * segment_size;
  std::array<ScriptedHosts, 3> uploads_{ScriptedHosts{lab}, ScriptedHosts{lab}, ScriptedHosts{lab}};
  std::uint32_t edge_ = 64240;  ///< right edge of the server's window: bytes that it may send
};

TEST_F(ShardAcksClosedWindow, IsReopenedOnceOthersFreeMemory) {
  hosts.open();
  download(100, 0);
  begin_uploads();
  download(100, 3);
  ASSERT_LT(edge_, offered + segment_size) << "the server has used up its window";
  end_uploads();
  for (int i = 0; i < 100 && lab.silent(Side::core) && lab.silent(Side::radio); ++i) lab.pass_time(1ms);
  EXPECT_TRUE(lab.silent(Side::radio)) << "nothing was sent again until then, nor acknowledged by the UE";
  listen();
  EXPECT_GT(edge_, offered + 10 * segment_size);
}

TEST_F(ShardAcks, ReportsDoNotChangeTheWindow) {
  hosts.open();
  ScriptedReports reports{lab, hosts};
  for (int i = 0; i < 5; ++i) {
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.allowance = Bytes(1'000'000);
    reports.send(arrival);
  }
  offer(hosts, offered, 30);
  EXPECT_EQ(data_sent(), 14 * on_wire);
  lab.pass_time(1s);
  EXPECT_EQ(lab.count(proxy::Counter::fallbacks), 0U);
}

/// A UE that acknowledges everything after `trip`, beside reports each `period`, for `rounds` of such.
class ShardAcksAndReports : public ShardAcks {
 protected:
  void go_on(int rounds, Duration trip, double transmitted_share, Bytes queue = Bytes(1000)) {
    for (int i = 0; i < rounds; ++i) {
      // What did not fit the proxy's window is sent again.
      while (const auto seen = lab.next(Side::core)) offered = seen->segment().ack.raw() - (hosts.server_isn.raw() + 1);
      offer(hosts, offered, 20);
      for (Duration past{}; past < trip; past += ScriptedReports::period) {
        lab.pass_time(ScriptedReports::period);
        proxy::ReportArrival arrival = reports.next();
        arrival.bearer.queue = queue;
        arrival.bearer.arrived = arrived_;
        arrival.bearer.transmitted = static_cast<std::uint64_t>(static_cast<double>(arrived_) * transmitted_share);
        reports.send(arrival);
      }
      receive();
      hosts.ue(Flags::ack_bit, 0, received_);
    }
  }
  /// What came out is at the UE, and counted at the Node-B.
  void receive() {
    while (const auto seen = lab.next(Side::radio)) {
      if (seen->payload.empty()) continue;
      arrived_ += seen->parsed.ip_length;
      const auto size = static_cast<std::uint32_t>(seen->payload.size());
      const std::uint32_t end = seen->segment().seq.raw() + size - (hosts.server_isn.raw() + 1);
      received_ = std::max(received_, end);
    }
  }
  proxy::Controller controller() {
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    return bearers.at(0).controller;
  }

 public:
  ScriptedReports reports{lab, hosts};

 private:
  std::uint32_t received_ = 0;  ///< data of the server, bytes
  std::uint64_t arrived_ = 0;
};

TEST_F(ShardAcksAndReports, TheFasterFeedbackSteers) {
  hosts.open();
  go_on(20, 20ms, 1);
  EXPECT_EQ(controller(), proxy::Controller::acks) << "25 ms by reports, 20 by acknowledgements";
}

TEST_F(ShardAcksAndReports, ReportsSteerIfAcksAreLate) {
  hosts.open();
  go_on(20, 60ms, 1);
  EXPECT_EQ(controller(), proxy::Controller::reports) << "25 ms by reports, 60 by acknowledgements";
  EXPECT_EQ(lab.count(proxy::Counter::reports_distrusted), 0U);
  lab.pass_time(1s);
  EXPECT_EQ(controller(), proxy::Controller::acks) << "reports have stopped";
  EXPECT_EQ(lab.count(proxy::Counter::fallbacks), 0U);
}

TEST_F(ShardAcksAndReports, ReportsThatContradictAcksAreCountedAndIgnored) {
  hosts.open();
  go_on(100, 60ms, 0.1);
  EXPECT_GT(lab.count(proxy::Counter::reports_distrusted), 0U);
  EXPECT_EQ(controller(), proxy::Controller::acks);
}

// A restart alone does not show that the reports are right now.
TEST_F(ShardAcksAndReports, ARestartedNodeBRemainsDistrusted) {
  hosts.open();
  go_on(100, 60ms, 0.1);
  const std::uint64_t before = lab.count(proxy::Counter::reports_distrusted);
  proxy::ReportArrival restarted = reports.next();
  restarted.epoch = 2;
  reports.send(restarted);
  EXPECT_EQ(lab.count(proxy::Counter::reports_distrusted), before + 1);
}

proxy::ShardConfig proxy_then_acks() {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = proxy::ControllerLocation::nodeb;
  config.smvs.without_reports = proxy::WithoutReports::acks;
  return config;
}

/// Ten segments are sent each second over 1 Mb/s and 20 ms there and back. A report each second arrives when the first
/// of them has left, so the reported queue exceeds what the source's mean rate explains.
TEST(AckController, CorrectReportsOfAnAppLimitedUeAreTrusted) {
  constexpr std::int64_t segment = 1500;
  constexpr int burst = 10;
  constexpr Duration on_air = 12ms;
  const control::DelayBasedParameters parameters;
  proxy::AckController controller(parameters);
  control::ReportCheck check;
  control::feedback::BearerReport report;
  for (int second = 1; second <= 60; ++second) {
    const Instant begin(1h + second * 1s);
    controller.resume(begin);
    for (int i = 1; i <= burst; ++i) {
      control::AckSample ack_sample;
      ack_sample.now = begin + 20ms + i * on_air;
      ack_sample.delivered = Bytes(segment);
      ack_sample.round_trip = 20ms + i * on_air;
      ack_sample.in_flight = Bytes((burst - i) * segment);
      controller.on_ack(ack_sample);
      report.transmitted += static_cast<std::uint64_t>(segment);
      report.queue = ack_sample.in_flight;
      if (i != 1) continue;
      EXPECT_TRUE(controller.on_report(ack_sample.now, report, check)) << "second " << second;
    }
  }
}

class ShardWithoutReports : public ShardAcks {
 protected:
  ShardWithoutReports() : ShardAcks(proxy_then_acks()) {}
};

TEST_F(ShardWithoutReports, AckBasedControlReplacesLateReports) {
  hosts.open();
  ScriptedReports reports{lab, hosts};
  proxy::ReportArrival none = reports.next();
  none.bearer.allowance = Bytes(0);
  reports.send(none);
  offer(hosts, offered, 30);
  EXPECT_EQ(data_sent(), 0) << "the report's allowance";
  lab.pass_time(1s);
  EXPECT_EQ(data_sent(), 14 * on_wire) << "reports are late";
  EXPECT_EQ(lab.count(proxy::Counter::fallbacks), 0U) << "no congestion control";
  proxy::ReportArrival some = reports.next();
  some.bearer.allowance = Bytes(2200);
  reports.send(some);
  EXPECT_EQ(data_sent(), 2 * on_wire) << "and reports are back";
}

}  // namespace
}  // namespace sluice::test
