// Tests of BBR 3 (draft-ietf-ccwg-bbr) on a model path: its states, bounds and probes.
#include "dataplane/tcp/bbr3.hpp"

#include <gtest/gtest.h>

#include "tests/unit/tcp/model_path.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::Bbr3;
using tcp::LossBounds;
using Mode = Bbr3::Mode;
using Path = ModelPath<Bbr3>;

constexpr std::uint32_t mss = Path::mss;
constexpr Duration rtt = Path::rtt;
constexpr std::uint32_t product = 100'000;  ///< bandwidth-delay product of 1 MB/s and 100 ms

double gain(const Path& path) {
  return path.model.pacing_rate().bytes_per_second() / (0.99 * path.bandwidth());
}

/// A round-trip time below the least: no probe for it is due for five seconds.
void refresh(Path& path) {
  path.acknowledge(path.model.min_rtt() - 1us);
}

TEST(CycleMaximum, IsTheMaximumOfTwoCycles) {
  tcp::CycleMaximum maximum;
  maximum.record(Rate::bytes_per_second(500));
  maximum.advance();
  maximum.record(Rate::bytes_per_second(300));
  EXPECT_EQ(maximum.value().bytes_per_second(), 500);
  maximum.advance();
  EXPECT_EQ(maximum.value().bytes_per_second(), 300);
  maximum.advance();
  EXPECT_EQ(maximum.value().bytes_per_second(), 300) << "a cycle without a sample forgets nothing";
}

TEST(MinRttFilter, CoversTenSecondsAndRequestsAProbeAfterFive) {
  tcp::MinRttFilter least;
  Instant now(1h);
  least.begin(100ms, now);
  least.record(100ms, now);
  least.record(120ms, now += 4900ms);
  EXPECT_FALSE(least.expired());
  least.record(120ms, now += 200ms);
  EXPECT_TRUE(least.expired());
  EXPECT_EQ(least.value(), 100ms) << "the probe has only begun";
  least.record(110ms, now += 200ms);
  least.record(115ms, now += 5s);
  EXPECT_EQ(least.value(), 110ms) << "that of the probe: the old one is more than ten seconds old";
}

TEST(AckAggregation, EqualsTheBytesAcknowledgedBeyondTheBandwidth) {
  tcp::AckAggregation aggregation;
  tcp::ModelAck ack{.now = Instant(1h), .sample = {}};
  aggregation.restart(ack.now);
  const Rate bandwidth = Rate::bytes_per_second(1e6);
  ack.now += 10ms;
  ack.sample.newly = 30'000;
  aggregation.record(ack, bandwidth, 100'000, 1);
  EXPECT_NEAR(aggregation.value(true), 30'000, 1) << "the silence before it has ended the interval";
  ack.now += 10ms;
  ack.sample.newly = 5000;
  aggregation.record(ack, bandwidth, 100'000, 2);
  EXPECT_NEAR(aggregation.value(false), 25'000, 10) << "35 kB in 10 ms, which carry 10";
  EXPECT_NEAR(aggregation.value(true), 30'000, 1) << "the largest of ten rounds";
}

TEST(Bbr3, StartsAtTheHandshakesRoundTripTime) {
  const Path path(1e6);
  EXPECT_NEAR(path.model.pacing_rate().bytes_per_second(), 2.77 * 10 * mss / 0.1, 1);
  EXPECT_EQ(path.model.mode(), Mode::startup);
}

TEST(Bbr3, StartupEndsWhenThreeRoundsBringNoMoreAndDrains) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::drain, 15));
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4);
  EXPECT_NEAR(gain(path), 0.5, 0.01);
  ASSERT_TRUE(path.reaches(Mode::cruise, 20)) << "what is in flight is little enough to cruise at once";
  EXPECT_LE(path.in_flight, product + 6 * mss);
}

TEST(Bbr3, DrainEndsAfterThreeRounds) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::drain, 15));
  int rounds = 0;
  for (; path.model.mode() == Mode::drain && rounds < 10 * Path::steps; ++rounds) {
    path.in_flight = 1.9 * product;  // queue of cross traffic, which does not drain
    path.acknowledge();
  }
  EXPECT_EQ(path.model.mode(), Mode::down);
  EXPECT_LE(rounds, 9 * Path::steps) << "rounds of nearly two round-trip times";
}

TEST(Bbr3, LossesThroughoutARoundOfRecoveryEndStartup) {
  for (const double share : {0.05, 0.0}) {
    Path path(1e6);
    path.rounds(3);
    ASSERT_EQ(path.model.mode(), Mode::startup);
    for (int i = 0; i < 6 * Path::steps; ++i) {
      if (i % Path::steps == 0) path.rate *= 1.3;  // so that no plateau ends it
      path.acknowledge(rtt, static_cast<std::uint32_t>(share * path.in_flight), tcp::RecoveryKind::fast);
    }
    EXPECT_EQ(path.model.mode() != Mode::startup, share != 0);
    EXPECT_EQ(path.model.bounds().inflight_longterm() != LossBounds::unbounded, share != 0);
  }
}

