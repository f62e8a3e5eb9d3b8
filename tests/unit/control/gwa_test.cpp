// Tests of GWA, the window that routers advertise, and of its flow count, alone and on a link.
#include "control/window_laws/gwa.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "control/window_laws/advertised_window.hpp"
#include "tests/unit/control/regulated_link.hpp"

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

GwaParameters with(GwaPolicy policy, Bytes buffer = Bytes(60'000)) {
  GwaParameters parameters;
  parameters.policy = policy;
  parameters.buffer = buffer;
  return parameters;
}

GwaObservation sees(Bytes queue, double flows, Bytes upstream = Bytes::max()) {
  GwaObservation seen;
  seen.queue = queue;
  seen.flows = flows;
  seen.upstream = upstream;
  return seen;
}

TEST(Gwa, RoundRobinOffersTheFreePartOfTheFlowsShare) {
  const GwaParameters parameters = with(GwaPolicy::round_robin);
  EXPECT_EQ(gwa_window(parameters, sees(5000_B, 4)), 10'000_B) << "60000/4 − 5000";
  EXPECT_EQ(gwa_window(parameters, sees(5000_B, 3.7)), 11'216_B) << "16216.2 − 5000";
  EXPECT_EQ(gwa_window(parameters, sees(20'000_B, 4)), 0_B) << "flows have come since";
}

TEST(Gwa, FcfsOffersAShareOfTheFreeBuffer) {
  const GwaParameters parameters = with(GwaPolicy::fcfs);
  EXPECT_EQ(gwa_window(parameters, sees(20'000_B, 4)), 10'000_B) << "(60000 − 20000)/4";
  EXPECT_EQ(gwa_window(parameters, sees(61'000_B, 4)), 0_B);
  EXPECT_EQ(gwa_window(parameters, sees(20'000_B, 0)), 40'000_B) << "N is at least one";
}

TEST(Gwa, BandwidthAwareOffersBandwidthTimesDelay) {
  GwaObservation seen;
  seen.flows = 5;
  seen.rate = Rate::bytes_per_second(1.25e6);
  seen.round_trip = 40ms;
  seen.queue = 50'000_B;
  EXPECT_EQ(gwa_window(with(GwaPolicy::bandwidth_aware), seen), 10'000_B) << "eq. 10; the buffer does not matter";
}

TEST(Gwa, NeverRaisesTheWindowFromUpstream) {
  const GwaParameters parameters = with(GwaPolicy::fcfs);
  EXPECT_EQ(gwa_window(parameters, sees(0_B, 4, 9000_B)), 9000_B);
  EXPECT_EQ(gwa_window(parameters, sees(0_B, 4, 90'000_B)), 15'000_B);
}

// Eq. 9 with λ = 0.9 and Δ = 1 s.
TEST(GwaFlowCount, DecaysByEquation9) {
  GwaFlowCount count{GwaParameters{}};
  std::vector<GwaFlowCount::Mark> marks(10);
  EXPECT_DOUBLE_EQ(count.count(Instant(0s)), 1) << "never none";
  for (auto& mark : marks) count.seen(Instant(10s), mark);
  EXPECT_DOUBLE_EQ(count.count(Instant(10s)), 10) << "ahead of eq. 9, which would say 0";
  double expected = 0;
  for (int second = 11; second < 40; ++second) {
    for (auto& mark : marks) count.seen(Instant(second * 1s - 10ms), mark);
    expected = 0.9 * expected + 0.1 * 10;
    static_cast<void>(count.count(Instant(second * 1s)));
    EXPECT_NEAR(count.average(), expected, 1e-9) << second;
  }
  // Nine of ten leave: N follows slowly, the safe side.
  for (std::size_t i = 1; i < marks.size(); ++i) count.left(marks[i]);
  for (int second = 40; second < 50; ++second) {
    count.seen(Instant(second * 1s - 10ms), marks[0]);
    expected = 0.9 * expected + 0.1 * 1;
    EXPECT_NEAR(count.count(Instant(second * 1s)), expected, 1e-9) << second;
  }
  EXPECT_GT(expected, 3.5);
  EXPECT_DOUBLE_EQ(count.count(Instant(24h)), 1) << "a day of silence";
}

// Ten flows take what there is, ten send a packet now and then.
TEST(GwaFlowCount, BandwidthIsDividedAmongFlowsThatUseIt) {
  for (const GwaPolicy policy : {GwaPolicy::bandwidth_aware, GwaPolicy::fcfs}) {
    SCOPED_TRACE(static_cast<int>(policy));
    GwaParameters parameters;
    parameters.policy = policy;
    GwaFlowCount count{parameters};
    const Rate link = Rate::bytes_per_second(2e7);
    std::vector<GwaFlowCount::Mark> greedy(10), idle(10);
    const auto run = [&](int from, int to) {
      for (int tick = from; tick < to; ++tick) {
        for (auto& mark : greedy) count.seen(Instant(tick * 100ms), mark, Bytes(200'000), link);
        for (auto& mark : idle) count.seen(Instant(tick * 100ms), mark, Bytes(1000), link);
      }
    };
    run(1, 10);
    EXPECT_DOUBLE_EQ(count.count(Instant(1s)), 20) << "each may be one that takes much";
    run(10, 600);
    const double small = 10'000 / (2e7 / 20);  // of an even share of twenty
    EXPECT_NEAR(count.count(Instant(60s)), policy == GwaPolicy::bandwidth_aware ? 10 + 10 * small : 20, 1e-6);
    // One of the ten idle ones begins to take.
    for (int i = 0; i < 3; ++i) count.seen(Instant(60s), idle[0], Bytes(100'000), link);
    EXPECT_NEAR(count.count(Instant(60s)), policy == GwaPolicy::bandwidth_aware ? 11 + 9 * small : 20, 1e-6);
    for (auto& mark : greedy) count.left(mark);
    for (auto& mark : idle) count.left(mark);
    EXPECT_DOUBLE_EQ(count.count(Instant(24h)), 1);
  }
}

constexpr double bytes_per_second = 1.25e6;

/// A router that regulates greedy flows, a link of 1.25 MB/s behind access links of that or any other rate; φ is that
/// of the moment the data leaves.
class GwaLink {
 public:
  GwaLink(const GwaParameters& parameters, const std::vector<Duration>& round_trips, double access = bytes_per_second)
      : parameters_(parameters) {
    for (const Duration round_trip : round_trips) {
      test::RegulatedLink::Flow flow;
      flow.wired = round_trip / 2;
      flow.edge = link.packet * 2;
      flow.access = access;
      link.flows.push_back(flow);
      fields_.emplace_back(std::uint8_t{0});
    }
    offered_.resize(round_trips.size());
    link.buffer = parameters.buffer;
    link.rate = [](Instant) { return bytes_per_second; };
    link.on_dequeue = [this](std::size_t flow, Bytes) { offered_[flow] = advertise(flow); };
    link.on_ack = [this](std::size_t flow, Bytes ack) {
      link.pass(flow, ack, Bytes(fields_[flow].field(ack, 65'535, offered_[flow])));
    };
  }

  /// Parts of the link that each flow got between 10 and 20 s.
  std::vector<double> run() {
    link.run(Instant(10s));
    std::vector<double> parts;
    for (const auto& flow : link.flows) parts.push_back(-static_cast<double>(flow.delivered.count()));
    static_cast<void>(link.mean_queue());
    link.run(Instant(20s));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] = (parts[i] + static_cast<double>(link.flows[i].delivered.count())) / 10 / bytes_per_second;
    }
    return parts;
  }

  test::RegulatedLink link;

 private:
  Bytes advertise(std::size_t flow) {
    GwaObservation seen;
    seen.queue = parameters_.policy == GwaPolicy::round_robin ? link.flows[flow].queued : link.queue();
    seen.flows = static_cast<double>(link.flows.size());
    seen.rate = Rate::bytes_per_second(bytes_per_second);
    seen.round_trip = 2 * link.flows[flow].wired;
    return gwa_window(parameters_, seen);
  }

  GwaParameters parameters_;
  std::vector<AdvertisedWindow> fields_;
  std::vector<Bytes> offered_;
};

double sum(const std::vector<double>& parts) {
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

// Eqs. 4 and 5: no loss at any buffer; full use from a bandwidth-delay product on, B/(C·RTT) below. The round trip is
// 21.6 ms with a packet's time on both links; packets, unlike the fluid, cost a few percent.
TEST(GwaLink, NothingIsLostAndOneBandwidthDelayProductFillsTheLink) {
  for (const std::int64_t buffer : {5'000, 10'000, 20'000, 30'000, 40'000, 60'000}) {
    for (const GwaPolicy policy : {GwaPolicy::round_robin, GwaPolicy::fcfs}) {
      GwaLink gwa(with(policy, Bytes(buffer)), {20ms});
      const double used = sum(gwa.run());
      EXPECT_EQ(gwa.link.drops(), 0U) << buffer;
      EXPECT_NEAR(used, std::min(1.0, static_cast<double>(buffer) / bytes_per_second / 0.0216), 0.05) << buffer;
      EXPECT_EQ(gwa.link.flows[0].retracted, 0_B) << buffer;
    }
  }
}

// u·RTT = B − q with u = C: outstanding C·RTT + q = B − q.
TEST(GwaLink, TheQueueConvergesToHalfOfTheBufferThatThePathLeaves) {
  GwaLink gwa(with(GwaPolicy::fcfs, 60'000_B), {20ms}, 10 * bytes_per_second);
  static_cast<void>(gwa.run());
  EXPECT_NEAR(gwa.link.mean_queue(), (60'000 - 25'000) / 2.0, 1750);
}

TEST(GwaLink, TenFlowsShareEvenlyWithoutLoss) {
  for (const GwaPolicy policy : {GwaPolicy::round_robin, GwaPolicy::fcfs}) {
    GwaLink gwa(with(policy, 100'000_B), std::vector<Duration>(10, Duration(20ms)));
    const auto parts = gwa.run();
    EXPECT_EQ(gwa.link.drops(), 0U);
    EXPECT_GE(sum(parts), 0.99);
    EXPECT_THAT(parts, Each(testing::DoubleNear(0.1, 0.02)));
  }
}

TEST(GwaLink, BandwidthAwareKeepsTheQueueEmptyAndTheLinkBusy) {
  GwaLink gwa(with(GwaPolicy::bandwidth_aware, 1'000'000_B), {20ms, 40ms, 80ms, 40ms, 20ms}, 10 * bytes_per_second);
  const auto parts = gwa.run();
  EXPECT_GE(sum(parts), 0.94) << "less a packet's own time, which the propagation delay leaves out";
  EXPECT_THAT(parts, Each(testing::DoubleNear(0.2, 0.02))) << "whatever the round trip";
  EXPECT_LE(gwa.link.mean_queue(), 5'000);
}

TEST(GwaRules, ParametersOutOfRangeAndBeyondEquation8AreRefused) {
  const auto rule = [](const char* name) { return Field(&Violation::rule, name); };
  const auto broken = [](auto change) {
    GwaParameters parameters;
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(validate(GwaParameters{}), IsEmpty());
  EXPECT_THAT(validate(with(GwaPolicy::fcfs), Rate::bytes_per_second(1e6), 60ms), IsEmpty());
  EXPECT_THAT(validate(with(GwaPolicy::fcfs), Rate::bytes_per_second(1e6), 61ms), ElementsAre(rule("B ≥ C·RTT")));
  EXPECT_THAT(validate(with(GwaPolicy::bandwidth_aware), Rate::bytes_per_second(1e6), 1s), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.buffer = 0_B; }), ElementsAre(rule("B > 0")));
  EXPECT_THAT(broken([](auto& p) { p.decay = 1; }), ElementsAre(rule("0 ≤ λ ≤ 0.999")));
  EXPECT_THAT(broken([](auto& p) { p.decay = -HUGE_VAL; }), ElementsAre(rule("0 ≤ λ ≤ 0.999")));
  EXPECT_THAT(broken([](auto& p) { p.interval = 999us; }), ElementsAre(rule("Δ ≥ 1 ms")));
  EXPECT_THAT(broken([](auto& p) { p.decay = 0.9991; }), ElementsAre(rule("0 ≤ λ ≤ 0.999")));
  EXPECT_THAT(broken([](auto& p) { p.decay = 0.999; }), IsEmpty());
  EXPECT_THAT(broken([](auto& p) {
                p.buffer = 1_B;
                p.decay = 0;
                p.interval = 1ms;
              }),
              IsEmpty())
      << "the smallest values";
  GwaParameters impossible;
  impossible.interval = 0s;
  EXPECT_THROW(GwaFlowCount{impossible}, std::invalid_argument);
}

}  // namespace
}  // namespace sluice::control
