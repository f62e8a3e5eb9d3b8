// Tests of the bytes in flight between the proxy and the Node-B, computed from the counters of both.
#include "control/smvs/in_flight.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// A proxy that sends `rate` bytes each millisecond over a wire of 10 ms to a Node-B that reports every 5 ms.
struct Path {
  InFlight flight{20ms};
  double loss = 0;
  double stray = 0;  ///< share of packets that others add
  Duration late = 0ms;
  std::mt19937_64 random{1};
  Instant now{1s};
  std::uint64_t arrived = 0;
  std::deque<std::pair<Instant, std::uint64_t>> wire;
  std::deque<std::pair<Instant, std::uint64_t>> reports;
  Bytes last;

  void run(int milliseconds, std::int64_t rate) {
    for (int i = 0; i < milliseconds; ++i, now += 1ms) {
      for (; !wire.empty() && wire.front().first <= now; wire.pop_front()) arrived += wire.front().second;
      if (now.time_since_epoch() % 5ms == 0ms) reports.emplace_back(now + 10ms + late, arrived);
      flight.on_sent(now, Bytes(rate));
      if (std::uniform_real_distribution<>()(random) >= loss) wire.emplace_back(now + 10ms, rate);
      if (std::uniform_real_distribution<>()(random) < stray) wire.emplace_back(now + 10ms, rate);
      for (; !reports.empty() && reports.front().first <= now; reports.pop_front()) {
        last = flight.on_report(now, reports.front().second);
      }
    }
  }
};

TEST(InFlight, IsZeroIfNothingWasSent) {
  InFlight flight(20ms);
  EXPECT_EQ(flight.on_report(Instant(1s), 0), 0_B);
  EXPECT_EQ(flight.on_report(Instant(2s), 0), 0_B);
}

TEST(InFlight, CountsBytesThatHaveNotArrived) {
  Path path;
  path.run(1000, 100);
  EXPECT_NEAR(static_cast<double>(path.last.count()), 2000, 150);
  path.run(100, 0);
  EXPECT_EQ(path.last, 0_B);
  EXPECT_EQ(path.flight.total(), 100'000U);
}

TEST(InFlight, FollowsASuddenBurst) {
  Path path;
  path.run(100, 0);
  path.flight.on_sent(path.now, 50000_B);
  path.wire.emplace_back(path.now + 10ms, 50000);
  path.run(6, 0);
  EXPECT_NEAR(static_cast<double>(path.last.count()), 50000, 500);
  path.run(20, 0);
  EXPECT_LE(path.last, 1000_B) << "arrived";
  path.run(100, 0);
  EXPECT_EQ(path.last, 0_B);
}

TEST(InFlight, OriginsMayDiffer) {
  Path path;
  path.arrived = 1'000'000'000;  // the UE was served by another proxy before
  path.run(1000, 100);
  EXPECT_NEAR(static_cast<double>(path.last.count()), 2000, 150);
}

TEST(InFlight, LossesDoNotAccumulate) {
  Path path;
  path.loss = 0.01;
  path.run(20000, 100);
  EXPECT_NEAR(static_cast<double>(path.last.count()), 2000, 600);
}

TEST(InFlight, CrossTrafficDoesNotAccumulate) {
  Path path;
  path.stray = 0.01;
  path.run(20000, 100);
  EXPECT_NEAR(static_cast<double>(path.last.count()), 2000, 600);
}

TEST(InFlight, ARestartOfTheNodeBIsDetected) {
  Path path;
  path.run(1000, 100);
  path.arrived = 0;
  path.run(50, 100);
  EXPECT_NEAR(static_cast<double>(path.last.count()), 2000, 300);
}

TEST(InFlight, ALateReportAccountsForBytesSentMeanwhile) {
  Path path;
  path.run(1000, 100);
  path.reports.clear();
  path.late = 12ms;
  path.run(25, 100);
  EXPECT_GT(path.last, 2500_B) << "sent over 32 ms rather than 20";
}

TEST(InFlight, ADeadPathHoldsAtMostOneLifetime) {
  InFlight flight(20ms, 40ms);
  Instant now(1s);
  flight.on_report(now, 0);
  for (int i = 0; i < 1000; ++i, now += 1ms) flight.on_sent(now, 100_B);
  EXPECT_LE(flight.on_report(now, 0), 4200_B);
  EXPECT_EQ(flight.on_report(now + 100ms, 0), 0_B);
}

/// Its first report answers what was injected within the round trip, to a slice of time.
TEST(InFlight, CountsBytesSentSinceAtAnyRateOfReports) {
  constexpr Duration round_trip = 40ms;
  constexpr Duration lifetime = 100ms;
  constexpr Duration slice = lifetime / 62 + Duration(1);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    InFlight flight(round_trip, lifetime);
    Instant now{1s};
    std::vector<std::pair<Instant, std::int64_t>> sent;
    const std::uint64_t longest_pause = std::uint64_t{1} << (10 + random() % 18);  // 1 us to 134 ms
    for (std::uint64_t i = random() % 300; i > 0; --i) {
      now += Duration(static_cast<std::int64_t>(random() % longest_pause));
      sent.emplace_back(now, 1 + random() % 1500);
      flight.on_sent(now, Bytes(sent.back().second));
    }
    now += Duration(static_cast<std::int64_t>(random() % longest_pause));
    const auto number = (now - round_trip).time_since_epoch() / slice;
    std::int64_t least = 0;
    std::int64_t most = 0;
    for (const auto& [at, bytes] : sent) {
      if (at.time_since_epoch() / slice > number) least += bytes;
      if (at.time_since_epoch() / slice >= number) most += bytes;
    }
    const Bytes in_flight = flight.on_report(now, 0);
    ASSERT_GE(in_flight, Bytes(least)) << "seed " << seed;
    ASSERT_LE(in_flight, Bytes(most)) << "seed " << seed;
  }
}

