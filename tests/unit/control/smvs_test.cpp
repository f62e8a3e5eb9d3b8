// Tests of SMVS step by step against the equations of the paper, with values computed by hand, and with hostile input.
#include "control/smvs/smvs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// The paper's own numbers (section 5.1) in its own units, sgn and commanded allowances included.
SmvsParameters paper() {
  SmvsParameters parameters;
  parameters.step = 25ms;
  parameters.alpha = 0.85;
  parameters.delta = 35;
  parameters.epsilon = 20;
  parameters.reference = Reference::frames(100);
  parameters.frame = 40_B;
  parameters.buffer = 8000_B;
  parameters.one_way_delay = 25ms;
  parameters.eta_window = 1s;
  parameters.boundary_layer = Reference();
  parameters.empty_queue = EmptyQueue::follow;
  return parameters;
}

/// Feeds steps of what a queue would show.
class Script {
 public:
  explicit Script(const SmvsParameters& parameters) : smvs(parameters) {}
  Bytes step(Duration elapsed, Bytes queue, Bytes arrived, Bytes served, Bytes in_flight = 0_B) {
    seen_.now += elapsed;
    seen_.queue = queue;
    seen_.arrived += static_cast<std::uint64_t>(arrived.count());
    seen_.served = seen_.served.value_or(0) + static_cast<std::uint64_t>(served.count());
    seen_.in_flight = in_flight;
    return smvs.step(seen_);
  }
  [[nodiscard]] double mean() const { return smvs.state().mean_rate.bytes_per_second(); }
  Smvs smvs;

 private:
  SmvsObservation seen_{Instant(1s), {}, 0, 0, {}};
};

TEST(Smvs, EqualsEquation36) {
  Script script(paper());
  script.step(25ms, 4000_B, 4000_B, 0_B);
  // b(1) = 1000 B / 25 ms = 40000 B/s is the first sample and becomes b̄.
  script.step(25ms, 3000_B, 0_B, 1000_B);
  EXPECT_DOUBLE_EQ(script.mean(), 40000);
  // b(2) = 2000 B / 25 ms: b̄ = 0.85·40000 + 0.15·80000 = 46000; η = (80000 − 46000)·0.025 = 850 = ηl = ηu.
  // ŝ = 5000 − 4000 + 600 − 46000·2·0.025 = −700; sgn = −1.
  // w = 1150 + 850 + 35·0.025·700 + (0 + 20·40·0.025) = 2632.5
  EXPECT_EQ(script.step(25ms, 5000_B, 4000_B, 2000_B, 600_B), 2632_B);
  EXPECT_DOUBLE_EQ(script.mean(), 46000);
  EXPECT_DOUBLE_EQ(script.smvs.state().reference, 4000);
  EXPECT_NEAR(script.smvs.state().predicted_error, -700, 1e-9);
  EXPECT_NEAR(script.smvs.state().eta_low, 850, 1e-9);
  // b(3) = 0: b̄ = 39100, η = −977.5. η1 = −63.75, η2 = 913.75. ŝ = 6000 − 4000 + 1000 − 1955 = 1045; sgn = +1.
  // w = 977.5 − 63.75 − 0.875·1045 − (913.75 + 20) < 0
  EXPECT_EQ(script.step(25ms, 6000_B, 1000_B, 0_B, 1000_B), 0_B);
  EXPECT_NEAR(script.smvs.state().eta_low, -977.5, 1e-9);
  EXPECT_NEAR(script.smvs.state().eta_high, 850, 1e-9);
  EXPECT_NEAR(script.smvs.state().predicted_error, 1045, 1e-9);
}

