// Tests of paths that reorder without losses, so every retransmission is spurious.
#include <gtest/gtest.h>

#include "tests/sim/tcp/connection.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

/// Over a path whose segments may overtake each other.
Scenario overtaking(std::uint64_t seed, std::uint64_t to_send) {
  Scenario scenario;
  scenario.seed = seed;
  scenario.options_a = {.mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true};
  scenario.options_b = scenario.options_a;
  scenario.a.to_send = to_send;
  scenario.a_to_b.reordering_behind = true;
  return scenario;
}

struct Path {
  const char* name;
  double share;
  milliseconds hold;
  milliseconds jitter;
  unsigned max_per_thousand;  ///< segments repeated for nothing
};

void PrintTo(const Path& path, std::ostream* out) {
  *out << path.name;
}

class Reordering : public testing::TestWithParam<Path> {};

TEST_P(Reordering, IsNotMistakenForLoss) {
  std::uint64_t sent = 0;
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Scenario scenario = overtaking(seed, 2'000'000);
    scenario.options_a.timestamps = scenario.options_b.timestamps = seed % 2 == 1;
    scenario.config.time_wait = std::chrono::minutes(5);
    scenario.a_to_b.delay = scenario.b_to_a.delay = milliseconds(40);
    scenario.a_to_b.spacing = std::chrono::microseconds(300);
    scenario.a_to_b.reordering = GetParam().share;
    scenario.a_to_b.hold = GetParam().hold;
    scenario.a_to_b.jitter = GetParam().jitter;
    Connection connection(scenario);
    connection.run();
    ASSERT_EQ(connection.received_by_b(), scenario.a.to_send);
    EXPECT_EQ(connection.a().counters().timeouts, 0) << "seed " << seed;
    sent += scenario.a.to_send / 1448;
    repeated += connection.a().counters().retransmitted;
  }
  RecordProperty("repeated_per_100000", std::to_string(repeated * 100000 / sent));
  EXPECT_LE(repeated * 1000, sent * GetParam().max_per_thousand) << repeated << " of " << sent;
}

INSTANTIATE_TEST_SUITE_P(
    Paths, Reordering,
    testing::Values(Path{"OneInAHundredByTwoMilliseconds", 0.01, milliseconds(2), milliseconds(0), 1},
                    Path{"OneInAHundredByTenMilliseconds", 0.01, milliseconds(10), milliseconds(0), 2},
                    Path{"FiveInAHundredByTwentyMilliseconds", 0.05, milliseconds(20), milliseconds(0), 10},
                    Path{"EveryOneByUpToFiveMilliseconds", 0, milliseconds(0), milliseconds(5), 2}),
    [](const auto& kind) { return std::string(kind.param.name); });

/// The worst delay of a reordered segment: it is late by exactly the first reordering window, a quarter of the RTT.
/// The path varies ACK times a little, and its losses leave few ACKs. One spurious retransmission per connection is
/// allowed, and one more per sixteen recoveries (RFC 8985 section 6.2 step 4).
TEST(ReorderingByTheWindow, OneSpuriousRetransmissionAdaptsTheReorderingWindow) {
  std::uint64_t spurious = 0;
  std::uint64_t lessons = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Scenario scenario = overtaking(seed, 3'000'000);
    scenario.a.whole_writes = true;
    scenario.a_to_b.loss = seed % 2 == 0 ? 0.01 : 0.05;
    scenario.a_to_b.reordering = 0.05;
    scenario.a_to_b.hold_whole = true;
    scenario.a_to_b.hold = milliseconds(5);
    scenario.a_to_b.spacing = std::chrono::microseconds(240);
    scenario.b_to_a.jitter = std::chrono::microseconds(300);
    Connection connection(scenario);
    connection.run();
    ASSERT_EQ(connection.received_by_b(), scenario.a.to_send) << "seed " << seed;
    spurious += connection.a().counters().retransmitted - connection.lost_from_a();
    lessons += 1 + connection.a().counters().fast_recoveries / 16U;
  }
  EXPECT_LE(spurious, lessons);
}

}  // namespace
}  // namespace sluice::test
