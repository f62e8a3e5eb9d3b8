// Tests of congestion controls that use the number of marked packets: Prague and ABC.
#include <gtest/gtest.h>

#include "dataplane/tcp/congestion.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::tcp {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t mss = 1000;

/// A connection that fills its window, with accurate feedback for every segment.
class MarkedFlow {
 public:
  MarkedFlow(CongestionAlgorithm algorithm, std::uint32_t segments, Duration rtt) : rtt_(rtt) {
    control.start(algorithm, segments * mss);
  }
  /// An acknowledgement of a segment.
  void ack(bool marked) {
    const AckEvent event{.now = now, .delivered = mss, .in_flight = control.cwnd(), .cwnd_limited = true};
    control.on_feedback({.packets = 1, .marked = marked ? 1U : 0U}, event, path());
    control.on_ack(event, path(), false);
  }
  /// A round trip of which every `one_in`th segment was marked; 0: none.
  void round(std::uint32_t one_in = 0) {
    const std::uint32_t acks = control.cwnd() / mss;
    for (std::uint32_t i = 1; i <= acks; ++i) {
      now += rtt_ / acks;
      ack(one_in != 0 && i % one_in == 0);
    }
  }
  [[nodiscard]] PathView path() const { return {.now = now, .srtt = rtt_, .mss = mss, .flight_size = control.cwnd()}; }
  [[nodiscard]] double segments() const { return static_cast<double>(control.cwnd()) / mss; }

  CongestionControl control;
  Instant now{1h};

 private:
  Duration rtt_;
};

TEST(Prague, TheFirstMarkEndsSlowStartWithHalfOfTheWindow) {
  MarkedFlow flow(CongestionAlgorithm::prague, 10, 50ms);
  flow.round();
  EXPECT_EQ(flow.control.cwnd(), 20 * mss);
  flow.ack(true);
  EXPECT_NEAR(flow.segments(), 10, 0.2) << "alpha is 1 before anything is known";
  EXPECT_EQ(flow.control.ssthresh(), flow.control.cwnd() - flow.control.cwnd() % mss);
}

TEST(Prague, GrowsByASegmentInARound) {
  MarkedFlow flow(CongestionAlgorithm::prague, 40, 50ms);
  flow.ack(true);
  const double before = flow.segments();
  flow.round();
  EXPECT_NEAR(flow.segments() - before, 1, 0.1);
}

/// With 5 ms a fifth of the virtual round, squared.
TEST(Prague, AShortRoundTripGrowsAsSlowlyAsOneOf25Milliseconds) {
  MarkedFlow flow(CongestionAlgorithm::prague, 200, 5ms);
  flow.ack(true);
  const double before = flow.segments();
  for (int i = 0; i < 25; ++i) flow.round();
  EXPECT_NEAR(flow.segments() - before, 1, 0.1);
}

TEST(Prague, AlphaBecomesTheShareOfMarks) {
  MarkedFlow flow(CongestionAlgorithm::prague, 100, 50ms);
  flow.ack(true);
  for (int i = 0; i < 200; ++i) flow.round(10);
  const double before = flow.segments();
  flow.round(10);
  EXPECT_NEAR(flow.segments() / before, 1, 0.12) << "alpha / 2 of the window, and a segment";
  // In a steady state the window loses what it gains: W α / 2 = 1, as W · 1/10 marks in a round do.
  EXPECT_NEAR(flow.segments(), 20, 4);
}

TEST(Prague, IsReducedOnceInARound) {
  MarkedFlow flow(CongestionAlgorithm::prague, 40, 50ms);
  flow.ack(true);
  const double after = flow.segments();
  for (int i = 0; i < 5; ++i) flow.ack(true);
  EXPECT_NEAR(flow.segments(), after, 0.2);
}

TEST(Prague, IsReducedOnceInAVirtualRound) {
  MarkedFlow flow(CongestionAlgorithm::prague, 40, 5ms);
  flow.ack(true);
  const double after = flow.segments();
  flow.now += 20ms;
  flow.ack(true);
  EXPECT_NEAR(flow.segments(), after, 0.1);
  flow.now += 6ms;
  flow.ack(true);
  EXPECT_LT(flow.segments(), 0.6 * after);
}