TEST(Smvs, AShortFlowLowersTheShareOfTheReference) {
  SmvsParameters parameters = paper();
  parameters.minimum_reference = 1000_B;
  Smvs smvs(parameters);
  SmvsObservation seen;
  const auto step = [&](double part) {
    seen.now += 25ms;
    seen.queue = 4000_B;
    seen.arrived += 1000;
    seen.served = seen.arrived - 4000 + 1000;
    seen.reference_factor = part;
    return smvs.step(seen);
  };
  seen.arrived = 4000;
  for (int i = 0; i < 100; ++i) step(1);
  EXPECT_DOUBLE_EQ(smvs.state().reference, 4000);
  EXPECT_NEAR(smvs.state().predicted_error, -2000, 1) << "40 000 B/s in two steps there and back";
  step(0.5);
  EXPECT_DOUBLE_EQ(smvs.state().reference, 2000);
  EXPECT_NEAR(smvs.state().predicted_error, 0, 1);
  step(0.1);
  EXPECT_DOUBLE_EQ(smvs.state().reference, 1000) << "the least reference holds";
  step(1);
  EXPECT_DOUBLE_EQ(smvs.state().reference, 4000);
}

TEST(Smvs, BoundaryLayerScalesTheSwitching) {
  SmvsParameters parameters = paper();
  parameters.boundary_layer = Reference::bytes(1400_B);
  Script script(parameters);
  script.step(25ms, 4000_B, 4000_B, 0_B);
  script.step(25ms, 3000_B, 0_B, 1000_B);
  // As above with sat(−700/1400) = −0.5: w = 1150 + 850 + 612.5 + 0.5·20 = 2622.5
  EXPECT_EQ(script.step(25ms, 5000_B, 4000_B, 2000_B, 600_B), 2622_B);
}

TEST(Smvs, KeepsFractionsOfBytes) {
  Script script(paper());
  script.step(25ms, 4000_B, 4000_B, 0_B);
  script.step(25ms, 4000_B, 1000_B, 1000_B, 2000_B);
  // From here on b(k) = b̄ = 40000 B/s, η = 0 (rounding aside) and ŝ = −1/3 of a frame's twentieth: w is fractional.
  Bytes sum;
  for (int i = 0; i < 80; ++i) sum += script.step(25ms, 4000_B, 1000_B, 1000_B, 1999_B);
  // w = 1000 + 0.875·1 + 20 = 1020.875 each
  EXPECT_NEAR(static_cast<double>(sum.count()), 80 * 1020.875, 1.5);
}

TEST(Smvs, InfersTheRateFromTheQueueWhenServedIsUnknown) {
  Smvs smvs(paper());
  smvs.step({.now = Instant(1s), .queue = 4000_B, .arrived = 4000, .served = {}, .in_flight = 0_B});
  smvs.step({.now = Instant(1025ms), .queue = 3500_B, .arrived = 5500, .served = {}, .in_flight = 0_B});
  EXPECT_DOUBLE_EQ(smvs.state().rate.bytes_per_second(), (4000 - 3500 + 1500) / 0.025);
}

TEST(Smvs, ThePredictionSumsTheAllowancesOfTheLastRtt) {
  SmvsParameters parameters = paper();
  parameters.prediction = Prediction::commanded;
  parameters.one_way_delay = 40ms;  // d = ⌈40/25⌉ = 2
  Script script(parameters);
  Bytes granted[6];
  granted[0] = script.step(25ms, 4000_B, 4000_B, 0_B, 999999_B);  // what is measured must not matter
  for (int i = 1; i < 6; ++i) granted[i] = script.step(25ms, 4000_B, 1000_B, 1000_B, 999999_B);
  const double sum = static_cast<double>((granted[1] + granted[2] + granted[3] + granted[4]).count());
  EXPECT_NEAR(script.smvs.state().predicted_error, 4000 + sum - 40000 * 0.1 - 4000, 1e-6);
}

TEST(Smvs, AnAllowanceCutShortByAnEarlyReportCountsInPart) {
  SmvsParameters parameters = paper();
  parameters.prediction = Prediction::commanded;
  Script script(parameters);
  script.step(25ms, 4000_B, 4000_B, 0_B);
  const Bytes first = script.step(25ms, 4000_B, 1000_B, 1000_B);
  const Bytes second = script.step(5ms, 4000_B, 200_B, 200_B);
  script.step(25ms, 4000_B, 1000_B, 1000_B);
  // Within 50 ms before: the second wholly, a fifth of the first.
  const double expected = static_cast<double>(second.count()) + 0.2 * static_cast<double>(first.count());
  EXPECT_NEAR(script.smvs.state().predicted_error, std::max(0.0, 4000 + expected - script.mean() * 0.05) - 4000, 1e-6);
}

