// Tests of the window of a UE's uploads on a model of its modem: a FIFO queue before an uplink.
#include "control/ack_based/upload_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Bytes segment{1448};

/// One upload whose sender has data at any time, and whose window is the only limit. Packets of other traffic share the
/// queue of the modem.
class UploadOverAModem : public testing::Test {
 protected:
  /// Runs for `time` with an uplink of `rate`. A packet takes `base` from a larger window to its arrival, and in
  /// addition the wait in the modem.
  void go_on(Duration time, Rate rate, Duration base = 40ms) {
    for (const Instant end = now_ + time; now_ < end; now_ += 1ms) {
      capacity_ = std::min(capacity_ + rate.in(1ms) + Bytes(1), segment * 8);
      if (std::exchange(others_, Bytes{}) > Bytes{}) queue_.push_back({now_, true});
      while (!queue_.empty() && capacity_ >= segment && queue_.front().ready <= now_) {
        capacity_ = capacity_ - segment;
        const bool own = !queue_.front().other;
        longest_wait_ = std::max(longest_wait_, now_ - queue_.front().ready);
        queue_.pop_front();
        if (own) arrive();
      }
      if (queue_.empty()) capacity_ = std::min(capacity_, segment);
      grant(base);
    }
  }
  /// Adds a packet of other traffic each millisecond, whatever the queue is.
  void other_traffic() { others_ = segment; }
  /// Returns the payload rate since the last call in Mb/s.
  double megabits() {
    const double result = static_cast<double>(arrived_) * 8e-6 / std::chrono::duration<double>(now_ - since_).count();
    since_ = now_;
    arrived_ = 0;
    return result;
  }
  Duration longest_wait() { return std::exchange(longest_wait_, Duration::zero()); }

  UploadWindow window_{Instant(1h), segment, 40ms};
  bool limited_ = false;  ///< true if the last window was limited

 private:
  struct Packet {
    Instant ready;  ///< time at which it is in the modem's queue
    bool other = false;
  };
  void arrive() {
    arrived_ += segment.count();
    unused_ = unused_ - segment;
    window_.on_received(now_, segment);
    if (const auto round_trip = round_trip_.on_received(now_, segment)) window_.on_round_trip(now_, *round_trip);
  }
  void grant(Duration base) {
    const std::optional<Bytes> allowed = window_.window(now_, Duration::zero());
    limited_ = allowed.has_value();
    const Bytes most = allowed.value_or(Bytes(200'000));
    if (most < unused_ + segment) return;
    if (limited_) {
      round_trip_.on_larger_window(now_, unused_);
    } else {
      round_trip_.cancel();
    }
    for (; unused_ + segment <= most; unused_ += segment) queue_.push_back({now_ + base, false});
  }

  Instant now_{1h};
  Instant since_{1h};
  UploadRoundTrip round_trip_;
  std::deque<Packet> queue_;
  Bytes capacity_;
  Bytes unused_;
  Bytes others_;
  std::int64_t arrived_ = 0;
  Duration longest_wait_{};
};

TEST_F(UploadOverAModem, UsesTheUplinkWithAShortQueue) {
  for (const double rate : {1e6, 10e6, 50e6}) {
    SCOPED_TRACE(rate);
    go_on(5s, Rate::bits_per_second(rate));
    megabits();
    longest_wait();
    go_on(30s, Rate::bits_per_second(rate));
    EXPECT_GT(megabits(), 0.9e-6 * rate);
    EXPECT_LT(longest_wait(), 120ms) << "without a limit 200 kB wait: 1.6 s at 1 Mb/s";
  }
}

TEST_F(UploadOverAModem, FollowsAnUplinkThatBecomesFasterOrSlower) {
  go_on(10s, Rate::bits_per_second(2e6));
  go_on(5s, Rate::bits_per_second(20e6));
  megabits();
  go_on(5s, Rate::bits_per_second(20e6));
  EXPECT_GT(megabits(), 16);
  go_on(5s, Rate::bits_per_second(2e6));
  longest_wait();
  go_on(10s, Rate::bits_per_second(2e6));
  EXPECT_LT(longest_wait(), 150ms);
}

TEST_F(UploadOverAModem, OnAVerySlowUplinkFourSegmentsAreInFlight) {
  go_on(60s, Rate::bits_per_second(100e3));
  EXPECT_FALSE(window_.keeps_queue_short());
  EXPECT_EQ(window_.window(Instant(1h + 60s), Duration::zero()), segment * 4) << "the limit is not withdrawn";
}

TEST_F(UploadOverAModem, UsesALongerPathAgainWithinAMinute) {
  go_on(10s, Rate::bits_per_second(5e6));
  go_on(40s, Rate::bits_per_second(5e6), 340ms);
  megabits();
  go_on(10s, Rate::bits_per_second(5e6), 340ms);
  EXPECT_GT(megabits(), 4.2) << "with the base delay of the shorter path it would be a fifth";
}

// The limit does not shorten a queue that others fill, so it only takes rate from the upload.
TEST_F(UploadOverAModem, IsNotLimitedInAQueueThatOthersFill) {
  const Rate rate = Rate::bits_per_second(10e6);
  go_on(5s, rate);
  ASSERT_TRUE(limited_);
  for (int i = 0; i < 300; ++i) {
    other_traffic();
    go_on(1ms, rate);
  }
  bool withdrawn = false;
  for (int i = 0; i < 10'000 && !withdrawn; ++i) {
    if (i % 6 != 0) other_traffic();
    go_on(1ms, rate);
    withdrawn = !limited_;
  }
  EXPECT_TRUE(withdrawn);
  for (int i = 0; i < 11'000 && withdrawn; ++i) {
    go_on(1ms, rate);
    withdrawn = !limited_;
  }
  EXPECT_FALSE(withdrawn) << "it is tried again after ten seconds";
}

TEST(UploadWindow, PausesOfTheUeAreNoBaseDelay) {
  UploadWindow window(Instant(1h), segment, 40ms);
  for (Instant now(1h); now < Instant(1h + 60s); now += 12s) window.on_round_trip(now, 12s);
  EXPECT_EQ(window.base_delay(), 40ms);
}

TEST(UploadRoundTrip, LastsUntilTheFirstByteBeyondTheEarlierWindow) {
  UploadRoundTrip round_trip;
  const Instant start(1h);
  EXPECT_FALSE(round_trip.on_received(start, Bytes(1000))) << "nothing is measured";
  round_trip.on_larger_window(start, Bytes(3000));
  EXPECT_FALSE(round_trip.on_received(start + 10ms, Bytes(3000)));
  round_trip.on_larger_window(start + 15ms, Bytes(1000));  // a measurement runs
  EXPECT_EQ(round_trip.on_received(start + 20ms, Bytes(1)), 20ms);
  EXPECT_FALSE(round_trip.on_received(start + 30ms, Bytes(1000)));
}

TEST(UploadRoundTrip, HasNoResultIfItIsCancelled) {
  UploadRoundTrip round_trip;
  round_trip.on_larger_window(Instant(1h), Bytes(1000));
  round_trip.cancel();
  EXPECT_FALSE(round_trip.on_received(Instant(1h + 1s), Bytes(2000)));
}

}  // namespace
}  // namespace sluice::control
