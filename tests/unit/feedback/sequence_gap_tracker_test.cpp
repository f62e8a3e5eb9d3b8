// Tests of the tracker of missing sequence numbers, because an omitted UE counts as unchanged only if no datagram is
// missing.
#include "control/feedback/sequence_gap_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace sluice::control::feedback::test {
namespace {

TEST(SequenceGapTracker, HasNoGapWhenNumbersArriveInOrder) {
  SequenceGapTracker received;
  for (std::uint64_t number = 100; number < 200; ++number) {
    received.take(1, number);
    EXPECT_EQ(received.since(), 100U);
    EXPECT_EQ(received.newest(), number);
  }
}

TEST(SequenceGapTracker, AGapIsClosedByTheLateNumber) {
  SequenceGapTracker received;
  received.take(1, 1);
  received.take(1, 2);
  received.take(1, 5);
  EXPECT_EQ(received.since(), 5U);
  received.take(1, 4);
  EXPECT_EQ(received.since(), 4U);
  received.take(1, 3);
  EXPECT_EQ(received.since(), 1U);
}

TEST(SequenceGapTracker, ANumberThatTheReceiverLostIsMissing) {
  SequenceGapTracker received;
  received.take(1, 1);
  received.take(1, 2);
  received.lose();
  EXPECT_EQ(received.since(), 3U) << "the newest does not count either";
  received.take(1, 3);
  EXPECT_EQ(received.since(), 3U);
}

TEST(SequenceGapTracker, AnotherEpochRestartsIt) {
  SequenceGapTracker received;
  received.take(1, 1);
  received.take(2, 77);
  EXPECT_EQ(received.since(), 77U);
}

TEST(SequenceGapTracker, ALongGapIsNotRememberedOneByOne) {
  SequenceGapTracker received;
  received.take(1, 1);
  received.take(1, UINT64_MAX);
  EXPECT_EQ(received.since(), UINT64_MAX);
  received.take(1, 2);
  EXPECT_EQ(received.since(), UINT64_MAX);
}

/// With any losses and delays, it never claims that all numbers have arrived if one has not.
TEST(SequenceGapTracker, NeverCoversANumberThatHasNotArrived) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 200; ++run) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = 1; number <= 300; ++number) {
      if (random() % 10 != 0) numbers.push_back(number);
    }
    for (std::size_t i = 0; i + 8 < numbers.size(); ++i) {
      if (random() % 5 == 0) std::swap(numbers[i], numbers[i + random() % 8]);
    }
    SequenceGapTracker received;
    std::set<std::uint64_t> came;
    for (const std::uint64_t number : numbers) {
      received.take(1, number);
      came.insert(number);
      for (std::uint64_t each = received.since(); each <= received.newest(); ++each)
        ASSERT_TRUE(came.contains(each)) << each;
    }
  }
}

}  // namespace
}  // namespace sluice::control::feedback::test
