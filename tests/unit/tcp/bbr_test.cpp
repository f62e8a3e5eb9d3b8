// Tests of BBR version 1 on a model path: its states and the window in recovery.
#include "dataplane/tcp/bbr.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/tcp/model_path.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::Bbr;

constexpr std::uint32_t mss = 1000;
constexpr Duration rtt = 100ms;

TEST(RoundMaximum, IsTheMaximumOfTenRounds) {
  tcp::RoundMaximum maximum;
  maximum.record(1, 500);
  maximum.record(2, 300);
  maximum.record(10, 100);
  EXPECT_EQ(maximum.value(), 500);
  EXPECT_EQ(maximum.newest(), 100);
  maximum.record(11, 100);
  EXPECT_EQ(maximum.value(), 300) << "round 1 is ten rounds ago";
  maximum.record(100, 50);
  EXPECT_EQ(maximum.value(), 50);
}

TEST(RoundMaximum, EmptyRoundsDoNotExpireIt) {
  tcp::RoundMaximum maximum;
  maximum.record(1, 500);
  EXPECT_EQ(maximum.value(), 500) << "whatever the round is by now";
}

using Path = ModelPath<Bbr>;

TEST(Bbr, StartsAtTheHandshakesRoundTripTime) {
  const Path path(1e6);
  EXPECT_NEAR(path.model.pacing_rate().bytes_per_second(), 2.885 * 10 * mss / 0.1, 1);
}

TEST(Bbr, StartupEndsWhenThreeRoundsBringNoMore) {
  Path path(1e6);
  int rounds = 0;
  while (path.model.mode() == Bbr::Mode::startup && rounds < 50) path.rounds(1), ++rounds;
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4);
  EXPECT_GE(rounds, 4);
  EXPECT_LE(rounds, 12);
}

