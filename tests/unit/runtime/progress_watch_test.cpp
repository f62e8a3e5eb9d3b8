// Tests how a thread that hangs is distinguished from a program that is paused or starved as a whole.
#include "proxy/daemon/fail_open/progress_watch.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::proxy {
namespace {

using State = ProgressWatch::State;

/// A control thread and two poll threads.
class Threads : public testing::Test {
 protected:
  /// Takes samples between which the named threads make progress. Returns the last verdict, or the first that is not
  /// `runs`.
  ProgressWatch::Verdict samples(std::uint32_t count, std::initializer_list<std::size_t> running) {
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const std::size_t thread : running) ++counters_.at(thread);
      const ProgressWatch::Verdict verdict = watch_.sample(counters_);
      if (verdict.state != State::runs) return verdict;
    }
    return {};
  }

  ProgressWatch watch_{3};

 private:
  std::array<std::uint64_t, 3> counters_{};
};

TEST_F(Threads, ThatAllMakeProgressRun) {
  EXPECT_EQ(samples(1000, {0, 1, 2}).state, State::runs);
}

TEST_F(Threads, APollThreadThatHangsIsNamed) {
  EXPECT_EQ(samples(ProgressWatch::hang_after - 1, {0, 1}).state, State::runs);
  const ProgressWatch::Verdict verdict = samples(1, {0, 1});
  EXPECT_EQ(verdict.state, State::hangs);
  EXPECT_EQ(verdict.thread, 2U);
}

TEST_F(Threads, AControlThreadThatHangsIsNamed) {
  const ProgressWatch::Verdict verdict = samples(ProgressWatch::hang_after, {1, 2});
  EXPECT_EQ(verdict.state, State::hangs);
  EXPECT_EQ(verdict.thread, 0U);
}

TEST_F(Threads, AThreadThatIsSlowDoesNotHang) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(samples(ProgressWatch::hang_after - 1, {0, 1}).state, State::runs);
    EXPECT_EQ(samples(1, {2}).state, State::runs);
  }
}

TEST_F(Threads, APauseOfAllIsNoHangWhicheverRunsFirstAfterIt) {
  for (const std::size_t first : {0U, 1U, 2U}) {
    ASSERT_EQ(samples(1, {0, 1, 2}).state, State::runs);
    ASSERT_EQ(samples(ProgressWatch::stopped_after - 1, {}).state, State::runs) << "SIGSTOP, then SIGCONT";
    EXPECT_EQ(samples(ProgressWatch::hang_after - ProgressWatch::pause_after - 1, {first}).state, State::runs);
  }
}

TEST_F(Threads, AStarvedMachineOnWhichAnyThreadRunsSeldomIsNoHang) {
  for (int i = 0; i < 100; ++i) {
    for (const std::size_t thread : {0U, 1U, 2U}) {
      ASSERT_EQ(samples(1, {thread}).state, State::runs);
      ASSERT_EQ(samples(2 * ProgressWatch::pause_after, {}).state, State::runs);
    }
  }
}

TEST_F(Threads, AProgramThatStaysStoppedIsGivenUp) {
  ASSERT_EQ(samples(1, {0, 1, 2}).state, State::runs);
  EXPECT_EQ(samples(ProgressWatch::stopped_after, {}).state, State::stopped);
}

TEST_F(Threads, ARestartForgets) {
  ASSERT_EQ(samples(ProgressWatch::hang_after - 1, {0, 1}).state, State::runs);
  watch_.restart();
  EXPECT_EQ(samples(ProgressWatch::hang_after - 1, {0, 1}).state, State::runs);
}

}  // namespace
}  // namespace sluice::proxy
