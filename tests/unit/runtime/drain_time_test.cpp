// Tests of how long a stopping proxy waits for split connections to be released.
#include "proxy/daemon/service/drain_time.hpp"

#include <gtest/gtest.h>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

constexpr Instant start = Instant(100s);
constexpr Duration drain = 5s;

/// Shards that are asked each DrainTime::period.
class DrainTimeTest : public testing::Test {
 protected:
  /// Asks for `time`, in which the answer is always the same. Returns whether the wait has ended.
  bool wait(Duration time, std::optional<std::uint64_t> would_break) {
    for (const Instant end = now_ + time; now_ < end;) {
      now_ += DrainTime::period;
      if (time_.ends(now_, would_break)) return true;
    }
    return false;
  }
  bool stand_still(Duration time, std::optional<std::uint64_t> would_break) {
    now_ += time;
    return time_.ends(now_, would_break);
  }
  [[nodiscard]] Duration elapsed() const { return now_ - start; }

  Instant now_ = start;
  DrainTime time_{drain, start};
};

TEST_F(DrainTimeTest, EndsAtItsTimeIfTheNumberDoesNotFall) {
  EXPECT_TRUE(wait(1min, 7));
  EXPECT_EQ(elapsed(), drain);
  EXPECT_FALSE(time_.is_extended());
}

TEST_F(DrainTimeTest, EndsWhenNoConnectionWouldBreak) {
  EXPECT_TRUE(wait(1min, 0)) << "what is still split passes from then on";
  EXPECT_EQ(elapsed(), drain);
}

TEST_F(DrainTimeTest, IsExtendedWhileTheNumberFallsUpToTwiceItsTime) {
  std::uint64_t would_break = 1000;
  while (!wait(500ms, would_break)) {
    EXPECT_EQ(time_.is_extended(), elapsed() >= drain);
    --would_break;
  }
  EXPECT_EQ(elapsed(), 2 * drain);
}

TEST_F(DrainTimeTest, EndsASecondAfterTheNumberHasLastFallen) {
  EXPECT_FALSE(wait(4500ms, 10));
  EXPECT_TRUE(wait(1min, 9));
  EXPECT_EQ(elapsed(), 4600ms + DrainTime::max_time_without_decrease);
}

TEST_F(DrainTimeTest, TimeInWhichTheProgramIsSuspendedDoesNotCount) {
  EXPECT_FALSE(wait(1s, 3));
  EXPECT_FALSE(stand_still(20s, 3));
  EXPECT_EQ(time_.suspended_time(), 20s - DrainTime::period);
  EXPECT_TRUE(wait(1min, 3));
  EXPECT_EQ(elapsed(), drain + 20s - DrainTime::period);
  EXPECT_EQ(time_.suspended_time(), 0s);
}

/// The shards were asked before it, and had no time to answer.
TEST_F(DrainTimeTest, SuspendedTimeBeforeTheFirstAnswerDoesNotCount) {
  EXPECT_FALSE(stand_still(20s, std::nullopt));
  EXPECT_FALSE(wait(4s, 3));
  EXPECT_TRUE(wait(1min, 3));
}

TEST_F(DrainTimeTest, EndsWithoutTheAnswerOfAShard) {
  while (!stand_still(2s, std::nullopt)) ASSERT_LT(elapsed(), 2 * drain + 2s);
}

TEST_F(DrainTimeTest, EndsAtOnceWithoutADrainTime) {
  DrainTime none(0s, start);
  EXPECT_TRUE(none.ends(start + 1ms, 5));
}

}  // namespace
}  // namespace sluice::proxy
