// Tests of analytic models (Padhye, WLAN ratio, CLAMP loop) with values computed by hand; the steps are written beside
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "emulator/model/clamp_loop.hpp"
#include "emulator/model/tcp_throughput.hpp"
#include "emulator/model/wlan_ratio.hpp"

namespace sluice::emulator {
namespace {

/// b = 100/s, τ = 0.15 s, B = 14: T = 0.16 s, bT = 16, wmax = 15 + 14 + 1 = 30, w0 = 15.
const VaryingLink steady{{100, 100, 100, 100}, 0.15, 14};

TEST(ThroughputModel, ASteadyLinkHasOneSawtooth) {
  // A: 0.16·(16 − 15) = 0.16 s with (15·0.16 + 0.0256/0.32)/0.16 = 15.5 packets; B: (900 − 256)/200 = 3.22 s with 322.
  EXPECT_NEAR(varying_link_throughput(steady, 0), (15.5 + 322) / (0.16 + 3.22), 1e-9);
  // C: ceil(log2 16)·0.16 = 0.64 s with 15 packets, after every loss.
  EXPECT_NEAR(varying_link_throughput(steady, 1), (15 + 15.5 + 322) / (0.64 + 0.16 + 3.22), 1e-9);
  // … after every other.
  EXPECT_NEAR(varying_link_throughput(steady, 0.5), (7.5 + 337.5) / (0.32 + 3.38), 1e-9);
}

TEST(ThroughputModel, ALargeBufferHasNoEpochA) {
  // b = 100/s, τ = 0.05 s, B = 34: bT = 6, wmax = 40, w0 = 20 > 6: only B, (1600 − 400)/200 = 6 s at 100/s.
  EXPECT_NEAR(varying_link_throughput({{100}, 0.05, 34}, 0), 100, 1e-9);
  // With C: ceil(log2 21)·0.06 = 0.3 s and 20 packets.
  EXPECT_NEAR(varying_link_throughput({{100}, 0.05, 34}, 1), 620 / 6.3, 1e-9);
}

TEST(ThroughputModel, VaryingRatesCountByTheirMeanAndTheSquareOfTheirWindows) {
  // 50 and 150/s, τ = 0.1 s, B = 9: mean 100, T = 0.11, bT = 11, wmax = √((15² + 25²)/2) = √425, w0 = √425/2.
  // A: 0.11·(11 − 10.30776) = 0.0761459 s, (10.30776·0.0761459 + 0.0263553·…)/0.11: 7.375 packets in all;
  // B: (425 − 121)/200 = 1.52 s, 152 packets.
  const double w0 = 10.3077640640;
  const double time_a = 0.11 * (11 - w0);
  const double sent_a = (w0 * time_a + time_a * time_a / 0.22) / 0.11;
  EXPECT_NEAR(sent_a, 7.375, 0.001);
  EXPECT_NEAR(varying_link_throughput({{50, 150}, 0.1, 9}, 0), (sent_a + 152) / (time_a + 1.52), 1e-6);
}

TEST(ThroughputModel, ATimeoutIsSpuriousIfTheRateFallsBeyondTheBound) {
  // τ = 0.17, B = 15: from 100/s the bound is 1 + 34/17 = 3, so (100 − b)/b > 3: below 25/s.
  EXPECT_EQ(spurious_timeouts({{100, 24.9, 100, 25.1, 100}, 0.17, 15}), 1U);
  EXPECT_EQ(spurious_timeouts({{100, 0, 0, 100}, 0.17, 15}), 1U) << "a fall to nothing, and nothing more to fall";
  EXPECT_EQ(spurious_timeouts(steady), 0U);
}

TEST(ThroughputModel, InputsOutOfRangeAreRefused) {
  EXPECT_THROW(static_cast<void>(varying_link_throughput({{}, 0.1, 9}, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(varying_link_throughput({{-1}, 0.1, 9}, 0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(varying_link_throughput(steady, 1.5)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(spurious_timeouts({{1}, 0, 9})), std::invalid_argument);
  EXPECT_EQ(varying_link_throughput({{0, 0}, 0.1, 9}, 0), 0);
}

TEST(Padhye, EqualsTheFormulaAtOnePercentLoss) {
  // 0.2·√(0.02/3) = 0.0163299; 0.4·3·√(0.03/8)·0.01·1.0032 = 0.0007372.
  EXPECT_NEAR(
      padhye_throughput({.loss = 0.01, .round_trip_s = 0.2, .timeout_s = 0.4, .packets_per_ack = 1, .window = 1e9}),
      1 / (0.0163299 + 0.0007372), 0.01);
  EXPECT_NEAR(
      padhye_throughput({.loss = 0.01, .round_trip_s = 0.2, .timeout_s = 0.4, .packets_per_ack = 1, .window = 10}), 50,
      1e-9)
      << "ten packets a round trip";
  // Every fourth packet lost: the timer's share is one, 3·√(0.75/8) = 0.92 is not yet; 0.2·√(1/6) + 0.4·0.9186·0.25·3.
  EXPECT_NEAR(
      padhye_throughput({.loss = 0.25, .round_trip_s = 0.2, .timeout_s = 0.4, .packets_per_ack = 1, .window = 1e9}),
      1 / (0.0816497 + 0.2755676), 0.001);
  EXPECT_THROW(static_cast<void>(padhye_throughput(
                   {.loss = 0, .round_trip_s = 0.2, .timeout_s = 0.4, .packets_per_ack = 1, .window = 10})),
               std::invalid_argument);
}

TEST(WlanModel, TheQueueLossEqualsTheFormula) {
  EXPECT_NEAR(queue_loss(0.5, 3), 0.5 * 0.125 / (1 - 0.0625), 1e-12);
  EXPECT_NEAR(queue_loss(2, 3), 8.0 / 15, 1e-12);  // (1 − 2)·8/(1 − 16)
  EXPECT_NEAR(queue_loss(1, 9), 0.1, 1e-12);
  EXPECT_NEAR(queue_loss(1 + 1e-7, 9), 0.1, 1e-6) << "no jump beside it";
  EXPECT_NEAR(queue_loss(1.5, 1e6), 1 / 3.0, 1e-9) << "large buffers do not overflow the arithmetic";
}

/// w = 42, a = bd = 1. For a large loss queue P → (ρ − 1)/ρ = 1/(R + 1), so R²·(R + 1) = 42²·2/3 = 1176: R = 10.2.
TEST(WlanModel, TheRatioIsFlatAtAboutTenUpToTheWindow) {
  EXPECT_NEAR(
      wlan_ratio(
          {.buffer_packets = 42, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      10.29, 0.01);  // ρ = 1.0972, P = 0.0900, 42·√(2·0.09/3)
  EXPECT_NEAR(
      wlan_ratio(
          {.buffer_packets = 30, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      10.4, 0.15);
  EXPECT_NEAR(
      wlan_ratio(
          {.buffer_packets = 16, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      11, 0.4);
}

TEST(WlanModel, AboveTheWindowItFallsToOne) {
  // B = 63: the downloads' own part is ¾·21 = 15.75. R = 2.112: ρ = 1.4735, P = 0.3213, √(3/(2·0.3213)) = 2.161;
  // 42/(15.75 + 2.161) = 2.345 > R. R = 2.338: ρ = 1.4277, P = 0.2996, 2.2377; 42/17.988 = 2.335.
  EXPECT_NEAR(
      wlan_ratio(
          {.buffer_packets = 63, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      2.335, 0.005);
  EXPECT_EQ(
      wlan_ratio(
          {.buffer_packets = 84, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      1);
  EXPECT_EQ(
      wlan_ratio(
          {.buffer_packets = 150, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      1);
}

TEST(WlanModel, TheNaiveEstimateIsFarTooLargeNearTheWindow) {
  EXPECT_DOUBLE_EQ(wlan_naive_ratio({.buffer_packets = 84 - 1e-9,
                                     .window_packets = 42,
                                     .downloads = 1,
                                     .acks_per_packet = 1,
                                     .packets_per_ack = 1}),
                   42 / (0.75 * (42 - 1e-9)))
      << "¾ of the places in use";
  EXPECT_DOUBLE_EQ(
      wlan_naive_ratio(
          {.buffer_packets = 50, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      7);
  EXPECT_DOUBLE_EQ(
      wlan_naive_ratio(
          {.buffer_packets = 50, .window_packets = 42, .downloads = 2, .acks_per_packet = 1, .packets_per_ack = 1}),
      14);
  EXPECT_TRUE(std::isinf(wlan_naive_ratio(
      {.buffer_packets = 42, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1})));
  EXPECT_EQ(
      wlan_naive_ratio(
          {.buffer_packets = 84, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      1);
  EXPECT_THROW(
      static_cast<void>(wlan_naive_ratio(
          {.buffer_packets = 0, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1})),
      std::invalid_argument);
}

/// A chain of three states by hand: w = 4, loss p of one ACK. Between two restarts it is once in state 1, with 1 − p
/// in state 2, and (1 − p)(1 − p²)/p⁴ steps in state 4.
TEST(WlanModel, AnUploadsWindowIsNearlyAlwaysFull) {
  const WlanShare small{
      .buffer_packets = 4, .window_packets = 4, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1};
  const double p = queue_loss(1 + 1 / wlan_ratio(small), 4);
  const double full = (1 - p) * (1 - p * p) / std::pow(p, 4);
  EXPECT_NEAR(wlan_full_window_orders(small), std::log10(full / (1 + (1 - p))), 1e-12);
  EXPECT_GT(
      wlan_full_window_orders(
          {.buffer_packets = 4, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      6)
      << "orders of magnitude, as the paper says";
  EXPECT_GT(
      wlan_full_window_orders(
          {.buffer_packets = 42, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1}),
      40);
  EXPECT_TRUE(std::isinf(wlan_full_window_orders(
      {.buffer_packets = 84, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1})));
}

TEST(WlanModel, EachOfMoreDownloadsGetsItsShare) {
  const double two = wlan_ratio(
      {.buffer_packets = 100, .window_packets = 42, .downloads = 2, .acks_per_packet = 1, .packets_per_ack = 1});
  const double eight = wlan_ratio(
      {.buffer_packets = 100, .window_packets = 42, .downloads = 8, .acks_per_packet = 1, .packets_per_ack = 1});
  EXPECT_GT(two, 1.5);
  EXPECT_GT(eight, 2.5 * two);
  EXPECT_LT(eight, 4.5 * two);
  EXPECT_THROW(
      static_cast<void>(wlan_ratio(
          {.buffer_packets = 0, .window_packets = 42, .downloads = 1, .acks_per_packet = 1, .packets_per_ack = 1})),
      std::invalid_argument);
}

/// Largest |q − q*| between 39 and 40 round trips over that between 19 and 20, of dq/dt = −b·q(t − 1) step by step.
double growth_in_twenty(double slope) {
  constexpr std::size_t steps = 2000;  // per round trip
  std::vector<double> q(40 * steps + 1, 1.0);
  for (std::size_t i = 1; i < q.size(); ++i) {
    const double before = i > steps ? q[i - 1 - steps] : 1.0;
    q[i] = q[i - 1] - slope * before / static_cast<double>(steps);
  }
  const auto most = [&](std::size_t round) {
    double value = 0;
    // A period is four round trips or more.
    for (std::size_t i = (round - 5) * steps; i < round * steps; ++i) value = std::max(value, std::abs(q[i]));
    return value;
  };
  return most(40) / most(20);
}

TEST(ClampLoop, IsStableBelowHalfOfPiOnly) {
  EXPECT_NEAR(clamp_loop_growth(std::numbers::pi / 2), 1, 1e-9) << "it swings for ever, with a period of 4 d";
  EXPECT_LT(clamp_loop_growth(1.5), 1);
  EXPECT_GT(clamp_loop_growth(1.6), 1);
  EXPECT_NEAR(clamp_loop_growth(1 / std::numbers::e), 1 / std::numbers::e, 1e-4) << "a double root at -1";
  EXPECT_THROW(static_cast<void>(clamp_loop_growth(0)), std::invalid_argument);
}

TEST(ClampLoop, OscillatesLikeTheEquationStepByStep) {
  for (const double slope : {1.25, 1.5, 1.6, 1.75}) {
    EXPECT_NEAR(std::pow(growth_in_twenty(slope), 1.0 / 20), clamp_loop_growth(slope), 0.02) << slope;
  }
}

}  // namespace
}  // namespace sluice::emulator
