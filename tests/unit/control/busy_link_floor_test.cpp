// Tests of the smallest window that keeps the downlink busy while an upload of the UE delays its ACKs.
#include "control/ack_based/busy_link_floor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

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

/// Rounds of given values, each of one sample. The window limits the sender, and the UE uploads 20 kB per round.
class Rounds {
 public:
  BusyLinkFloor::Sample next;

  Rounds() {
    next.since = 1s;
    next.in_flight = 1'000'000_B;
    next.is_limited = true;
    next.wait = -1ns;
    round(0_B);
    next.uploaded = 20'000_B;
  }
  /// Ends a round of one second, in which so many bytes were delivered; returns the window.
  double round(Bytes delivered) {
    next.now += next.since;
    next.delivered = delivered;
    static_cast<void>(floor_.on_sample(next));
    floor_.end_round(next, 10ms);
    return floor_.window();
  }
  /// The link carries 1 MB/s, of which half is used when the upload begins. The window was raised, and one more round
  /// has passed.
  void raise() {
    next.uploaded = 0_B;
    EXPECT_EQ(round(1'000'000_B), 0);
    next.uploaded = 20'000_B;
    EXPECT_DOUBLE_EQ(round(500'000_B), 1'100'000) << "a tenth more than the link carries in the round";
    EXPECT_DOUBLE_EQ(round(500'000_B), 1'100'000) << "its data was sent before the raise";
  }
  [[nodiscard]] const BusyLinkFloor& floor() const { return floor_; }

 private:
  BusyLinkFloor floor_;
};

TEST(BusyLinkFloor, OnlyALimitedSenderShowsThatTheLinkHasBecomeSlower) {
  Rounds rounds;
  rounds.next.uploaded = 0_B;
  EXPECT_EQ(rounds.round(800'000_B), 0);
  rounds.next.is_limited = false;
  EXPECT_EQ(rounds.round(400'000_B), 0) << "the sender had no more data";
  rounds.next.is_limited = true;
  EXPECT_EQ(rounds.round(400'000_B), 0) << "the rate falls by a quarter of the difference, to 700 kB/s";
  rounds.next.uploaded = 20'000_B;
  EXPECT_DOUBLE_EQ(rounds.round(100'000_B), 770'000);
}

TEST(BusyLinkFloor, AnUploadHasAMeanRateOf8KilobytesPerSecond) {
  Rounds rounds;
  rounds.round(0_B);
  EXPECT_TRUE(rounds.floor().uploads()) << "20 kB/s";
  rounds.next.uploaded = 0_B;
  rounds.round(0_B);
  EXPECT_TRUE(rounds.floor().uploads()) << "10 kB/s";
  rounds.next.uploaded = 2999_B;
  rounds.round(0_B);
  EXPECT_FALSE(rounds.floor().uploads()) << "half of it, and 2999 B/s";
  rounds.next.uploaded = 4001_B;
  rounds.round(0_B);
  EXPECT_TRUE(rounds.floor().uploads()) << "3999.5 B/s, and 4001 B/s";
}

TEST(BusyLinkFloor, AHigherRateConfirmsARaise) {
  Rounds rounds;
  rounds.raise();
  EXPECT_DOUBLE_EQ(rounds.round(551'000_B), 2'200'000);
}

TEST(BusyLinkFloor, AnEqualRateWithdrawsARaise) {
  Rounds rounds;
  rounds.raise();
  EXPECT_DOUBLE_EQ(rounds.round(549'000_B), 500'000) << "the window before the raise";
  EXPECT_DOUBLE_EQ(rounds.round(500'000_B), 880'000) << "the estimated rate of the link has fallen by a fifth";
}

TEST(BusyLinkFloor, ALowerRateRepeatsARaise) {
  Rounds rounds;
  rounds.raise();
  EXPECT_DOUBLE_EQ(rounds.round(474'000_B), 1'375'000) << "by a quarter at least";
  EXPECT_DOUBLE_EQ(rounds.round(474'000_B), 1'375'000);
  rounds.next.since = 4s;
  EXPECT_DOUBLE_EQ(rounds.round(1'600'000_B), 2'750'000) << "to twice the window at most";
}

TEST(BusyLinkFloor, ABusyLinkLowersTheWindowByA32nd) {
  Rounds rounds;
  rounds.raise();
  EXPECT_DOUBLE_EQ(rounds.round(500'000_B), 500'000);
  EXPECT_DOUBLE_EQ(rounds.round(760'001_B), 500'000 - 500'000.0 / 32);
}

TEST(BusyLinkFloor, TheTimeThatAllDataHasWaitedLowersTheWindow) {
  for (const auto& [wait, window] : {std::pair<Duration, double>{60ms, 950'000}, {900ms, 550'000}}) {
    Rounds rounds;
    rounds.raise();
    rounds.next.wait = wait;
    EXPECT_DOUBLE_EQ(rounds.round(1'000'000_B), window) << "by the excess over 10 ms, and by half at most";
  }
}

TEST(BusyLinkFloor, ALongRoundOfALowRateShowsNoWait) {
  for (const auto& [delivered, window] : {std::pair{1'500'000_B, 1'050'000.0}, {1'490'000_B, 2'200'000.0}}) {
    Rounds rounds;
    rounds.raise();
    rounds.next.wait = 60ms;
    rounds.next.since = 2s;
    EXPECT_DOUBLE_EQ(rounds.round(delivered), window);
  }
}

TEST(BusyLinkFloor, ARoundDeliversAllBytesInFlightAndLasts50Ms) {
  for (const auto& [delivered, lasts, ends] : {std::tuple<Bytes, Duration, bool>{1'000'000_B, 50ms, true},
                                               {999'999_B, 50ms, false},
                                               {1'000'000_B, 50ms - 1ns, false}}) {
    BusyLinkFloor floor;
    BusyLinkFloor::Sample sample;
    sample.now = Instant(1s);
    sample.in_flight = 1'000'000_B;
    floor.end_round(sample, 10ms);
    sample.now += lasts;
    sample.delivered = delivered;
    EXPECT_EQ(floor.on_sample(sample), ends) << delivered.count() << " bytes in " << to_seconds(lasts) << " s";
  }
}

}  // namespace
}  // namespace sluice::control
