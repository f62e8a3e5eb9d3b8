// Handback under traffic: transfers go on whatever is handed back in their middle, and a proxy that was drained can
// be stopped and started again. Every byte that arrives is checked against what was sent.

#include <gtest/gtest.h>

#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

using proxy::HandbackBlocker;

/// Runs until nothing is split any more; false when something still is after `limit`.
bool run_until_drained(Network& network, Duration limit) {
  const Instant end = network.loop.now() + limit;
  while (network.loop.now() < end) {
    if (network.node.shard().flow_count() == 0) return true;
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(10));
  }
  return false;
}

TEST(DrainSim, ALongDownloadIsReleasedInItsMiddle) {
  Network network(1, small_shard(), {});
  network.transfer(10'000'000, false);
  network.loop.run_until(Instant(std::chrono::seconds(2)));
  ASSERT_EQ(network.node.shard().flow_count(), 1U);
  network.node.order([](proxy::Shard& shard) { shard.drain(true); });
  EXPECT_TRUE(run_until_drained(network, std::chrono::seconds(2)));
  EXPECT_EQ(network.node.shard().counters()[Counter::released_drain], 1U);
  EXPECT_FALSE(network.clients.front()->complete()) << "it was in its middle";
  EXPECT_EQ(network.server.counters().timeouts, 0U) << "the server has not noticed";
  expect_complete(network, std::chrono::seconds(60));
}

TEST(DrainSim, ALongUploadIsReleasedInItsMiddle) {
  Network network(2, small_shard(), {});
  network.transfer(10'000'000, true);
  network.loop.run_until(Instant(std::chrono::seconds(2)));
  network.node.order([](proxy::Shard& shard) { shard.drain(true); });
  EXPECT_TRUE(run_until_drained(network, std::chrono::seconds(2)));
  EXPECT_FALSE(network.clients.front()->complete()) << "it was in its middle";
  EXPECT_EQ(network.ue.counters().timeouts, 0U) << "the UE has not noticed";
  expect_complete(network, std::chrono::seconds(60));
}

TEST(DrainSim, ADrainedProxyCanBeStoppedAndStartedUnderTraffic) {
  Network network(3, small_shard(), {});
  for (int i = 0; i < 4; ++i) network.transfer(4'000'000, i % 2 != 0);
  network.loop.run_until(Instant(std::chrono::seconds(2)));
  network.node.order([](proxy::Shard& shard) { shard.drain(true); });
  ASSERT_TRUE(run_until_drained(network, std::chrono::seconds(10)));
  network.node.stop();
  network.loop.run_until(network.loop.now() + std::chrono::milliseconds(300));
  network.node.start();
  network.transfer(100'000, false, network.loop.now().time_since_epoch());
  expect_complete(network, std::chrono::seconds(120));
  const proxy::Counters& counters = network.node.shard().counters();
  EXPECT_GT(counters[Counter::forward_mid_flow], 1000U) << "the old connections pass untouched";
  EXPECT_EQ(counters[Counter::flows_split], 1U) << "the new one is split";
}

TEST(DrainSim, ConnectionsOlderThanTheProxyAreNeverReset) {
  Network network(4, small_shard(), {});
  network.node.stop();
  network.node.start();
  network.node.order([](proxy::Shard& shard) { shard.drain(true); });  // opened while nothing is split …
  network.transfer(3'000'000, false);
  network.transfer(3'000'000, true);
  network.loop.run_until(Instant(std::chrono::seconds(1)));
  network.node.stop();
  network.node.start();  // … and met in its middle
  expect_complete(network, std::chrono::seconds(60));
  const proxy::Counters& counters = network.node.shard().counters();
  EXPECT_EQ(counters[Counter::optimised], 0U);
  EXPECT_EQ(counters[Counter::forward_mid_flow], counters.received());
}

/// Runs random connections over random links. At random times some are released, the proxy drains, or it drains and
/// restarts as soon as that breaks no connection, with others still split.
void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "drain");
  const proxy::ShardConfig config = random_shard(random);
  const Wires wires = random_wires_sound_in_the_core(random);
  Network network(seed, config, wires, random_host(random), random_host(random));
  transfer_at_random(network, random, 1'000'000);
  for (std::uint64_t i = 1 + random.below(5); i > 0; --i) {
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(random.below(2000)));
    if (random.chance(0.5)) {
      network.node.order([&](proxy::Shard& shard) { shard.release(ue_address, network.loop.now()); });
      continue;
    }
    network.node.order([](proxy::Shard& shard) { shard.drain(true); });
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(random.below(5000)));
    if (network.node.shard().staying().broken_by_a_stop == 0 && random.chance(0.8)) {
      expect_accounted(network.node.shard().counters());
      network.node.stop();
      network.loop.run_until(network.loop.now() + std::chrono::milliseconds(random.below(1000)));
      network.node.start();
    } else {
      network.node.order([](proxy::Shard& shard) { shard.drain(false); });
    }
  }
  expect_end(network);
}

TEST(DrainSim, RandomConnectionsSurviveRandomReleases) {
  for_each_seed(live);
}

}  // namespace
}  // namespace sluice::test
