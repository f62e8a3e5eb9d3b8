// Tests of the Node-B's reporter: when it reports, what its reports contain, and the allowances that it grants.
#include "emulator/cell/reporter.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulator/channel/constant.hpp"
#include "tests/unit/emulator_models/one_cell.hpp"

namespace sluice::emulator {
namespace {

using control::feedback::BearerReport;
using control::feedback::BearerStatus;
using control::feedback::RadioState;
using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::frame;
using test::OneCell;
using test::Recorder;

class Sink final : public ReportSink {
 public:
  [[nodiscard]] std::uint64_t next_sequence() const override { return batches.size() + 1; }
  void send(std::span<const BearerReport> reports, Instant now) override {
    batches.push_back({now, {reports.begin(), reports.end()}});
  }
  struct Batch {
    Instant at;
    std::vector<BearerReport> reports;
  };
  std::vector<Batch> batches;
};

/// A rate that can be changed while it runs.
class Dial final : public SteppedChannel {
 public:
  explicit Dial(const std::int64_t& bytes) : bytes_(bytes) {}

 protected:
  LinkGrant step(std::uint64_t /*tti*/) override {
    LinkGrant grant;
    grant.capacity = Bytes(bytes_);
    return grant;
  }

 private:
  const std::int64_t& bytes_;
};

ReporterConfig every_ten_ms() {
  ReporterConfig config;
  config.period = milliseconds(10);
  return config;
}

class ReporterTest : public testing::Test, protected OneCell {
 protected:
  ReporterTest() : OneCell(milliseconds(1)) {
    cell.add_ue({the_ue, {Bytes(40), BufferUnit::frames, 0}, std::make_unique<Dial>(per_tti_), nullptr});
  }
  void send(int packets, std::size_t length = 1000) { OneCell::send(the_ue, packets, length); }
  /// Begins to report on the cell.
  Reporter& start(const ReporterConfig& config = every_ten_ms()) {
    reporter_.emplace(loop, cell, config, sink_);
    reporter_->start(loop.now());
    return *reporter_;
  }

  std::int64_t per_tti_ = 1000;  ///< bytes
  Sink sink_;

