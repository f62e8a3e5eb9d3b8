// Tests of implausible reports of a Node-B that has the key: connections go on with any values.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/proxy_lab.hpp"
#include "tests/unit/feedback/samples.hpp"

namespace sluice::test {
namespace {

using proxy::ControllerLocation;
using proxy::Mode;
using proxy::Side;
using tcp::Flags;

struct Case {
  Mode mode;
  proxy::Intercept intercept;
  ControllerLocation law = ControllerLocation::nodeb;
};

std::vector<Case> every_case() {
  std::vector<Case> cases{{Mode::smvs, proxy::Intercept::split, ControllerLocation::proxy}};
  for (const proxy::ModeText& text : proxy::mode_table) {
    if (!proxy::needs_feedback(text.mode)) continue;
    if (proxy::can_split(text.mode)) cases.push_back({text.mode, proxy::Intercept::split});
    if (proxy::can_regulate(text.mode))
      cases.push_back({text.mode, proxy::Intercept::regulate, ControllerLocation::acks});
  }
  return cases;
}

class ImplausibleReports : public testing::TestWithParam<Case> {
 public:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config(GetParam().mode);
    config.intercept = GetParam().intercept;
    config.smvs.law = GetParam().law;
    return config;
  }

  /// Anything that the decoder lets pass.
  void report_anything() {
    proxy::ReportArrival arrival = reports.next();
    const IpAddress ue = arrival.bearer.ue;
    arrival.bearer = control::feedback::test::any_report(random);
    arrival.bearer.ue = ue;
    arrival.bearer.state = control::feedback::RadioState::normal;
    arrival.period = Duration(static_cast<std::int64_t>(random() % 60'000'000'000) >> (random() % 36));
    if (random() % 8 == 0) arrival.sender_time = Duration(static_cast<std::int64_t>(random() >> 1));
    reports.send(arrival);
  }
  /// The server sends what follows the last byte that was acknowledged to it, the UE acknowledges what comes.
  void transfer() {
    for (std::uint32_t i = 0; i < 3; ++i) hosts.server(Flags::ack_bit, acked + 1000 * i, 0, std::string(1000, 's'));
    deliver();
  }
  void deliver() {
    while (const auto seen = lab.next(Side::radio)) {
      if (seen->payload.empty()) continue;
      const std::uint32_t begin = position(seen->segment().seq);
      if (begin <= received) received = std::max(received, begin + seen->segment().payload_len);
      hosts.ue(Flags::ack_bit, 0, received);
    }
    while (const auto seen = lab.next(Side::core)) acked = std::max(acked, position(seen->segment().ack));
  }
  /// In the server's stream.
  [[nodiscard]] std::uint32_t position(tcp::SeqNum number) const {
    return static_cast<std::uint32_t>(number - (hosts.server_isn + 1));
  }

  std::mt19937_64 random{1};
  ProxyLab lab{config()};
  ScriptedHosts hosts{lab};
  ScriptedReports reports{lab, hosts};
  std::uint32_t acked = 0;
  std::uint32_t received = 0;
};

TEST_P(ImplausibleReports, DoNotBreakTheConnection) {
  hosts.open();
  for (int i = 0; i < 500; ++i) {
    report_anything();
    transfer();
    lab.pass_time(std::chrono::milliseconds(5));
    deliver();
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    ASSERT_GE(bearers.at(0).allowance, Bytes{}) << "report " << i;
    ASSERT_GE(bearers.at(0).mean_rate.in(std::chrono::minutes(1)), Bytes{}) << "report " << i;
  }
  // Without reports it is a connection like any other within seconds, whatever period the last one claimed; the longest
  // timeout that they may have cost passes first.
  for (int second = 0; second < 60; ++second) {
    lab.pass_time(std::chrono::seconds(1));
    deliver();
  }
  const std::uint32_t before = received;
  for (int i = 0; i < 10; ++i) {
    transfer();
    lab.pass_time(std::chrono::seconds(1));
    deliver();
  }
  EXPECT_GE(received, before + 10'000);
}

// One report with a period of a minute and a rate near zero, then silence.
TEST_P(ImplausibleReports, AClaimedPeriodIsLimitedToTheConfiguredMaximum) {
  hosts.open();
  proxy::ReportArrival report = reports.next();
  report.period = std::chrono::minutes(1);
  report.bearer.service_rate = report.bearer.mean_service_rate = Rate::bits_per_second(1000);
  report.bearer.buffer = Bytes(1500);
  reports.send(report);
  std::vector<proxy::BearerInfo> bearers;
  lab.shard.describe_bearers(bearers, 1);
  const bool observes = GetParam().mode == Mode::observe;
  const bool by_acks = GetParam().mode == Mode::smvs && GetParam().law == ControllerLocation::acks;
  const std::string without = by_acks ? "acknowledgements" : "congestion control";
  ASSERT_EQ(to_string(bearers.at(0).controller), by_acks || observes ? without : "feedback");
  lab.pass_time(config().smvs.fallback.maximum + std::chrono::milliseconds(100));
  bearers.clear();
  lab.shard.describe_bearers(bearers, 1);
  EXPECT_EQ(to_string(bearers.at(0).controller), without);
}

TEST_P(ImplausibleReports, AnotherNodeBReplacesASilentOneDespiteItsClaimedPeriod) {
  hosts.open();
  proxy::ReportArrival report = reports.next();
  report.period = std::chrono::minutes(1);
  reports.send(report);
  report.sender = 77;
  report.period = reports.period;
  lab.pass_time(std::chrono::seconds(1));
  reports.send(report);
  EXPECT_EQ(lab.count(proxy::Counter::reporters_changed), 0U) << "both speak";
  lab.pass_time(config().smvs.fallback.maximum);
  reports.send(report);
  EXPECT_EQ(lab.count(proxy::Counter::reporters_changed), 1U);
}

INSTANTIATE_TEST_SUITE_P(Modes, ImplausibleReports, testing::ValuesIn(every_case()), [](const auto& of) {
  std::string name(proxy::to_string(of.param.mode));
  std::replace(name.begin(), name.end(), '-', '_');
  if (of.param.intercept == proxy::Intercept::regulate) name += "_end_to_end";
  return of.param.law == ControllerLocation::proxy ? name + "_here" : name;
});

}  // namespace
}  // namespace sluice::test
