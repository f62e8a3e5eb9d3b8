#include "proxy/daemon/status/shard_watch.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

constexpr Instant start = Instant(100s);

class ShardWatchTest : public testing::Test {
 protected:
  /// A second later; the shards named by `run` have published just now.
  std::vector<ShardWatch::Event> look(bool first_runs, bool second_runs, Duration later = 1s) {
    now += later;
    if (first_runs) published[0] = now - 100ms;
    if (second_runs) published[1] = now - 100ms;
    return watch.look(published, now);
  }
  ShardWatch watch{2};
  Instant now = start;
  std::array<Instant, 2> published{start, start};
};

TEST_F(ShardWatchTest, ReportsNothingWhileShardsRun) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(look(true, true).empty());
  EXPECT_EQ(watch.stalled_for(0, now), Duration::zero());
  EXPECT_EQ(watch.stalls(), 0U);
}

TEST_F(ShardWatchTest, ReportsAStalledShardOnceAndItsDuration) {
  EXPECT_TRUE(look(true, true).empty());
  const auto stands = look(true, false, 1s);
  ASSERT_EQ(stands.size(), 1U);
  EXPECT_EQ(stands[0].shard, 1U);
  EXPECT_TRUE(stands[0].is_stalled);
  EXPECT_TRUE(look(true, false).empty()) << "it was said";
  EXPECT_GT(watch.stalled_for(1, now), 2s);
  EXPECT_EQ(watch.stalled_for(0, now), Duration::zero());
  const auto runs = look(true, true);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_FALSE(runs[0].is_stalled);
  EXPECT_EQ(runs[0].length, 3s);
  EXPECT_EQ(watch.stalled_for(1, now), Duration::zero());
  EXPECT_EQ(watch.stalls(), 1U);
}

TEST_F(ShardWatchTest, ASuspendedProgramIsNotAStalledShard) {
  EXPECT_TRUE(look(true, true).empty());
  EXPECT_TRUE(look(false, false, 60s).empty());
  EXPECT_TRUE(look(true, true).empty());
  EXPECT_EQ(watch.stalls(), 0U);
}

}  // namespace
}  // namespace sluice::proxy
