// Tests of senders that use the number of marked packets, over the queues that mark for them: Prague over DualPI2 (RFC
// 9332), ABC over its own.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "emulator/aqm/dualpi2.hpp"
#include "emulator/aqm/line.hpp"
#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/router.hpp"
#include "emulator/runtime/deferred_element.hpp"
#include "tests/sim/nodeb/run_all.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::run_all;

/// A download over a radio link; `hosts` are its hosts' keys.
std::string download(const std::string& channel, const std::string& queue, const std::string& hosts) {
  return "duration: 40s\nwarmup: 10s\nmodes: [none]\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\n"
         "output: {ues: true}\nhosts: " +
         hosts +
         "\ncell:\n  tti: 1ms\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, queue: " + queue +
         ", channel: " + channel + "}\napps: [{type: bulk}]\n";
}

const std::string prague = "{accurate_ecn: true, tcp: {congestion: prague}}";
const std::string abc = "{accurate_ecn: true, tcp: {congestion: abc}}";

TEST(L4s, PragueHoldsTheQueueAtTheStepAndUsesTheLink) {
  for (const std::string rate : {"5Mb/s", "20Mb/s", "50Mb/s"}) {
    for (const double step : {5.0, 10.0}) {
      SCOPED_TRACE(rate + " " + std::to_string(step));
      const std::string queue = "{type: dualpi2, step: " + std::to_string(static_cast<int>(step)) + "ms}";
      const RunResult run = run_all(download("{type: constant, rate: " + rate + "}", queue, prague)).front();
      EXPECT_GT(run.utilisation, 0.95);
      EXPECT_LT(run.radio_queue_delay.p95_ms, step + 5) << "two packets at 5 Mb/s";
      EXPECT_GT(run.counters.at("radio_marks"), 10U);
      EXPECT_EQ(run.retransmissions, 0U);
    }
  }
}

/// The download through a proxy that splits it, with the proxy's keys `proxy`.
std::string split_download(const std::string& mode, const std::string& proxy) {
  std::string scenario = download("{type: constant, rate: 20Mb/s}", "{type: dualpi2, step: 5ms}", prague);
  scenario.replace(scenario.find("[none]"), 6, "[" + mode + "]");
  return scenario + proxy;
}

TEST(L4s, PragueHoldsTheQueueThroughASplitProxy) {
  const RunResult run = run_all(split_download("i-tcp", "proxy: {tcp: {congestion: prague}}\n")).front();
  EXPECT_GT(run.server_to_ue_delay.p50_ms, 100) << "the proxy holds what it has acknowledged: the connection is split";
  EXPECT_GT(run.utilisation, 0.95);
  EXPECT_LT(run.radio_queue_delay.p95_ms, 10);
  EXPECT_GT(run.counters.at("radio_marks"), 10U);
  EXPECT_EQ(run.retransmissions, 0U);
}

TEST(L4s, ALegWithoutPragueIsQueuedAsClassicTraffic) {
  const RunResult run = run_all(split_download("i-tcp", "proxy: {tcp: {congestion: cubic}}\n")).front();
  EXPECT_GT(run.radio_queue_delay.p95_ms, 12) << "in the queue with a target of 15 ms";
  EXPECT_GT(run.utilisation, 0.8);
  EXPECT_EQ(run.retransmissions, 0U) << "marks reach CUBIC before losses";
}

TEST(L4s, PragueWithoutAccurateEcnIsQueuedAsClassicTraffic) {
  const RunResult run = run_all(download("{type: constant, rate: 20Mb/s}", "{type: dualpi2, step: 5ms}",
                                         "{ecn: true, tcp: {congestion: prague}}"))
                            .front();
  EXPECT_GT(run.radio_queue_delay.p95_ms, 12) << "in the queue with a target of 15 ms";
  EXPECT_LT(run.radio_queue_delay.p50_ms, 30);
  EXPECT_GT(run.utilisation, 0.8);
}

TEST(L4s, CubicWithAccurateEcnReactsToMarksAsToClassicEcn) {
  const auto held = [](const std::string& hosts) {
    return run_all(download("{type: constant, rate: 10Mb/s}", "{type: codel, ecn: true}", hosts)).front();
  };
  const RunResult accurate = held("{accurate_ecn: true}");
  const RunResult classic = held("{ecn: true}");
  EXPECT_EQ(accurate.retransmissions, 0U);
  EXPECT_NEAR(accurate.utilisation, classic.utilisation, 0.03);
  EXPECT_NEAR(accurate.radio_queue_delay.p95_ms, classic.radio_queue_delay.p95_ms, 5);
}