TEST(Smvs, StartsWithTheInitialWindow) {
  Script script(paper());
  EXPECT_EQ(script.step(25ms, 0_B, 0_B, 0_B), 14600_B);
  EXPECT_EQ(script.step(25ms, 0_B, 0_B, 0_B, 14600_B), 0_B) << "nothing more while it is in flight";
  EXPECT_EQ(script.step(25ms, 5000_B, 14600_B, 0_B, 2000_B), 7600_B) << "nor while it is queued";
  EXPECT_DOUBLE_EQ(script.mean(), 0);
  script.step(25ms, 2500_B, 0_B, 2500_B);
  EXPECT_DOUBLE_EQ(script.mean(), 100000);
}

TEST(Smvs, RatesUseTheElapsedTime) {
  Script script(paper());
  script.step(25ms, 90000_B, 90000_B, 0_B);
  script.step(25ms, 89000_B, 0_B, 1000_B);
  script.step(75ms, 86000_B, 0_B, 3000_B);  // two reports were lost; the rate is the same
  EXPECT_NEAR(script.mean(), 40000, 1e-6);
  script.step(5ms, 85600_B, 0_B, 400_B);  // an early one: still twice the rate
  EXPECT_NEAR(script.mean(), 40000 + (1 - std::pow(0.85, 0.2)) * 40000, 1e-6);
}

TEST(Smvs, ThreeStepsAtOnceMoveTheMeanLikeThree) {
  Script one(paper());
  Script three(paper());
  for (Script* script : {&one, &three}) {
    script->step(25ms, 90000_B, 90000_B, 0_B);
    script->step(25ms, 89000_B, 0_B, 1000_B);
  }
  for (int i = 0; i < 3; ++i) one.step(25ms, 80000_B, 0_B, 2000_B);
  three.step(75ms, 80000_B, 0_B, 6000_B);
  EXPECT_NEAR(one.mean(), three.mean(), 1e-6);
}

TEST(Smvs, AnOlderObservationChangesNothing) {
  Script script(paper());
  script.step(25ms, 4000_B, 4000_B, 0_B);
  const Bytes allowance = script.step(25ms, 3000_B, 0_B, 1000_B);
  EXPECT_EQ(script.step(0ms, 0_B, 77_B, 77_B), allowance);
  EXPECT_EQ(script.step(-1s, 0_B, 77_B, 77_B), allowance);
  EXPECT_EQ(script.smvs.state().steps, 2U);
}

TEST(Smvs, AClockThatIsSetBackDoesNotFreezeTheController) {
  Smvs smvs(paper());
  smvs.step({.now = Instant(1h), .queue = 4000_B, .arrived = 4000, .served = 0, .in_flight = 0_B});
  smvs.step({.now = Instant(1h) + 25ms, .queue = 4000_B, .arrived = 5000, .served = 1000, .in_flight = 0_B});
  smvs.step({.now = Instant(3s),
             .queue = 0_B,
             .arrived = 0,
             .served = 0,
             .in_flight = 0_B});  // the Node-B has restarted with its clock and its counters
  EXPECT_EQ(smvs.state().steps, 3U);
  EXPECT_DOUBLE_EQ(smvs.state().mean_rate.bytes_per_second(), 40000) << "the best that is known";
  smvs.step({.now = Instant(3025ms), .queue = 4000_B, .arrived = 6000, .served = 2000, .in_flight = 0_B});
  EXPECT_NEAR(smvs.state().mean_rate.bytes_per_second(), 46000, 1e-6);
}

TEST(Smvs, ACounterNearItsMaximumIsHandled) {
  Smvs smvs(paper());
  const Instant late = Instant::max() - 500ms;
  smvs.step({.now = late, .queue = 4000_B, .arrived = 4000, .served = 0, .in_flight = 0_B});
  smvs.step({.now = late + 25ms, .queue = 4000_B, .arrived = 5000, .served = 1000, .in_flight = 0_B});
  EXPECT_DOUBLE_EQ(smvs.state().mean_rate.bytes_per_second(), 40000);
}

