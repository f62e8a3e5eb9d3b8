// Tests of the ACK-based window in closed loop. Each compares the queue estimate with the true queue.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/control/acked_link.hpp"

namespace sluice::control::test {
namespace {

using Milliseconds = AckedLink::Milliseconds;

auto constant(double bps) {
  return [bps](Milliseconds) { return bps / 8000; };
}

/// An LTE uplink: acknowledgements leave every ten milliseconds, six late, one for two segments.
void scheduled_uplink(AckedLink& link) {
  link.uplink_speaks = [](Milliseconds now) { return now % 10 == 0; };
  link.grant_delay = 6;
  link.segments_per_ack = 2;
}

/// Opportunities of 1500 bytes at a rate whose logarithm wanders, with short outages.
auto cellular(double mean_bps, std::uint64_t seed) {
  struct State {
    std::mt19937_64 random;
    double walk = 0;
    Milliseconds outage_until = -1;
  };
  auto state = std::make_shared<State>();
  state->random.seed(seed);
  return [=](Milliseconds now) {
    if (now % 20 == 0) {
      state->walk += std::normal_distribution<>(-0.02 * state->walk, 0.12)(state->random);
      if (std::uniform_real_distribution<>()(state->random) < 0.004) state->outage_until = now + 60;
    }
    const int count = std::poisson_distribution<>(mean_bps / 12e6 * std::exp(state->walk))(state->random);
    return now < state->outage_until ? 0.0 : 1500.0 * count;
  };
}

/// Whole packets in bursts of 10 to 30 ms, with rests of `shortest` to `longest` ms between them.
auto resting(double mean_bps, Milliseconds shortest, Milliseconds longest, std::uint64_t seed) {
  struct State {
    std::mt19937_64 random;
    Milliseconds until = 0;
    bool sends = false;
    double saved = 0;
  };
  auto state = std::make_shared<State>();
  state->random.seed(seed);
  const double part = 20.0 / (20.0 + static_cast<double>(shortest + longest) / 2);
  return [=](Milliseconds now) {
    if (now >= state->until) {
      state->sends = !state->sends;
      std::uniform_int_distribution<Milliseconds> lasts(state->sends ? 10 : shortest, state->sends ? 30 : longest);
      state->until = now + lasts(state->random);
    }
    if (!state->sends) return 0.0;
    state->saved += mean_bps / 8000 / part;
    const double whole = std::floor(state->saved / 1500) * 1500;
    state->saved -= whole;
    return whole;
  };
}

// What waits at the reference is over in 10 to 15 ms of a burst. If the window did not grow in rests, it would be 17 to
// 97 %.
TEST(DelayBasedLink, ABurstyLinkIsUsedInItsBursts) {
  for (const double bps : {4e6, 16e6, 64e6}) {
    for (const Milliseconds rest : {30, 40, 60}) {
      for (const Milliseconds way : {5, 10}) {
        AckedLink link;
        link.capacity = resting(bps, rest - 5, rest + 5, 1);
        link.down = link.up = [way](Milliseconds) { return way; };
        link.warmup = 5000;
        const auto result = link.run(60'000);
        EXPECT_GE(result.utilisation, 0.91) << bps << ' ' << rest << ' ' << way;
        EXPECT_LE(result.delay_p95_ms, rest < 60 ? 140 : 270) << bps << ' ' << rest << ' ' << way;
      }
    }
  }
}

TEST(DelayBasedLink, OneSettingServesFrom300KilobitsTo300Megabits) {
  for (const double bps : {0.3e6, 1e6, 3e6, 10e6, 30e6, 100e6, 300e6}) {
    for (const Milliseconds way : {5, 10, 25, 75}) {
      for (const bool scheduled : {false, true}) {
        AckedLink link;
        link.capacity = constant(bps);
        link.down = link.up = [way](Milliseconds) { return way; };
        if (scheduled) scheduled_uplink(link);
        link.warmup = 3000;
        const auto result = link.run(20'000);
        const double round_trip = 2.0 * static_cast<double>(way) + (scheduled ? 16 : 0);
        const double packets = 5 * 12e6 / bps;
        EXPECT_GE(result.utilisation, bps < 2e6 ? 0.9 : 0.95) << bps << ' ' << way << ' ' << scheduled;
        EXPECT_LE(result.delay_p95_ms, 25 + 0.8 * round_trip + packets) << bps << ' ' << way << ' ' << scheduled;
      }
    }
  }
}

TEST(DelayBasedLink, ACellularLinkIsUsedAtLowDelay) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    AckedLink link;
    link.capacity = cellular(6e6, seed);
    const auto result = link.run(60'000);
    EXPECT_GE(result.utilisation, 0.95) << "seed " << seed;
    EXPECT_LE(result.delay_p95_ms, 60) << "seed " << seed;
    AckedLink clumped;
    clumped.capacity = cellular(6e6, seed);
    scheduled_uplink(clumped);
    const auto later = clumped.run(60'000);
    EXPECT_GE(later.utilisation, 0.93) << "seed " << seed;
    EXPECT_LE(later.delay_p95_ms, 75) << "seed " << seed;
  }
}

// Bytes in flight beyond rate · base delay are the queue: on average over a second, the estimate is within a fifth.
TEST(DelayBasedLink, TheQueueEstimateIsWithinAFifthOfTheQueue) {
  AckedLink link;
  link.capacity = constant(10e6);
  const auto result = link.run(20'000);
  double truth = 0;
  double belief = 0;
  for (std::size_t i = 10'000; i < 20'000; ++i) {
    truth += result.queue[i] / 10'000;
    belief += result.believed[i] / 10'000;
  }
  EXPECT_NEAR(belief, truth, 0.2 * truth);
  EXPECT_NEAR(result.base_ms.back(), 20, 2.5);
}

// A queue that always stands must not become part of the base delay.
TEST(DelayBasedLink, TheBaseDelayDoesNotRiseOverMinutes) {
  AckedLink link;
  link.capacity = constant(5e6);
  scheduled_uplink(link);
  link.warmup = 60'000;
  const auto result = link.run(300'000);
  EXPECT_LE(*std::max_element(result.base_ms.begin() + 60'000, result.base_ms.end()), 42);
  EXPECT_GE(result.utilisation, 0.98);
  EXPECT_LE(result.delay_p95_ms, 50);
}

TEST(DelayBasedLink, ALongerPathIsDetectedSoon) {
  for (const Milliseconds after : {20, 40, 75}) {
    AckedLink link;
    link.capacity = constant(10e6);
    link.down = link.up = [=](Milliseconds now) { return now < 20'000 ? 10 : after; };
    const auto result = link.run(45'000);
    EXPECT_GE(result.served_in(30'000, 45'000), 0.95 * 15'000 * 1250) << after;
    EXPECT_NEAR(result.base_ms.back(), 2.0 * static_cast<double>(after), 0.2 * 2.0 * static_cast<double>(after));
    const auto queue = *std::max_element(result.queue.begin() + 30'000, result.queue.end());
    EXPECT_LE(queue, 1250 * (30 + 1.6 * static_cast<double>(after))) << after;
  }
}

// The link falls silent in each round trip of a longer path that the window does not fill. Two silences confirm a step,
// so no drain is needed.
TEST(DelayBasedLink, APathThatBecomesLongerInOneStepIsUsedWithinASecond) {
  for (const bool up : {false, true}) {
    for (const Milliseconds extra : {50, 100, 200}) {
      SCOPED_TRACE(std::to_string(extra) + (up ? " ms up" : " ms down"));
      AckedLink link;
      link.capacity = constant(10e6);
      link.down = [=](Milliseconds now) { return now < 21'000 || up ? 10 : 10 + extra; };
      link.up = [=](Milliseconds now) { return now < 21'000 || !up ? 10 : 10 + extra; };
      const auto result = link.run(24'000);
      EXPECT_GE(result.served_in(21'000, 22'000), 0.4 * 1000 * 1250);
      EXPECT_GE(result.served_in(22'000, 23'000), 0.95 * 1000 * 1250);
      EXPECT_NEAR(result.base_ms.back(), 20.0 + static_cast<double>(extra), 4);
      EXPECT_LE(*std::max_element(result.queue.begin() + 22'000, result.queue.end()), 1250 * 60);
    }
  }
}

// ACKs of a shorter path arrive together. They show a shorter round trip, so a drain follows at once, and no rate.
TEST(DelayBasedLink, APathThatBecomesShorterInOneStepHasNoStandingQueueAfterASecond) {
  for (const Milliseconds extra : {50, 100, 200}) {
    SCOPED_TRACE(extra);
    AckedLink link;
    link.capacity = constant(10e6);
    link.up = [=](Milliseconds now) { return now < 21'000 ? 10 + extra : 10; };
    const auto result = link.run(24'000);
    EXPECT_LE(*std::max_element(result.rate_bps.begin() + 21'000, result.rate_bps.end()), 1.25 * 10e6);
    EXPECT_LE(*std::max_element(result.queue.begin() + 22'500, result.queue.end()), 1250 * 35);
    EXPECT_NEAR(result.base_ms.back(), 20, 4);
    EXPECT_GE(result.served_in(21'000, 24'000), 0.9 * 3'000 * 1250);
  }
}

// The queue hides that the path down becomes shorter. A path that has changed is therefore drained in every slot, and
// not in one of eight.
TEST(DelayBasedLink, APathThatChangesEveryFifteenSecondsHasNoStandingQueueForLong) {
  AckedLink link;
  link.capacity = constant(10e6);
  link.down = [](Milliseconds now) { return (now + 13'000) / 15'000 % 2 == 0 ? 10 : 60; };
  const auto result = link.run(90'000);
  for (Milliseconds change = 32'000; change < 75'000; change += 15'000) {
    SCOPED_TRACE(change);
    EXPECT_GE(result.served_in(change, change + 1'000), 0.5 * 1'000 * 1250);
    EXPECT_GE(result.served_in(change + 1'000, change + 15'000), 0.95 * 14'000 * 1250);
    EXPECT_LE(*std::max_element(result.queue.begin() + change + 6'000, result.queue.begin() + change + 14'900),
              1250 * 60);
  }
}

// The bytes in flight stand in the queue after the change, so no packet measures the new delay before a drain. Reports
// of the queue distinguish it from a longer path, so frequent reports make the drain unnecessary.
TEST(DelayBasedLink, ReportsRevealALongerPathWithoutADrain) {
  for (const Milliseconds period : {5, 50, 250, 1000}) {
    SCOPED_TRACE(period);
    AckedLink link;
    link.capacity = constant(10e6);
    link.up = [](Milliseconds now) { return now < 10'000 ? 10 : 60; };
    link.report_period = period;
    const auto result = link.run(30'000);
    if (period <= 50) {
      EXPECT_EQ(result.drains, 0U);
    }
    EXPECT_GE(result.base_ms.back(), 50);
    EXPECT_LE(result.base_ms.back(), 82);
    EXPECT_GE(result.served_in(16'000, 30'000), 0.97 * 14'000 * 1250);
  }
}

// Reports of the queue save a drain and have no other effect.
TEST(DelayBasedLink, ReportsOfTheQueueLowerNeitherUseNorRaiseDelay) {
  for (const Milliseconds way : {10, 50}) {
    for (const Milliseconds period : {1, 10, 50, 100, 1000, 5000}) {
      SCOPED_TRACE(std::to_string(way) + " ms each way, a report every " + std::to_string(period) + " ms");
      AckedLink alone;
      alone.capacity = cellular(6e6, 7);
      alone.down = alone.up = [way](Milliseconds) { return way; };
      AckedLink told = alone;
      told.capacity = cellular(6e6, 7);
      told.report_period = period;
      const auto without = alone.run(60'000);
      const auto with = told.run(60'000);
      EXPECT_GE(with.utilisation, without.utilisation - 0.005);
      EXPECT_LE(with.delay_p95_ms, 1.05 * without.delay_p95_ms + 1);
    }
  }
}

// What little comes during a drain is the window's doing. The rate is known after it as before, and what that allows
// does not come to the empty queue at once.
TEST(DelayBasedLink, TheRateEstimateSurvivesADrainAndThePathRefillsGradually) {
  AckedLink link;
  link.capacity = constant(10e6);
  link.down = link.up = [](Milliseconds) { return 50; };
  const auto result = link.run(40'000);
  ASSERT_GE(result.drains, 3U);
  EXPECT_GE(*std::min_element(result.rate_bps.begin() + 5'000, result.rate_bps.end()), 0.85 * 10e6);
  EXPECT_LE(*std::max_element(result.queue.begin() + 5'000, result.queue.end()), 1250 * (30 + 0.8 * 100));
  EXPECT_GE(result.served_in(5'000, 40'000), 0.97 * 35'000 * 1250);
}

TEST(DelayBasedLink, AShorterPathIsDetectedInSeconds) {
  AckedLink link;
  link.capacity = constant(10e6);
  link.down = link.up = [](Milliseconds now) { return now < 10'000 ? 50 : 10; };
  const auto result = link.run(25'000);
  EXPECT_LE(*std::max_element(result.queue.begin() + 17'000, result.queue.end()), 1250 * 40);
  EXPECT_GE(result.served_in(10'500, 25'000), 0.97 * 14'500 * 1250);
}

// A drain that only confirms leaves most of the way filled, and one that finds something is followed by others.
TEST(DelayBasedLink, DrainsOfAConfirmedPathCostLessThroughput) {
  AckedLink link;
  link.capacity = constant(10e6);
  link.down = link.up = [](Milliseconds now) { return now < 100'000 ? 50 : 10; };
  const auto result = link.run(110'000);
  EXPECT_GE(result.drains, 8U);
  EXPECT_GE(result.served_in(10'000, 100'000), 0.99 * 90'000 * 1250);
  EXPECT_LE(*std::max_element(result.queue.begin() + 107'000, result.queue.end()), 1250 * 40);
}

TEST(DelayBasedLink, ASteadyLinkHasAShorterQueueThanOneThatVaries) {
  for (const bool steady : {true, false}) {
    AckedLink link;
    // The varying link has 8 and 12 Mb/s in turn, for a second each.
    link.capacity = [steady](Milliseconds now) { return (steady ? 10e6 : now / 1000 % 2 == 0 ? 8e6 : 12e6) / 8000; };
    link.up = [](Milliseconds) { return 90; };
    link.warmup = 10'000;
    const auto result = link.run(60'000);
    EXPECT_GT(result.utilisation, 0.97) << "steady: " << steady;
    if (steady) {
      EXPECT_LT(result.delay_p50_ms, 30) << "a tenth of the path and 1.1 times a reference of 10 ms, with two segments";
      EXPECT_LT(result.delay_p95_ms, 45);
    } else {
      EXPECT_GT(result.delay_p50_ms, 45) << "a quarter of the path and 1.25 times a reference of 35 ms";
    }
  }
}

TEST(DelayBasedLink, ASteadyLinkThatBecomesFasterIsUsedInSeconds) {
  AckedLink link;
  link.capacity = [](Milliseconds now) { return (now < 20'000 ? 10e6 : 40e6) / 8000; };
  link.up = [](Milliseconds) { return 90; };
  const auto result = link.run(30'000);
  EXPECT_GT(result.served_in(22'000, 25'000), 0.9 * 40e6 / 8 * 3);
}

TEST(DelayBasedLink, APathOf600MillisecondsIsUsed) {
  AckedLink link;
  link.capacity = constant(20e6);
  link.down = link.up = [](Milliseconds) { return Milliseconds(300); };
  const auto run = link.run(30'000);
  EXPECT_NEAR(run.base_ms.back(), 600, 10);
  EXPECT_GT(run.served_in(10'000, 30'000), 0.9 * 20 * 20e6 / 8);
}

TEST(DelayBasedLink, ALinkIsUsedAgainAfterAnOutage) {
  for (const Milliseconds outage : {100, 1'000, 3'000, 30'000}) {
    AckedLink link;
    link.capacity = [=](Milliseconds now) { return now >= 5'000 && now < 5'000 + outage ? 0.0 : 1250.0; };
    const Milliseconds end = 5'000 + outage + 3'000;
    const auto result = link.run(end);
    const auto during = *std::max_element(result.queue.begin() + 5'000, result.queue.begin() + 5'000 + outage);
    EXPECT_LE(during, 1250 * 80 + static_cast<double>(outage) * 3) << "ms of outage: " << outage;
    EXPECT_GE(result.served_in(end - 1'500, end), 0.95 * 1'500 * 1250) << "ms of outage: " << outage;
    EXPECT_LE(*std::max_element(result.queue.end() - 1'000, result.queue.end()), 1250 * 60) << outage;
  }
}

TEST(DelayBasedLink, ATenfoldFallOfTheRateDrainsAndARiseIsUsed) {
  AckedLink link;
  link.capacity = [](Milliseconds now) { return now < 5'000 || now >= 15'000 ? 1250.0 : 125.0; };
  const auto result = link.run(20'000);
  EXPECT_LE(*std::max_element(result.queue.begin() + 7'000, result.queue.begin() + 15'000), 125 * 80);
  EXPECT_GE(result.served_in(16'000, 20'000), 0.95 * 4'000 * 1250);
}

TEST(DelayBasedLink, BurstsAfterAPauseStartAtTheKnownRate) {
  AckedLink link;
  link.capacity = constant(20e6);
  link.demand = [](Milliseconds now) { return now % 2'000 == 0 ? 100'500.0 : 0.0; };
  const auto result = link.run(20'000);
  // 40 ms on the link and 10 on the wire at best.
  EXPECT_GE(result.served_in(18'000, 18'100), 100'000);
}

TEST(DelayBasedLink, AnAppLimitedSourceIsNotMistakenForASlowLink) {
  AckedLink link;
  link.capacity = constant(20e6);
  link.demand = [](Milliseconds now) { return now < 5'000 || now >= 10'000 ? 2600.0 : 125.0; };
  const auto result = link.run(12'000);
  EXPECT_GE(result.rate_bps[9'990], 15e6);
  EXPECT_GE(result.served_in(10'030, 10'500), 0.95 * 470 * 2500);
}

TEST(DelayBasedLink, LossCostsLittle) {
  AckedLink link;
  link.capacity = constant(10e6);
  link.packet_loss = 0.01;
  link.warmup = 2'000;
  const auto result = link.run(30'000);
  EXPECT_GE(result.utilisation, 0.97);
  EXPECT_LE(result.delay_p95_ms, 50);
}

TEST(DelayBasedLink, AStalledUplinkIsNotMistakenForAQueue) {
  AckedLink link;
  link.capacity = constant(10e6);
  link.uplink_speaks = [](Milliseconds now) { return now % 3'000 >= 200; };
  link.warmup = 3'000;
  const auto result = link.run(60'000);
  // The link still carries what is in flight at the beginning of each stall.
  EXPECT_GE(result.utilisation, 0.90);
  EXPECT_LE(result.base_ms.back(), 25);
}

TEST(DelayBasedLink, CrossTrafficThatFillsTheQueueDoesNotStarveIt) {
  AckedLink link;
  link.capacity = constant(10e6);
  // Cross traffic holds 60 ms of the queue for half a minute, so half of the link belongs to it.
  link.foreign = [](Milliseconds now) { return now < 10'000 || now >= 40'000 ? 0.0 : now < 10'060 ? 1250.0 : 625.0; };
  const auto result = link.run(60'000);
  EXPECT_GE(result.served_in(20'000, 40'000), 0.8 * 0.5 * 20'000 * 1250);
  EXPECT_GE(result.served_in(50'000, 60'000), 0.95 * 10'000 * 1250);
  EXPECT_LE(*std::max_element(result.queue.begin() + 50'000, result.queue.end()), 1250 * 60);
}

// A packet never waits for as long as would end the start-up: what does not fit is lost.
TEST(DelayBasedLink, AShortBufferEndsSlowStart) {
  for (const Milliseconds way : {10, 25, 35}) {
    SCOPED_TRACE(way);
    AckedLink link;
    link.capacity = constant(10e6);
    link.buffer = Bytes(1250 * 20);
    link.down = link.up = [way](Milliseconds) { return way; };
    const auto result = link.run(20'000);
    const double pipe = 1250.0 * 2 * static_cast<double>(way);
    EXPECT_LE(*std::max_element(result.window.begin() + 10'000, result.window.end()), 2 * (pipe + 25'000) + 6000);
    EXPECT_GE(result.served_in(5'000, 20'000), 0.9 * 15'000 * 1250);
  }
}

/// Half a minute beside a connection that fills a buffer of 300 ms, then alone.
AckedLink beside_a_rival(double bps) {
  AckedLink link;
  link.capacity = constant(bps);
  link.buffer = Bytes(bps / 8 * 0.3);
  link.rival = Rival{.from = 5'000, .to = 35'000, .returning = {}, .lost = {}};
  return link;
}

TEST(DelayBasedLink, ACompetitorThatFillsTheBufferLeavesItAShare) {
  for (const double bps : {2e6, 10e6, 100e6}) {
    SCOPED_TRACE(bps);
    const auto result = beside_a_rival(bps).run(60'000);
    const double half = 0.5 * 25'000 * bps / 8000;
    EXPECT_GE(result.served_in(10'000, 35'000), 0.8 * half);
    EXPECT_GE(std::accumulate(result.theirs.begin() + 10'000, result.theirs.begin() + 35'000, 0.0), 0.8 * half);
  }
}

TEST(DelayBasedLink, TheReferenceFallsBackWhenACompetitorLeaves) {
  for (const double bps : {2e6, 10e6, 100e6}) {
    SCOPED_TRACE(bps);
    const auto result = beside_a_rival(bps).run(60'000);
    EXPECT_GE(result.served_in(40'000, 60'000), 0.95 * 20'000 * bps / 8000);
    const double most = *std::max_element(result.queue.begin() + 40'000, result.queue.end());
    EXPECT_LE(most, std::max(bps / 8000 * 40, 6000.0));
  }
}

TEST(DelayBasedLink, TheSameSeedGivesTheSameRun) {
  const auto run = [] {
    AckedLink link;
    link.capacity = cellular(6e6, 9);
    link.packet_loss = 0.01;
    link.seed = 5;
    return link.run(10'000).queue;
  };
  EXPECT_EQ(run(), run());
}

struct Recorded {
  const char* file;
  double min_use, max_p95_ms;  ///< bounds with an uplink that never stalls
  double scheduled_least_use,
      scheduled_p95_ms;  ///< with a scheduled one, which no timestamps tell of: much is sent ahead
};

class RecordedLinks : public testing::TestWithParam<Recorded> {};

TEST_P(RecordedLinks, AreUsedWithoutReports) {
  const char* const folder = std::getenv("SLUICE_TRACES");
  if (folder == nullptr) GTEST_SKIP() << "SLUICE_TRACES names no folder with recorded traces";
  std::ifstream in(std::string(folder) + '/' + GetParam().file);
  if (!in) GTEST_SKIP() << GetParam().file << " is not in " << folder;
  auto opportunities = std::make_shared<std::vector<double>>();
  for (std::size_t ms = 0; in >> ms;) {
    if (ms >= 180'000) break;
    if (opportunities->size() <= ms) opportunities->resize(ms + 1, 0);
    (*opportunities)[ms] += 1500;
  }
  for (const bool scheduled : {false, true}) {
    AckedLink link;
    link.capacity = [=](Milliseconds now) {
      return (*opportunities)[static_cast<std::size_t>(now) % opportunities->size()];
    };
    if (scheduled) scheduled_uplink(link);
    link.warmup = 5'000;
    const auto result = link.run(180'000);
    RecordProperty(scheduled ? "scheduled_use" : "use", std::to_string(result.utilisation));
    RecordProperty(scheduled ? "scheduled_p95" : "p95", std::to_string(result.delay_p95_ms));
    EXPECT_GE(result.utilisation, scheduled ? GetParam().scheduled_least_use : GetParam().min_use) << scheduled;
    EXPECT_LE(result.delay_p95_ms, scheduled ? GetParam().scheduled_p95_ms : GetParam().max_p95_ms) << scheduled;
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, RecordedLinks,
                         testing::Values(Recorded{"Verizon-LTE-short.down", 0.95, 60, 0.95, 86},
                                         Recorded{"TMobile-UMTS-driving.down", 0.95, 74, 0.95, 87},
                                         Recorded{"ATT-LTE-driving.down", 0.98, 42, 0.98, 65}));

}  // namespace
}  // namespace sluice::control::test
