// Tests of the delay of a peer's segments from its TCP timestamps (RFC 7323), with uploads, outages, drift and clock
// jumps.
#include "control/ack_based/timestamp_one_way_delay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Duration way = 30ms;

/// A segment each 10 ms for a while, of a peer whose clock makes `tick`s from `first` on; the last comes `late`.
Duration after(TimestampOneWayDelay& clock, Duration how_long, Duration tick, std::uint32_t first,
               Duration late = 0ms) {
  Duration answer{};
  for (Duration sent{}; sent <= how_long; sent += 10ms) {
    const auto ticks = static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(sent / tick));
    const bool last = sent + 10ms > how_long;
    answer = clock.excess_delay(Instant(1h) + sent + way + (last ? late : 0ms), ticks);
  }
  return answer;
}

TEST(TimestampOneWayDelay, IsUnknownBeforeItsRateIsMeasured) {
  TimestampOneWayDelay clock;
  EXPECT_LT(after(clock, 500ms, 1ms, 7), 0ms);
}

TEST(TimestampOneWayDelay, MeasuresTheDelayBeyondTheSmallest) {
  TimestampOneWayDelay punctual;
  EXPECT_EQ(after(punctual, 3s, 1ms, 7), 0ms);
  TimestampOneWayDelay late;
  EXPECT_NEAR(to_seconds(after(late, 3s, 1ms, 7, 17ms)), 0.017, 1e-4);
}

TEST(TimestampOneWayDelay, SurvivesWrappedTicks) {
  TimestampOneWayDelay clock;
  EXPECT_NEAR(to_seconds(after(clock, 3s, 1ms, UINT32_MAX - 1500, 17ms)), 0.017, 1e-4);
}

TEST(TimestampOneWayDelay, AnUnusualTickRateIsUnknown) {
  for (const Duration tick : {Duration(10ms), Duration(4ms), Duration(1us), Duration(2h)}) {
    TimestampOneWayDelay clock;
    EXPECT_LT(after(clock, 5s, tick, 7, 17ms), 0ms);
  }
}

/// Expects a known ACK delay throughout an upload that fills and empties the modem's buffer from two seconds on. Each
/// half has `half` messages, of which each waits `step` longer or shorter than the one before.
void expect_known_through_upload(int half, Duration step) {
  TimestampOneWayDelay clock;
  Duration sent{};
  for (int i = 0; i < 3000; ++i, sent += 10ms) {
    const Duration waits = i < 200 ? 0ms : std::abs(i % (2 * half) - half) * step;
    const Duration late =
        clock.excess_delay(Instant(1h) + sent + way + waits, static_cast<std::uint32_t>(7 + sent / 1ms));
    if (i <= 200) continue;
    ASSERT_NEAR(to_seconds(late), to_seconds(waits), 0.001) << i;
  }
}

TEST(TimestampOneWayDelay, DelayByAnUploadIsNotAnotherClockRate) {
  expect_known_through_upload(100, 3ms);  // 300 ms within a second
}

TEST(TimestampOneWayDelay, AKnownRateSurvivesAnUpload) {
  expect_known_through_upload(75, 8ms);  // 128 KiB at 1.7 Mb/s, in three quarters of a second
}

TEST(TimestampOneWayDelay, AnAssumedMinimumIsCorrectedByTheRtt) {
  TimestampOneWayDelay clock;
  Duration late{};
  for (Duration sent{}; sent <= 3s; sent += 10ms) {
    late = clock.excess_delay(Instant(1h) + sent + way, static_cast<std::uint32_t>(7 + sent / 1ms), 300ms, 20ms);
    ASSERT_LE(late, 20ms);
  }
  EXPECT_GE(late, 15ms) << "it may have waited so long";
}

// A measured base delay that is too long must not make a late packet look punctual.
TEST(TimestampOneWayDelay, AMeasuredMinimumIsNotCorrected) {
  TimestampOneWayDelay clock;
  Duration late{};
  for (Duration sent{}; sent <= 3s; sent += 10ms) {
    const Duration waits = sent < 1500ms ? 0ms : 100ms;
    late = clock.excess_delay(Instant(1h) + sent + way + waits, static_cast<std::uint32_t>(7 + sent / 1ms), 0ms, 20ms);
  }
  EXPECT_NEAR(to_seconds(late), 0.1, 0.003);
}

TEST(TimestampOneWayDelay, AConnectionThatBeginsBehindAnUploadIsLateFromItsFirstSegment) {
  TimestampOneWayDelay clock;
  Duration late{};
  for (Duration sent{}; sent <= 3s; sent += 10ms) {
    late = clock.excess_delay(Instant(1h) + sent + way + 300ms, static_cast<std::uint32_t>(7 + sent / 1ms), 300ms);
  }
  EXPECT_NEAR(to_seconds(late), 0.3, 0.005);
}

// … and keeps it full for a minute.
TEST(TimestampOneWayDelay, AConstantDelayStaysADelayForAMinute) {
  TimestampOneWayDelay clock;
  Duration sent{};
  Duration late{};
  for (int i = 0; i < 6300; ++i, sent += 10ms) {
    late = clock.excess_delay(Instant(1h) + sent + way + (i < 300 ? 0ms : 300ms),
                              static_cast<std::uint32_t>(7 + sent / 1ms));
  }
  EXPECT_GT(late, 230ms);
}

