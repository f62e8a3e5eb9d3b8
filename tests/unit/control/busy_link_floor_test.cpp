// Tests of the smallest window that keeps the downlink busy while an upload of the UE delays its ACKs.
#include "control/ack_based/busy_link_floor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "dataplane/units/time.hpp"

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// A link of a constant rate, whose sender always keeps the floor in flight, and at least 100 kB.
class Link {
 public:
  double rate = 1e6;          ///< bytes/s
  Duration path = 100ms;      ///< round trip without a queue of the link, with the delay of ACKs
  bool uploads = false;       ///< the UE uploads 0.8 Mb/s
  Duration wait{-1};          ///< wait that the UE's timestamps show; negative: unknown
  bool has_loss = false;      ///< the link loses data in each round
  double most_in_flight = 0;  ///< most bytes in flight so far

  /// Runs the link for `count` rounds.
  void run(int count) {
    for (int i = 0; i < count; ++i) run_round();
  }
  [[nodiscard]] const BusyLinkFloor& floor() const { return floor_; }

 private:
  void run_round() {
    constexpr int samples = 8;
    const Duration lasts = std::max(path, from_seconds(in_flight_ / rate));
    const double delivered = in_flight_ / samples;
    for (int i = 1; i <= samples; ++i) {
      now_ += lasts / samples;
      // Each sample delivers whole bytes.
      if (i == samples) in_flight_ = std::ceil(std::max(1e5, floor_.window()) / samples) * samples;
      const BusyLinkFloor::Sample sample{.now = now_,
                                         .since = lasts / samples,
                                         .delivered = Bytes(delivered),
                                         .in_flight = Bytes(in_flight_),
                                         .lost = Bytes(has_loss ? 1500 : 0),
                                         .uploaded = Bytes(uploads ? 1e5 * to_seconds(lasts) / samples : 0),
                                         .is_limited = true,
                                         .wait = wait};
      if (floor_.on_sample(sample)) floor_.end_round(sample, 10ms);
    }
    most_in_flight = std::max(most_in_flight, in_flight_);
  }

  BusyLinkFloor floor_;
  Instant now_{10s};
  double in_flight_ = 1e5;
};

TEST(BusyLinkFloor, IsZeroWithoutAnUpload) {
  Link link;
  link.path = 1s;
  link.run(20);
  EXPECT_FALSE(link.floor().uploads());
  EXPECT_EQ(link.floor().window(), 0);
}

TEST(BusyLinkFloor, KeepsTheRateWhenAcksWaitForLonger) {
  Link link;
  link.run(20);
  link.uploads = true;
  link.path = 1s;
  link.run(10);
  EXPECT_TRUE(link.floor().uploads());
  for (int i = 0; i < 30; ++i) {
    link.run(1);
    EXPECT_GE(link.floor().window(), 0.85 * link.rate * to_seconds(link.path));
    EXPECT_LE(link.floor().window(), 2.7 * link.rate * to_seconds(link.path));
  }
}

TEST(BusyLinkFloor, FindsTheRateOfALinkThatIsNotKnown) {
  Link link;
  link.uploads = true;
  link.path = 1s;
  link.run(30);
  EXPECT_GE(link.floor().window(), 0.9e6);
}

TEST(BusyLinkFloor, IsBoundedIfTheLinkBecomesSlower) {
  Link link;
  link.run(20);
  link.uploads = true;
  link.path = 300ms;
  link.run(20);
  link.rate = 3e5;
  link.most_in_flight = 0;
  link.run(100);
  EXPECT_LE(link.most_in_flight, 2e6);
  EXPECT_LE(link.floor().window(), 5 * link.rate * to_seconds(link.path));
}

TEST(BusyLinkFloor, FallsWhileAllDataHasWaited) {
  Link link;
  link.uploads = true;
  link.path = 1s;
  link.run(30);
  link.wait = 50ms;
  link.run(30);
  EXPECT_LE(link.floor().window(), 0.5e6);
}

/// A wait of 4 s is not that of the link if it transmits all bytes in flight in 1 s.
TEST(BusyLinkFloor, AWaitThatTheDataInFlightCannotCauseDoesNotLowerIt) {
  Link link;
  link.run(20);
  link.uploads = true;
  link.path = 1s;
  link.wait = 4s;
  link.run(30);
  EXPECT_GE(link.floor().window(), 0.9e6);
}

TEST(BusyLinkFloor, DoesNotRiseInRoundsWithLosses) {
  Link link;
  link.run(20);
  link.uploads = true;
  link.path = 1s;
  link.has_loss = true;
  link.run(30);
  EXPECT_EQ(link.floor().window(), 0);
}

}  // namespace
}  // namespace sluice::control
