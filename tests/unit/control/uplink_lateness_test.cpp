// Tests of the ACK delay of a UE's uplink and of the RTT without it.
#include "control/uplink_lateness.hpp"

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
    return lateness_.take_out(
        {.now = now_, .delivered = Bytes(1500), .round_trip = round_trip, .in_flight = {}, .late = late}, 10ms,
        delivery_);
  }
  void ack_for(Duration time, Duration late) {
    for (Duration acked{}; acked < time; acked += 10ms) ack(late);
  }
  [[nodiscard]] const UplinkLateness& lateness() const { return lateness_; }

 private:
  Instant now_{10s};
  DeliveryEstimator delivery_{80ms};
  UplinkLateness lateness_;
};

constexpr Duration unknown{-1};

TEST(UplinkLateness, IsNotPartOfTheRtt) {
  Uplink uplink;
  EXPECT_EQ(uplink.ack(0ms), 60ms);
  EXPECT_EQ(uplink.ack(25ms), 35ms);
  EXPECT_EQ(uplink.lateness().newest(), 25ms);
}

TEST(UplinkLateness, AClockThatIsSetBackDoesNotMakeTheRttNegative) {
  Uplink uplink;
  EXPECT_EQ(uplink.ack(2s), 0ms);
  EXPECT_EQ(uplink.lateness().newest(), 1s) << "no acknowledgement is believed to be later";
}

TEST(UplinkLateness, IsNotableOnceItIsFrequent) {
  Uplink uplink;
  uplink.ack(8ms);
  EXPECT_FALSE(uplink.lateness().is_notable());
  uplink.ack_for(1s, 8ms);
  EXPECT_TRUE(uplink.lateness().is_notable());
  EXPECT_GT(uplink.lateness().usual(), 7ms);
  uplink.ack_for(2s, 0ms);
  EXPECT_FALSE(uplink.lateness().is_notable());
}

TEST(UplinkLateness, TheLargestValueDecays) {
  Uplink uplink;
  uplink.ack(100ms);
  EXPECT_EQ(uplink.lateness().greatest(), 100ms);
  uplink.ack_for(500ms, 0ms);
  EXPECT_GT(uplink.lateness().greatest(), 30ms);
  EXPECT_LT(uplink.lateness().greatest(), 45ms);
}

TEST(UplinkLateness, IsKeptForASecondWhileUnknown) {
  Uplink uplink;
  uplink.ack_for(1s, 20ms);
  EXPECT_EQ(uplink.ack(unknown), 0ms) << "as late as the others, about: the rest of its round trip is unknown";
  EXPECT_TRUE(uplink.lateness().is_known());
  uplink.ack_for(1010ms, unknown);
  EXPECT_FALSE(uplink.lateness().is_known());
  EXPECT_FALSE(uplink.lateness().is_notable());
  EXPECT_EQ(uplink.lateness().newest(), 0ms);
  EXPECT_EQ(uplink.lateness().greatest(), 0ms);
  EXPECT_EQ(uplink.ack(unknown), 60ms);
}

}  // namespace
}  // namespace sluice::control
