// Tests of Copa (NSDI 2018) on a model path: default and competitive mode.
#include "dataplane/tcp/copa.hpp"

#include <gtest/gtest.h>

#include "tests/unit/tcp/model_path.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::Copa;
using Path = ModelPath<Copa>;

constexpr std::uint32_t mss = Path::mss;
constexpr Duration rtt = Path::rtt;

/// Runs `count` RTTs of this length.
void rounds(Path& path, int count, Duration measured) {
  for (int i = 0; i < count * Path::steps; ++i) path.acknowledge(measured);
}

/// Out of slow start, with the velocity of a flow that has just turned.
Path settled() {
  Path path(1e6);
  path.acknowledge(rtt);
  path.acknowledge(2 * rtt);
  rounds(path, 1, 2 * rtt);
  EXPECT_FALSE(path.model.slow_start());
  return path;
}

TEST(Windowed, KeepsTheMinimumOfATimeWindow) {
  tcp::WindowedMinimum least;
  Instant now(1h);
  least.record(now, 10s, 50ms);
  for (int i = 0; i < 99; ++i) least.record(now += 100ms, 10s, 60ms);
  EXPECT_EQ(least.value(), 50ms);
  for (int i = 0; i < 5; ++i) least.record(now += 100ms, 10s, 70ms);
  EXPECT_EQ(least.value(), 60ms) << "50 ms was ten seconds ago";
  least.record(now, 10s, 40ms);
  EXPECT_EQ(least.value(), 40ms);
  least.record(now += 20s, 10s, 90ms);
  EXPECT_EQ(least.value(), 90ms) << "all of it is too old";
}

TEST(Windowed, KeepsTheMaximumOfATimeWindow) {
  tcp::WindowedMaximum largest;
  Instant now(1h);
  largest.record(now, 1s, 50ms);
  largest.record(now += 600ms, 1s, 40ms);
  EXPECT_EQ(largest.value(), 50ms);
  largest.record(now += 600ms, 1s, 30ms);
  EXPECT_EQ(largest.value(), 40ms);
}

TEST(Copa, DoublesUntilTheRateExceedsItsTarget) {
  Path path(1e6);
  for (int i = 0; i < 2 * Path::steps; ++i) {
    const std::uint32_t cwnd = path.cwnd;
    const std::uint32_t delivered = path.delivered;
    path.acknowledge(rtt);
    EXPECT_EQ(path.cwnd - cwnd, path.delivered - delivered);
  }
  ASSERT_TRUE(path.model.slow_start());
  // RTTstanding is the least of half a round trip: the queue shows when that has passed. Then 70 segments in 110 ms are
  // 640 per second, and the target is 2 / 10 ms.
  path.acknowledge(rtt + 10ms);
  EXPECT_TRUE(path.model.slow_start());
  rounds(path, 1, rtt + 10ms);
  EXPECT_FALSE(path.model.slow_start());
}

TEST(Copa, PacesAtTwiceTheWindow) {
  Path path(1e6);
  path.acknowledge(rtt);
  EXPECT_NEAR(path.model.pacing_rate().bytes_per_second(), 2 * path.cwnd / 0.1, 1);
}

TEST(Copa, MovesByTwoSegmentsInARoundTrip) {
  Path path = settled();
  path.in_flight = path.cwnd = 50 * mss;
  // Below the target: no queue. v / delta = 2 segments for each window acknowledged.
  const std::uint32_t before = path.cwnd;
  rounds(path, 1, rtt);
  EXPECT_GE(path.cwnd, before + 1 * mss);
  EXPECT_LE(path.cwnd, before + 3 * mss);
  EXPECT_EQ(path.model.velocity(), 1);
}

TEST(Copa, TheVelocityDoublesFromTheThirdRoundOfOneDirectionOn) {
  Path path = settled();
  double largest = 1;
  int until = 0;
  for (int i = 0; i < 8; ++i) {
    rounds(path, 1, rtt);
    largest = std::max(largest, path.model.velocity());
    if (largest == 1) ++until;
  }
  EXPECT_GE(until, 3);
  EXPECT_GE(largest, 4);
  rounds(path, 1, 2 * rtt);
  EXPECT_EQ(path.model.velocity(), 1) << "the other way";
}

