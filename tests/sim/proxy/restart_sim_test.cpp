// The proxy is killed under traffic and started again: every connection comes to its end, or both hosts learn that it
// is over. Every byte that arrives is checked against what was sent.

#include <gtest/gtest.h>

#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

/// Every transfer is complete or over; what arrived is right.
void expect_all_over(Network& network, Duration limit) {
  const Instant end = network.loop.now() + limit;
  const auto over = [](const auto& client) { return client->complete() || client->closed(); };
  while (network.loop.now() < end && !std::all_of(network.clients.begin(), network.clients.end(), over)) {
    network.loop.run_until(network.loop.now() + std::chrono::seconds(1));
  }
  EXPECT_TRUE(std::all_of(network.clients.begin(), network.clients.end(), over)) << "stuck";
  EXPECT_EQ(network.log.corrupted, 0U);
  EXPECT_EQ(network.server_counters.corrupted, 0U);
}

void kill_and_restart(Network& network, Duration pause) {
  network.node.stop();
  network.loop.run_until(network.loop.now() + pause);
  network.node.start_as_next_run();
}

TEST(RestartSim, AnInterruptedDownloadIsResetAtBothHostsWithinSeconds) {
  Network network(1, small_shard(), {});
  network.transfer(20'000'000, false);
  network.loop.run_until(Instant(std::chrono::seconds(2)));
  kill_and_restart(network, std::chrono::milliseconds(500));
  network.loop.run_until(network.loop.now() + std::chrono::seconds(10));
  EXPECT_TRUE(network.clients.front()->closed());
  EXPECT_FALSE(network.clients.front()->complete());
  EXPECT_EQ(network.server.connections(), 0U);
  EXPECT_EQ(network.ue.connections(), 0U);
  EXPECT_EQ(network.node.shard().counters()[Counter::orphans_reset], 1U);
  expect_accounted(network.node.shard().counters());
}

TEST(RestartSim, ConnectionsWithoutExposureSurviveARestart) {
  proxy::ShardConfig config = small_shard();
  config.limits.exposure_per_flow = Bytes(0);
  Network network(2, config, {});
  network.transfer(5'000'000, false);
  network.transfer(5'000'000, true);
  network.loop.run_until(Instant(std::chrono::seconds(2)));
  kill_and_restart(network, std::chrono::milliseconds(500));
  expect_complete(network, std::chrono::seconds(120));
  EXPECT_EQ(network.node.shard().counters()[Counter::orphans_reset], 0U);
}

/// Random connections over random wires; at random times the proxy is killed, sometimes again before it is through with
/// what the first kill left.
void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "restart");
  const proxy::ShardConfig config = random_shard(random);
  const Wires wires = random_wires_sound_in_the_core(random);
  Network network(seed, config, wires, random_host(random), random_host(random));
  transfer_at_random(network, random, 1'000'000);
  for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(random.below(3000)));
    kill_and_restart(network, std::chrono::milliseconds(random.below(1000)));
  }
  expect_all_over(network, std::chrono::hours(1));
  network.loop.run_until(network.loop.now() + std::chrono::seconds(1500));
  EXPECT_EQ(network.node.shard().flow_count(), 0U);
  EXPECT_EQ(network.ue.connections(), 0U);
  EXPECT_EQ(network.server.connections(), 0U);
  expect_accounted(network.node.shard().counters());
}

TEST(RestartSim, RandomConnectionsEndOrSurviveRandomKills) {
  for_each_seed(live);
}

/// Runs without exposure: neither a kill nor the runs after it break a connection.
void lose_nothing(std::uint64_t seed) {
  Random random = Random::stream(seed, "restart without loss");
  proxy::ShardConfig config = random_shard(random);
  config.limits.exposure_per_flow = Bytes(0);
  Network network(seed, config, random_wires_sound_in_the_core(random), random_host(random), random_host(random));
  transfer_at_random(network, random, 1'000'000);
  for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(random.below(3000)));
    kill_and_restart(network, std::chrono::milliseconds(random.below(100)));
  }
  expect_complete(network, std::chrono::hours(1));
  EXPECT_EQ(network.node.shard().counters()[Counter::orphans_reset], 0U);
}

TEST(RestartSim, RandomKillsBreakNoConnectionWithoutExposure) {
  for_each_seed(lose_nothing);
}

}  // namespace
}  // namespace sluice::test
