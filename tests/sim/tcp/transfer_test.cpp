// Tests of whole transfers over impaired paths: every byte arrives, and losses are retransmitted efficiently.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/sim/tcp/random_scenario.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

TEST(EcnMarking, AMarkReducesTheWindowLikeALoss) {
  Scenario scenario;
  scenario.seed = 7;
  scenario.options_a = {.mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true, .ecn = true};
  scenario.options_b = scenario.options_a;
  scenario.config.time_wait = std::chrono::minutes(5);
  scenario.a.to_send = 3'000'000;
  scenario.a_to_b.spacing = std::chrono::microseconds(100);
  scenario.a_to_b.marking = 0.01;
  Connection marked(scenario);
  marked.run();
  EXPECT_EQ(marked.received_by_b(), scenario.a.to_send);
  EXPECT_EQ(marked.a().counters().retransmitted, 0U);
  EXPECT_LT(marked.a().ssthresh(), Bytes(200'000)) << "the echo was heard";

  scenario.a_to_b.loss = scenario.a_to_b.marking;
  scenario.options_a.ecn = false;
  Connection lossy(scenario);
  lossy.run();
  EXPECT_GT(lossy.a().counters().retransmitted, 10U);
}

TEST(PathMtuBlackHole, IsDetectedWithoutAnIcmpError) {
  Scenario scenario;
  scenario.seed = 11;
  scenario.options_a = {.mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true};
  scenario.options_b = scenario.options_a;
  scenario.config.time_wait = std::chrono::minutes(5);
  scenario.a.to_send = 300'000;
  scenario.a_to_b.largest = 1000;
  Connection connection(scenario);
  connection.run();
  EXPECT_EQ(connection.received_by_b(), scenario.a.to_send);
  EXPECT_LE(connection.a().effective_mss(), 1000U);
  EXPECT_LE(connection.a().counters().timeouts, 6);
}

Scenario upload_without_loss(bool sack, bool timestamps, bool allowance) {
  Scenario scenario;
  scenario.seed = 12;
  scenario.options_a = {
      .mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = sack, .timestamps = timestamps};
  scenario.options_b = scenario.options_a;
  scenario.config.time_wait = std::chrono::minutes(5);
  scenario.allowance = allowance;
  scenario.a.to_send = 500'000;
  scenario.a.whole_writes = true;
  scenario.b.finish_after_peer = true;  // a FIN of b during the timeouts would show that the path is up
  return scenario;
}

/// 500 kB behind a hop of 1400 bytes that sends no ICMP took the kernel of Linux 6.5 s with tcp_mtu_probing=1.
TEST(PathMtuBlackHole, IsDetectedNoLaterThanByLinux) {
  for (int i = 0; i < 8; ++i) {
    Scenario scenario = upload_without_loss((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
    scenario.a_to_b.largest = 1400 - 52;
    Connection connection(scenario);
    const Instant start = connection.now();
    connection.run();
    EXPECT_EQ(connection.received_by_b(), scenario.a.to_send);
    EXPECT_LE(connection.last_read_by_b() - start, milliseconds(6500)) << i;
    EXPECT_GT(connection.a().effective_mss(), 1250U) << "what the path carries is found at once; " << i;
    RecordProperty("ms_" + std::to_string(i), std::to_string((connection.last_read_by_b() - start) / milliseconds(1)));
  }
}

TEST(PathMtuBlackHole, AnOutageOfTenSecondsLeavesNoSmallSegments) {
  for (int i = 0; i < 8; ++i) {
    Scenario scenario = upload_without_loss((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
    scenario.a.to_send = 2'000'000;
    scenario.a.rate = 150'000;
    Connection connection(scenario);
    const Instant start = connection.now();
    bool was_small = false;
    while (connection.advance()) {
      const Duration since = connection.now() - start;
      connection.path_from_a().loss = since > milliseconds(500) && since < milliseconds(10'500) ? 1 : 0;
      was_small = was_small || (since > milliseconds(500) && connection.a().effective_mss() < scenario.a.largest_write);
    }
    EXPECT_TRUE(was_small) << "else nothing is tested; " << i;
    EXPECT_EQ(connection.received_by_b(), scenario.a.to_send);
    EXPECT_GE(connection.a().effective_mss(), scenario.a.largest_write) << i;
  }
}

class Transfer : public testing::TestWithParam<int> {};

constexpr std::uint64_t seeds_per_test = 25;

/// The first seed of a run: SLUICE_FIRST_SEED in the environment replays a failure, or goes where no test went before.
std::uint64_t first_seed() {
  const char* const text = std::getenv("SLUICE_FIRST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

TEST_P(Transfer, DeliversEveryByteBothWays) {
  for (std::uint64_t i = 0; i < seeds_per_test; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(GetParam()) * seeds_per_test + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Scenario scenario = random_scenario(seed);
    Connection connection(scenario);
    connection.run();
    if (HasFailure()) return;
    EXPECT_EQ(connection.received_by_b(), scenario.a.to_send);
    EXPECT_EQ(connection.received_by_a(), scenario.b.to_send);
    EXPECT_EQ(connection.a().close_reason(), tcp::CloseReason::finished);
    EXPECT_EQ(connection.b().close_reason(), tcp::CloseReason::finished);
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Transfer, testing::Range(0, 20));

class TransferWithMovedBoundaries : public testing::TestWithParam<int> {};

/// An honest receiver acknowledges no part of a segment, whatever the path does.
TEST_P(TransferWithMovedBoundaries, DeliversEveryByteAndDistrustsNobody) {
  for (std::uint64_t i = 0; i < seeds_per_test; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(GetParam()) * seeds_per_test + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario scenario = random_scenario(seed);
    scenario.config.boundary_secret = seed + 1;
    if (scenario.b.room > 50'000 && scenario.a.largest_write > 500) scenario.a.to_send += 1'000'000;
    Connection connection(scenario);
    connection.run();
    if (HasFailure()) return;
    EXPECT_EQ(connection.received_by_b(), scenario.a.to_send);
    EXPECT_EQ(connection.received_by_a(), scenario.b.to_send);
    EXPECT_EQ(connection.a().misplaced_acks(), 0);
    EXPECT_EQ(connection.b().misplaced_acks(), 0);
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, TransferWithMovedBoundaries, testing::Range(0, 4));

}  // namespace
}  // namespace sluice::test
