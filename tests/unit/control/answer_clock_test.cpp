// Tests of the count of a UE's answers. The number of datagrams per answer is found for several receivers. Afterwards
// the bytes in flight are right. Answers that fit no count make the clock give up.

#include "control/ack_based/answer_clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <optional>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Bytes full{1500};

/// A radio link that delivers a datagram per `per_datagram`, and a receiver that answers each `every` of them, or after
/// 25 ms. The source sends what the clock permits, and not more than `most_in_flight` datagrams. If `window` is set, at
/// most as many datagrams may be in flight as the clock counts.
class Link {
 public:
  Duration per_datagram = 1ms;
  std::uint32_t every = 2;
  std::uint32_t most_in_flight = 40;
  std::uint32_t window = 0;
  std::uint32_t drop_each = 0;  ///< the proxy drops one datagram of this number; 0: none
  Duration other_each{};        ///< period of datagrams of another kind from the UE; zero: none
  Duration read_each{};         ///< period in which the receiver reads what has arrived; zero: at once
  bool is_out = false;          ///< true: the link delivers nothing

  void run(Duration time) {
    for (const Instant end = now + time; now < end; now += 500us) step();
  }
  /// Lets the link run, and returns the bytes that the receiver got.
  [[nodiscard]] std::uint64_t bytes_in(Duration time) {
    const std::uint64_t before = received_;
    run(time);
    return (received_ - before) * static_cast<std::uint64_t>(full.count());
  }
  /// Returns the datagrams in flight, with those whose answer is on its way.
  [[nodiscard]] std::int64_t unanswered() const { return static_cast<std::int64_t>(sent_ - answered_); }

  Instant now = Instant(10s);
  AnswerClock clock{now};
  std::uint64_t delivered_bytes = 0;
  Duration last_round_trip{};

 private:
  static constexpr Duration half = 10ms;
  struct Arrival {
    Instant when;
    std::uint64_t number;  ///< number of datagrams that were sent before it
  };

  void step() {
    while (!answers_.empty() && answers_.front().when <= now) {
      answered_ = std::max(answered_, answers_.front().number);
      take(clock.on_answer(now, true));
      answers_.pop_front();
    }
    if (other_each > Duration::zero() && now >= next_other_) {
      next_other_ = now + other_each;
      take(clock.on_answer(now, true));
    }
    while (!is_out && !radio_.empty() && radio_.front() <= now && free_at_ <= now) {
      radio_.pop_front();
      free_at_ = std::max(free_at_ + per_datagram, now - 1ms);
      receive();
    }
    if (read_each > Duration::zero() && now >= next_read_) {
      next_read_ = now + read_each;
      if (pending_ >= every) answer();
    }
    if (pending_ > 0 && now - pending_since_ >= 25ms) answer();
    clock.on_time(now, is_blocked());
    while (!clock.holds() && unanswered() < most_in_flight && (window == 0 || !is_blocked() || clock.probes() > 0)) {
      if (clock.counts() && drop_each > 0 && ++numbers_ % drop_each == 0) {
        clock.on_dropped();
        behind_drop_ = true;
      }
      clock.on_sent(now, full);
      drops_.push_back(behind_drop_);
      behind_drop_ = false;
      ++sent_;
      radio_.push_back(now + half);
    }
  }
  [[nodiscard]] bool is_blocked() const {
    if (window == 0) return true;  // the source always has more to send
    return clock.counts() && clock.in_flight() + full > full * window;
  }
  void receive() {
    ++received_;
    const bool is_behind_drop = drops_.front();
    drops_.pop_front();
    if (pending_++ == 0) pending_since_ = now;
    if (read_each == Duration::zero() && (pending_ >= every || is_behind_drop)) answer();
  }
  void answer() {
    pending_ = 0;
    answers_.push_back({now + half, received_});
  }
  void take(const AnswerClock::Delivery& delivery) {
    delivered_bytes += static_cast<std::uint64_t>(delivery.delivered.count());
    if (delivery.round_trip > Duration::zero()) last_round_trip = delivery.round_trip;
  }

  std::deque<Instant> radio_;
  std::deque<bool> drops_;
  std::deque<Arrival> answers_;
  Instant free_at_{};
  Instant next_other_{};
  Instant next_read_{};
  Instant pending_since_{};
  std::uint32_t pending_ = 0;
  std::uint32_t numbers_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t answered_ = 0;
  bool behind_drop_ = false;
};

/// Lets the link run until the clock is between two holds.
void run_to_count(Link& link) {
  link.run(5s);
  for (int i = 0; i < 100 && (link.clock.holds() || link.clock.probes() > 0); ++i) link.run(10ms);
}

class AnswerClockOfReceivers : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Every, AnswerClockOfReceivers, testing::Values(1, 2, 4, 10));

