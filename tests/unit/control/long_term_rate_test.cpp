// Tests of the long-term rate of a link: which times count, for how long they count, and samples that cannot be true.

#include "control/long_term_rate.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using Origin = LongTermRate::Origin;

/// A link whose counters are sampled each 100 ms.
struct Link {
  static constexpr Duration step = 100ms;

  /// Lets time pass. The link delivers at `rate`, and data waits for it if `is_bottleneck` is true.
  void run(Duration duration, double bps, bool is_bottleneck = true) {
    for (Duration past{}; past < duration; past += step) {
      now += step;
      exact += bps / 8 * to_seconds(step);
      long_term.add({now, origin, static_cast<std::uint64_t>(exact), is_bottleneck, lag});
    }
  }
  [[nodiscard]] double mbps() const { return long_term.rate(now).bps() / 1e6; }

  LongTermRate long_term{};
  Instant now{1h};
  double exact = 0;  ///< delivered bytes
  Origin origin = Origin::reports;
  Duration lag{};
};

TEST(LongTermRate, IsUnknownUntilTheLinkWasTheBottleneckForLongEnough) {
  Link link;
  EXPECT_EQ(link.long_term.rate(link.now), Rate());
  link.run(22s, 8e6);
  EXPECT_EQ(link.mbps(), 0) << "older samples weigh less";
  link.run(3s, 8e6);
  EXPECT_NEAR(link.mbps(), 8, 1e-3);
  EXPECT_GE(link.long_term.observed(link.now), LongTermRate::min_observed);
}

TEST(LongTermRate, IsTheMeanOfAVaryingLink) {
  Link link;
  for (int i = 0; i < 100; ++i) {
    link.run(1s, 2e6);
    link.run(1s, 6e6);
  }
  EXPECT_NEAR(link.mbps(), 4, 0.1);
}

TEST(LongTermRate, TimesInWhichTheLinkIsNoBottleneckDoNotCount) {
  Link link;
  for (int i = 0; i < 40; ++i) {
    link.run(2s, 8e6);
    link.run(2s, 1e6, false);
  }
  EXPECT_NEAR(link.mbps(), 8, 1e-3);
}

TEST(LongTermRate, AnOutageCountsWhileDataWaits) {
  Link link;
  link.run(200s, 8e6);
  link.run(8s, 0);
  EXPECT_NEAR(link.mbps(), 8 * 0.887, 0.05) << "e^(-8/67) of the weight is from before the outage";
}

TEST(LongTermRate, FollowsALastingChangeWithinTwoPeriods) {
  Link link;
  link.run(300s, 8e6);
  link.run(2 * LongTermRate::period, 2e6);
  EXPECT_LT(link.mbps(), 2.9);
  EXPECT_GT(link.mbps(), 2);
}

TEST(LongTermRate, IsForgottenWithoutSamples) {
  Link link;
  link.run(300s, 8e6);
  const Instant end = link.now;
  EXPECT_NEAR(link.long_term.rate(end + 79s).bps(), 8e6, 1e3) << "the rate does not fall meanwhile";
  EXPECT_EQ(link.long_term.rate(end + 83s), Rate()) << "67 s · ln(67 s / 20 s) = 81 s";
}

TEST(LongTermRate, TimeWithoutSamplesDoesNotCount) {
  Link link;
  link.run(60s, 8e6);
  link.now += 11s;
  link.run(10s, 8e6);
  EXPECT_NEAR(link.mbps(), 8, 1e-3);
  link.now += 9s;  // the link was the bottleneck before and after, so it had an outage
  link.run(10s, 8e6);
  EXPECT_LT(link.mbps(), 7.2);
}

TEST(LongTermRate, CountsOnlyAfterTheLag) {
  Link link;
  link.origin = Origin::acks;
  link.lag = 500ms;
  for (int i = 0; i < 100; ++i) {
    link.run(500ms, 0);  // the first ACK comes a round trip after the data was sent
    link.run(1s, 8e6);
    link.run(500ms, 0, false);
  }
  EXPECT_NEAR(link.mbps(), 8, 0.9);
  Link short_ones = link;
  short_ones.long_term = {};
  for (int i = 0; i < 1000; ++i) {
    short_ones.run(400ms, 8e6);
    short_ones.run(100ms, 0, false);
  }
  EXPECT_EQ(short_ones.mbps(), 0);
}

TEST(LongTermRate, CountersThatRestartDoNotCount) {
  Link link;
  link.run(60s, 8e6);
  link.exact = 0;
  link.run(30s, 8e6);
  EXPECT_NEAR(link.mbps(), 8, 1e-3);
}

TEST(LongTermRate, NumbersOfDifferentOriginAreNotCompared) {
  Link link;
  link.run(60s, 8e6);
  link.origin = Origin::acks;
  link.exact += 5e6;
  link.run(30s, 8e6);
  EXPECT_NEAR(link.mbps(), 8, 1e-3);
  link.exact += 5e6;
  link.long_term.restart();
  link.run(30s, 8e6);
  EXPECT_NEAR(link.mbps(), 8, 1e-3);
}

TEST(LongTermRate, ImpossibleRatesAreIgnored) {
  Link link;
  link.run(60s, 8e6);
  link.exact += 1e15;
  link.run(60s, 8e6);
  EXPECT_NEAR(link.mbps(), 8, 1e-3);
}

TEST(LongTermRate, AnySamplesGiveAPossibleRate) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    LongTermRate rate{};
    Instant now(std::chrono::nanoseconds(random() >> 2U));
    for (int i = 0; i < 500; ++i) {
      now += Duration(static_cast<std::int64_t>(random() % 400'000'000) - 1000);
      if (random() % 50 == 0) rate.restart();
      rate.add({now, random() % 8 == 0 ? Origin::acks : Origin::reports, random() >> (random() % 64), random() % 4 != 0,
                Duration(static_cast<std::int64_t>(random() % 100'000'000))});
      const Rate result = rate.rate(now);
      ASSERT_GE(result, Rate()) << "seed " << seed;
      ASSERT_LE(result.bps(), LongTermRate::max_plausible.bps() * (1 + 1e-9)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace sluice::control
