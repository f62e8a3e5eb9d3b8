// What a Node-B leaves out of its reports.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/cell/reporter.hpp"
#include "emulator/channel/constant.hpp"
#include "tests/unit/emulator_models/one_cell.hpp"

namespace sluice::emulator {
namespace {

using control::feedback::BearerReport;
using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::OneCell;

class Sink final : public ReportSink {
 public:
  [[nodiscard]] std::uint64_t next_sequence() const override { return batches.size() + 1; }
  void send(std::span<const BearerReport> reports, Instant now) override {
    batches.push_back({now, {reports.begin(), reports.end()}});
  }
  [[nodiscard]] bool may_leave_out() const override { return lenient; }
  void send_changes(std::span<const BearerReport> reports, Duration refresh, Instant now) override {
    refreshes.push_back(refresh);
    send(reports, now);
  }
  struct Batch {
    Instant at;
    std::vector<BearerReport> reports;
  };
  bool lenient = false;
  std::vector<Duration> refreshes;
  std::vector<Batch> batches;
};

ReporterConfig every_ten_ms() {
  ReporterConfig config;
  config.period = milliseconds(10);
  return config;
}

class ReporterOmitsUes : public testing::Test, protected OneCell {
 protected:
  ReporterOmitsUes() : OneCell(milliseconds(1)) {
    cell.add_ue({the_ue, {Bytes(40), BufferUnit::frames, 0}, link(), nullptr});
  }
  static std::unique_ptr<Channel> link() {
    return std::make_unique<ConstantChannel>(Rate::bytes_per_second(1e6), milliseconds(1));
  }
  void send(int packets) { OneCell::send(the_ue, packets, 1000); }
  Reporter& start(const ReporterConfig& config) {
    reporter_.emplace(loop, cell, config, sink_);
    reporter_->start(loop.now());
    return *reporter_;
  }

  Sink sink_;

 private:
  std::optional<Reporter> reporter_;
};

/// An unchanged UE is omitted until its refresh; a change is reported in the same period.
TEST_F(ReporterOmitsUes, UnchangedUesAreOmittedIfTheProxySupportsIt) {
  ReporterConfig config = every_ten_ms();
  config.refresh = milliseconds(100);
  Reporter& reporter = start(config);
  loop.run_until(at_ms(205));
  EXPECT_EQ(reporter.reports(), 20U) << "nobody has said that he knows what it means";
  sink_.lenient = true;
  loop.run_until(at_ms(405));
  EXPECT_EQ(reporter.reports(), 22U);
  EXPECT_EQ(sink_.batches.size(), 40U) << "that nothing has changed is said, too";
  EXPECT_EQ(sink_.refreshes, std::vector<Duration>(20, milliseconds(100)));
  send(1);
  loop.run_until(at_ms(455));
  EXPECT_EQ(sink_.batches[40].reports.size(), 1U) << "it arrived";
  EXPECT_EQ(sink_.batches[40].reports.at(0).arrived, 1000U);
  EXPECT_EQ(sink_.batches[41].reports.size(), 1U) << "nothing was served since";
  EXPECT_EQ(sink_.batches[42].reports.size(), 0U);
  reporter.on_poll(at_ms(455));
  EXPECT_EQ(sink_.batches.back().reports.size(), 1U) << "who asks is told all";
}

TEST_F(ReporterOmitsUes, EveryUeIsReportedOncePerRefreshInterval) {
  for (int i = 3; i < 23; ++i) {
    cell.add_ue({address("10.45.0." + std::to_string(i)), {Bytes(40), BufferUnit::frames, 0}, link(), nullptr});
  }
  ReporterConfig config = every_ten_ms();
  config.refresh = milliseconds(70);
  sink_.lenient = true;
  start(config);
  loop.run_until(at_ms(715));
  EXPECT_EQ(sink_.batches[0].reports.size(), 21U);
  std::map<std::string, int> told;
  for (std::size_t i = 1; i < sink_.batches.size(); ++i) {
    EXPECT_EQ(sink_.batches[i].reports.size(), 3U) << i;
    for (const BearerReport& report : sink_.batches[i].reports) ++told[report.ue.to_string()];
  }
  for (const auto& [ue, times] : told) EXPECT_EQ(times, 10) << ue;
  EXPECT_EQ(told.size(), 21U);
}

/// The allowance of an idle UE is that of the last report until it is spent. A new value of the controller therefore
/// triggers no report.
TEST_F(ReporterOmitsUes, TheAllowanceOfAnIdleUeTriggersNoReport) {
  ReporterConfig config = every_ten_ms();
  config.law.emplace();
  config.period = config.law->step;
  config.refresh = std::chrono::seconds(10);
  sink_.lenient = true;
  Reporter& reporter = start(config);
  loop.run_until(at_ms(505));
  EXPECT_EQ(reporter.reports(), 1U);
}

}  // namespace
}  // namespace sluice::emulator