/// A host behind a router, and two servers of which the second is Prague's.
class TwoSenders {
 public:
  TwoSenders(Rate rate, Duration delay)
      : line_(loop_, rate, delay, std::make_unique<DualPi2Queue>(QueueLimit{}, DualPi2Parameters{}), to_client_),
        up_(loop_, {delay, Rate(), Bytes()}, to_servers_),
        classic_(make(1, tcp::CongestionAlgorithm::cubic)),
        scalable_(make(2, tcp::CongestionAlgorithm::prague)),
        client_(loop_, ::sluice::test::pool(), config(ue, tcp::CongestionAlgorithm::cubic), Random::stream(1, "client"),
                up_) {
    to_client_.set_next(client_);
    to_servers_.add(server(1), *classic_);
    to_servers_.add(server(2), *scalable_);
    downloads_[0] = std::make_unique<BulkClient>(loop_, client_, BulkConfig{server(1)}, log_);
    downloads_[1] = std::make_unique<BulkClient>(loop_, client_, BulkConfig{server(2)}, log_);
  }
  /// Bytes of both, the classic one first, from `begin` to `end`.
  std::array<double, 2> run(Duration begin, Duration end) {
    loop_.run_until(Instant(begin));
    const std::uint64_t before[] = {downloads_[0]->transferred(), downloads_[1]->transferred()};
    loop_.run_until(Instant(end));
    const std::array<double, 2> moved = {static_cast<double>(downloads_[0]->transferred() - before[0]),
                                         static_cast<double>(downloads_[1]->transferred() - before[1])};
    for (Host* const host : {&client_, classic_.get(), scalable_.get()}) host->end_run(loop_.now());
    return moved;
  }

 private:
  static IpAddress server(std::uint8_t number) { return IpAddress::v4(192, 0, 2, number); }
  static HostConfig config(const IpAddress& address, tcp::CongestionAlgorithm congestion) {
    HostConfig host;
    host.address = address;
    host.accurate_ecn = true;
    host.tcp.congestion = congestion;
    return host;
  }
  std::unique_ptr<Host> make(std::uint8_t number, tcp::CongestionAlgorithm congestion) {
    auto host = std::make_unique<Host>(loop_, ::sluice::test::pool(), config(server(number), congestion),
                                       Random::stream(1, "server", number), line_);
    host->listen(80,
                 [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, counters_); });
    return host;
  }

  const IpAddress ue = IpAddress::v4(10, 45, 0, 2);
  EventLoop loop_;
  ServerCounters counters_;
  FlowLog log_;
  DeferredElement to_client_;
  Router to_servers_;
  QueueLine line_;
  DelayLine up_;
  std::unique_ptr<Host> classic_, scalable_;
  Host client_;
  std::array<std::unique_ptr<BulkClient>, 2> downloads_;
};

/// About equal rates, whatever the queue: what RFC 9332 couples them for.
TEST(L4s, PragueAndCubicShareTheLink) {
  for (const auto& [rate, delay] : {std::pair(20.0, 10ms), {40.0, 5ms}, {100.0, 10ms}}) {
    SCOPED_TRACE(rate);
    TwoSenders senders(Rate::bits_per_second(rate * 1e6), delay);
    const auto [classic, scalable] = senders.run(10s, 60s);
    EXPECT_GT(scalable / classic, 0.5);
    EXPECT_LT(scalable / classic, 2);
    EXPECT_GT((classic + scalable) * 8 / 50, 0.85 * rate * 1e6);
  }
}

/// 12 Mb/s for ten seconds, 2.4 Mb/s for ten seconds, and again.
std::string stepping_trace() {
  const std::string path = testing::TempDir() + "l4s_step.down";
  std::ofstream file(path);
  for (int ms = 1; ms <= 20'000; ++ms) {
    if (ms <= 10'000 || ms % 5 == 0) file << ms << '\n';
  }
  return path;
}

TEST(Abc, FollowsAStepOfTheRateWithinAFewRoundTrips) {
  const RunResult run = run_all(download("{type: trace, file: " + stepping_trace() + "}", "{type: abc}", abc)).front();
  EXPECT_GT(run.utilisation, 0.9);
  int ups = 0, downs = 0;
  for (const UePoint& point : run.ues) {  // every 100 ms
    const double since = point.time_s - 10 * std::floor(point.time_s / 10);
    if (since < 1.05 || since > 9.5) continue;  // a second, or sixteen round trips, after a step
    const bool fast = point.link_rate_bps > 5e6;
    (fast ? ups : downs) += 1;
    EXPECT_GT(point.link_used_bps, 0.85 * point.link_rate_bps) << "at " << point.time_s;
    EXPECT_LT(point.queue_bytes * 8 / point.link_rate_bps, 0.06) << "at " << point.time_s;
  }
  EXPECT_GT(ups, 100);
  EXPECT_GT(downs, 100);
}

TEST(Abc, UsesAnyConstantLinkWithAShortQueue) {
  for (const std::string rate : {"2Mb/s", "20Mb/s", "100Mb/s"}) {
    SCOPED_TRACE(rate);
    const RunResult run = run_all(download("{type: constant, rate: " + rate + "}", "{type: abc}", abc)).front();
    EXPECT_GT(run.utilisation, 0.95);
    EXPECT_LT(run.radio_queue_delay.p95_ms, 30);
  }
}

}  // namespace
}  // namespace sluice::emulator