TEST(Bbr, DrainsAndThenProbesBandwidth) {
  Path path(1e6);
  while (path.model.mode() != Bbr::Mode::drain) path.acknowledge();
  EXPECT_NEAR(path.model.pacing_rate().bytes_per_second(), 0.99 * 1e6 / 2.885, 1e4);
  int rounds = 0;
  while (path.model.mode() == Bbr::Mode::drain && rounds < 50) path.rounds(1), ++rounds;
  EXPECT_EQ(path.model.mode(), Bbr::Mode::probe_bandwidth);
  EXPECT_LE(rounds, 6);
  path.rounds(8);
  // Twice the bandwidth-delay product and three bursts; two segments more while it probes.
  EXPECT_NEAR(path.cwnd, 2 * 100'000 + 3 * 2 * mss, 2.5 * mss);
}

TEST(Bbr, EachGainOfTheCycleLastsOneRtt) {
  Path path(1e6);
  path.rounds(20);
  ASSERT_EQ(path.model.mode(), Bbr::Mode::probe_bandwidth);
  int fast = 0;
  int slow = 0;
  for (int i = 0; i < 80 * Path::steps; ++i) {
    path.acknowledge();
    const double gain = path.model.pacing_rate().bytes_per_second() / (0.99 * path.bandwidth());
    fast += gain > 1.2 ? 1 : 0;
    slow += gain < 0.8 ? 1 : 0;
  }
  EXPECT_NEAR(fast, 10 * Path::steps, 3 * Path::steps);
  EXPECT_NEAR(slow, fast, 6 * Path::steps) << "it may end early, when the queue is gone";
  EXPECT_GT(slow, 0);
}

TEST(Bbr, FollowsTheBandwidthUpAndDown) {
  Path path(1e6);
  path.rounds(20);
  path.rate = 3e6;
  path.rounds(60);
  EXPECT_NEAR(path.bandwidth(), 3e6, 0.2e6);
  path.rate = 0.5e6;
  path.rounds(12);
  EXPECT_NEAR(path.bandwidth(), 0.5e6, 0.05e6) << "the old maximum is ten rounds old";
}

TEST(Bbr, AnAppLimitedSampleLowersNothing) {
  Path path(1e6);
  path.rounds(20);
  path.app_limited = true;
  path.rate = 0.1e6;
  path.rounds(50);
  EXPECT_NEAR(path.bandwidth(), 1e6, 1e4);
}

TEST(Bbr, ProbesTheMinRttAfterTenSeconds) {
  Path path(1e6);
  path.rounds(20);
  const std::uint32_t before = path.cwnd;
  Duration waited{};
  while (path.model.mode() != Bbr::Mode::probe_rtt && waited < 12s) {
    path.acknowledge(rtt + 5ms);  // a standing queue
    waited += rtt / Path::steps;
  }
  EXPECT_NEAR(to_seconds(waited), 10, 0.1);
  EXPECT_EQ(path.cwnd, 4 * mss);
  const Instant began = path.now;
  while (path.model.mode() == Bbr::Mode::probe_rtt) {
    path.acknowledge(rtt + 2ms);
    EXPECT_LT(path.now - began, 1s);
    if (path.now - began >= 1s) break;
  }
  EXPECT_GE(path.now - began, 200ms);
  EXPECT_LE(path.now - began, 200ms + 4 * rtt);
  EXPECT_GE(path.cwnd, before - 2 * mss) << "and the window of before is back";
  EXPECT_EQ(path.model.min_rtt(), rtt + 2ms);
}

TEST(Bbr, ALossCostsOneRoundOfPacketConservation) {
  Path path(1e6);
  path.rounds(20);
  const std::uint32_t before = path.cwnd;
  const double rate = path.bandwidth();
  const double in_flight = path.in_flight;
  path.acknowledge(rtt, mss, tcp::RecoveryKind::fast);
  EXPECT_LE(path.cwnd, in_flight + 6 * mss) << "no more than was delivered";
  for (int i = 0; i < 2 * Path::steps; ++i) path.acknowledge(rtt, 0, tcp::RecoveryKind::fast);
  path.acknowledge();
  EXPECT_GE(path.cwnd, before - 2 * mss);
  EXPECT_NEAR(path.bandwidth(), rate, 1);
}

TEST(Bbr, StartsFromAMeasuredWindow) {
  Path path(1e6);
  path.model.seed(50'000, rtt);
  EXPECT_NEAR(path.bandwidth(), 0.5e6, 1);
  EXPECT_EQ(path.model.mode(), Bbr::Mode::probe_bandwidth);
  EXPECT_NEAR(path.model.pacing_rate().bytes_per_second(), 0.99 * 0.5e6, 1);
}

/// The endpoint under it.
class UnderBbr : public testing::Test {
 protected:
  UnderBbr() {
    s.config.congestion = tcp::CongestionAlgorithm::bbr;
    s.handshake_rtt = 100ms;
    s.use_sack();
    s.use_timestamps();
  }
  Script s;
};

TEST_F(UnderBbr, DataIsPacedFromTheBeginning) {
  s.open();
  s.write_segments(10);
  s.emit();
  EXPECT_EQ(s.sent(), 2U);
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
}

TEST_F(UnderBbr, ALossDoesNotChangeTheThreshold) {
  s.open();
  s.write_segments(10);
  s.emit();
  s.pass(95ms);
  s.receive_sack(0, {{1000, 5000}});
  EXPECT_TRUE(s.endpoint.in_recovery());
  EXPECT_EQ(s.endpoint.ssthresh(), Bytes(UINT32_MAX));
  EXPECT_GE(s.endpoint.cwnd(), Bytes(4 * 1000));
}

TEST_F(UnderBbr, ASpuriousTimeoutIsUndone) {
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

TEST_F(UnderBbr, CubicIsUsedWithoutMemoryForItsState) {
  tcp::EstablishedState state;
  state.snd_nxt = s.our_base;
  state.rcv_nxt = s.their_base;
  state.rcv_adv = s.their_base + 1000;
  state.local = state.remote = s.ours;
  state.snd_window = 60'000;
  s.endpoint.establish_at(s.config, state, s.now);
  s.write_segments(10);
  s.emit();
  EXPECT_GE(s.sent(), 9U) << "unpaced";
}

}  // namespace
}  // namespace sluice::test