TEST(Prague, ALossHalvesTheWindow) {
  MarkedFlow flow(CongestionAlgorithm::prague, 40, 50ms);
  flow.control.on_congestion(flow.path());
  EXPECT_EQ(flow.control.cwnd(), 20 * mss);
}

TEST(Prague, BehavesLikeRenoWithoutFeedback) {
  CongestionControl control;
  control.start(CongestionAlgorithm::prague, 10 * mss);
  control.seed(10 * mss);
  const PathView path{.now = Instant(1h), .srtt = 5ms, .mss = mss, .flight_size = 10 * mss};
  for (int i = 0; i < 10; ++i) control.on_ack({.delivered = mss, .cwnd_limited = true}, path, false);
  EXPECT_NEAR(control.cwnd(), 11 * mss, 60);
  control.on_mark(path);
  EXPECT_EQ(control.cwnd(), 5 * mss);
}

TEST(Prague, NeverFallsBelowTwoSegments) {
  MarkedFlow flow(CongestionAlgorithm::prague, 10, 50ms);
  for (int i = 0; i < 50; ++i) flow.round(1);
  EXPECT_GE(flow.segments(), 2);
  EXPECT_LT(flow.segments(), 3);
}

TEST(Abc, AllAcceleratesDoubleTheWindowInARound) {
  MarkedFlow flow(CongestionAlgorithm::abc, 10, 50ms);
  flow.round();
  EXPECT_NEAR(flow.segments(), 20, 1.1);
}

/// Half of the packets accelerate: what leaves is what came, and a segment more.
TEST(Abc, EqualNumbersOfBrakesAndAcceleratesKeepTheWindow) {
  MarkedFlow flow(CongestionAlgorithm::abc, 40, 50ms);
  flow.round(2);
  EXPECT_NEAR(flow.segments(), 41, 0.5);
}

TEST(Abc, AllBrakesEmptyTheWindowInARound) {
  MarkedFlow flow(CongestionAlgorithm::abc, 40, 50ms);
  flow.round(1);
  EXPECT_LT(flow.segments(), 5) << "but for the segment of fairness";
  for (int i = 0; i < 20; ++i) flow.round(1);
  EXPECT_GE(flow.segments(), 1);
}

TEST(Abc, WindowIsAtMostTwiceTheBytesInFlight) {
  CongestionControl control;
  control.start(CongestionAlgorithm::abc, 10 * mss);
  const PathView path{.now = Instant(1h), .srtt = 50ms, .mss = mss, .flight_size = 5 * mss};
  const AckEvent event{.delivered = mss, .in_flight = 5 * mss};
  for (int i = 0; i < 10; ++i) control.on_feedback({.packets = 1, .marked = 0}, event, path);
  EXPECT_EQ(control.cwnd(), 10 * mss);
}

TEST(Abc, ALossReducesTheWindowLikeReno) {
  MarkedFlow flow(CongestionAlgorithm::abc, 40, 50ms);
  flow.round(2);
  flow.control.on_congestion(flow.path());
  const double after = flow.segments();
  EXPECT_NEAR(after, 20.5, 1);
  flow.round();
  EXPECT_NEAR(flow.segments(), after + 1, 0.2) << "although everything accelerates";
}

TEST(Abc, BehavesLikeRenoWithoutFeedback) {
  CongestionControl control;
  control.start(CongestionAlgorithm::abc, 10 * mss);
  const PathView path{.now = Instant(1h), .srtt = 50ms, .mss = mss, .flight_size = 10 * mss};
  control.on_ack({.delivered = 2 * mss, .cwnd_limited = true}, path, false);
  EXPECT_EQ(control.cwnd(), 12 * mss) << "slow start";
}

TEST(Scalable, NewDataIsSentAsEct1) {
  for (const auto algorithm : {CongestionAlgorithm::prague, CongestionAlgorithm::abc, CongestionAlgorithm::cubic}) {
    CongestionControl control;
    control.start(algorithm, 10 * mss);
    EXPECT_EQ(control.codepoint(), algorithm == CongestionAlgorithm::cubic ? ecn_capable : ecn_scalable);
  }
}

}  // namespace
}  // namespace sluice::tcp
