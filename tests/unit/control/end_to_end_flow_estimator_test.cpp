// Tests of the estimator for end-to-end flows: bytes in flight, RTT and window limitation, from the segments that pass
// the proxy.
#include "control/ack_based/end_to_end_flow_estimator.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Bytes segment{1000};
constexpr Duration core = 40ms;
constexpr Duration radio = 20ms;

class EndToEndEstimatorTest : public testing::Test {
 protected:
  EndToEndFlowEstimator flow{Instant{}, {}, core};
  Bytes passed;

  void data(Instant at, std::int64_t segments = 1) {
    for (std::int64_t i = 0; i < segments; ++i) flow.on_data(at, passed += segment);
  }
};

TEST_F(EndToEndEstimatorTest, DataIsInFlightUntilItIsAcknowledged) {
  data(Instant(1s), 3);
  EXPECT_EQ(flow.in_flight(), segment * 3);
  EXPECT_EQ(flow.on_ack(Instant(1s) + radio, segment * 2).delivered, segment * 2);
  EXPECT_EQ(flow.in_flight(), segment);
  EXPECT_EQ(flow.on_ack(Instant(1s) + radio, segment * 2).delivered, Bytes{}) << "the same once more";
}

TEST_F(EndToEndEstimatorTest, TheRttIsThatOfTheNewestAcknowledgedData) {
  data(Instant(1s));
  data(Instant(1s) + 7ms);
  data(Instant(1s) + 9ms);
  EXPECT_EQ(flow.on_ack(Instant(1s) + 7ms + radio, segment * 2).round_trip, radio);
  EXPECT_EQ(flow.on_ack(Instant(1s) + 9ms + radio, segment * 3).round_trip, radio);
}

TEST_F(EndToEndEstimatorTest, TimeBeforeAPauseIsNotPartOfTheRtt) {
  data(Instant(1s));
  EXPECT_EQ(flow.on_ack(Instant(1s) + radio, segment).round_trip, radio);
  data(Instant(9s));
  EXPECT_EQ(flow.on_ack(Instant(9s) + radio, segment * 2).round_trip, radio);
}

// With 400 segments in flight only the times of a few are kept. No RTT is smaller than the true one, because the
// minimum is what counts, and none is much larger.
TEST_F(EndToEndEstimatorTest, TheRttIsNeverTooSmallWithManySegmentsInFlight) {
  constexpr Duration apart = 100us;
  constexpr int in_flight = 400;
  int told = 0;
  for (int i = 0; i < 4 * in_flight; ++i) {
    const Instant now = Instant(1s) + apart * i;
    data(now);
    if (i < in_flight) continue;
    const Duration took = flow.on_ack(now, segment * (i - in_flight + 1)).round_trip;
    if (took <= Duration::zero()) continue;
    ++told;
    ASSERT_GE(took, apart * in_flight - 1us);
    ASSERT_LE(took, apart * in_flight * 9 / 8);
  }
  EXPECT_GT(told, 3 * in_flight - 100) << "nearly all acknowledgements tell";
}

// The queue grows, so the flight grows without end, and RTTs are still measured.
TEST_F(EndToEndEstimatorTest, TheRttIsMeasuredWhileTheFlightGrows) {
  int untold = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Instant now = Instant(1s) + 1ms * i;
    data(now);
    if (i % 2 == 0) continue;
    const Duration took = flow.on_ack(now, segment * (i / 2 + 1)).round_trip;
    if (took <= Duration::zero()) {
      ++untold;
      continue;
    }
    ASSERT_NEAR(to_seconds(took), to_seconds(1ms * (i - i / 2)), 0.13 * i / 1000);
  }
  EXPECT_LT(untold, 500) << "of 10000";
}

TEST_F(EndToEndEstimatorTest, NoRttIsMeasuredBetweenDistantMarks) {
  for (int i = 0; i < 100; ++i) data(Instant(1s) + 50ms * i);
  int told = 0;
  for (int i = 0; i < 100; ++i) {
    const Duration took = flow.on_ack(Instant(10s), segment * (i + 1)).round_trip;
    if (took <= Duration::zero()) continue;
    ++told;
    EXPECT_NEAR(to_seconds(took), to_seconds(9s - 50ms * i), 0.6);
  }
  EXPECT_GT(told, 20);
}

TEST_F(EndToEndEstimatorTest, ARetransmissionGivesNoRtt) {
  data(Instant(1s), 2);
  flow.on_retransmission();
  EXPECT_EQ(flow.on_ack(Instant(2s), segment * 2).round_trip, Duration::zero()) << "Karn";
  data(Instant(3s));
  EXPECT_EQ(flow.on_ack(Instant(3s) + radio, segment * 3).round_trip, radio);
}

TEST_F(EndToEndEstimatorTest, OutOfOrderDataIsDeliveredAndCountedOnce) {
  data(Instant(1s), 5);
  Bytes delivered;
  for (int i = 0; i < 3; ++i) delivered += flow.on_duplicate(segment).delivered;
  EXPECT_EQ(delivered, segment * 3);
  EXPECT_EQ(flow.in_flight(), segment * 2);
  EXPECT_EQ(flow.on_duplicate(segment).delivered, segment);
  EXPECT_EQ(flow.on_duplicate(segment).delivered, Bytes{}) << "the one that is missing has not come";
  EXPECT_EQ(flow.on_ack(Instant(2s), segment * 5).delivered, segment) << "that one";
  EXPECT_EQ(flow.in_flight(), Bytes{});
}

