// The ACK-based window on links whose buffer holds less than its reference, and on links that lose at random.

#include <gtest/gtest.h>

#include "tests/unit/control/acked_link.hpp"

namespace sluice::control::test {
namespace {

/// 10 Mb/s, which is 1250 bytes/ms.
AckedLink ten_megabits(AckedLink::Milliseconds one_way) {
  AckedLink link;
  link.capacity = [](AckedLink::Milliseconds) { return 1250.0; };
  link.down = link.up = [one_way](AckedLink::Milliseconds) { return one_way; };
  link.warmup = 5000;
  return link;
}

// Without the bound a buffer of 20 ms loses 10 718 and 18 332 packets in a minute. The second link then has a
// utilisation of 0.39.
TEST(LossBoundLink, AShallowBufferIsUsedWithFewLosses) {
  for (const AckedLink::Milliseconds one_way : {20, 50}) {
    for (const Bytes buffer : {Bytes(25'000), Bytes(62'500)}) {
      SCOPED_TRACE(testing::Message() << 2 * one_way << " ms, " << buffer.count() << " bytes");
      AckedLink link = ten_megabits(one_way);
      link.buffer = buffer;
      const auto result = link.run(65'000);
      EXPECT_GT(result.utilisation, 0.9);
      EXPECT_LT(static_cast<double>(result.losses), 0.02 * result.delivered / 1500);
    }
  }
}

// Without a trial below the floor 4 packets lose 20 % of all.
TEST(LossBoundLink, ABufferShorterThanTheReserveOfTheFloorIsUsedWithFewLosses) {
  for (const Bytes buffer : {Bytes(6250), Bytes(12'500)}) {
    SCOPED_TRACE(buffer.count());
    AckedLink link = ten_megabits(10);
    link.buffer = buffer;
    const auto result = link.run(65'000);
    EXPECT_GT(result.utilisation, 0.9);
    EXPECT_LT(static_cast<double>(result.losses), 0.01 * result.delivered / 1500);
  }
}

TEST(LossBoundLink, RandomLossCostsOnlyItsShare) {
  for (const double loss : {0.001, 0.003, 0.01, 0.03}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << loss << ", seed " << seed);
      AckedLink link = ten_megabits(20);
      link.packet_loss = loss;
      link.seed = seed;
      EXPECT_GT(link.run(65'000).utilisation, 0.95);
    }
  }
}

}  // namespace
}  // namespace sluice::control::test
