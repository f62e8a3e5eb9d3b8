// Tests of when a poll thread spins and when it sleeps, and of what wakes it.
#include "dataplane/dpdk/poll_policy.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/dpdk/clock.hpp"

namespace sluice::dpdk {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Instant start = Instant(std::chrono::seconds(5));

TEST(PollPolicy, BusyNeverSleeps) {
  PollPolicy policy(PollMode::busy);
  policy.prepare_thread();
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(policy.rest(false, start + i * microseconds(100), never));
  EXPECT_EQ(policy.sleeps(), 0U);
}

TEST(PollPolicy, AdaptiveSpinsAfterWorkPollsOnceMoreAndSleeps) {
  PollPolicy policy(PollMode::adaptive, microseconds(50), microseconds(30));
  policy.watch(-1);
  policy.prepare_thread();
  EXPECT_FALSE(policy.rest(true, start, never));
  EXPECT_FALSE(policy.rest(false, start + microseconds(10), never));
  EXPECT_FALSE(policy.rest(false, start + microseconds(29), never));
  EXPECT_FALSE(policy.rest(false, start + microseconds(30), never)) << "one more round before the first sleep";
  EXPECT_TRUE(policy.rest(false, start + microseconds(31), never));
  EXPECT_TRUE(policy.rest(false, start + microseconds(90), never));
  EXPECT_FALSE(policy.rest(true, start + microseconds(150), never)) << "work again: spin again";
  EXPECT_FALSE(policy.rest(false, start + microseconds(170), never));
  EXPECT_EQ(policy.sleeps(), 2U);
}

/// A policy that polls each 5 us, and whose packets arrive at given times.
class AdaptiveSpin : public testing::Test {
 protected:
  static constexpr Duration round = microseconds(5);

  AdaptiveSpin() { policy.watch(-1); }

  /// Polls without packets for `gap`; then a packet arrives. Returns true if the thread slept meanwhile.
  bool packet_after(Duration gap) {
    const std::uint64_t before = policy.sleeps();
    for (const Instant end = now + gap; now + round < end;) policy.rest(false, now += round, never);
    policy.rest(true, now += round, never);
    return policy.sleeps() != before;
  }
  void lengthen() {
    for (int i = 0; i < 10; ++i) packet_after(microseconds(100));
    ASSERT_EQ(policy.spin(), PollPolicy::longest_spin);
  }

  PollPolicy policy{PollMode::adaptive, microseconds(10), microseconds(30)};
  Instant now = start;
};

TEST_F(AdaptiveSpin, LastsAsLongAsPacketsFollowSoon) {
  packet_after(milliseconds(1));
  EXPECT_EQ(policy.spin(), microseconds(30));
  for (const auto expected : {60, 120}) {
    EXPECT_TRUE(packet_after(microseconds(100)));
    EXPECT_EQ(policy.spin(), microseconds(expected));
  }
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(packet_after(microseconds(100)));
  EXPECT_EQ(policy.spin(), PollPolicy::longest_spin);
}

TEST_F(AdaptiveSpin, IsShortBetweenPacketsAtLargeIntervals) {
  lengthen();
  for (const auto expected : {60, 30, 30}) {
    EXPECT_TRUE(packet_after(microseconds(200)));
    EXPECT_EQ(policy.spin(), microseconds(expected));
  }
}

TEST_F(AdaptiveSpin, EndsIfAnotherThreadNeedsTheProcessor) {
  lengthen();
  policy.rest(false, now += microseconds(60), never);
  EXPECT_EQ(policy.spin(), PollPolicy::longest_spin) << "the round before, which had work, may have taken the time";
  policy.rest(false, now += microseconds(51), never);
  EXPECT_EQ(policy.spin(), microseconds(30));
  packet_after(microseconds(5));
  EXPECT_TRUE(packet_after(microseconds(100)));
  EXPECT_EQ(policy.spin(), microseconds(30)) << "the other thread may still need the processor";
  packet_after(milliseconds(3));
  packet_after(microseconds(100));
  EXPECT_EQ(policy.spin(), microseconds(60));
}

TEST(PollPolicy, ATimerThatExpiresSoonKeepsItAwake) {
  PollPolicy policy(PollMode::adaptive, microseconds(50), microseconds(30));
  policy.watch(-1);
  const Instant now = start + microseconds(1000);
  EXPECT_FALSE(policy.rest(false, now, never)) << "the round before the first sleep";
  EXPECT_FALSE(policy.rest(false, now, now + microseconds(2)));
  EXPECT_FALSE(policy.rest(false, now, now - microseconds(2)));
  EXPECT_TRUE(policy.rest(false, now, now + microseconds(20)));
}

TEST(PollPolicy, SleepsStayShortDuringLongIdleTimes) {
  PollPolicy policy(PollMode::adaptive);
  policy.watch(-1);
  policy.prepare_thread();
  // The machine may be busy, so the shortest of many sleeps counts.
  Duration shortest = Duration::max();
  for (int i = 0; i < 200; ++i) {
    const Instant before = detail::kernel_now();
    policy.rest(false, start + std::chrono::seconds(1 + i), never);
    if (i > 0) shortest = std::min(shortest, detail::kernel_now() - before);
  }
  EXPECT_GE(shortest, PollPolicy::default_step);
  EXPECT_LT(shortest, microseconds(150));
  EXPECT_GT(policy.idle_share(), 0);
}

/// A pipe stands for a port that the kernel can wake us for.
class WatchedPolicy : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(pipe_.data()), 0);
    policy_.watch(pipe_[0]);
    policy_.prepare_thread();
  }
  void TearDown() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  /// Returns how long a rest takes by the kernel's clock.
  Duration timed_rest() {
    const Instant before = detail::kernel_now();
    const bool slept = policy_.rest(false, start, never) || policy_.rest(false, start, never);
    EXPECT_TRUE(slept);
    return detail::kernel_now() - before;
  }
  std::array<int, 2> pipe_{};
  PollPolicy policy_{PollMode::adaptive};
};

