// Tests of the replay window and the table of senders, which must refuse every repeated datagram.
#include "control/feedback/replay.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>

namespace sluice::control::feedback {
namespace {

using namespace std::chrono_literals;

constexpr ReceivedAt at{Instant(1h), 1000};

TEST(ReplayWindow, AcceptsEachNumberOnce) {
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

TEST(ReplayWindow, RemembersAllNumbersInsideAndRefusesOlderOnes) {
  ReplayWindow window;
  EXPECT_TRUE(window.take(1000));
  EXPECT_TRUE(window.take(1000 - ReplayWindow::size + 1));
  EXPECT_FALSE(window.take(1000 - ReplayWindow::size));
  EXPECT_TRUE(window.take(1001));
  EXPECT_FALSE(window.take(1000 - ReplayWindow::size + 1)) << "has just left the window";
  EXPECT_FALSE(window.take(1000));
}

TEST(ReplayWindow, AcceptsJumpsOfAnySize) {
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

TEST(ReplayGuard, CountsEachSenderSeparately) {
  ReplayGuard guard(10);
  EXPECT_EQ(guard.take(1, 5, 1, at), Failure::none);
  EXPECT_EQ(guard.take(2, 5, 1, at), Failure::none);
  EXPECT_EQ(guard.take(1, 5, 1, at), Failure::replayed);
  EXPECT_EQ(guard.senders(), 2U);
}

TEST(ReplayGuard, ANewEpochRestartsNumbersAndEndsTheOldEpoch) {
  ReplayGuard guard(10);
  EXPECT_EQ(guard.take(1, 5, 100, at), Failure::none);
  EXPECT_EQ(guard.take(1, 6, 1, at), Failure::none);
  EXPECT_EQ(guard.take(1, 6, 1, at), Failure::replayed);
  EXPECT_EQ(guard.take(1, 5, 101, at), Failure::stale_epoch);
  EXPECT_EQ(guard.take(1, 6, 2, at), Failure::none);
}

TEST(ReplayGuard, IsBounded) {
  ReplayGuard guard(3);
  for (std::uint64_t sender = 1; sender <= 3; ++sender) EXPECT_EQ(guard.take(sender, 1, 1, at), Failure::none);
  EXPECT_EQ(guard.take(4, 1, 1, at), Failure::too_many_senders);
  EXPECT_EQ(guard.take(1, 1, 2, at), Failure::none);
  EXPECT_EQ(guard.senders(), 3U);
}

TEST(ReplayGuard, OnlySilentSendersAreEvictedAndTheirReplaysStayRefused) {
  ReplayGuard guard(2);
  EXPECT_EQ(guard.take(1, 100, 1, at), Failure::none);
  ReceivedAt later = at;
  later.now += 40s;
  EXPECT_EQ(guard.take(2, 50, 1, later), Failure::none);
  later.now += 30s;
  EXPECT_EQ(guard.take(3, 100, 1, later), Failure::none) << "in the place of 1, as nobody was forgotten before";
  EXPECT_EQ(guard.take(4, 200, 1, later), Failure::too_many_senders) << "2 was heard 30 s ago";
  later.now += 2min;
  EXPECT_EQ(guard.take(1, 100, 1, later), Failure::stale_epoch);
  EXPECT_EQ(guard.newer_epoch(1, 100), 100U);
  EXPECT_EQ(guard.take(1, 101, 1, later), Failure::none) << "restarted";
  EXPECT_EQ(guard.senders(), 2U);
}

TEST(ReplayGuard, ZeroIsNeitherEpochNorSequence) {
  ReplayGuard guard(3);
  EXPECT_EQ(guard.take(1, 0, 1, at), Failure::malformed_header);
  EXPECT_EQ(guard.take(1, 1, 0, at), Failure::malformed_header);
  EXPECT_EQ(guard.senders(), 0U);
}

}  // namespace
}  // namespace sluice::control::feedback
