// Many reports at once do what they do one by one.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Side;
using tcp::Flags;

constexpr unsigned ues = 80;

proxy::ShardConfig config_of(proxy::ControllerLocation law) {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = law;
  config.limits.max_flows = 2 * ues;
  config.limits.max_bearers = 2 * ues;
  return config;
}

/// A shard with a connection of each UE.
struct Many {
  explicit Many(const proxy::ShardConfig& config) : lab(config) {
    for (unsigned i = 0; i < ues; ++i) {
      ScriptedHosts& of = hosts.emplace_back(lab);
      of.ue_to_server.src = IpAddress::v4(10, 45, 1, static_cast<std::uint8_t>(i));
      of.open();
    }
  }
  void offer(unsigned ue, std::uint32_t size) {
    hosts[ue].server(Flags::ack_bit, offered[ue], 0, std::string(size, 's'));
    offered[ue] += size;
  }
  void acknowledge(unsigned ue) { hosts[ue].ue(Flags::ack_bit, 0, offered[ue] / 2); }
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> output(Side side) {
    std::vector<std::vector<std::uint8_t>> frames;
    while (auto seen = lab.next(side)) frames.push_back(std::move(seen->frame));
    return frames;
  }
  [[nodiscard]] std::vector<std::uint64_t> told() {
    std::vector<control::feedback::BearerStatus> statuses;
    lab.shard.collect_status(statuses, false);
    std::vector<std::uint64_t> told;
    for (const auto& status : statuses) {
      told.insert(told.end(),
                  {status.injected, status.applied_sequence, static_cast<std::uint64_t>(status.backlog.count()),
                   static_cast<std::uint64_t>(status.allowance_left.count()), status.reporter.value_or(0)});
    }
    return told;
  }

  ProxyLab lab;
  std::deque<ScriptedHosts> hosts;
  std::array<std::uint32_t, ues> offered{};
};

/// Returns a random report of a UE with or without connections, from one of two Node-Bs, sometimes old.
proxy::ReportArrival some_report(std::mt19937_64& random, std::uint64_t sequence, Instant now) {
  proxy::ReportArrival arrival;
  arrival.bearer.ue = IpAddress::v4(10, 45, 1, static_cast<std::uint8_t>(random() % (ues + 10)));
  arrival.bearer.mean_service_rate = arrival.bearer.service_rate =
      Rate::bits_per_second(static_cast<double>(random() % 9'000'000));
  arrival.bearer.queue = Bytes(random() % 4 == 0 ? 0 : random() % 20'000);
  arrival.bearer.buffer = Bytes(100'000);
  arrival.bearer.allowance = Bytes(random() % 6'000);
  arrival.bearer.state =
      random() % 20 == 0 ? control::feedback::RadioState::handover : control::feedback::RadioState::normal;
  arrival.sender = random() % 15 == 0 ? 2 : 1;
  arrival.epoch = 1;
  arrival.sequence = random() % 10 == 0 ? sequence / 2 : sequence;
  arrival.period = ScriptedReports::period;
  arrival.sender_time = now.time_since_epoch();
  return arrival;
}

void compare(proxy::ControllerLocation law, std::uint64_t seed) {
  Many one_by_one(config_of(law));
  Many at_once(config_of(law));
  std::mt19937_64 random(seed);
  for (std::uint64_t step = 1; step <= 40; ++step) {
    for (Many* const each : {&one_by_one, &at_once}) {
      std::mt19937_64 traffic(seed * 1000 + step);
      for (int i = 0; i < 60; ++i) {
        const auto ue = static_cast<unsigned>(traffic() % ues);
        if (traffic() % 3 == 0) {
          each->acknowledge(ue);
        } else {
          each->offer(ue, 100 + static_cast<std::uint32_t>(traffic() % 900));
        }
      }
    }
    std::vector<proxy::ReportArrival> reports;
    for (std::uint64_t i = random() % 70; i > 0; --i) reports.push_back(some_report(random, step, one_by_one.lab.now));
    for (const proxy::ReportArrival& report : reports) one_by_one.lab.shard.on_report(report, one_by_one.lab.now);
    at_once.lab.shard.on_reports(reports, at_once.lab.now);
    for (const Side side : {Side::radio, Side::core})
      ASSERT_EQ(one_by_one.output(side), at_once.output(side)) << "step " << step;
    ASSERT_EQ(one_by_one.told(), at_once.told()) << "step " << step;
    for (Many* const each : {&one_by_one, &at_once}) each->lab.pass_time(std::chrono::milliseconds(2));
  }
  EXPECT_GT(at_once.lab.count(proxy::Counter::reports_unknown_bearer), 0U);
  EXPECT_GT(at_once.lab.count(proxy::Counter::reports_stale), 0U);
  EXPECT_GT(at_once.lab.count(proxy::Counter::reporters_changed), 0U);
  EXPECT_EQ(at_once.lab.count(proxy::Counter::reports), one_by_one.lab.count(proxy::Counter::reports));
}

TEST(ShardReports, ABatchEqualsSingleReports) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const auto law :
         {proxy::ControllerLocation::nodeb, proxy::ControllerLocation::proxy, proxy::ControllerLocation::acks})
      compare(law, seed);
  }
}

/// Reports may contain any amounts: each is limited to the possible maximum, in the last report as in the first.
TEST(ShardReports, AmountsOfEachReportAreBounded) {
  Many many(config_of(proxy::ControllerLocation::nodeb));
  std::vector<proxy::ReportArrival> reports;
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 40; ++i) {
    proxy::ReportArrival arrival = some_report(random, 1, many.lab.now);
    arrival.bearer.queue = Bytes::max();
    arrival.bearer.service_rate = Rate::bits_per_second(1e30);
    reports.push_back(arrival);
  }
  many.lab.shard.on_reports(reports, many.lab.now);
  for (const proxy::ReportArrival& report : reports) {
    EXPECT_EQ(report.bearer.queue, control::feedback::max_plausible);
    EXPECT_EQ(report.bearer.service_rate, control::feedback::fastest_plausible);
  }
}

}  // namespace
}  // namespace sluice::test