TEST(Smvs, RatesAreBounded) {
  Smvs smvs(paper());
  smvs.step({.now = Instant(1s), .queue = 4000_B, .arrived = 0, .served = 0, .in_flight = 0_B});
  smvs.step({.now = Instant(1s) + 1ns,
             .queue = 4000_B,
             .arrived = 0,
             .served = std::numeric_limits<std::uint64_t>::max(),
             .in_flight = 0_B});
  EXPECT_GT(smvs.state().mean_rate.in(60s), 0_B);
}

TEST(Smvs, CountersThatRunBackwardsMeasureNothing) {
  Smvs smvs(paper());
  smvs.step({.now = Instant(1s), .queue = 4000_B, .arrived = 100000, .served = 50000, .in_flight = 0_B});
  smvs.step({.now = Instant(1025ms), .queue = 4000_B, .arrived = 101000, .served = 51000, .in_flight = 0_B});
  const double mean = smvs.state().mean_rate.bytes_per_second();
  smvs.step({.now = Instant(1050ms),
             .queue = 4000_B,
             .arrived = 10,
             .served = 0,
             .in_flight = 0_B});  // the Node-B has restarted
  EXPECT_DOUBLE_EQ(smvs.state().mean_rate.bytes_per_second(), mean);
  smvs.step({.now = Instant(1075ms), .queue = 4000_B, .arrived = 1010, .served = 1000, .in_flight = 0_B});
  EXPECT_DOUBLE_EQ(smvs.state().mean_rate.bytes_per_second(), mean);
}

TEST(Smvs, AnEmptyQueueDoesNotLowerTheMeanButMayRaiseIt) {
  SmvsParameters parameters = paper();
  parameters.empty_queue = EmptyQueue::hold;
  Script script(parameters);
  script.step(25ms, 1000_B, 1000_B, 0_B);
  script.step(25ms, 1000_B, 1000_B, 1000_B);
  script.step(25ms, 0_B, 0_B, 1000_B);
  script.step(25ms, 0_B, 10_B, 10_B);
  script.step(25ms, 0_B, 0_B, 0_B);
  EXPECT_DOUBLE_EQ(script.mean(), 40000);
  script.step(25ms, 0_B, 3000_B, 3000_B);
  EXPECT_NEAR(script.mean(), 0.85 * 40000 + 0.15 * 120000, 1e-6);
}

TEST(Smvs, ThePapersFormFollowsAnEmptyQueue) {
  Script script(paper());
  script.step(25ms, 1000_B, 1000_B, 0_B);
  script.step(25ms, 1000_B, 1000_B, 1000_B);
  script.step(25ms, 0_B, 0_B, 0_B);
  EXPECT_NEAR(script.mean(), 0.85 * 40000, 1e-6);
}

TEST(Smvs, AnOutageWithAFullQueueLowersTheMeanAndStopsTheGrants) {
  SmvsParameters parameters = paper();
  parameters.reference = Reference::time(20ms);
  parameters.empty_queue = EmptyQueue::hold;
  Script script(parameters);
  script.step(25ms, 5000_B, 5000_B, 0_B);
  script.step(25ms, 5000_B, 5000_B, 5000_B);
  for (int i = 0; i < 100; ++i) script.step(25ms, 5000_B, 0_B, 0_B);
  EXPECT_LT(script.mean(), 1);
  EXPECT_EQ(script.smvs.state().allowance, 0_B);
  EXPECT_DOUBLE_EQ(script.smvs.state().reference, 3000) << "q0 in time must not vanish with the rate";
  // The queue drains at last: the grants come back by themselves.
  script.step(25ms, 0_B, 0_B, 5000_B);
  EXPECT_GE(script.smvs.state().allowance, 2000_B);
}