TEST_P(AnswerClockOfReceivers, FindsTheNumberOfDatagramsPerAnswer) {
  Link link;
  link.every = GetParam();
  run_to_count(link);
  EXPECT_TRUE(link.clock.counts());
  EXPECT_EQ(link.clock.datagrams_per_answer(), GetParam());
}

TEST_P(AnswerClockOfReceivers, KnowsWhatIsInFlight) {
  Link link;
  link.every = GetParam();
  run_to_count(link);
  EXPECT_NEAR(static_cast<double>(link.clock.in_flight().count()) / static_cast<double>(full.count()),
              static_cast<double>(link.unanswered()), 2.0 * GetParam());
}

TEST_P(AnswerClockOfReceivers, CountsADatagramBehindADropByItself) {
  Link link;
  link.every = GetParam();
  link.drop_each = 50;
  run_to_count(link);
  EXPECT_TRUE(link.clock.counts());
  EXPECT_NEAR(static_cast<double>(link.clock.in_flight().count()) / static_cast<double>(full.count()),
              static_cast<double>(link.unanswered()), 2.0 * GetParam());
}

TEST(AnswerClock, BeginsWithAHoldThatEndsWhenTheAnswersCease) {
  AnswerClock clock(Instant(1s));
  EXPECT_TRUE(clock.holds());
  EXPECT_FALSE(clock.counts());
  const Instant due = clock.deadline();
  clock.on_time(due - 1ns, false);
  EXPECT_TRUE(clock.holds()) << "the radio queue may not be empty yet";
  clock.on_time(due, false);
  EXPECT_FALSE(clock.holds());
  EXPECT_GT(clock.probes(), 0U);
}

/// The time until an answer is awaited doubles with each probe. The next answer after 300 ms begins the next hold.
TEST(AnswerClock, GivesUpAfterNineProbesWithoutAnswer) {
  AnswerClock clock(Instant(1s));
  Instant now(1s);
  for (const int factor : {1, 2, 4, 8, 16, 16, 16, 16, 16}) {
    ASSERT_TRUE(clock.holds());
    EXPECT_EQ(clock.deadline(), now + 100ms) << "an assumed round trip of 50 ms, and 50 ms of silence";
    now = clock.deadline();
    clock.on_time(now, true);
    EXPECT_EQ(clock.probes(), 10U);
    for (int i = 0; i < 10; ++i) clock.on_sent(now, full);
    EXPECT_EQ(clock.deadline(), now + 100ms + factor * 50ms);
    now = clock.deadline();
    clock.on_time(now, true);
    now += 300ms;
    AnswerClock before = clock;
    static_cast<void>(before.on_answer(now - 1ns, true));
    EXPECT_FALSE(before.holds());
    static_cast<void>(clock.on_answer(now, true));
  }
  EXPECT_TRUE(clock.has_given_up());
}

TEST(AnswerClock, AHoldWithAnswersEndsAfterTwoSeconds) {
  AnswerClock clock(Instant(1s));
  for (Instant now(1s); now < Instant(3s); now += 10ms) static_cast<void>(clock.on_answer(now, true));
  EXPECT_EQ(clock.deadline(), Instant(3s));
  clock.on_time(Instant(3s), true);
  EXPECT_TRUE(clock.has_given_up()) << "the first hold was to empty the queue";
}

TEST(AnswerClock, MeasuresTheRoundTripWithoutAQueue) {
  Link link;
  link.most_in_flight = 200;  // a queue of 180 ms
  run_to_count(link);
  EXPECT_GE(link.clock.base_delay(), 20ms);
  EXPECT_LE(link.clock.base_delay(), 25ms);
  EXPECT_GT(link.last_round_trip, 100ms);
}

TEST(AnswerClock, MeasuresTheRateOfTheLinkInTheHold) {
  Link link;
  link.most_in_flight = 200;
  run_to_count(link);
  EXPECT_NEAR(link.clock.drained_rate().bytes_per_second(), 1.5e6, 0.3e6);
}

