// Tests of generated link traces: mean rate, length, variation and outages.
#include "emulator/channel/trace_generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sluice::emulator {
namespace {

std::vector<double> per_second(const CapacityTrace& trace) {
  std::vector<double> rates(static_cast<std::size_t>(trace.period() / std::chrono::seconds(1)) + 1, 0);
  for (const std::uint32_t ms : trace.milliseconds()) rates[ms / 1000] += 1500 * 8;
  return rates;
}

std::uint32_t longest_gap(const CapacityTrace& trace) {
  std::uint32_t longest = 0;
  std::uint32_t before = 0;
  for (const std::uint32_t ms : trace.milliseconds()) {
    longest = std::max(longest, ms - before);
    before = ms;
  }
  return longest;
}

TEST(TraceGenerator, TheSameSeedGivesTheSameTrace) {
  const auto a = generate_trace({}, 11, std::chrono::seconds(30));
  const auto b = generate_trace({}, 11, std::chrono::seconds(30));
  const auto c = generate_trace({}, 12, std::chrono::seconds(30));
  EXPECT_TRUE(std::ranges::equal(a.milliseconds(), b.milliseconds()));
  EXPECT_FALSE(std::ranges::equal(a.milliseconds(), c.milliseconds()));
}

TEST(TraceGenerator, HasTheConfiguredMeanRateAndLength) {
  for (const double mbps : {0.5, 5.0, 80.0}) {
    TraceParameters parameters;
    parameters.mean = Rate::bits_per_second(mbps * 1e6);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto trace = generate_trace(parameters, seed, std::chrono::seconds(60));
      EXPECT_EQ(trace.period(), std::chrono::seconds(60));
      EXPECT_NEAR(trace.mean_rate().bps() / (mbps * 1e6), 1, 0.002) << "seed " << seed;
    }
  }
}

TEST(TraceGenerator, TheRateVariesWidely) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto rates = per_second(generate_trace({}, seed, std::chrono::seconds(120)));
    const auto [low, high] = std::minmax_element(rates.begin(), rates.end() - 1);
    EXPECT_GT(*high, 1.5 * 5e6) << "seed " << seed;
    EXPECT_LT(*low, 0.5 * 5e6) << "seed " << seed;
  }
}

TEST(TraceGenerator, OutagesHaveTheConfiguredLength) {
  TraceParameters parameters;
  parameters.outage_every = std::chrono::seconds(10);
  parameters.shadowing_db = 0;
  const auto with = generate_trace(parameters, 3, std::chrono::seconds(300));
  EXPECT_GE(longest_gap(with), 300U);
  EXPECT_LE(longest_gap(with), 2000U);
  int outages = 0;
  std::uint32_t before = 0;
  for (const std::uint32_t ms : with.milliseconds()) {
    outages += ms - before >= 300 ? 1 : 0;
    before = ms;
  }
  EXPECT_GE(outages, 15);
  EXPECT_LE(outages, 50);
  parameters.outage_every = {};
  EXPECT_LT(longest_gap(generate_trace(parameters, 3, std::chrono::seconds(300))), 300U);
}

TEST(TraceGenerator, RefusesWhatIsOutOfRange) {
  const auto refused = [](auto change) {
    TraceParameters parameters;
    change(parameters);
    EXPECT_THROW(static_cast<void>(generate_trace(parameters, 1, std::chrono::seconds(10))), std::invalid_argument);
  };
  refused([](TraceParameters& p) { p.mean = Rate::bits_per_second(1); });
  refused([](TraceParameters& p) { p.speed_kmh = 0; });
  refused([](TraceParameters& p) { p.mean_snr_db = std::numeric_limits<double>::quiet_NaN(); });
  refused([](TraceParameters& p) { p.shadowing_db = -1; });
  refused([](TraceParameters& p) { p.outage_max = std::chrono::milliseconds(1); });
  refused([](TraceParameters& p) { p.outage_every = std::chrono::milliseconds(500); });
  EXPECT_THROW(static_cast<void>(generate_trace({}, 1, std::chrono::milliseconds(10))), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
