// Tests of the ACK delay of a UE's uplink and of the RTT without it.
#include "control/ack_based/ack_delay_estimator.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// Runs the ACKs of a UE every 10 ms, with given ACK delays.
class Uplink {
 public:
  Duration ack(Duration late, Duration round_trip = 60ms) {
    now_ += 10ms;
    return ack_delay_.adjust_rtt(
        {.now = now_, .delivered = Bytes(1500), .round_trip = round_trip, .in_flight = {}, .ack_delay = late}, 10ms,
        delivery_);
  }
  void ack_for(Duration time, Duration late) {
    for (Duration acked{}; acked < time; acked += 10ms) ack(late);
  }
  [[nodiscard]] const AckDelayEstimator& ack_delay() const { return ack_delay_; }

 private:
  Instant now_{10s};
  DeliveryEstimator delivery_{80ms};
  AckDelayEstimator ack_delay_;
};

constexpr Duration unknown{-1};

TEST(AckDelayEstimator, IsNotPartOfTheRtt) {
  Uplink uplink;
  EXPECT_EQ(uplink.ack(0ms), 60ms);
  EXPECT_EQ(uplink.ack(25ms), 35ms);
  EXPECT_EQ(uplink.ack_delay().newest(), 25ms);
}

TEST(AckDelayEstimator, AClockThatIsSetBackDoesNotMakeTheRttNegative) {
  Uplink uplink;
  EXPECT_EQ(uplink.ack(2s), 0ms);
  EXPECT_EQ(uplink.ack_delay().newest(), 1s) << "no acknowledgement is believed to be later";
}

TEST(AckDelayEstimator, IsNotableOnceItIsFrequent) {
  Uplink uplink;
  uplink.ack(8ms);
  EXPECT_FALSE(uplink.ack_delay().is_significant());
  uplink.ack_for(1s, 8ms);
  EXPECT_TRUE(uplink.ack_delay().is_significant());
  EXPECT_GT(uplink.ack_delay().mean(), 7ms);
  uplink.ack_for(2s, 0ms);
  EXPECT_FALSE(uplink.ack_delay().is_significant());
}

TEST(AckDelayEstimator, TheLargestValueDecays) {
  Uplink uplink;
  uplink.ack(100ms);
  EXPECT_EQ(uplink.ack_delay().max(), 100ms);
  uplink.ack_for(500ms, 0ms);
  EXPECT_GT(uplink.ack_delay().max(), 30ms);
  EXPECT_LT(uplink.ack_delay().max(), 45ms);
}

TEST(AckDelayEstimator, IsKeptForASecondWhileUnknown) {
  Uplink uplink;
  uplink.ack_for(1s, 20ms);
  EXPECT_EQ(uplink.ack(unknown), 0ms) << "as late as the others, about: the rest of its round trip is unknown";
  EXPECT_TRUE(uplink.ack_delay().is_known());
  uplink.ack_for(1010ms, unknown);
  EXPECT_FALSE(uplink.ack_delay().is_known());
  EXPECT_FALSE(uplink.ack_delay().is_significant());
  EXPECT_EQ(uplink.ack_delay().newest(), 0ms);
  EXPECT_EQ(uplink.ack_delay().max(), 0ms);
  EXPECT_EQ(uplink.ack(unknown), 60ms);
}

}  // namespace
}  // namespace sluice::control
