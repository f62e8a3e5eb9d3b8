#include "control/window_laws/queue_marks.hpp"

#include <gtest/gtest.h>

namespace sluice::control {
namespace {

TEST(QueueMarks, ASingleFlowAdvancesWithTheQueue) {
  QueueMarks marks;
  marks.sent(10'000, 10'000_B);
  EXPECT_EQ(marks.passed(0), 0_B);
  EXPECT_EQ(marks.passed(4'000), 4'000_B);
  EXPECT_EQ(marks.passed(10'000), 10'000_B);
  EXPECT_EQ(marks.passed(50'000), 10'000_B) << "no farther than it was sent";
}

TEST(QueueMarks, BytesOfOthersSentBeforePassBefore) {
  QueueMarks marks(100'000);
  EXPECT_EQ(marks.passed(90'000), 0_B) << "before the flow began";
  marks.sent(130'000, 5'000_B);  // 25 kB of others, then 5 kB of this flow
  EXPECT_EQ(marks.passed(120'000), 0_B);
  EXPECT_EQ(marks.passed(127'500), 2'500_B);
  EXPECT_EQ(marks.passed(130'000), 5'000_B);
}

TEST(QueueMarks, ARetransmissionChangesNothing) {
  QueueMarks marks;
  marks.sent(5'000, 5'000_B);
  marks.sent(9'000, 4'000_B);
  EXPECT_EQ(marks.passed(5'000), 5'000_B);
}

TEST(QueueMarks, AReadOnlyQueryForgetsNothing) {
  QueueMarks marks;
  marks.sent(8'000, 8'000_B);
  EXPECT_EQ(marks.passed(8'000, false), 8'000_B);
  EXPECT_EQ(marks.passed(2'000), 2'000_B);
}

/// Up to the spacing of marks, bytes of others are spread over those of the flow; more of them pass before.
TEST(QueueMarks, BytesOfOthersAreSeparateFromTheSpacingOn) {
  QueueMarks near;
  near.sent(10'000, 10'000_B);
  near.sent(14'000, 11'000_B);  // 3000 bytes of others in between
  EXPECT_EQ(near.passed(12'000), 10'500_B);
  QueueMarks far;
  far.sent(10'000, 10'000_B);
  far.sent(14'001, 11'000_B);
  EXPECT_EQ(far.passed(12'000), 10'000_B);
  EXPECT_EQ(far.passed(14'001), 11'000_B);
}

TEST(QueueMarks, AMarkIsKeptFromTheSpacingOn) {
  QueueMarks marks;
  marks.sent(1'000, 1'000_B);
  marks.sent(2'999, 1'500_B);
  EXPECT_EQ(marks.passed(1'000, false), 500_B) << "the first mark was replaced";
  QueueMarks kept;
  kept.sent(1'000, 1'000_B);
  kept.sent(3'000, 1'500_B);
  EXPECT_EQ(kept.passed(1'000, false), 1'000_B);
  EXPECT_EQ(kept.passed(2'000, false), 1'250_B);
}

TEST(QueueMarks, ARetransmissionOfTheNewestBytesAddsNoMark) {
  QueueMarks marks;
  marks.sent(5'000, 5'000_B);
  marks.sent(6'500, 5'000_B);
  marks.sent(8'000, 6'500_B);
  EXPECT_EQ(marks.passed(6'500, false), 5'750_B) << "on the line between 5000 and 8000";
}

/// Every second mark is removed when there is no place for another, and marks are twice as far apart from then on.
TEST(QueueMarks, MarksAreThinnedOutAndComeBackWhenAllHavePassed) {
  QueueMarks marks;
  std::int64_t end = 0;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    end += i % 2 == 1 ? 1000 : 3000;
    marks.sent(4'000 * i, Bytes(end));
  }
  EXPECT_EQ(marks.passed(4'000, false), 2'000_B) << "on the line between 0 and 8000";
  EXPECT_EQ(marks.passed(8'000, false), 4'000_B);
  EXPECT_EQ(marks.passed(28'000, false), 13'000_B) << "the newest mark was kept";
  marks.sent(33'999, 16'500_B);
  EXPECT_EQ(marks.passed(32'000, false), 15'333_B) << "5999 bytes after the mark before, it replaces the newest";
  EXPECT_EQ(marks.passed(40'000), 16'500_B);
  marks.sent(44'000, 17'500_B);
  marks.sent(46'500, 18'000_B);
  EXPECT_EQ(marks.passed(44'000, false), 17'500_B) << "3500 bytes are enough again";
}

/// With any number of bytes in flight, the position is exact to within the spacing of the marks.
TEST(QueueMarks, AlternatingFlowsAreCountedSeparately) {
  QueueMarks marks;
  constexpr std::int64_t packet = 1500;
  constexpr std::int64_t packets = 400;
  for (std::int64_t i = 1; i <= packets; ++i) {  // this flow has every other packet
    marks.sent(static_cast<std::uint64_t>(2 * i * packet), Bytes(i * packet));
  }
  for (std::int64_t i = 0; i <= packets; ++i) {
    const Bytes position = marks.passed(static_cast<std::uint64_t>(2 * i * packet));
    EXPECT_NEAR(static_cast<double>(position.count()), static_cast<double>(i * packet), 2.0 * packet) << i;
  }
}

}  // namespace
}  // namespace sluice::control
