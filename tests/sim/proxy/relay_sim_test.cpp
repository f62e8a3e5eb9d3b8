// The relay between two built-in hosts over wires on which everything goes wrong that can, hundreds of times, each run
// replayed exactly by its seed. Every byte that arrives is checked against what was sent.

#include <gtest/gtest.h>

#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

/// One random life of up to four connections. Everything that is decided comes from `seed`.
void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "scenario");
  proxy::ShardConfig config = small_shard();
  config.tcp.congestion = random.chance(0.5) ? tcp::CongestionAlgorithm::cubic : tcp::CongestionAlgorithm::newreno;
  config.limits.relay_buffer = Bytes(65'536 + random.below(400'000));
  random_exposure(random, config.limits);
  const HostConfig ue = random_host(random);
  const HostConfig server = random_host(random);
  Network network(seed, config, random_wires(random), ue, server);
  transfer_at_random(network, random, 200'000);
  expect_end(network);
}

TEST(RelaySim, RandomConnectionsDeliverEveryByte) {
  for_each_seed(live);
}

TEST(RelaySim, ACleanDownloadNeedsNoRetransmission) {
  Network network(1, small_shard(), {});
  network.transfer(3'000'000, false);
  ASSERT_TRUE(network.run(std::chrono::seconds(60)));
  EXPECT_EQ(network.node.shard().counters()[Counter::flows_split], 1U);
  EXPECT_EQ(network.node.shard().counters()[Counter::retransmitted_core], 0U);
  EXPECT_EQ(network.log.corrupted, 0U);
}

/// Returns the duration of a large download from a server 100 ms away, whose hosts have buffers for twice the bytes in
/// flight.
Duration far_download(proxy::Mode mode, double rate, std::uint64_t size) {
  proxy::ShardConfig config = small_shard();
  config.mode = mode;
  config.limits.relay_buffer = proxy::ShardLimits{}.relay_buffer;
  const Bytes in_flight(static_cast<std::int64_t>(rate / 8 * 0.1));
  Wires wires;
  wires.radio_delay = std::chrono::microseconds(100);
  wires.radio_rate = Rate::bits_per_second(rate * 2);
  wires.radio_buffer = Bytes(1'000'000);
  wires.core_delay = std::chrono::milliseconds(50);
  wires.core_rate = Rate::bits_per_second(rate);
  wires.core_buffer = in_flight;
  HostConfig host;
  host.receive_buffer = host.send_buffer = in_flight * 2;
  Network network(1, config, wires, host, host);
  network.transfer(size, false);
  while (!network.clients[0]->complete() && network.loop.now() < Instant(std::chrono::seconds(60))) {
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(network.clients[0]->complete());
  return network.loop.now().time_since_epoch();
}

TEST(RelaySim, ADistantServerIsReadAsFastAsWithoutTheProxy) {
  for (const double rate : {50e6, 200e6}) {
    const auto size = static_cast<std::uint64_t>(rate / 8 * 4);
    const Duration alone = far_download(proxy::Mode::bypass, rate, size);
    const Duration split = far_download(proxy::Mode::i_tcp, rate, size);
    std::printf("%g Mb/s, 100 ms: %.3f s alone, %.3f s split\n", rate / 1e6, to_seconds(alone), to_seconds(split));
    EXPECT_LE(to_seconds(split), to_seconds(alone) / 0.95) << rate;
  }
}

TEST(RelaySim, TheRelayHidesLossOnTheRadioFromTheServer) {
  Wires wires;
  wires.radio_down.loss = 0.02;
  Network network(5, small_shard(), wires);
  network.transfer(2'000'000, false);
  ASSERT_TRUE(network.run(std::chrono::seconds(120)));
  EXPECT_GT(network.node.shard().counters()[Counter::retransmitted_radio], 10U);
  EXPECT_GT(network.node.shard().counters()[Counter::fast_recoveries_radio], 0U);
  EXPECT_EQ(network.server.counters().retransmitted, 0U);
  EXPECT_EQ(network.server.counters().timeouts, 0U);
}

TEST(RelaySim, AStallWithoutLossIsTolerated) {
  for (const int stall_ms : {300, 700, 1500}) {
    Wires wires;
    const Instant from(std::chrono::seconds(1));
    wires.radio_down.jumps.push_back(
        {from, from + std::chrono::milliseconds(stall_ms), std::chrono::milliseconds(stall_ms)});
    Network network(9, small_shard(), wires);
    network.transfer(4'000'000, false);
    EXPECT_TRUE(network.run(std::chrono::seconds(120))) << stall_ms << " ms";
    EXPECT_EQ(network.log.corrupted, 0U);
  }
}

TEST(RelaySim, TheSameSeedGivesTheSameRun) {
  const auto digest = [](std::uint64_t seed) {
    Random random = Random::stream(seed, "scenario");
    Network network(seed, small_shard(), random_wires(random));
    network.transfer(300'000, false);
    network.transfer(100'000, true);
    EXPECT_TRUE(network.run(std::chrono::seconds(600)));
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < proxy::counter_count; ++i) values.push_back(network.node.shard().counters().at(i));
    values.push_back(network.ue.counters().received);
    values.push_back(network.server.counters().received);
    return values;
  };
  EXPECT_EQ(digest(17), digest(17));
  EXPECT_NE(digest(17), digest(18));
}

}  // namespace
}  // namespace sluice::test