TEST(InFlight, AcceptsAnyCounters) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 random(seed);
    InFlight flight(Duration(static_cast<std::int64_t>(random() % 50'000'000)));
    Instant now(1s);
    for (int i = 0; i < 300; ++i) {
      now += Duration(static_cast<std::int64_t>(random() >> (24 + random() % 40)));
      if (random() % 2 == 0) flight.on_sent(now, Bytes(random() >> (40 + random() % 24)));
      ASSERT_GE(flight.on_report(now, random() >> (random() % 64)), 0_B) << "seed " << seed;
    }
  }
}

/// Data that is discarded in a pause makes no difference afterwards: an object that kept all of it returns the same.
TEST(InFlight, OnlyTheSumCountsAfterAPause) {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t limit) { return static_cast<std::int64_t>(random() % limit); };
  for (int run = 0; run < 300; ++run) {
    const Duration round_trip = std::chrono::milliseconds(below(100));
    InFlight kept(round_trip);
    Instant now(1s + std::chrono::microseconds(below(1'000'000)));
    for (int i = 0; i < 200; ++i) {
      kept.on_sent(now, Bytes(1 + below(1500)));
      now += std::chrono::microseconds(below(3000));
    }
    EXPECT_FALSE(kept.is_past(now));
    now += InFlight::horizon(round_trip) + 1ms;
    ASSERT_TRUE(kept.is_past(now));
    InFlight fresh(round_trip);
    fresh.begin_at(kept.total());
    for (int i = 0; i < 100; ++i) {
      const Bytes sent(below(1500));
      kept.on_sent(now, sent);
      fresh.on_sent(now, sent);
      now += std::chrono::microseconds(below(5000));
      if (i % 3 != 0) continue;
      const std::uint64_t arrived = kept.total() - static_cast<std::uint64_t>(below(3000));
      ASSERT_EQ(kept.on_report(now, arrived), fresh.on_report(now, arrived)) << "run " << run;
    }
    EXPECT_FALSE(kept.is_past(now + 10s)) << "the reports' origin is known";
  }
}

}  // namespace
}  // namespace sluice::control
