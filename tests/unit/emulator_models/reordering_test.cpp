// Tests of the receiver's reordering buffer behind hybrid ARQ: order, stall timer and window.
#include "emulator/link/reordering.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace sluice::emulator::link {
namespace {

using namespace std::chrono_literals;

/// The test records what was decided, for example "0 1 -2": block 2 was lost.
class ReorderingTest : public testing::Test {
 protected:
  void receive(std::uint64_t tsn, Duration when) { buffer_.received(tsn, Instant(when), note_); }
  void expire(Duration when) { buffer_.expire(Instant(when), note_); }
  void give_up(std::uint64_t tsn, Duration when) { buffer_.given_up(tsn, Instant(when), note_); }

  ReorderingBuffer buffer_{ReorderingParameters{.window = 8, .stall_timer = 25ms}};
  std::string decided_;
  const std::function<void(std::uint64_t, bool)> note_ = [this](std::uint64_t tsn, bool here) {
    decided_ += (decided_.empty() ? "" : " ") + std::string(here ? "" : "-") + std::to_string(tsn);
  };
};

TEST_F(ReorderingTest, BlocksInOrderDoNotWait) {
  for (std::uint64_t tsn = 0; tsn < 3; ++tsn) receive(tsn, 2ms * tsn);
  EXPECT_EQ(decided_, "0 1 2");
  EXPECT_EQ(buffer_.deadline(), never);
}

TEST_F(ReorderingTest, BlocksBehindAGapWait) {
  receive(0, 0ms);
  receive(2, 4ms);
  receive(3, 6ms);
  EXPECT_EQ(decided_, "0");
  EXPECT_EQ(buffer_.deadline(), Instant(29ms));
  receive(1, 14ms);
  EXPECT_EQ(decided_, "0 1 2 3");
  EXPECT_EQ(buffer_.deadline(), never);
}

TEST_F(ReorderingTest, AGapIsLostWhenTheTimerExpires) {
  receive(1, 2ms);
  receive(2, 4ms);
  expire(26ms);
  EXPECT_EQ(decided_, "");
  expire(27ms);
  EXPECT_EQ(decided_, "-0 1 2");
  EXPECT_EQ(buffer_.deadline(), never);
}

TEST_F(ReorderingTest, ASecondGapGetsItsOwnTimer) {
  receive(1, 2ms);
  receive(3, 10ms);
  expire(27ms);
  EXPECT_EQ(decided_, "-0 1");
  EXPECT_EQ(buffer_.deadline(), Instant(52ms));
  expire(52ms);
  EXPECT_EQ(decided_, "-0 1 -2 3");
}

TEST_F(ReorderingTest, ClosingAGapRestartsTheTimerForTheNext) {
  receive(1, 2ms);
  receive(3, 10ms);
  receive(0, 14ms);
  EXPECT_EQ(decided_, "0 1");
  EXPECT_EQ(buffer_.deadline(), Instant(39ms));
}

TEST_F(ReorderingTest, ABlockBeyondTheWindowAdvancesIt) {
  receive(1, 2ms);
  receive(8, 4ms);  // 0 … 8 are nine, the window holds eight
  EXPECT_EQ(decided_, "-0 1");
  receive(0, 5ms);
  EXPECT_EQ(decided_, "-0 1") << "too late";
}

TEST_F(ReorderingTest, ABlockThatTheSenderAbandonedIsNotAwaited) {
  receive(0, 0ms);
  give_up(1, 200ms);
  receive(2, 202ms);
  EXPECT_EQ(decided_, "0 -1 2");
  give_up(1, 210ms);
  EXPECT_EQ(decided_, "0 -1 2");
}

TEST(Reordering, RefusesInvalidParameters) {
  EXPECT_THROW(ReorderingBuffer({.window = 0}), std::invalid_argument);
  EXPECT_THROW(ReorderingBuffer({.window = 64, .stall_timer = 0ms}), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator::link
