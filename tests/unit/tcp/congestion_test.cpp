// Tests of NewReno, CUBIC (RFC 9438) and HyStart++ (RFC 9406) without an endpoint.
#include "dataplane/tcp/congestion.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice::tcp {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t mss = 1000;
constexpr double c = 0.4;     // RFC 9438 section 5.1
constexpr double beta = 0.7;  // section 4.6

/// A connection that always fills its window, one round trip at a time.
class Flow {
 public:
  Flow(CongestionAlgorithm algorithm, std::uint32_t segments, Duration rtt) : rtt_(rtt) {
    control.start(algorithm, segments * mss);
  }
  void round() {
    const std::uint32_t acks = control.cwnd() / mss;
    for (std::uint32_t i = 0; i < acks; ++i) {
      now += rtt_ / acks;
      control.on_ack({.now = now, .delivered = mss, .cwnd_limited = true}, path(), false);
    }
  }
  void lose() { control.on_congestion(path()); }
  [[nodiscard]] PathView path() const { return {.now = now, .srtt = rtt_, .mss = mss, .flight_size = control.cwnd()}; }
  [[nodiscard]] double segments() const { return static_cast<double>(control.cwnd()) / mss; }

  CongestionControl control;
  Instant now{1h};

 private:
  Duration rtt_;
};

TEST(SlowStart, DoublesEveryRound) {
  Flow flow(CongestionAlgorithm::newreno, 10, 100ms);
  flow.round();
  EXPECT_EQ(flow.control.cwnd(), 20 * mss);
  flow.round();
  EXPECT_EQ(flow.control.cwnd(), 40 * mss);
}

TEST(SlowStart, OneAckGrowsItByAtMostEightSegments) {
  Flow flow(CongestionAlgorithm::newreno, 10, 100ms);
  flow.control.on_ack({.now = flow.now, .delivered = 100 * mss, .cwnd_limited = true}, flow.path(), false);
  EXPECT_EQ(flow.control.cwnd(), 18 * mss);
  flow.control.on_ack({.now = flow.now, .delivered = 100 * mss, .cwnd_limited = true}, flow.path(), true);
  EXPECT_EQ(flow.control.cwnd(), 19 * mss) << "one after a timeout";
}

TEST(SlowStart, StopsAtTheThreshold) {
  Flow flow(CongestionAlgorithm::newreno, 40, 100ms);
  flow.control.on_timeout(flow.path(), true);
  EXPECT_EQ(flow.control.cwnd(), mss);
  EXPECT_EQ(flow.control.ssthresh(), 20 * mss);
  for (int i = 0; i < 5; ++i) flow.round();
  EXPECT_EQ(flow.control.cwnd(), 20 * mss);
  flow.round();
  EXPECT_EQ(flow.control.cwnd(), 21 * mss);
}

/// A slow start whose rounds have a round-trip time of their own.
struct SlowStartUnderCubic {
  SlowStartUnderCubic() { control.start(CongestionAlgorithm::cubic, 10 * mss); }
  void round(Duration rtt) {
    const std::uint32_t flight = control.cwnd();
    for (std::uint32_t acked = 0; acked < flight; acked += mss) {
      const AckEvent event{.now = now, .rtt = rtt, .delivered = mss, .cwnd_limited = true};
      control.on_ack(event, {.now = now, .srtt = rtt, .mss = mss, .flight_size = flight}, false);
    }
    now += rtt;
  }
  CongestionControl control;
  Instant now{1h};
};

TEST(HyStart, DoublesWhileTheRttIsSteady) {
  SlowStartUnderCubic flow;
  for (int i = 0; i < 5; ++i) flow.round(100ms);
  EXPECT_EQ(flow.control.cwnd(), 320 * mss);
  EXPECT_EQ(flow.control.ssthresh(), UINT32_MAX);
}