TEST(TimestampOneWayDelay, TheSmallestDelayExpires) {
  TimestampOneWayDelay clock;
  EXPECT_EQ(after(clock, 3s, 1ms, 7), 0ms);
  // The way is 40 ms longer from now on.
  Duration answer{};
  for (Duration sent = 3s; sent < 13s; sent += 10ms)
    answer = clock.excess_delay(Instant(1h) + sent + way + 40ms, static_cast<std::uint32_t>(7 + sent / 1ms));
  EXPECT_NEAR(to_seconds(answer), 0.036, 0.002)
      << "from the moment on when none of before is left, a millisecond each second";
  for (Duration sent = 13s; sent < 60s; sent += 10ms)
    answer = clock.excess_delay(Instant(1h) + sent + way + 40ms, static_cast<std::uint32_t>(7 + sent / 1ms));
  EXPECT_EQ(answer, 0ms);
}

TEST(TimestampOneWayDelay, ADriftingClockStaysKnown) {
  TimestampOneWayDelay clock;
  Duration most{};
  for (Duration sent{}; sent < 600s; sent += 10ms) {
    const double ticks = to_seconds(sent) * 1000 * 0.9999;
    most = std::max(most, clock.excess_delay(Instant(1h) + sent + way, static_cast<std::uint32_t>(ticks)));
  }
  EXPECT_LE(most, 3ms) << "100 ppm over ten seconds, and a tick";
}

/// Expects that segments held for more than a second by an outage from `begins` on have no known delay. All other
/// delays must be exact.
void expect_known_after_outage(Duration begins, Duration lasts) {
  TimestampOneWayDelay clock;
  for (Duration sent{}; sent < begins + lasts + 10s; sent += 10ms) {
    const Duration waits = sent < begins ? 0ms : std::max<Duration>(begins + lasts - sent, 0ms);
    const Duration late =
        clock.excess_delay(Instant(1h) + sent + way + waits, static_cast<std::uint32_t>(7 + sent / 1ms));
    if (sent < 2s) continue;
    if (waits > 1s) {
      ASSERT_LT(late, 0ms) << to_seconds(sent);
    } else {
      ASSERT_NEAR(to_seconds(late), to_seconds(waits), 0.001) << to_seconds(sent);
    }
  }
}

TEST(TimestampOneWayDelay, DelayByAnOutageIsNotAnotherClockRate) {
  for (const Duration begins : {4s, 5s, 6s, 7s, 8s}) {
    expect_known_after_outage(begins, 1500ms);
    expect_known_after_outage(begins, 2500ms);
  }
}

TEST(TimestampOneWayDelay, AClockSetBackALittleIsRelearnedWithinSeconds) {
  TimestampOneWayDelay clock;
  EXPECT_EQ(after(clock, 3s, 1ms, 5000), 0ms);
  Duration answer{};
  for (Duration sent = 3s; sent < 7s; sent += 10ms)
    answer = clock.excess_delay(Instant(1h) + sent + way, static_cast<std::uint32_t>(1000 + sent / 1ms));
  EXPECT_EQ(answer, 0ms);
}

/// Returns the delay by a clock that loses `lost` each second from 10 s on, until `end`.
Duration by_slow_clock(TimestampOneWayDelay& clock, Duration lost, Duration stops, Duration end) {
  Duration answer{};
  for (Duration sent{}; sent < end; sent += 10ms) {
    const Duration slow = std::clamp(sent - Duration(10s), Duration{}, stops - 10s) / 1s * lost;
    answer = clock.excess_delay(Instant(1h) + sent + way, static_cast<std::uint32_t>(7 + (sent - slow) / 1ms));
  }
  return answer;
}

TEST(TimestampOneWayDelay, AClockThatLosesTimeIsFoundAfterFifteenSeconds) {
  TimestampOneWayDelay early;
  EXPECT_GT(by_slow_clock(early, 15ms, 1h, 24s), 180ms) << "a queue for the uplink may grow like that";
  TimestampOneWayDelay clock;
  EXPECT_LT(by_slow_clock(clock, 15ms, 1h, 32s), 0ms);
  TimestampOneWayDelay slower;
  EXPECT_LT(by_slow_clock(slower, 4ms, 1h, 32s), 0ms);
  TimestampOneWayDelay later;
  EXPECT_LT(by_slow_clock(later, 15ms, 1h, 100s), 0ms);
}

TEST(TimestampOneWayDelay, ADelayThatStopsGrowingIsAQueue) {
  TimestampOneWayDelay clock;
  EXPECT_GT(by_slow_clock(clock, 15ms, 24s, 60s), 150ms);
  TimestampOneWayDelay longer;
  EXPECT_GT(by_slow_clock(longer, 15ms, 50s, 65s), 0ms) << "known again";
}

TEST(TimestampOneWayDelay, AClockIsNotUsedAfterTwoImpossibleDelays) {
  TimestampOneWayDelay clock;
  clock.reject();
  EXPECT_EQ(after(clock, 3s, 1ms, 7), 0ms);
  clock.reject();
  EXPECT_LT(after(clock, 60s, 1ms, 7), 0ms);
  clock.reject();
  EXPECT_LT(after(clock, 60s, 1ms, 7), 0ms);
}

TEST(TimestampOneWayDelay, AClockThatJumpsIsRelearned) {
  TimestampOneWayDelay clock;
  EXPECT_EQ(after(clock, 3s, 1ms, 7), 0ms);
  EXPECT_LT(clock.excess_delay(Instant(1h) + 4s, 4'000'000'000U), 0ms);
  Duration answer{};
  for (Duration sent = 4s; sent < 8s; sent += 10ms)
    answer = clock.excess_delay(Instant(1h) + sent + way, static_cast<std::uint32_t>(4'000'000'000 + sent / 1ms));
  EXPECT_EQ(answer, 0ms);
}

}  // namespace
}  // namespace sluice::control
