// Tests of cell schedulers with scripted candidates: which UE each of them serves.
#include "emulator/scheduler/scheduler.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "emulator/random.hpp"
#include "emulator/scheduler/fcds.hpp"
#include "emulator/scheduler/max_ci.hpp"
#include "emulator/scheduler/proportional_fair.hpp"
#include "emulator/scheduler/rate_first.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "emulator/scheduler/short_first.hpp"

namespace sluice::emulator {
namespace {

Candidate waiting(std::uint32_t ue, int capacity = 100, int cqi = 0) {
  return {ue, true, Bytes(capacity), 0, static_cast<std::uint8_t>(cqi), false};
}

Candidate idle(std::uint32_t ue) {
  return {ue, false, Bytes(1000), 0, 30, false};
}

Candidate short_one(std::uint32_t ue, int capacity) {
  return {ue, true, Bytes(capacity), 0, 0, true};
}

std::uint32_t serve(Scheduler& scheduler, const std::vector<Candidate>& candidates, std::uint64_t tti) {
  const Candidate* const chosen = scheduler.pick(candidates, tti);
  if (chosen == nullptr) throw std::logic_error("nobody was chosen");
  scheduler.served(chosen->ue, chosen->capacity, tti);
  return chosen->ue;
}

TEST(RoundRobin, ServesTheUeThatHasWaitedLongest) {
  RoundRobin rr;
  const std::vector<Candidate> all{waiting(0), waiting(1), waiting(2)};
  EXPECT_EQ(serve(rr, all, 0), 0U);
  EXPECT_EQ(serve(rr, all, 1), 1U);
  EXPECT_EQ(serve(rr, {waiting(0), waiting(1)}, 2), 0U);  // 2 has nothing to send
  EXPECT_EQ(serve(rr, all, 3), 2U);
  EXPECT_EQ(serve(rr, all, 4), 1U);
}

TEST(EveryScheduler, SkipsIdleUesAndThoseOutOfReach) {
  for (const auto& [name, text, make] : scheduler_kinds()) {
    const auto scheduler = make_scheduler(name);
    EXPECT_EQ(scheduler->pick({}, 0), nullptr) << name;
    const std::vector<Candidate> none{idle(0), waiting(1, 0, 30)};
    EXPECT_EQ(scheduler->pick(none, 0), nullptr) << name;
    EXPECT_EQ(serve(*scheduler, {idle(0), waiting(1, 0, 30), waiting(2, 1, 1)}, 1), 2U) << name;
  }
  EXPECT_EQ(make_scheduler("fifo"), nullptr);
}

TEST(MaxCi, ServesTheBestCqiThenTheLargestBlockThenTheLongestWait) {
  MaxCi mci;
  EXPECT_EQ(serve(mci, {waiting(0, 500, 10), waiting(1, 400, 12)}, 0), 1U);
  EXPECT_EQ(serve(mci, {waiting(0, 500), waiting(1, 400)}, 1), 0U);
  EXPECT_EQ(serve(mci, {waiting(0, 500, 10), waiting(1, 500, 10)}, 2), 1U);
  EXPECT_EQ(serve(mci, {waiting(0, 500, 10), waiting(1, 500, 10)}, 3), 0U);
}

TEST(ProportionalFair, FollowsItsRecursion) {
  ProportionalFair pf(10);
  pf.served(0, Bytes(1000), 0);  // T = 0.1·1000
  EXPECT_DOUBLE_EQ(pf.average(0, 1), 100);
  EXPECT_DOUBLE_EQ(pf.average(0, 2), 90);
  EXPECT_NEAR(pf.average(0, 5), 100 * std::pow(0.9, 4), 1e-9);
  pf.served(0, Bytes(500), 5);  // T = 0.9·(100·0.9^4) + 50
  EXPECT_NEAR(pf.average(0, 6), 100 * std::pow(0.9, 5) + 50, 1e-9);
  EXPECT_EQ(pf.average(9, 6), 0);
}

TEST(ProportionalFair, ServesTheUeWithTheLargestRatio) {
  ProportionalFair pf(10);
  pf.served(0, Bytes(1000), 0);
  pf.served(1, Bytes(100), 1);
  // Before TTI 2: T0 = 90, T1 = 10.
  EXPECT_EQ(serve(pf, {waiting(0, 800), waiting(1, 90)}, 2), 1U);  // 8.9 against 9
  EXPECT_EQ(serve(pf, {waiting(0, 800), waiting(1, 90)}, 3), 0U);  // 9.9 against 5
  EXPECT_EQ(serve(pf, {waiting(0, 800), waiting(2, 1)}, 4), 2U);   // the newcomer first
  EXPECT_THROW(ProportionalFair(1), std::invalid_argument);
  EXPECT_THROW(ProportionalFair{std::numeric_limits<double>::quiet_NaN()}, std::invalid_argument);
}

Candidate of_quality(std::uint32_t ue, double db, bool backlogged = true) {
  return {ue, backlogged, Bytes(100), db, 10};
}

TEST(Fcds, ServesTheUeFarthestAboveItsOwnAverage) {
  Fcds fcds(10);
  EXPECT_EQ(serve(fcds, {of_quality(0, 20), of_quality(1, 0)}, 0), 0U);  // nothing known: as round robin
  EXPECT_EQ(serve(fcds, {of_quality(0, 20), of_quality(1, 0)}, 1), 1U);
  EXPECT_EQ(serve(fcds, {of_quality(0, 19), of_quality(1, 1)}, 2), 1U);
  EXPECT_EQ(serve(fcds, {of_quality(0, 21), of_quality(1, -1)}, 3), 0U);
}

TEST(Fcds, UpdatesTheAveragesOfIdleUes) {
  // UE 1 falls to 0 dB while it has nothing to send: 3 dB are much for it then. Without the fall they would be little.
  Fcds fallen(10);
  Fcds steady(10);
  for (std::uint64_t tti = 0; tti < 100; ++tti) {
    const Candidate other = of_quality(0, tti % 2 == 0 ? 1 : -1);
    static_cast<void>(fallen.pick(std::vector{other, of_quality(1, tti < 10 ? 10 : 0, false)}, tti));
    static_cast<void>(steady.pick(std::vector{other, of_quality(1, 10, false)}, tti));
  }
  const std::vector<Candidate> now{of_quality(0, 0.5), of_quality(1, 3)};
  EXPECT_EQ(serve(fallen, now, 100), 1U);
  EXPECT_EQ(serve(steady, now, 100), 0U);
  EXPECT_TRUE(fallen.follows_idle());
  EXPECT_THROW(Fcds(1), std::invalid_argument);
}

// A block of 1000 bytes that carried 10: one form learns the 10, the other the 1000.
TEST(ProportionalFair, AveragesTheCarriedBytesOrTheGrantedRate) {
  ProportionalFair carried(100);
  ProportionalFair granted(100, PfAverage::granted);
  for (ProportionalFair* scheduler : {&carried, &granted}) {
    scheduler->pick(std::vector{waiting(0, 1000)}, 0);
    scheduler->served(0, Bytes(10), 0);
  }
  EXPECT_NEAR(carried.average(0, 1), 0.1, 1e-12);
  EXPECT_NEAR(granted.average(0, 1), 10, 1e-9);
  EXPECT_NEAR(granted.average(0, 2), 9.9, 1e-9);
}

TEST(ProportionalFair, FollowsTheWindowRegulatorPapersRecursion) {
  ProportionalFair scheduler(1000, PfAverage::granted);
  Random random(3);
  std::array<double, 3> averages{};
  for (std::uint64_t tti = 0; tti < 20'000; ++tti) {
    std::vector<Candidate> all;
    for (std::uint32_t ue = 0; ue < 3; ++ue) all.push_back(waiting(ue, 1 + static_cast<int>(random.below(1000))));
    const auto chosen = static_cast<std::size_t>(scheduler.pick(all, tti) - all.data());
    const auto metric = [&](std::size_t i) {
      return averages[i] > 0 ? static_cast<double>(all[i].capacity.count()) / averages[i] : 1e300;
    };
    for (std::size_t i = 0; i < 3; ++i) ASSERT_LE(metric(i), metric(chosen) * (1 + 1e-9)) << tti;
    scheduler.served(all[chosen].ue, Bytes(1), tti);
    for (std::size_t i = 0; i < 3; ++i) {
      averages[i] = 0.999 * averages[i] + (i == chosen ? 0.001 * static_cast<double>(all[i].capacity.count()) : 0);
    }
  }
}

TEST(ShortFirst, AShortFlowGoesFirstAtAnyRate) {
  ShortFirst scheduler;
  EXPECT_EQ(serve(scheduler, {waiting(0, 1000), short_one(1, 50), short_one(2, 80)}, 0), 2U);
  EXPECT_EQ(serve(scheduler, {waiting(0, 1000), short_one(1, 50), idle(2)}, 1), 1U);
  EXPECT_EQ(serve(scheduler, {waiting(0, 1000), waiting(1, 50)}, 2), 0U) << "as PF: the first was never served";
}

TEST(RateFirst, AShortFlowGoesFirstIfThatCostsNoRate) {
  RateFirst scheduler;
  EXPECT_EQ(serve(scheduler, {waiting(0, 1000), short_one(1, 50)}, 0), 0U);
  // Now the second is PF's choice, and the third is short and faster.
  EXPECT_EQ(serve(scheduler, {waiting(0, 1000), waiting(1, 50), idle(2)}, 1), 1U);
  serve(scheduler, {idle(0), idle(1), waiting(2, 900)}, 2);
  EXPECT_EQ(serve(scheduler, {waiting(0, 1100), waiting(1, 50), short_one(2, 60)}, 3), 0U) << "slower than PF's choice";
  EXPECT_EQ(serve(scheduler, {waiting(0, 900), waiting(1, 50), short_one(2, 900)}, 4), 2U);
}

}  // namespace
}  // namespace sluice::emulator