TEST(HyStart, AGrowingQueueSlowsItDownAndEndsItFiveRoundsLater) {
  SlowStartUnderCubic flow;
  flow.round(100ms);
  flow.round(100ms);
  flow.round(120ms);  // RTT_THRESH is 12.5 ms
  const std::uint32_t before = flow.control.cwnd();
  flow.round(121ms);
  EXPECT_LE(flow.control.cwnd(), before + before / 4 + mss) << "a quarter as fast (RFC 9406 section 4.2)";
  for (int i = 0; i < 3; ++i) flow.round(121ms);
  EXPECT_EQ(flow.control.ssthresh(), UINT32_MAX) << "four rounds";
  flow.round(121ms);
  EXPECT_LT(flow.control.ssthresh(), UINT32_MAX);
  EXPECT_LE(flow.control.ssthresh(), flow.control.cwnd());
}

TEST(HyStart, AFalseAlarmResumesSlowStart) {
  SlowStartUnderCubic flow;
  flow.round(100ms);
  flow.round(100ms);
  flow.round(120ms);
  flow.round(100ms);
  const std::uint32_t before = flow.control.cwnd();
  flow.round(100ms);
  EXPECT_EQ(flow.control.cwnd(), 2 * before);
}

TEST(HyStart, FewSamplesDoNotEndSlowStart) {
  CongestionControl control;
  control.start(CongestionAlgorithm::cubic, 4 * mss);
  Instant now{1h};
  for (const Duration rtt : {100ms, 150ms}) {
    for (int i = 0; i < 4; ++i) {
      control.on_ack({.now = now, .rtt = rtt, .delivered = mss, .cwnd_limited = true},
                     {.now = now, .srtt = rtt, .mss = mss, .flight_size = 4 * mss}, false);
    }
  }
  EXPECT_EQ(control.cwnd(), 12 * mss) << "seven of eight needed";
}

TEST(HyStart, ALossEndsSlowStart) {
  SlowStartUnderCubic flow;
  flow.round(100ms);
  flow.control.on_congestion({.now = flow.now, .srtt = 100ms, .mss = mss, .flight_size = 20 * mss});
  EXPECT_EQ(flow.control.ssthresh(), 14 * mss) << "CUBIC's";
}

TEST(NewReno, GrowsByOneSegmentPerRound) {
  Flow flow(CongestionAlgorithm::newreno, 40, 100ms);
  flow.lose();
  EXPECT_EQ(flow.control.cwnd(), 20 * mss);
  for (std::uint32_t i = 1; i <= 10; ++i) {
    flow.round();
    EXPECT_EQ(flow.control.cwnd(), (20 + i) * mss);
  }
}

TEST(NewReno, ThresholdIsAtLeastTwoSegments) {
  Flow flow(CongestionAlgorithm::newreno, 2, 100ms);
  flow.lose();
  EXPECT_EQ(flow.control.ssthresh(), 2 * mss);
}

// RFC 5681 section 3.2 step 2: while a reordering was waited for, eight segments went out beyond the window.
TEST(NewReno, DataSentBeyondTheWindowDoesNotRaiseTheThreshold) {
  for (const auto algorithm : {CongestionAlgorithm::newreno, CongestionAlgorithm::prague, CongestionAlgorithm::abc}) {
    Flow flow(algorithm, 40, 100ms);
    PathView path = flow.path();
    path.flight_size = 48 * mss;
    flow.control.on_congestion(path);
    EXPECT_EQ(flow.control.ssthresh(), 20 * mss);
  }
}

// A sender that had little to send is halved from what it had in flight (RFC 5681 equation 4).
TEST(NewReno, AnUnusedWindowDoesNotCount) {
  Flow flow(CongestionAlgorithm::newreno, 40, 100ms);
  PathView path = flow.path();
  path.flight_size = 10 * mss;
  flow.control.on_congestion(path);
  EXPECT_EQ(flow.control.ssthresh(), 5 * mss);
}

TEST(Congestion, AWindowThatDoesNotLimitDoesNotGrow) {
  for (const auto algorithm : {CongestionAlgorithm::newreno, CongestionAlgorithm::cubic}) {
    Flow flow(algorithm, 10, 100ms);
    flow.control.on_ack({.now = flow.now, .delivered = 5 * mss}, flow.path(), false);
    EXPECT_EQ(flow.control.cwnd(), 10 * mss);
  }
}

TEST(Congestion, LeavingRecoveryDoesNotBurst) {
  Flow flow(CongestionAlgorithm::newreno, 40, 100ms);
  flow.lose();
  PathView path = flow.path();
  path.flight_size = 3 * mss;
  flow.control.on_recovery_exit(path, false);
  EXPECT_EQ(flow.control.cwnd(), 4 * mss);
  EXPECT_EQ(flow.control.ssthresh(), 20 * mss);
}