TEST_F(WatchedPolicy, SleepsLongIfEveryPortCanWakeIt) {
  EXPECT_GE(timed_rest(), std::chrono::milliseconds(9));
}

TEST_F(WatchedPolicy, OnePortWithoutADescriptorKeepsSleepsShort) {
  policy_.watch(-1);
  policy_.watch(-1);
  Duration shortest = timed_rest();
  for (int i = 0; i < 50; ++i) shortest = std::min(shortest, timed_rest());
  EXPECT_LT(shortest, std::chrono::milliseconds(9));
}

TEST_F(WatchedPolicy, APacketEndsTheSleep) {
  ASSERT_EQ(write(pipe_[1], "x", 1), 1);
  Duration shortest = timed_rest();
  for (int i = 0; i < 50; ++i) shortest = std::min(shortest, timed_rest());
  EXPECT_LT(shortest, std::chrono::milliseconds(9));
}

TEST_F(WatchedPolicy, AWakeUpEndsOneSleep) {
  Duration shortest = Duration::max();
  for (int i = 0; i < 50; ++i) {
    policy_.wake();
    policy_.wake();
    shortest = std::min(shortest, timed_rest());
  }
  EXPECT_LT(shortest, std::chrono::milliseconds(9));
  EXPECT_GE(timed_rest(), std::chrono::milliseconds(9)) << "woken once, not for good";
}

TEST_F(WatchedPolicy, WakingEndsASleepButDoesNotAffectAnAwakeThread) {
  for (int i = 0; i < 50; ++i) policy_.wake_if_asleep();
  EXPECT_FALSE(policy_.rest(false, start, never)) << "drowsy, but looks once more";
  EXPECT_GE(timed_rest(), std::chrono::milliseconds(9)) << "nobody said anything since";
  Duration shortest = Duration::max();
  for (int i = 0; i < 50; ++i) {
    policy_.wake_if_asleep();
    shortest = std::min(shortest, timed_rest());
  }
  EXPECT_LT(shortest, std::chrono::milliseconds(9));
  policy_.rest(true, start - microseconds(100), never);
  policy_.wake_if_asleep();
  EXPECT_GE(timed_rest(), std::chrono::milliseconds(9)) << "work kept it awake when it was called";
}

TEST_F(WatchedPolicy, WaitingForPortsTakesNoShortSleeps) {
  EXPECT_EQ(policy_.idle_share(), 0);
}

TEST_F(WatchedPolicy, APortThatFailsDoesNotMakeItSpin) {
  close(std::exchange(pipe_[1], dup(pipe_[0])));  // the pipe hangs up
  const Duration step = PollPolicy::default_step;
  for (int i = 0; i < 10; ++i) EXPECT_GE(timed_rest(), step);
}

}  // namespace
}  // namespace sluice::dpdk