TEST(Copa, AWindowThatDoesNotLimitDoesNotGrow) {
  Path path = settled();
  path.window_limited = false;
  const std::uint32_t before = path.cwnd;
  rounds(path, 5, rtt);
  EXPECT_EQ(path.cwnd, before);
}

TEST(Copa, LossesAloneDoNotReduceTheWindow) {
  Path path = settled();
  Path lossy = settled();
  for (int i = 0; i < 2 * Path::steps; ++i) {
    path.acknowledge(rtt);
    lossy.acknowledge(rtt, i == 3 ? 5 * mss : 0, i >= 3 ? tcp::RecoveryKind::fast : tcp::RecoveryKind::none);
  }
  EXPECT_EQ(path.cwnd, lossy.cwnd);
}

TEST(Copa, TheMinRttIsThatOfTheLastTenSeconds) {
  Path path = settled();
  EXPECT_EQ(path.model.min_rtt(), rtt);
  rounds(path, 110, rtt + 30ms);
  EXPECT_EQ(path.model.min_rtt(), rtt + 30ms) << "a longer route";
  EXPECT_EQ(path.model.standing_rtt(), rtt + 30ms);
}

TEST(Copa, AQueueThatIsNeverEmptyStartsTheCompetitiveMode) {
  Path path = settled();
  // Between 150 and 200 ms, and so never within a tenth of that oscillation of the least.
  for (int i = 0; i < 12; ++i) rounds(path, 1, i % 2 == 0 ? rtt + 50ms : 2 * rtt);
  EXPECT_TRUE(path.model.competitive());
  const double before = path.model.packets_in_queue();
  EXPECT_GT(before, 2);
  rounds(path, 1, rtt + 50ms);
  EXPECT_NEAR(path.model.packets_in_queue(), before + 1, 1.01) << "one more in each round trip";
  const double grown = path.model.packets_in_queue();
  path.acknowledge(rtt + 50ms, mss, tcp::RecoveryKind::fast);
  rounds(path, 1, rtt + 50ms);
  EXPECT_LE(path.model.packets_in_queue(), grown / 2 + 1.01) << "half of it after a loss";
  path.acknowledge(rtt);
  EXPECT_FALSE(path.model.competitive()) << "the queue was empty";
  EXPECT_EQ(path.model.packets_in_queue(), 2);
}

TEST(Copa, ItsOwnQueueDoesNotStartTheCompetitiveMode) {
  Path path = settled();
  for (int i = 0; i < 20; ++i) rounds(path, 1, i % 5 == 0 ? rtt : rtt + 20ms);
  EXPECT_FALSE(path.model.competitive());
}

TEST(Copa, ATimeoutRestartsSlowStartUnlessItWasSpurious) {
  Path path = settled();
  path.model.on_timeout(path.cwnd);
  EXPECT_TRUE(path.model.slow_start());
  path.model.on_undo();
  EXPECT_FALSE(path.model.slow_start());
}

TEST(Copa, StartsFromAMeasuredWindow) {
  Path path(1e6);
  path.model.seed(50'000, rtt);
  EXPECT_FALSE(path.model.slow_start());
  EXPECT_NEAR(path.model.pacing_rate().bytes_per_second(), 1e6, 1);
}

TEST(UnderCopa, DataIsPacedAndALossKeepsTheWindow) {
  Script s;
  s.config.congestion = tcp::CongestionAlgorithm::copa;
  s.handshake_rtt = 100ms;
  s.use_sack();
  s.use_timestamps();
  s.open();
  s.write_segments(10);
  s.emit();
  EXPECT_EQ(s.sent(), 2U);
  const Bytes before = s.endpoint.cwnd();
  s.pass(95ms);
  s.receive_sack(0, {{1000, 5000}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_GE(s.endpoint.cwnd(), before);
}

}  // namespace
}  // namespace sluice::test
