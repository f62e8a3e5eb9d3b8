// Tests of BBR 3 and Copa on a link, alone and beside other flows.
#include <gtest/gtest.h>

#include "tests/sim/tcp/shared_link.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tcp::CongestionAlgorithm;

constexpr double product = 2.5e6 * 0.04;  ///< bandwidth-delay product of the default link, bytes

class ModelOnALink : public testing::TestWithParam<CongestionAlgorithm> {
 protected:
  [[nodiscard]] static bool copa() { return GetParam() == CongestionAlgorithm::copa; }
  /// One flow; `seed` decides what is lost, and its draws.
  static SharedLink one(const SharedLink::Link& link, std::uint64_t seed) {
    SharedLink path(link, seed);
    path.add(GetParam());
    return path;
  }
};

TEST_P(ModelOnALink, FillsTheLinkWithoutAStandingQueue) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SharedLink path = one({}, seed);
    path.run_for(seconds(5));
    const auto steady = path.run_for(seconds(20));
    EXPECT_GE(steady.total(), 0.92 * path.capacity()) << "seed " << seed;
    EXPECT_LE(steady.mean_queue, 0.25 * 0.04) << "seed " << seed;
  }
}

TEST_P(ModelOnALink, AShortBufferCostsLittleThroughputAndFewLosses) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SharedLink path = one({.buffer = 0.25 * product}, seed);
    path.run_for(seconds(5));
    const auto steady = path.run_for(seconds(20));
    EXPECT_GE(steady.total(), 0.8 * path.capacity()) << "seed " << seed;
    EXPECT_LE(static_cast<double>(steady.dropped) * 1500, 0.02 * 20 * 2.5e6) << "seed " << seed;
  }
}

// BBR 3 reduces its rate a little in each round with a loss and probes for bandwidth every 62 rounds: the draft gives
// (1 - 0.01)^62 (section 5.3.3.8.3).
TEST_P(ModelOnALink, RandomLossCostsLittle) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SharedLink path = one({.loss = 0.01}, seed);
    path.run_for(seconds(5));
    const double use = path.run_for(seconds(20)).total() / path.capacity();
    EXPECT_GE(use, copa() ? 0.9 : 0.5) << "seed " << seed;
    SharedLink cubic({.loss = 0.01}, seed);
    cubic.add(CongestionAlgorithm::cubic);
    cubic.run_for(seconds(5));
    EXPECT_GE(use, 2 * cubic.run_for(seconds(20)).total() / cubic.capacity()) << "seed " << seed;
  }
}

// A slower link takes longer for each segment, so its minimum RTT is longer. Copa needs ten seconds to measure that.
// Until then the queue never looks empty to it, so it takes its own queue for cross traffic and fills the buffer.
TEST_P(ModelOnALink, FollowsTheLinkRate) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SharedLink path = one({.buffer = 2 * product}, seed);
    path.run_for(seconds(5));
    path.link().rate /= 4;
    path.run_for(seconds(12));
    const auto slow = path.run_for(seconds(10));
    EXPECT_GE(slow.total(), 0.9 * path.capacity()) << "seed " << seed;
    if (!copa()) {
      EXPECT_LE(slow.mean_queue, 0.06) << "seed " << seed;
    }
    path.link().rate *= 4;
    path.run_for(seconds(8));
    const auto fast = path.run_for(seconds(10));
    EXPECT_GE(fast.total(), 0.9 * path.capacity()) << "seed " << seed;
    EXPECT_LE(fast.mean_queue, 0.01) << "seed " << seed;
  }
}

TEST_P(ModelOnALink, FollowsALongerPath) {
  SharedLink path = one({}, 1);
  path.run_for(seconds(5));
  path.link().one_way += milliseconds(30);
  path.run_for(seconds(25));
  const auto after = path.run_for(seconds(20));
  EXPECT_GE(after.total(), 0.9 * path.capacity());
  EXPECT_LE(after.mean_queue, 0.25 * 0.1);
}

TEST_P(ModelOnALink, TwoFlowsShareTheLinkFairly) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SharedLink path = one({.buffer = 2 * product}, seed);
    path.run_for(seconds(3));
    path.add(GetParam());
    path.run_for(seconds(20));
    const auto both = path.run_for(seconds(60));
    EXPECT_GE(both.fairness(), 0.9) << "seed " << seed;
    EXPECT_GE(both.total(), 0.9 * path.capacity()) << "seed " << seed;
  }
}

TEST_P(ModelOnALink, NeitherItNorCubicStarvesTheOther) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SharedLink path = one({.buffer = 2 * product}, seed);
    path.add(CongestionAlgorithm::cubic);
    path.run_for(seconds(20));
    const auto both = path.run_for(seconds(60));
    EXPECT_GE(both.goodput[0], 0.15 * path.capacity()) << "seed " << seed;
    EXPECT_GE(both.goodput[1], 0.15 * path.capacity()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelOnALink, testing::Values(CongestionAlgorithm::bbr3, CongestionAlgorithm::copa),
                         [](const auto& tested) {
                           return tested.param == CongestionAlgorithm::copa ? "Copa" : "Bbr3";
                         });

}  // namespace
}  // namespace sluice::test