TEST(Bbr3, WithoutSackOneLossInARecoveryEndsStartup) {
  Path path(1e6);
  path.uses_sack = false;
  path.rounds(3);
  path.acknowledge(rtt, mss, tcp::RecoveryKind::fast);
  EXPECT_NE(path.model.mode(), Mode::startup);
}

TEST(Bbr3, TheCycleIsDownCruiseRefillUp) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::down));
  EXPECT_NEAR(gain(path), 0.9, 0.01);
  refresh(path);
  const Instant began = path.now;
  ASSERT_TRUE(path.reaches(Mode::cruise, 10));
  EXPECT_NEAR(gain(path), 1, 0.01);
  ASSERT_TRUE(path.reaches(Mode::refill, 40));
  EXPECT_GE(path.now - began, 2s - rtt);
  EXPECT_LE(path.now - began, 3s + rtt);
  EXPECT_NEAR(gain(path), 1, 0.01);
  const Instant refilled = path.now;
  ASSERT_TRUE(path.reaches(Mode::up, 3));
  EXPECT_GE(path.now - refilled, rtt);
  EXPECT_NEAR(gain(path), 1.25, 0.01);
  ASSERT_TRUE(path.reaches(Mode::down, 10)) << "three rounds brought no more";
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4);
}

TEST(Bbr3, ASmallBandwidthDelayProductIsProbedAsOftenAsByReno) {
  Path path(0.05e6);  // five segments
  ASSERT_TRUE(path.reaches(Mode::cruise));
  const Instant began = path.now;
  ASSERT_TRUE(path.reaches(Mode::refill, 40));
  EXPECT_LE(path.now - began, 8 * rtt);
}

TEST(Bbr3, FollowsTheBandwidthUpAndDown) {
  Path path(1e6);
  path.rounds(30);
  path.rate = 10e6;
  path.rounds(120);
  EXPECT_NEAR(path.bandwidth(), 10e6, 1e6);
  path.rate = 1e6;
  path.rounds(150);
  EXPECT_NEAR(path.bandwidth(), 1e6, 0.1e6) << "after two cycles";
}

TEST(Bbr3, AnAppLimitedSampleLowersNothing) {
  Path path(1e6);
  path.rounds(20);
  path.app_limited = true;
  path.rate = 0.1e6;
  path.rounds(100);
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4);
}

TEST(Bbr3, TooManyLossesWhileProbingBoundWhatIsInFlight) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::up));
  path.acknowledge();
  const auto in_flight = static_cast<std::uint32_t>(path.in_flight);
  path.acknowledge(rtt, 5 * mss, tcp::RecoveryKind::fast);
  EXPECT_EQ(path.model.mode(), Mode::down);
  EXPECT_NEAR(path.model.bounds().inflight_longterm(), in_flight, 1);
  ASSERT_TRUE(path.reaches(Mode::cruise, 20));
  path.acknowledge();
  EXPECT_LE(path.cwnd, in_flight * 0.85 + 1) << "headroom for others";
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4);
}

TEST(Bbr3, AFewLossesWhileProbingBoundNothing) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::up));
  path.acknowledge(rtt, mss, tcp::RecoveryKind::fast);
  EXPECT_EQ(path.model.mode(), Mode::up);
  EXPECT_EQ(path.model.bounds().inflight_longterm(), LossBounds::unbounded);
}

TEST(Bbr3, TheNextProbeReachesTheBoundAndThenRaisesIt) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::up));
  path.acknowledge(rtt, 5 * mss, tcp::RecoveryKind::fast);
  const std::uint32_t bound = path.model.bounds().inflight_longterm();
  refresh(path);
  ASSERT_TRUE(path.reaches(Mode::up, 60));
  ASSERT_TRUE(path.reaches(Mode::down, 3)) << "as soon as so much is in flight again";
  ASSERT_TRUE(path.reaches(Mode::refill, 3)) << "nothing was lost: it goes on at once";
  ASSERT_TRUE(path.reaches(Mode::up, 3));
  path.rate = 4e6;  // there is more now
  path.rounds(6);
  EXPECT_GT(path.model.bounds().inflight_longterm(), bound + 10 * mss);
}

