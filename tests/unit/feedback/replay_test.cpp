#include "control/feedback/replay.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>

namespace sluice::control::feedback {
namespace {

TEST(ReplayWindow, TakesEachNumberOnce) {
  ReplayWindow window;
  EXPECT_FALSE(window.take(0));
  EXPECT_TRUE(window.take(1));
  EXPECT_FALSE(window.take(1));
  EXPECT_TRUE(window.take(5));
  EXPECT_TRUE(window.take(3));
  EXPECT_FALSE(window.take(5));
  EXPECT_FALSE(window.take(3));
  EXPECT_EQ(window.newest(), 5U);
}

TEST(ReplayWindow, ForgetsNothingInsideAndAcceptsNothingBefore) {
  ReplayWindow window;
  EXPECT_TRUE(window.take(1000));
  EXPECT_TRUE(window.take(1000 - ReplayWindow::size + 1));
  EXPECT_FALSE(window.take(1000 - ReplayWindow::size));
  EXPECT_TRUE(window.take(1001));
  EXPECT_FALSE(window.take(1000 - ReplayWindow::size + 1)) << "has just left the window";
  EXPECT_FALSE(window.take(1000));
}

TEST(ReplayWindow, JumpsOfAnySize) {
  ReplayWindow window;
  EXPECT_TRUE(window.take(1));
  EXPECT_TRUE(window.take(1 + ReplayWindow::size));
  EXPECT_TRUE(window.take(2)) << "was never seen, though its slot lies beside one that was";
  EXPECT_FALSE(window.take(1));
  EXPECT_TRUE(window.take(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(window.take(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_TRUE(window.take(std::numeric_limits<std::uint64_t>::max() - 255));
  EXPECT_FALSE(window.take(std::numeric_limits<std::uint64_t>::max() - 256));
}

TEST(ReplayWindow, AgreesWithASetOfAllNumbers) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    ReplayWindow window;
    std::set<std::uint64_t> seen;
    std::uint64_t newest = 0;
    std::uint64_t base = 1;
    for (int i = 0; i < 3000; ++i) {
      if (random() % 50 == 0) base += random() % 600;
      const std::uint64_t sequence = base + random() % 400;
      const bool expected = (sequence > newest || newest - sequence < ReplayWindow::size) && !seen.contains(sequence);
      ASSERT_EQ(window.take(sequence), expected) << "seed " << seed << " sequence " << sequence;
      if (expected) seen.insert(sequence);
      if (expected && sequence > newest) newest = sequence;
    }
  }
}

TEST(ReplayGuard, KeepsSendersApart) {
  ReplayGuard guard(10);
  EXPECT_EQ(guard.take(1, 5, 1), Failure::none);
  EXPECT_EQ(guard.take(2, 5, 1), Failure::none);
  EXPECT_EQ(guard.take(1, 5, 1), Failure::replayed);
  EXPECT_EQ(guard.senders(), 2U);
}

TEST(ReplayGuard, ANewEpochStartsAnewAndEndsTheOld) {
  ReplayGuard guard(10);
  EXPECT_EQ(guard.take(1, 5, 100), Failure::none);
  EXPECT_EQ(guard.take(1, 6, 1), Failure::none);
  EXPECT_EQ(guard.take(1, 6, 1), Failure::replayed);
  EXPECT_EQ(guard.take(1, 5, 101), Failure::stale_epoch);
  EXPECT_EQ(guard.take(1, 6, 2), Failure::none);
}

TEST(ReplayGuard, IsBounded) {
  ReplayGuard guard(3);
  for (std::uint64_t sender = 1; sender <= 3; ++sender) EXPECT_EQ(guard.take(sender, 1, 1), Failure::none);
  EXPECT_EQ(guard.take(4, 1, 1), Failure::too_many_senders);
  EXPECT_EQ(guard.take(1, 1, 2), Failure::none);
  EXPECT_EQ(guard.senders(), 3U);
}

TEST(ReplayGuard, ZeroIsNeitherEpochNorSequence) {
  ReplayGuard guard(3);
  EXPECT_EQ(guard.take(1, 0, 1), Failure::malformed_header);
  EXPECT_EQ(guard.take(1, 1, 0), Failure::malformed_header);
  EXPECT_EQ(guard.senders(), 0U);
}

}  // namespace
}  // namespace sluice::control::feedback