TEST(Congestion, ASeededWindowStartsInCongestionAvoidance) {
  Flow flow(CongestionAlgorithm::newreno, 10, 100ms);
  flow.control.seed(50 * mss);
  flow.round();
  EXPECT_EQ(flow.control.cwnd(), 51 * mss);
}

TEST(Cubic, ALossReducesTheWindowToSevenTenths) {
  Flow flow(CongestionAlgorithm::cubic, 100, 100ms);
  flow.lose();
  EXPECT_EQ(flow.control.cwnd(), 70 * mss);
}

TEST(Cubic, ReachesItsFormerWindowAfterK) {
  constexpr double before = 1000;
  Flow flow(CongestionAlgorithm::cubic, 1000, 100ms);
  flow.lose();
  const Instant start = flow.now;
  const double k = std::cbrt(before * (1 - beta) / c);  // 9.1 s: RFC 9438 equation 2
  while (to_seconds(flow.now - start) < k) {
    flow.round();
    EXPECT_LE(flow.segments(), before * 1.02) << "concave below the old window";
  }
  EXPECT_NEAR(flow.segments(), before, before * 0.02);
  const double plateau = flow.segments();
  while (to_seconds(flow.now - start) < 2 * k) flow.round();
  EXPECT_NEAR(flow.segments(), plateau + 300, 40) << "and convex above it";
}

TEST(Cubic, IsAsFastAsRenoOnShortPaths) {
  Flow flow(CongestionAlgorithm::cubic, 20, 5ms);
  flow.lose();
  EXPECT_EQ(flow.control.cwnd(), 14 * mss);
  for (int i = 0; i < 10; ++i) flow.round();
  // Section 4.3: 0.53 segments a round up to the old window.
  EXPECT_NEAR(flow.segments(), 14 + 5.3, 0.7);
}

TEST(Cubic, ConvergesFasterWhenWindowsShrink) {
  Flow flow(CongestionAlgorithm::cubic, 1000, 100ms);
  flow.lose();  // at 1000
  flow.lose();  // at 700, below the last maximum: aims at 595
  const Instant start = flow.now;
  const double k = std::cbrt((700 * (1 + beta) / 2 - 490) / c);
  while (to_seconds(flow.now - start) < k) flow.round();
  EXPECT_NEAR(flow.segments(), 595, 12);
}

TEST(Congestion, UndoPutsBothWindowsBack) {
  for (const auto algorithm : {CongestionAlgorithm::newreno, CongestionAlgorithm::cubic}) {
    Flow flow(algorithm, 40, 100ms);
    flow.lose();
    flow.round();
    const std::uint32_t cwnd = flow.control.cwnd();
    const std::uint32_t ssthresh = flow.control.ssthresh();
    flow.control.on_timeout(flow.path(), true);
    flow.control.on_timeout(flow.path(), false);
    flow.control.undo();
    EXPECT_EQ(flow.control.cwnd(), cwnd);
    EXPECT_EQ(flow.control.ssthresh(), ssthresh);
  }
}

TEST(Cubic, AfterAnUndoItStillAimsAtTheOldWindow) {
  Flow flow(CongestionAlgorithm::cubic, 1000, 100ms);
  flow.lose();
  flow.round();
  flow.control.on_timeout(flow.path(), true);
  flow.now += 5s;
  flow.control.undo();
  EXPECT_NEAR(flow.segments(), 700, 30);
  const Instant start = flow.now;
  while (to_seconds(flow.now - start) < std::cbrt(300 / c)) flow.round();
  EXPECT_NEAR(flow.segments(), 1000, 20);
}

TEST(Cubic, AfterATimeoutTheCurveStartsFlat) {
  Flow flow(CongestionAlgorithm::cubic, 100, 100ms);
  flow.control.on_timeout(flow.path(), true);
  EXPECT_EQ(flow.control.ssthresh(), 70 * mss);
  while (flow.control.cwnd() < 70 * mss) flow.round();
  flow.round();
  EXPECT_LT(flow.segments(), 72.0);
}

}  // namespace
}  // namespace sluice::tcp
