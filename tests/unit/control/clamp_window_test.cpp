// Tests of CLAMP's window agent: slow start, rate estimate and window change (equations 14 and 15 of the paper).
#include "control/window_laws/clamp_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr Bytes plenty{1'000'000};

ClampWindowParameters paper() {
  ClampWindowParameters parameters;
  parameters.segment = 1000_B;
  return parameters;
}

/// Slow start left behind at once.
ClampWindow steady(Duration round_trip) {
  ClampWindow window(paper(), round_trip);
  window.on_loss();
  return window;
}

TEST(ClampWindow, SlowStartAddsASegmentPerPacket) {
  ClampWindow window(paper(), 100ms);
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(window.on_data(Instant(1s + i * 1ms), 1000_B, 0s, plenty), Bytes(1000 + 1000 * i));
  }
  EXPECT_TRUE(window.state().slow_start);
}

// Eq. 15 with the paper's example μ̂(t₁) = 0, μ̂(t₂) = (s₁ + s₂)/(t₂ − t₁).
TEST(ClampWindow, TheRateIsMeasuredOverTheLastPackets) {
  ClampWindowParameters parameters = paper();
  parameters.rate_packets = 3;
  ClampWindow window(parameters, 100ms);
  window.on_data(Instant(1000ms), 1000_B, 0s, plenty);
  EXPECT_EQ(window.state().rate, Rate());
  window.on_data(Instant(1010ms), 500_B, 0s, plenty);
  EXPECT_DOUBLE_EQ(window.state().rate.bytes_per_second(), 150'000);
  window.on_data(Instant(1020ms), 1000_B, 0s, plenty);
  window.on_data(Instant(1030ms), 1000_B, 0s, plenty);
  EXPECT_NEAR(window.state().rate.bytes_per_second(), 3500 / 0.03, 1e-6);
  window.on_data(Instant(1050ms), 1000_B, 0s, plenty);
  EXPECT_NEAR(window.state().rate.bytes_per_second(), 3500 / 0.04, 1e-6) << "the first is forgotten, ν = 3";
}

TEST(ClampWindow, ThePriceEndsSlowStartWithHalfTheWindow) {
  ClampWindow window(paper(), 100ms);
  for (int i = 0; i < 9; ++i) window.on_data(Instant(1s + i * 1ms), 1000_B, 0s, plenty);
  EXPECT_DOUBLE_EQ(window.state().window, 10'000);
  // μ̂ = 10000 B/9 ms = 1.11 MB/s; τ − p·μ̂ < 0 from p = 0.45 ms on.
  window.on_data(Instant(1009ms), 1000_B, 1ms, plenty);
  EXPECT_FALSE(window.state().slow_start);
  EXPECT_DOUBLE_EQ(window.state().window, 5000);
}

TEST(ClampWindow, ALossEndsSlowStartOnce) {
  ClampWindow window(paper(), 100ms);
  for (int i = 0; i < 9; ++i) window.on_data(Instant(1s + i * 1ms), 1000_B, 0s, plenty);
  window.on_loss();
  EXPECT_DOUBLE_EQ(window.state().window, 5000);
  window.on_loss();
  EXPECT_DOUBLE_EQ(window.state().window, 5000) << "later losses are TCP's affair";
}

TEST(ClampWindow, StartsFromASeededWindow) {
  ClampWindow window(paper(), 100ms);
  window.seed(50'000_B);
  EXPECT_EQ(window.on_data(Instant(1s), 1000_B, 0s, plenty), 50'000_B);
  EXPECT_NEAR(static_cast<double>(window.on_data(Instant(1010ms), 1000_B, 0s, plenty).count()), 50'050, 1);
}

TEST(ClampWindow, TheLargestWindowBoundsSlowStart) {
  ClampWindowParameters parameters = paper();
  parameters.largest = 5000_B;
  ClampWindow window(parameters, 100ms);
  for (int i = 0; i < 9; ++i) window.on_data(Instant(1s + i * 1ms), 1000_B, 0s, plenty);
  EXPECT_DOUBLE_EQ(window.state().window, 5000);
  EXPECT_FALSE(window.state().slow_start);
}

// Eq. 14: Δw = (τ − p·μ̂)/d̂·(t_k − t_{k−1}).
TEST(ClampWindow, ChangesByEquation14) {
  ClampWindow window = steady(100ms);
  window.on_data(Instant(1000ms), 1000_B, 0s, plenty);
  EXPECT_DOUBLE_EQ(window.state().window, 2000) << "no packet before it, no interval";
  window.on_data(Instant(1010ms), 1000_B, 0s, plenty);
  EXPECT_NEAR(window.state().change, 50, 1e-9) << "500/0.1·0.01";
  EXPECT_NEAR(window.state().window, 2050, 1e-9);
  // Eq. 16: d̂ = 0.999·0.1 + 0.001·2050/200000.
  EXPECT_NEAR(to_seconds(window.state().round_trip), 0.09991025, 1e-8);
  // μ̂ = 3000/0.02 = 150 kB/s; p·μ̂ = 300.
  window.on_data(Instant(1020ms), 1000_B, 2ms, plenty);
  EXPECT_NEAR(window.state().change, 200 / 0.09991025 * 0.01, 1e-6);
}

TEST(ClampWindow, TheChangeIsClipped) {
  ClampWindowParameters parameters = paper();
  parameters.rate_packets = 1;
  ClampWindow idle(parameters, 100ms);
  idle.on_loss();
  idle.on_data(Instant(1s), 1000_B, 0s, plenty);
  idle.on_data(Instant(1h), 1000_B, 0s, plenty);
  EXPECT_DOUBLE_EQ(idle.state().window, 12'000) << "at most 10 kB after an idle hour";
  idle.on_data(Instant(1h + 10ms), 700_B, 10s, plenty);
  EXPECT_DOUBLE_EQ(idle.state().change, -700) << "at most what was received: the right edge stays";
  EXPECT_DOUBLE_EQ(idle.state().window, 11'300);
  for (int i = 2; i < 100; ++i) idle.on_data(Instant(1h + i * 10ms), 1000_B, 10s, plenty);
  EXPECT_DOUBLE_EQ(idle.state().window, 2000) << "never less than two segments";
}

TEST(ClampWindow, IsAtMostTheWindowOfTheReceiver) {
  ClampWindow window(paper(), 100ms);
  EXPECT_EQ(window.on_data(Instant(1s), 1000_B, 0s, 1500_B), 1500_B);
  EXPECT_EQ(window.on_data(Instant(1001ms), 1000_B, 0s, 0_B), 0_B);
}

TEST(ClampWindowRules, ParametersOutOfRangeAreRefused) {
  const auto rule = [](const char* name) { return Field(&Violation::rule, name); };
  const auto broken = [](auto change) {
    ClampWindowParameters parameters;
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(validate(ClampWindowParameters{}), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.gain = 0_B; }), ElementsAre(rule("τ > 0")));
  EXPECT_THAT(broken([](auto& p) { p.smoothing = 1; }), ElementsAre(rule("0 < β < 1")));
  EXPECT_THAT(broken([](auto& p) { p.rate_packets = 0; }), ElementsAre(rule("1 ≤ ν ≤ 65536")));
  EXPECT_THAT(broken([](auto& p) { p.largest_increase = 0_B; }), ElementsAre(rule("largest increase > 0")));
  EXPECT_THAT(broken([](auto& p) { p.largest = 1000_B; }), ElementsAre(rule("largest ≥ 2 segments")));
  EXPECT_THAT(broken([](auto& p) { p.smoothing = 0; }), ElementsAre(rule("0 < β < 1")));
  EXPECT_THAT(broken([](auto& p) { p.rate_packets = 65'537; }), ElementsAre(rule("1 ≤ ν ≤ 65536")));
  EXPECT_THAT(broken([](auto& p) { p.segment = 0_B; }), ElementsAre(rule("segment > 0")));
  EXPECT_THAT(broken([](auto& p) { p.largest = p.segment * 2 - 1_B; }), ElementsAre(rule("largest ≥ 2 segments")));
  EXPECT_THAT(broken([](auto& p) {
                p.gain = 1_B;
                p.rate_packets = 1;
                p.largest_increase = 1_B;
                p.segment = 1_B;
                p.largest = 2_B;
              }),
              IsEmpty())
      << "the smallest values";
  EXPECT_THAT(broken([](auto& p) { p.rate_packets = 65'536; }), IsEmpty());
  ClampWindowParameters impossible;
  impossible.gain = -1_B;
  EXPECT_THROW(ClampWindow(impossible, 100ms), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::control