TEST_F(EndToEndEstimatorTest, AnAckOfUnseenDataIsNotCounted) {
  data(Instant(1s), 2);
  EXPECT_EQ(flow.on_ack(Instant(2s), segment * 7).delivered, segment * 2);
  EXPECT_EQ(flow.in_flight(), Bytes{});
}

TEST_F(EndToEndEstimatorTest, ASenderThatUsesEachWindowAtOnceIsWindowLimited) {
  flow.on_window(Instant(1s), segment * 2, segment);
  data(Instant(1s) + core, 2);
  EXPECT_FALSE(flow.window_limited()) << "nothing needed a newer window yet";
  flow.on_window(Instant(2s), segment * 4, segment);
  data(Instant(2s) + core, 2);
  EXPECT_TRUE(flow.window_limited());
  EXPECT_EQ(flow.control_loop_delay(), core);
}

TEST_F(EndToEndEstimatorTest, ASenderThatLeavesPartOfTheWindowIsNotWindowLimited) {
  for (int i = 1; i < 20; ++i) {
    const Instant now = Instant(1s) + 100ms * i;
    flow.on_window(now, segment * (2 * i + 2), segment);
    data(now + 2 * core + 10ms);
  }
  EXPECT_FALSE(flow.window_limited());
}

// The congestion window of this sender is a little smaller, so each window is used a third of a control loop delay
// late.
TEST_F(EndToEndEstimatorTest, ASenderWithASlightlySmallerWindowIsNotWindowLimited) {
  flow.on_window(Instant(1s), segment * 2, segment);
  data(Instant(1s) + core, 2);
  for (int i = 1; i < 20; ++i) {
    const Instant now = Instant(1s) + 100ms * i;
    flow.on_window(now, segment * (i + 2), segment);
    data(now + core + core / 3);
  }
  EXPECT_FALSE(flow.window_limited());
}

TEST_F(EndToEndEstimatorTest, OneLateResponseKeepsItWindowLimited) {
  flow.on_window(Instant(1s), segment * 2, segment);
  data(Instant(1s) + core, 2);
  flow.on_window(Instant(2s), segment * 4, segment);
  data(Instant(2s) + core, 2);
  flow.on_window(Instant(2s) + 100ms, segment * 6, segment);
  data(Instant(2s) + 300ms, 2);
  EXPECT_TRUE(flow.window_limited()) << "within half a second it was";
  flow.on_window(Instant(3s), segment * 8, segment);
  data(Instant(3s) + 300ms, 2);
  EXPECT_FALSE(flow.window_limited());
}

// A window that grows by less than a segment lets nothing more be sent: the answer comes to the one that does.
TEST_F(EndToEndEstimatorTest, AWindowIncreaseBelowASegmentGetsNoResponse) {
  flow.on_window(Instant(1s), segment * 2, segment);
  data(Instant(1s) + core, 2);
  flow.on_window(Instant(2s), segment * 2 + Bytes(600), segment);
  flow.on_window(Instant(3s), segment * 3 + Bytes(200), segment);
  data(Instant(3s) + core);
  EXPECT_TRUE(flow.window_limited());
  EXPECT_EQ(flow.control_loop_delay(), core) << "and not a second more";
}

TEST_F(EndToEndEstimatorTest, DataSentBeforeTrackingGivesNoRtt) {
  EndToEndFlowEstimator running(Instant(1s), {Bytes(10'000), Bytes(14'000)}, Duration::zero());
  EXPECT_EQ(running.in_flight(), Bytes(4000));
  EXPECT_EQ(running.control_loop_delay(), Duration::zero());
  const EndToEndFlowEstimator::Acked acked_now = running.on_ack(Instant(2s), Bytes(14'000));
  EXPECT_EQ(acked_now.delivered, Bytes(4000));
  EXPECT_EQ(acked_now.round_trip, Duration::zero());
  running.on_data(Instant(3s), Bytes(15'000));
  EXPECT_EQ(running.on_ack(Instant(3s) + radio, Bytes(15'000)).round_trip, radio);
}

// Only a peer that acknowledges ahead, or data on another path, has such an acknowledgement.
TEST_F(EndToEndEstimatorTest, AnAckOfDataThatDidNotPassGivesNoRtt) {
  EndToEndFlowEstimator running(Instant(1s), {Bytes(0), Bytes(0)}, Duration::zero());
  running.on_data(Instant(1s), segment);
  const EndToEndFlowEstimator::Acked acked_now = running.on_ack(Instant(1s) + 1ms, segment * 2);
  EXPECT_EQ(acked_now.delivered, segment);
  EXPECT_EQ(acked_now.round_trip, Duration::zero());
}

// 2^32 bytes and 2^32 microseconds (72 minutes) later everything is as before.
TEST_F(EndToEndEstimatorTest, WrappedSequenceNumbersChangeNothing) {
  const Bytes first((std::int64_t{1} << 32) - 1500);
  const Instant when(std::chrono::microseconds((std::int64_t{1} << 32) - 5000));
  EndToEndFlowEstimator running(when, {first, first}, Duration::zero());
  for (int i = 1; i <= 4; ++i) running.on_data(when + 3ms * (i - 1), first + segment * i);
  for (int i = 1; i <= 4; ++i) {
    const EndToEndFlowEstimator::Acked acked_now = running.on_ack(when + 3ms * (i - 1) + radio, first + segment * i);
    EXPECT_EQ(acked_now.delivered, segment);
    EXPECT_EQ(acked_now.round_trip, radio);
  }
}

}  // namespace
}  // namespace sluice::control