 private:
  std::optional<Reporter> reporter_;
};

TEST_F(ReporterTest, ReportsTheQueueAndItsCountersEveryPeriod) {
  start();
  send(100);
  loop.run_until(at_ms(25));
  ASSERT_EQ(sink_.batches.size(), 2U);
  EXPECT_EQ(sink_.batches[0].at, at_ms(10));
  EXPECT_EQ(sink_.batches[1].at, at_ms(20));
  ASSERT_EQ(sink_.batches[1].reports.size(), 1U);
  const BearerReport& report = sink_.batches[1].reports[0];
  EXPECT_EQ(report.ue, the_ue);
  EXPECT_EQ(report.state, RadioState::normal);
  EXPECT_EQ(report.arrived, 100'000U);
  EXPECT_EQ(report.arrived, report.transmitted + report.dropped + static_cast<std::uint64_t>(report.queue.count()));
  EXPECT_EQ(report.queue_frames, report.queue.count() / 40);
  EXPECT_DOUBLE_EQ(report.service_rate.bytes_per_second(), 1e6);
  EXPECT_NEAR(report.mean_service_rate.bytes_per_second(), 1e6, 0.1e6);
  EXPECT_EQ(report.active_users, 1U);
  EXPECT_FALSE(report.allowance.has_value());
  EXPECT_EQ(report.buffer, Bytes(0));
}

TEST_F(ReporterTest, WhatCodelDropsIsReportedAsDropped) {
  const IpAddress managed = address("10.45.0.3");
  QueueConfig queue{Bytes(0), BufferUnit::packets, 0};
  queue.management = QueueManagement::codel;
  cell.add_ue({managed, queue, std::make_unique<Dial>(per_tti_), nullptr});
  start();
  for (int i = 0; i < 500; ++i) {
    OneCell::send(managed, 2, 900);
    loop.run_until(loop.now() + milliseconds(1));
  }
  const BearerReport& report = sink_.batches.back().reports[1];
  EXPECT_GT(report.dropped, 5U * 900);
  EXPECT_EQ(report.dropped % 900, 0U) << "whole packets";
  EXPECT_EQ(report.arrived, 900'000U);
  EXPECT_EQ(report.arrived, report.transmitted + report.dropped + static_cast<std::uint64_t>(report.queue.count()));
}

TEST_F(ReporterTest, AnEmptyQueueDoesNotLowerTheMean) {
  start();
  send(30);
  loop.run_until(at_ms(500));
  const BearerReport& report = sink_.batches.back().reports[0];
  EXPECT_EQ(report.service_rate, Rate());
  EXPECT_GT(report.mean_service_rate.bytes_per_second(), 0.8e6);
  EXPECT_EQ(report.active_users, 0U);
}

TEST_F(ReporterTest, ABackloggedUeWithoutServiceIsInOutage) {
  start({.period = milliseconds(10), .outage_after = milliseconds(50), .law = {}});
  send(100);
  loop.run_until(at_ms(30));
  per_tti_ = 0;
  loop.run_until(at_ms(75));
  EXPECT_EQ(sink_.batches.back().reports[0].state, RadioState::normal);
  loop.run_until(at_ms(95));
  EXPECT_EQ(sink_.batches.back().reports[0].state, RadioState::outage);
  per_tti_ = 1000;
  loop.run_until(at_ms(115));
  EXPECT_EQ(sink_.batches.back().reports[0].state, RadioState::normal);
}

TEST_F(ReporterTest, ASharpChangeIsReportedAtOnceAtMostOncePerPeriod) {
  Reporter& reporter = start({.period = milliseconds(40), .sharp_change = 0.5, .law = {}});
  send(2000);
  loop.run_until(at_ms(161));
  EXPECT_EQ(sink_.batches.size(), 4U);
  EXPECT_EQ(reporter.early_reports(), 0U);
  per_tti_ = 200;
  loop.run_until(at_ms(199));
  ASSERT_EQ(sink_.batches.size(), 5U);
  EXPECT_EQ(sink_.batches[4].at, at_ms(170));
  EXPECT_EQ(reporter.early_reports(), 1U);
  loop.run_until(at_ms(201));
  EXPECT_EQ(sink_.batches.size(), 6U);
  EXPECT_EQ(sink_.batches[5].at, at_ms(200));
}

TEST_F(ReporterTest, ADepartingUeIsReportedOnceMore) {
  start();
  send(100);
  loop.run_until(at_ms(12));
  per_tti_ = 0;
  Recorder elsewhere;
  cell.set_state(0, RadioState::handover);
  cell.downlink(0).forward_all(elsewhere, loop.now());
  loop.run_until(at_ms(25));
  const BearerReport& leaving = sink_.batches.back().reports.at(0);
  EXPECT_EQ(leaving.state, RadioState::handover);
  EXPECT_EQ(leaving.queue, Bytes(40 * 25 * (100 - 12))) << "what was handed on waits for it elsewhere";
  EXPECT_EQ(leaving.arrived, leaving.transmitted + leaving.dropped + static_cast<std::uint64_t>(leaving.queue.count()));
  cell.detach(0, loop.now());
  loop.run_until(at_ms(45));
  EXPECT_TRUE(sink_.batches.back().reports.empty());
}

TEST_F(ReporterTest, AUeThatLeavesBetweenReportsIsReportedOnceMore) {
  start();
  loop.run_until(at_ms(12));
  cell.set_state(0, RadioState::handover);
  cell.detach(0, loop.now());
  loop.run_until(at_ms(35));
  ASSERT_EQ(sink_.batches.size(), 3U);
  ASSERT_EQ(sink_.batches[1].reports.size(), 1U);
  EXPECT_EQ(sink_.batches[1].reports[0].state, RadioState::handover);
  EXPECT_TRUE(sink_.batches[2].reports.empty());
}

TEST_F(ReporterTest, CountersStartWhenAUeAttaches) {
  start();
  send(100);
  loop.run_until(at_ms(12));
  per_tti_ = 0;
  Recorder elsewhere;
  cell.set_state(0, RadioState::handover);
  cell.downlink(0).forward_all(elsewhere, loop.now());
  cell.detach(0, loop.now());
  loop.run_until(at_ms(32));
  for (int i = 0; i < 5; ++i) cell.take_over(0, frame(the_ue, 1000), Bytes(1000), loop.now());
  per_tti_ = 1000;
  cell.attach(0, loop.now());
  loop.run_until(at_ms(35));
  send(7);
  loop.run_until(at_ms(41));
  const BearerReport& report = sink_.batches.back().reports.at(0);
  EXPECT_EQ(report.state, RadioState::normal);
  EXPECT_EQ(report.arrived, 12'000U) << "what was handed over came with it";
  EXPECT_EQ(report.arrived, report.transmitted + static_cast<std::uint64_t>(report.queue.count()));
  EXPECT_EQ(report.dropped, 0U);
  EXPECT_NEAR(report.service_rate.bytes_per_second(), 1e6, 0.15e6) << "since it is here";
}

TEST_F(ReporterTest, AUeWhosePacketsWouldBeLostGetsNoAllowance) {
  control::SmvsParameters law;
  law.step = milliseconds(5);
  start({.period = milliseconds(5), .law = law});
  loop.run_until(at_ms(6));
  EXPECT_GT(sink_.batches.back().reports.at(0).allowance, Bytes(0));
  cell.set_state(0, RadioState::handover);
  cell.set_losing(0);
  loop.run_until(at_ms(11));
  EXPECT_EQ(sink_.batches.back().reports.at(0).allowance, Bytes(0));
  cell.detach(0, loop.now());
  loop.run_until(at_ms(21));
  cell.attach(0, loop.now());
  loop.run_until(at_ms(26));
  EXPECT_GT(sink_.batches.back().reports.at(0).allowance, Bytes(0)) << "it is here again";
}

TEST_F(ReporterTest, AStatusForAnotherNodeBDoesNotConfirmOurGrants) {
  control::SmvsParameters law;
  law.step = milliseconds(5);
  const auto granted_after = [&](std::optional<std::uint64_t> reporter_id) {
    Sink sink;
    ReporterConfig config{.period = milliseconds(5), .law = law};
    config.sender = 7;
    Reporter reporter(loop, cell, config, sink);
    reporter.start(loop.now());
    loop.run_until(loop.now() + milliseconds(6));
    BearerStatus status;
    status.ue = the_ue;
    status.applied_sequence = 1;
    status.reporter = reporter_id;
    reporter.on_status(status, loop.now());
    loop.run_until(loop.now() + milliseconds(5));
    return sink.batches.back().reports.at(0).allowance.value();
  };
  const Bytes own = granted_after(7);
  EXPECT_GT(own, Bytes(0)) << "the first grant was taken up and used: there is room again";
  EXPECT_EQ(granted_after(std::nullopt), own) << "a proxy that does not say whose it answers";
  EXPECT_LT(granted_after(8), own) << "the first grant is still in flight";
}

TEST_F(ReporterTest, APollIsAnsweredAtOnceForAllUes) {
  Reporter reporter(loop, cell, every_ten_ms(), sink_);
  reporter.on_poll(loop.now());
  EXPECT_TRUE(sink_.batches.empty()) << "it has not begun";
  reporter.start(loop.now());
  send(100);
  loop.run_until(at_ms(14));
  ASSERT_EQ(sink_.batches.size(), 1U);
  reporter.on_poll(loop.now());
  ASSERT_EQ(sink_.batches.size(), 2U);
  ASSERT_EQ(sink_.batches[1].reports.size(), 1U);
  EXPECT_EQ(sink_.batches[1].reports[0].arrived, 100'000U);
  EXPECT_GT(sink_.batches[1].reports[0].transmitted, sink_.batches[0].reports[0].transmitted) << "as it is now";
  reporter.on_poll(loop.now());
  EXPECT_EQ(sink_.batches.size(), 2U) << "answered by what has just gone out";
  loop.run_until(at_ms(21));
  ASSERT_EQ(sink_.batches.size(), 3U);
  EXPECT_EQ(sink_.batches[2].at, at_ms(20)) << "the period goes on";
}

TEST_F(ReporterTest, StopsAndStartsAgain) {
  Reporter& reporter = start();
  loop.run_until(at_ms(15));
  reporter.stop();
  loop.run_until(at_ms(50));
  EXPECT_EQ(sink_.batches.size(), 1U);
  reporter.start(loop.now());
  reporter.start(loop.now());
  loop.run_until(at_ms(75));
  EXPECT_EQ(sink_.batches.size(), 3U);
}

TEST_F(ReporterTest, RefusesWhatIsOutOfRange) {
  const auto refused = [&](const ReporterConfig& config) {
    EXPECT_THROW(Reporter(loop, cell, config, sink_), std::invalid_argument);
  };
  refused({.period = milliseconds(0), .law = {}});
  refused({.sharp_change = -1, .law = {}});
  refused({.mean_alpha = 1, .law = {}});
  control::SmvsParameters law;
  law.step = milliseconds(7);
  refused({.period = milliseconds(5), .law = law});
}

/// Emulates a proxy with unlimited data: it uses each allowance when the report arrives, sends it at once and reports
/// that.
class Proxy final : public EventTarget {
 public:
  Proxy(EventLoop& loop, Cell& cell, Sink& sink, IpAddress ue, Duration delay, std::size_t length)
      : loop_(loop), cell_(cell), sink_(sink), ue_(ue), delay_(delay), length_(length) {}
  void set_reporter(Reporter& reporter) { reporter_ = &reporter; }

  /// Runs until `end`; looks for new reports every half millisecond.
  void run(Instant end) {
    for (; loop_.now() < end; loop_.run_until(loop_.now() + std::chrono::microseconds(500))) {
      for (; seen_ < sink_.batches.size(); ++seen_) loop_.at(sink_.batches[seen_].at + delay_, *this, seen_);
    }
  }
  void on_event(std::uint64_t tag, Instant now) override {
    if (tag >= arrivals) {
      arrive(tag - arrivals, now);
      return;
    }
    credit_ += sink_.batches[tag].reports[0].allowance.value().count();
    const auto packets = credit_ / static_cast<std::int64_t>(length_);
    credit_ -= packets * static_cast<std::int64_t>(length_);
    injected_ += static_cast<std::uint64_t>(packets) * length_;
    applied_ = tag + 1;
    statuses_.push_back({.ue = ue_,
                         .injected = injected_,
                         .applied_sequence = applied_,
                         .backlog = Bytes(1'000'000),
                         .allowance_left = Bytes(credit_),
                         .active_flows = 1});
    loop_.at(now + delay_, *this, arrivals + (static_cast<std::uint64_t>(packets) << 32U) + statuses_.size() - 1);
  }

 private:
  static constexpr std::uint64_t arrivals = std::uint64_t{1} << 62U;
  void arrive(std::uint64_t what, Instant now) {
    for (std::uint64_t i = 0; i < what >> 32U; ++i) cell_.receive(frame(ue_, length_), now);
    reporter_->on_status(statuses_[what & 0xffffffffU], now);
  }

  EventLoop& loop_;
  Cell& cell_;
  Sink& sink_;
  IpAddress ue_;
  Duration delay_;
  std::size_t length_;
  Reporter* reporter_ = nullptr;
  std::size_t seen_ = 0;
  std::int64_t credit_ = 0;
  std::uint64_t injected_ = 0;
  std::uint64_t applied_ = 0;
  std::vector<BearerStatus> statuses_;
};

TEST_F(ReporterTest, TheControllerHoldsTheQueueAtItsReference) {
  control::SmvsParameters law;
  law.step = milliseconds(5);
  law.one_way_delay = milliseconds(10);
  law.reference = control::Reference::bytes(Bytes(20'000));
  law.boundary_layer = control::Reference::bytes(Bytes(20'000));
  Reporter& reporter = start({.period = milliseconds(5), .law = law});
  Proxy proxy(loop, cell, sink_, the_ue, milliseconds(10), 512);
  proxy.set_reporter(reporter);
  proxy.run(at_ms(2000));
  const LinkUse before = cell.use(0, loop.now());
  double queue = 0;
  int samples = 0;
  for (double ms = 2000; ms < 6000; ms += 10, ++samples) {
    proxy.run(at_ms(ms));
    queue += static_cast<double>(cell.queue(0).air_bytes().count());
  }
  EXPECT_GT((cell.use(0, loop.now()) - before).utilisation(), 0.99);
  EXPECT_NEAR(queue / samples, 20'000, 5'000);
  ASSERT_NE(reporter.law(0), nullptr);
  EXPECT_NEAR(reporter.law(0)->mean_rate.bytes_per_second(), 1e6, 0.05e6);
}

TEST_F(ReporterTest, TheRadiosStateIsReported) {
  start({.period = milliseconds(5), .law = {}});
  const auto reported = [&](double ms) {
    loop.run_until(at_ms(ms));
    return sink_.batches.back().reports[0].state;
  };
  EXPECT_EQ(reported(5), RadioState::normal);
  for (const RadioState state : {RadioState::handover, RadioState::outage, RadioState::normal, RadioState::released}) {
    cell.set_state(0, state);
    EXPECT_EQ(reported(to_milliseconds(loop.now().time_since_epoch()) + 5), state);
  }
}

TEST_F(ReporterTest, StatusesOfUnknownUesAreIgnored) {
  Reporter reporter(loop, cell, {.period = milliseconds(5), .law = control::SmvsParameters{}}, sink_);
  reporter.on_status({address("192.0.2.7"), 1000, 1, Bytes(), Bytes(), 1}, loop.now());
  reporter.on_sink_restart();
  reporter.start(loop.now());
  loop.run_until(at_ms(20));
  EXPECT_TRUE(sink_.batches.back().reports[0].allowance.has_value());
}

/// The mean is over arrivals: e^{−2I} of the past, I = 1 s.
TEST_F(ReporterTest, ThePriceIsComputedFromTheArrivals) {
  ReporterConfig config = every_ten_ms();
  config.price = control::ClampPriceParameters{};
  per_tti_ = 0;
  start(config);
  send(1);
  loop.run_until(at_ms(1000));
  send(1);
  loop.run_until(at_ms(1010));
  const auto clamp = sink_.batches.back().reports[0].clamp;
  ASSERT_TRUE(clamp);
  EXPECT_NEAR(static_cast<double>(clamp->mean_queue.count()), 0.1353 * 1000 + 0.8647 * 2000, 1);
  EXPECT_EQ(clamp->price, Duration::zero()) << "below the target";
}

TEST_F(ReporterTest, GwaAdvertisesTheFreeBufferSharedByTheFlowsOfTheProxy) {
  ReporterConfig config = every_ten_ms();
  config.advertised_buffer = Bytes(50'000);
  per_tti_ = 0;
  Reporter& reporter = start(config);
  send(10);  // of 1000 bytes, whole frames of 40
  BearerStatus status;
  status.ue = the_ue;
  status.active_flows = 4;
  reporter.on_status(status, loop.now());
  loop.run_until(at_ms(10));
  EXPECT_EQ(sink_.batches.back().reports[0].gwa_window, Bytes((50'000 - 10'000) / 4));
}

/// Lets every flow have as much, and remembers how many there were.
struct Upstream final : UpstreamRouter {
  Bytes window(double flows, Instant /*now*/) override {
    asked_for = flows;
    return free;
  }
  Bytes free;
  double asked_for = 0;
};

TEST_F(ReporterTest, TheSmallerWindowOfTheUpstreamRouterIsAdvertised) {
  Upstream router;
  ReporterConfig config = every_ten_ms();
  config.advertised_buffer = Bytes(50'000);
  config.upstream = &router;
  per_tti_ = 0;
  Reporter& reporter = start(config);
  BearerStatus status;
  status.ue = the_ue;
  status.active_flows = 4;
  reporter.on_status(status, loop.now());
  router.free = Bytes(7'000);
  loop.run_until(at_ms(10));
  EXPECT_EQ(sink_.batches.back().reports[0].gwa_window, Bytes(7'000));
  EXPECT_EQ(router.asked_for, 4);
  router.free = Bytes(13'000);
  loop.run_until(at_ms(20));
  EXPECT_EQ(sink_.batches.back().reports[0].gwa_window, Bytes(50'000 / 4));
}

TEST_F(ReporterTest, AReportHasNeitherPriceNorWindowUnlessConfigured) {
  start();
  loop.run_until(at_ms(10));
  EXPECT_FALSE(sink_.batches.back().reports[0].clamp);
  EXPECT_FALSE(sink_.batches.back().reports[0].gwa_window);
}

}  // namespace
}  // namespace sluice::emulator