TEST(Smvs, ForgetsAStaleRate) {
  SmvsParameters parameters = paper();
  parameters.empty_queue = EmptyQueue::hold;
  parameters.restart_after_idle = 2s;
  Script script(parameters);
  script.step(25ms, 50000_B, 50000_B, 0_B);
  script.step(25ms, 0_B, 0_B, 50000_B);
  for (int i = 0; i < 79; ++i) script.step(25ms, 0_B, 0_B, 0_B);
  EXPECT_GT(script.mean(), 1e6);
  for (int i = 0; i < 3; ++i) script.step(25ms, 0_B, 0_B, 0_B);
  EXPECT_EQ(script.smvs.state().allowance, 14600_B);
  script.step(25ms, 0_B, 1000_B, 1000_B);
  EXPECT_DOUBLE_EQ(script.mean(), 40000) << "the next measurement stands for itself";
}

TEST(Smvs, ASeededMeanIsUsedAtOnce) {
  Script script(paper());
  script.smvs.seed(Rate::bytes_per_second(200000));
  // ŝ = −4000: w = 5000 + 0.875·4000 + 20
  EXPECT_EQ(script.step(25ms, 0_B, 0_B, 0_B, 10000_B), 8520_B);
}

TEST(Smvs, APredictedQueueIsNeverNegative) {
  Script script(paper());
  script.smvs.seed(Rate::bytes_per_second(200000));
  // The link could drain 10000 bytes before a grant arrives, but there are none to drain: ŝ = −q0, as above.
  EXPECT_EQ(script.step(25ms, 0_B, 0_B, 0_B, 0_B), 8520_B);
  EXPECT_DOUBLE_EQ(script.smvs.state().predicted_error, -4000);
}

TEST(Smvs, EtaCoversOneStepEvenForALateReport) {
  Script script(paper());
  script.smvs.seed(Rate::bytes_per_second(40000));
  script.step(25ms, 9000_B, 9000_B, 0_B);
  script.step(500ms, 9000_B, 0_B, 40000_B);  // 80000 B/s for twenty steps
  EXPECT_NEAR(script.smvs.state().eta_high, (80000 - script.mean()) * 0.025, 1e-6);
  script.step(5ms, 9000_B, 0_B, 800_B);  // an early one deviated for its own time only
  EXPECT_NEAR(script.smvs.state().eta_high, (160000 - script.mean()) * 0.005, 1e-6);
}

TEST(Smvs, TheReferenceStaysWithinTheBuffer) {
  SmvsParameters parameters = paper();
  parameters.reference = Reference::time(1s);
  Script script(parameters);
  script.smvs.seed(Rate::bytes_per_second(1e6));
  script.step(25ms, 0_B, 0_B, 0_B);
  EXPECT_DOUBLE_EQ(script.smvs.state().reference, 4000);
}

TEST(Smvs, RefusesInvalidParameters) {
  SmvsParameters parameters = paper();
  parameters.delta = 41;
  EXPECT_THROW(Smvs{parameters}, std::invalid_argument);
}

// For any values of an authenticated Node-B, the allowance is a number and never negative.
TEST(Smvs, AcceptsAnyObservation) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    SmvsParameters parameters = paper();
    parameters.prediction = seed % 2 == 0 ? Prediction::measured : Prediction::commanded;
    parameters.buffer = Bytes(0);
    parameters.reference = Reference::time(20ms);
    Smvs smvs(parameters);
    const auto wild = [&] { return random() >> (random() % 64); };
    Instant now(1s);
    for (int i = 0; i < 200; ++i) {
      now += Duration(static_cast<std::int64_t>(random() >> (30 + random() % 33)));
      const auto queue = Bytes(static_cast<std::int64_t>(wild() >> 1));
      const auto flight = Bytes(static_cast<std::int64_t>(wild() >> 1) * (random() % 2 == 0 ? 1 : -1));
      const Bytes allowance =
          smvs.step({.now = now, .queue = queue, .arrived = wild(), .served = wild(), .in_flight = flight});
      ASSERT_GE(allowance, 0_B) << "seed " << seed << " step " << i;
      ASSERT_LE(allowance, Bytes(1'000'000'000'001)) << "seed " << seed << " step " << i;
      ASSERT_TRUE(std::isfinite(smvs.state().predicted_error)) << "seed " << seed << " step " << i;
      ASSERT_TRUE(std::isfinite(smvs.state().mean_rate.bps())) << "seed " << seed << " step " << i;
    }
  }
}

}  // namespace
}  // namespace sluice::control
