// Tests of the second loop's sliding mode: SMVS on the relay buffer, by its equations and in closed loop.
#include "control/smvs/second_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <utility>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

SecondLoopParameters of_the_paper() {
  SecondLoopParameters parameters;
  parameters.reference = Reference::time(30ms);
  parameters.sliding.boundary_layer = Reference::bytes(Bytes{});
  parameters.sliding.eta_window = 1s;
  return parameters;
}

TEST(SecondLoop, TheSlidingModeEqualsSmvsOnTheRelayBuffer) {
  SecondLoopParameters parameters = of_the_paper();
  parameters.minimum_reference = 4000_B;
  parameters.frame = 100_B;
  parameters.initial = 20'000_B;
  parameters.sliding.buffer = 1000_B;  // of a radio queue, which this is not
  const SmvsParameters law = sliding_mode(parameters);
  EXPECT_DOUBLE_EQ(smvs_reference(law, Rate::bytes_per_second(1e6)), 30'000);
  EXPECT_DOUBLE_EQ(smvs_reference(law, Rate::bytes_per_second(1)), 4000);
  EXPECT_EQ(law.frame, 100_B);
  EXPECT_EQ(law.initial_allowance, 20'000_B);
  EXPECT_EQ(law.prediction, Prediction::measured);
}

// Eqs. 22 to 36 with b̄·RTT for what drains before a new edge can act.
TEST(SecondLoop, TheRttOfTheServerIsTheDelayOfTheLoop) {
  SmvsParameters parameters = sliding_mode(of_the_paper());
  parameters.boundary_layer = Reference::time(40ms);
  parameters.epsilon = 1e-6;
  const auto granted = [&](Duration rtt) {
    Smvs law(parameters);
    law.seed(Rate::bytes_per_second(1e6));
    return law.step(
        as_queue({.now = Instant(1s), .buffered = 40'000_B, .advertised = 90'000_B, .received = 0, .server_rtt = rtt}));
  };
  // ŝ = 130 000 − b̄·RTT − 30 000; w = b̄·Ts − 0.9·ŝ.
  EXPECT_EQ(granted(100ms), 5000_B);
  EXPECT_EQ(granted(102ms), 5000_B + 1800_B);
  EXPECT_EQ(granted(97ms), 5000_B - 2701_B) << "rounded down";
  EXPECT_EQ(granted(50ms), 0_B);
}

/// A greedy server half a round trip away that fills whatever window it is given, and a radio leg that drains the
/// relay's buffer. In milliseconds, with steps of five.
struct Relay {
  Smvs law{sliding_mode(of_the_paper())};
  std::int64_t rtt_ms = 60;
  std::function<double(std::int64_t)> capacity;  ///< bytes the radio leg takes in this millisecond

  double buffered = 0, offered = 0, drained = 0, highest = 0;
  std::int64_t edge = 64 * 1024, received = 0;
  std::deque<std::pair<std::int64_t, std::int64_t>> data{{30, 64 * 1024}};

  void run(std::int64_t from, std::int64_t to) {
    for (std::int64_t now = from; now < to; ++now) {
      for (; !data.empty() && data.front().first <= now; data.pop_front()) {
        received += data.front().second;
        buffered += static_cast<double>(data.front().second);
      }
      const double room = capacity(now);
      const double taken = std::min(room, buffered);
      buffered -= taken;
      offered += room;
      drained += taken;
      highest = std::max(highest, buffered);
      if (now % 5 == 0) step(now);
    }
  }
  void step(std::int64_t now) {
    const SecondLoopObservation seen{.now = Instant(std::chrono::milliseconds(now)),
                                     .buffered = Bytes(buffered),
                                     .advertised = Bytes(edge - received),
                                     .received = static_cast<std::uint64_t>(received),
                                     .server_rtt = std::chrono::milliseconds(rtt_ms)};
    const Bytes more = law.step(as_queue(seen));
    ASSERT_GE(more, 0_B);
    edge += more.count();
    if (more > 0_B) data.emplace_back(now + rtt_ms, more.count());
  }
};

TEST(SecondLoop, TheSlidingModeKeepsASteadyRadioLegBusy) {
  for (const double bps : {2e6, 5e6, 5e7}) {
    SCOPED_TRACE(bps);
    Relay relay;
    relay.capacity = [=](std::int64_t) { return bps / 8000; };
    relay.run(0, 5000);
    relay.offered = relay.drained = relay.highest = 0;
    relay.run(5000, 15'000);
    EXPECT_GE(relay.drained / relay.offered, 0.99);
    EXPECT_LE(relay.highest, bps / 8 * 0.06 + 1500);
  }
}

TEST(SecondLoop, TheSlidingModeKeepsAVaryingRadioLegBusy) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    double rate = 0;
    Relay relay;
    relay.rtt_ms = 20;
    relay.capacity = [&](std::int64_t now) {
      if (now % 200 == 0) rate = std::uniform_real_distribution<>(100, 1000)(random);
      return rate;
    };
    relay.run(0, 30'000);
    EXPECT_GE(relay.drained / relay.offered, 0.9);
    EXPECT_LE(relay.highest, 1000.0 * 100);
  }
}

}  // namespace
}  // namespace sluice::control
