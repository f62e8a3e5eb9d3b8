// Tests of closed and aborted connections over impaired paths: both ends must learn of it.
#include <gtest/gtest.h>

#include "tests/sim/tcp/connection.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

tcp::SynOptions usual_options() {
  return {.mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true, .timestamps = true};
}

Scenario download(std::uint64_t seed) {
  Scenario scenario;
  scenario.seed = seed;
  scenario.options_a = scenario.options_b = usual_options();
  scenario.config.time_wait = std::chrono::minutes(5);
  scenario.a.to_send = 400'000;
  return scenario;
}

TEST(ConnectionEnd, AnAbortResetsThePeer) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario scenario = download(seed);
    scenario.b.to_send = 50'000;
    scenario.b.abort_after = 1000 + static_cast<std::uint32_t>(seed) * 5000;
    scenario.a_to_b.loss = scenario.b_to_a.loss = 0.05;
    Connection connection(scenario);
    connection.run();
    EXPECT_EQ(connection.b().close_reason(), tcp::CloseReason::aborted);
    EXPECT_EQ(connection.a().close_reason(), tcp::CloseReason::reset_by_peer);
    if (HasFailure()) return;
  }
}

TEST(Efficiency, ALosslessPathNeedsNoRetransmission) {
  Connection connection(download(1));
  connection.run();
  EXPECT_EQ(connection.a().counters().retransmitted, 0U);
  EXPECT_EQ(connection.a().counters().timeouts, 0);
  EXPECT_EQ(connection.received_by_b(), 400'000U);
  // 280 data segments, an acknowledgement for every second, opening and closing.
  EXPECT_LT(connection.segments_sent(), 450U);
}

TEST(Efficiency, SingleLossesAreRetransmittedOnceWithoutATimeout) {
  for (std::uint64_t drop = 5; drop < 40; ++drop) {
    SCOPED_TRACE("segment " + std::to_string(drop));
    Scenario scenario = download(drop);
    scenario.a_to_b.drop_first_data = 1ULL << drop;
    Connection connection(scenario);
    connection.run();
    EXPECT_EQ(connection.a().counters().retransmitted, 1U);
    EXPECT_EQ(connection.a().counters().fast_recoveries, 1);
    EXPECT_EQ(connection.a().counters().timeouts, 0);
    if (HasFailure()) return;
  }
}

TEST(Efficiency, ABurstOfLossesIsRetransmittedWithoutATimeout) {
  Scenario scenario = download(3);
  scenario.a_to_b.drop_first_data = 0b101101110100ULL << 12;
  Connection connection(scenario);
  connection.run();
  EXPECT_EQ(connection.a().counters().retransmitted, 7U);
  EXPECT_EQ(connection.a().counters().timeouts, 0);
}

TEST(Efficiency, ReorderingDoesNotReduceTheWindow) {
  unsigned mistaken = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario scenario = download(seed);
    scenario.a.to_send = 3'000'000;
    scenario.a_to_b.delay = scenario.b_to_a.delay = milliseconds(50);
    scenario.a_to_b.reordering = 0.01;
    Connection connection(scenario);
    connection.run();
    mistaken += connection.a().counters().fast_recoveries;
    EXPECT_EQ(connection.a().counters().timeouts, 0);
    EXPECT_EQ(connection.a().ssthresh(), Bytes(UINT32_MAX));
    if (HasFailure()) return;
  }
  EXPECT_GE(mistaken, 20U) << "else nothing is tested";
}

}  // namespace
}  // namespace sluice::test
