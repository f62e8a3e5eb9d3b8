// The law in closed loop, on the ideal model of ideal_link.hpp: what the controller promises when nothing else goes
// wrong. The numbers in control/README.md come from the same model.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>

#include "tests/unit/control/ideal_link.hpp"

namespace sluice::control::test {
namespace {

using namespace std::chrono_literals;

/// Fig. 11: a rate drawn again every `period` ms, uniformly between a tenth of `fastest_bps` and all of it.
auto redrawn(std::int64_t period, double fastest_bps, std::uint64_t seed) {
  return [=, random = std::mt19937_64(seed), current = std::int64_t{-1}, rate = 0.0](std::int64_t now) mutable {
    for (; current < now / period; ++current) {
      rate = std::uniform_real_distribution<>(fastest_bps / 10, fastest_bps)(random);
    }
    return rate / 8000;
  };
}

/// A cellular link as traces show it: opportunities of 1500 bytes at a rate that wanders (a random walk of its
/// logarithm), with short outages.
auto cellular(double mean_bps, std::uint64_t seed) {
  struct State {
    std::mt19937_64 random;
    double walk = 0;
    std::int64_t outage_until = -1;
  };
  auto state = std::make_shared<State>();
  state->random.seed(seed);
  return [=](std::int64_t now) {
    if (now % 20 == 0) {
      state->walk += std::normal_distribution<>(-0.02 * state->walk, 0.12)(state->random);
      if (std::uniform_real_distribution<>()(state->random) < 0.004) state->outage_until = now + 60;
    }
    const double opportunities = mean_bps / 12e6 * std::exp(state->walk);
    const int count = std::poisson_distribution<>(opportunities)(state->random);
    return now < state->outage_until ? 0.0 : 1500.0 * count;
  };
}

/// The recommended setting for a Node-B `delay` away: everything that is a time scales with the round trip.
SmvsParameters recommended(Duration delay) {
  SmvsParameters parameters;
  parameters.one_way_delay = delay;
  parameters.reference = Reference::time(2 * delay);
  parameters.boundary_layer = Reference::time(4 * delay);
  return parameters;
}

class Figure11 : public testing::TestWithParam<std::int64_t> {};

TEST_P(Figure11, KeepsTheLinkBusyAtEveryPeriod) {
  for (const double fastest_bps : {1e6, 10e6}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      IdealLink link;
      link.parameters = recommended(20ms);
      link.parameters.frame = link.packet = 500_B;
      link.capacity = redrawn(GetParam(), fastest_bps, seed);
      const auto result = link.run(std::max<std::int64_t>(30'000, 20 * GetParam()));
      EXPECT_GE(result.utilisation, 0.95) << fastest_bps << " bit/s, seed " << seed;
    }
  }
}

// The paper's own form: q0 = 100 frames, sgn, Ts = 25 ms; the queue stays around its reference.
TEST_P(Figure11, ThePapersSettingHoldsTheQueueAtItsReference) {
  IdealLink link;
  SmvsParameters& p = link.parameters;
  p.step = 25ms;
  p.alpha = 0.85;
  p.delta = 35;
  p.epsilon = 20;
  p.frame = link.packet = 500_B;
  p.reference = Reference::frames(100);
  p.buffer = 500_B * 200;
  p.one_way_delay = 20ms;
  p.eta_window = 1s;
  p.boundary_layer = Reference();
  p.empty_queue = EmptyQueue::follow;
  link.capacity = redrawn(GetParam(), 2e6, 3);
  const auto result = link.run(std::max<std::int64_t>(30'000, 20 * GetParam()));
  EXPECT_GE(result.utilisation, 0.95);
  EXPECT_NEAR(result.mean_queue / 500, 100, 12);
}

INSTANTIATE_TEST_SUITE_P(Periods, Figure11,
                         testing::Values(20, 40, 60, 80, 100, 200, 400, 600, 800, 1000, 2000, 4000, 6000, 8000));

TEST(SmvsLink, ACellularLinkIsUsedAtLowDelay) {
  for (const auto law : {IdealLink::Law::at_proxy, IdealLink::Law::at_node_b}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      IdealLink link;
      link.law = law;
      link.capacity = cellular(6e6, seed);
      const auto result = link.run(60'000);
      EXPECT_GE(result.utilisation, 0.95) << "seed " << seed;
      EXPECT_LE(result.delay_p95_ms, 60) << "seed " << seed;
    }
  }
}

// ε and the bounds of η in the paper's form: the one burst of a second ago holds the queue far above its reference.
TEST(SmvsLink, TheBoundaryLayerAndAShortEtaWindowSaveDelay) {
  IdealLink remedied;
  remedied.capacity = cellular(6e6, 1);
  IdealLink literal;
  literal.capacity = cellular(6e6, 1);
  literal.parameters.boundary_layer = Reference();
  literal.parameters.eta_window = 1s;
  EXPECT_LT(remedied.run(60'000).delay_p95_ms + 8, literal.run(60'000).delay_p95_ms);
}

TEST(SmvsLink, OneSettingServesFrom100KilobitsTo100Megabits) {
  for (const double bps : {1e5, 1e6, 1e7, 1e8}) {
    IdealLink link;
    link.packet = Bytes(bps < 1e6 ? 500 : 1500);
    link.capacity = [=](std::int64_t) { return bps / 8000; };
    const auto result = link.run(20'000);
    EXPECT_GE(result.utilisation, 0.99) << bps;
    EXPECT_LE(result.mean_queue, std::max(3500.0, bps / 8 * 0.022)) << bps;
  }
}

TEST(SmvsLink, LostReportsCostLittle) {
  IdealLink link;
  link.capacity = cellular(6e6, 1);
  link.report_loss = 0.1;
  const auto result = link.run(60'000);
  EXPECT_GE(result.utilisation, 0.93);
  EXPECT_LE(result.delay_p95_ms, 60);
}

TEST(SmvsLink, LossOnTheWireIsNotCountedAsInFlight) {
  for (const auto law : {IdealLink::Law::at_proxy, IdealLink::Law::at_node_b}) {
    IdealLink link;
    link.law = law;
    link.capacity = cellular(6e6, 1);
    link.packet_loss = 0.02;
    EXPECT_GE(link.run(60'000).utilisation, 0.93);
  }
}

TEST(SmvsLink, AnOutageEndsWithoutAFlood) {
  IdealLink link;
  link.capacity = [](std::int64_t now) { return now >= 5000 && now < 8000 ? 0.0 : 1250.0; };  // 10 Mb/s
  const auto result = link.run(12'000);
  const auto during = *std::max_element(result.queue.begin() + 5000, result.queue.begin() + 8000);
  EXPECT_LE(during, 1250 * 60) << "no more than what was queued, under way and granted";
  const auto after = std::count_if(result.queue.begin() + 8000, result.queue.begin() + 8200,
                                   [](double queued) { return queued < 1250; });
  EXPECT_LE(after, 60) << "milliseconds of an idle link";
}

TEST(SmvsLink, ARateThatDropsTenfoldDrainsWithinTheBacklogItMade) {
  IdealLink link;
  link.capacity = [](std::int64_t now) { return now < 5000 ? 1250.0 : 125.0; };
  const auto result = link.run(12'000);
  // About 40 ms of the old rate wait at the drop (queued and in flight); at the new rate that is 400 ms.
  EXPECT_LE(*std::max_element(result.queue.begin() + 6000, result.queue.end()), 125 * 60);
  EXPECT_GE(result.utilisation, 0.98);
}

/// 100 kB every two seconds: how long the last one took, in milliseconds.
std::int64_t burst_time(EmptyQueue empty_queue) {
  IdealLink link;
  link.parameters.empty_queue = empty_queue;
  link.capacity = [](std::int64_t) { return 2500.0; };  // 20 Mb/s: 40 ms and 10 ms on the wire at best
  link.demand = [](std::int64_t now) { return now % 2000 == 0 ? 100'500.0 : 0.0; };
  const auto result = link.run(20'000);
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    if (result.queue[static_cast<std::size_t>(18'000 + i)] > 0) last = i;
  }
  return last;
}

// Why a step with an empty queue does not lower b̄ by default: with pauses between bursts the paper's form starts each
// from nothing.
TEST(SmvsLink, BurstsAfterAPauseStartAtTheKnownRate) {
  EXPECT_LE(burst_time(EmptyQueue::hold), 65);
  EXPECT_GE(burst_time(EmptyQueue::follow), 100);
}

TEST(SmvsLink, TheSameSeedGivesTheSameRun) {
  const auto run = [] {
    IdealLink link;
    link.capacity = cellular(6e6, 9);
    link.report_loss = 0.05;
    link.seed = 5;
    return link.run(10'000).queue;
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace sluice::control::test