TEST(Bbr3, LossesWhileCruisingFollowWhatIsDelivered) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::cruise));
  path.rate = 0.2e6;
  for (int i = 0; i < 2 * Path::steps; ++i) path.acknowledge(rtt, i == 1 ? mss : 0, tcp::RecoveryKind::fast);
  EXPECT_NEAR(path.bandwidth(), 0.7e6, 1e4) << "by 0.7 at most in a round";
  EXPECT_NEAR(path.model.max_bandwidth().bytes_per_second(), 1e6, 1e4);
  ASSERT_TRUE(path.reaches(Mode::refill, 60));
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4) << "the short term is over";
}

TEST(Bbr3, ASpuriousLossIsUndone) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::up));
  path.acknowledge(rtt, 5 * mss, tcp::RecoveryKind::fast);
  ASSERT_EQ(path.model.mode(), Mode::down);
  path.model.on_undo();
  EXPECT_EQ(path.model.mode(), Mode::refill) << "back to the probe that it ended";
  EXPECT_EQ(path.model.bounds().inflight_longterm(), LossBounds::unbounded);
}

TEST(Bbr3, ASpuriousTimeoutRestoresTheShortTermBounds) {
  Path path(1e6);
  ASSERT_TRUE(path.reaches(Mode::cruise));
  const std::uint32_t before = path.cwnd;
  path.model.on_timeout(path.cwnd);
  path.cwnd = mss;
  path.acknowledge(rtt, 20 * mss, tcp::RecoveryKind::timeout);
  path.model.on_undo();
  path.acknowledge();
  EXPECT_GE(path.cwnd, before - 2 * mss);
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4);
}

TEST(Bbr3, ProbesTheMinRttEveryFiveSeconds) {
  Path path(1e6);
  const Instant start = path.now;
  path.rounds(20);
  while (path.model.mode() != Mode::probe_rtt && path.now - start < 7s) {
    path.acknowledge(rtt + 5ms);  // a standing queue
  }
  EXPECT_NEAR(to_seconds(path.now - start), 5, 0.1);
  EXPECT_NEAR(path.cwnd, product / 2, 3 * mss) << "half of the product";
  EXPECT_TRUE(path.model.limits_itself());
  const Instant began = path.now;
  while (path.model.mode() == Mode::probe_rtt && path.now - began < 1s) path.acknowledge(rtt + 2ms);
  EXPECT_GE(path.now - began, 200ms);
  EXPECT_EQ(path.model.mode(), Mode::cruise);
  EXPECT_GE(path.cwnd, product) << "and the window of before is back";
  EXPECT_EQ(path.model.min_rtt(), rtt) << "that of ten seconds, still";
}

TEST(Bbr3, APauseDoesNotStartAProbeOfTheMinRtt) {
  Path path(1e6);
  path.rounds(20);
  path.now += 8s;
  path.cwnd = path.model.on_restart(true, path.now, path.cwnd);
  EXPECT_NEAR(gain(path), 1, 0.01);
  path.acknowledge(rtt + 5ms);
  EXPECT_NE(path.model.mode(), Mode::probe_rtt);
}

TEST(Bbr3, StartsFromAMeasuredWindow) {
  Path path(1e6);
  path.model.seed(50'000, rtt);
  EXPECT_NEAR(path.bandwidth(), 0.5e6, 1);
  EXPECT_EQ(path.model.mode(), Mode::cruise);
  EXPECT_NEAR(path.model.pacing_rate().bytes_per_second(), 0.99 * 0.5e6, 1);
  path.rounds(1);
  EXPECT_EQ(path.model.mode(), Mode::cruise);
}

/// The endpoint under it.
class UnderBbr3 : public testing::Test {
 protected:
  UnderBbr3() {
    s.config.congestion = tcp::CongestionAlgorithm::bbr3;
    s.handshake_rtt = 100ms;
    s.use_sack();
    s.use_timestamps();
  }
  Script s;
};

TEST_F(UnderBbr3, DataIsPacedFromTheBeginning) {
  s.open();
  s.write_segments(10);
  s.emit();
  EXPECT_EQ(s.sent(), 2U);
}

TEST_F(UnderBbr3, ASpuriousTimeoutIsUndone) {
  s.config.tail_loss_probes = false;
  s.endpoint.set_timestamp(500);
  s.open();
  s.write_segments(10);
  s.emit();
  s.pass(90ms);
  const Bytes before = s.endpoint.cwnd();
  s.endpoint.set_timestamp(900);
  s.pass(500ms);
  ASSERT_EQ(s.endpoint.counters().timeouts, 1);
  EXPECT_LT(s.endpoint.cwnd(), before);
  s.their_echo = 500;
  s.receive_ack(4000);
  EXPECT_FALSE(s.endpoint.in_recovery());
  EXPECT_GE(s.endpoint.cwnd(), before);
}

}  // namespace
}  // namespace sluice::test