TEST(AnswerClock, NeverCountsMoreThanWasSent) {
  Link link;
  run_to_count(link);
  ASSERT_TRUE(link.clock.counts());
  const Bytes before = link.clock.in_flight();
  Bytes counted;
  for (int i = 0; i < 10'000; ++i) counted += link.clock.on_answer(link.now, true).delivered;
  EXPECT_LE(counted, before);
  EXPECT_EQ(link.clock.in_flight(), before - counted);
}

TEST(AnswerClock, AnswersThatComeTooEarlyAcknowledgeNothing) {
  Link link;
  run_to_count(link);
  ASSERT_TRUE(link.clock.counts());
  for (int i = 0; i < 100; ++i) static_cast<void>(link.clock.on_answer(link.now, true));  // all that is possible
  ASSERT_TRUE(link.clock.counts());
  const Bytes before = link.clock.in_flight();
  static_cast<void>(link.clock.on_answer(link.now, true));
  EXPECT_EQ(link.clock.in_flight(), before);
  EXPECT_GT(before, Bytes{}) << "the newest datagrams cannot have arrived yet";
}

TEST(AnswerClock, GivesUpIfOtherDatagramsAreAmongTheAnswers) {
  Link link;
  link.other_each = 7ms;
  link.run(30s);
  EXPECT_TRUE(link.clock.has_given_up());
  EXPECT_EQ(link.clock.in_flight(), Bytes{});
  EXPECT_FALSE(link.clock.holds()) << "the flow is forwarded";
  EXPECT_EQ(link.clock.deadline(), never);
}

TEST(AnswerClock, GivesUpIfTheFlowGetsOtherDatagramsLater) {
  Link link;
  run_to_count(link);
  ASSERT_TRUE(link.clock.counts());
  link.other_each = 7ms;
  link.run(60s);
  EXPECT_TRUE(link.clock.has_given_up());
}

TEST(AnswerClock, AReceiverThatChangesIsLearnedAgain) {
  Link link;
  run_to_count(link);
  ASSERT_EQ(link.clock.datagrams_per_answer(), 2);
  link.every = 4;
  link.run(20s);
  EXPECT_TRUE(link.clock.counts());
  EXPECT_EQ(link.clock.datagrams_per_answer(), 4);
}

/// The window then seems to be full while little is in flight, so the receiver's timer causes most answers.
TEST(AnswerClock, AReceiverThatChangesDoesNotLowerTheRateForLong) {
  for (const std::uint32_t window : {12U, 16U, 20U, 30U}) {
    for (const std::uint32_t every : {3U, 4U, 8U, 10U}) {
      Link link;
      link.window = window;
      run_to_count(link);
      ASSERT_EQ(link.clock.datagrams_per_answer(), 2);
      const std::uint64_t usual = link.bytes_in(2s);
      link.every = every;
      link.run(20s);
      EXPECT_TRUE(link.clock.has_given_up() || link.bytes_in(2s) > usual / 2)
          << "window " << window << ", every " << every << ": " << link.clock.datagrams_per_answer();
    }
  }
}

TEST(AnswerClock, UsesTheMeanOfAReceiverThatReadsSeveralPacketsAtOnce) {
  Link link;
  link.read_each = 2500us;  // two or three datagrams
  run_to_count(link);
  EXPECT_TRUE(link.clock.counts());
  EXPECT_NEAR(link.clock.datagrams_per_answer(), 2.5, 0.2);
}

TEST(AnswerClock, GivesUpIfAMeanVaries) {
  Link link;
  link.read_each = 2500us;
  run_to_count(link);
  ASSERT_TRUE(link.clock.counts());
  for (int i = 0; i < 40 && !link.clock.has_given_up(); ++i) {
    link.read_each = link.read_each == 2500us ? 6500us : 2500us;
    link.run(1600ms);
  }
  EXPECT_TRUE(link.clock.has_given_up());
}

TEST(AnswerClock, GoesOnAfterAnOutage) {
  Link link;
  run_to_count(link);
  ASSERT_TRUE(link.clock.counts());
  link.is_out = true;
  link.run(3s);
  link.is_out = false;
  link.run(15s);
  EXPECT_TRUE(link.clock.counts());
  const std::uint64_t before = link.delivered_bytes;
  link.run(1s);
  EXPECT_GT(link.delivered_bytes - before, 900U * 1500) << "the link carries 1000 datagrams per second";
}

TEST(AnswerClock, WithoutAnswersTheFlowIsSentAndNothingIsDue) {
  AnswerClock clock(Instant(1s));
  Instant now(1s);
  for (int i = 0; i < 10'000; ++i) {
    now += 1ms;
    clock.on_time(now, true);
    if (!clock.holds()) clock.on_sent(now, full);
  }
  EXPECT_FALSE(clock.holds()) << "after one probe";
  EXPECT_EQ(clock.deadline(), never) << "only an answer changes the state";
}

// Datagrams may stay unanswered while no other one waits, for example after the end of a download.
TEST(AnswerClock, TheDeadlineMovesWhileNothingWaits) {
  Link link;
  run_to_count(link);
  ASSERT_TRUE(link.clock.counts());
  link.is_out = true;
  link.run(100ms);
  ASSERT_GT(link.clock.in_flight(), Bytes{});
  Instant now = link.now;
  int due = 0;
  for (int i = 0; i < 5000; ++i) {
    now += 1ms;
    if (link.clock.deadline() > now) continue;
    ++due;
    link.clock.on_time(now, false);
    EXPECT_GT(link.clock.deadline(), now);
  }
  EXPECT_LE(due, 20) << "once in the time of a stall";
}

}  // namespace
}  // namespace sluice::control
