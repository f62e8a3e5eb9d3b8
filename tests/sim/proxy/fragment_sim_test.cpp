// Fragments in the middle of a split connection: it is released and the transfer goes on, whatever else happens on the
// wire.

#include <gtest/gtest.h>

#include "tests/sim/proxy/fragments.hpp"
#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

constexpr std::uint16_t small_mtu = 1000;

TEST(FragmentSim, ADownloadContinuesWhenItsSegmentsAreFragmented) {
  Network network(1, small_shard(), {});
  Fragmenter router(network.core_port, Instant(std::chrono::seconds(1)), small_mtu);
  Reassembler ip_layer(network.ue);
  network.precede_core(router);
  network.precede_ue(ip_layer);
  network.transfer(6'000'000, false);
  ASSERT_TRUE(network.run(std::chrono::seconds(60)));
  EXPECT_EQ(network.log.corrupted, 0U);
  const proxy::Counters& counters = network.node.shard().counters();
  EXPECT_EQ(counters[Counter::released_unsplittable], 1U);
  EXPECT_GT(router.count(), 1000U);
}

// The server was promised what the relay holds, and the UE promises less. What the server sends beyond the UE's window
// when it is alone with the UE comes again.
TEST(FragmentSim, AFragmentReleasesAConnectionWhoseServerIsAheadOfASmallWindow) {
  HostConfig ue;
  ue.receive_buffer = Bytes(16'000);
  Network network(1, small_shard(), {}, ue);
  Fragmenter router(network.core_port, Instant(std::chrono::seconds(1)), small_mtu);
  Reassembler ip_layer(network.ue);
  network.precede_core(router);
  network.precede_ue(ip_layer);
  network.transfer(3'000'000, false);
  ASSERT_TRUE(network.run(std::chrono::seconds(60)));
  EXPECT_EQ(network.log.corrupted, 0U);
  EXPECT_EQ(network.node.shard().counters()[Counter::released_unsplittable], 1U);
}

// No ACK of the fragments opens the UE's window, so fragments that waited for it would be dropped again and again.
TEST(FragmentSim, ADownloadEndToEndOfFragmentsIsAsFastAsWithoutTheProxy) {
  const auto seconds = [](proxy::Mode mode) {
    proxy::ShardConfig config = small_shard();
    config.mode = mode;
    config.smvs.law = proxy::ControllerLocation::acks;
    config.intercept = proxy::Intercept::regulate;
    Wires wires;
    wires.radio_rate = Rate::bits_per_second(100e6);
    wires.radio_delay = wires.core_delay = std::chrono::milliseconds(1);
    Network network(1, config, wires);
    Fragmenter router(network.core_port, Instant(), small_mtu);
    Reassembler ip_layer(network.ue);
    network.precede_core(router);
    network.precede_ue(ip_layer);
    network.transfer(2'000'000, false);
    while (!network.clients[0]->complete() && network.loop.now() < Instant(std::chrono::minutes(1))) {
      network.loop.run_until(network.loop.now() + std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(network.clients[0]->complete());
    EXPECT_EQ(network.node.shard().counters()[Counter::drop_queue_full], 0U);
    return to_seconds(network.loop.now().time_since_epoch());
  };
  EXPECT_LE(seconds(proxy::Mode::smvs), 1.2 * seconds(proxy::Mode::bypass));
}

/// Random wires, and a router that begins to cut at a random time.
void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "fragments");
  Wires wires = random_wires_sound_in_the_core(random);
  // A part alone has no TCP checksum; corruption that IP does not see would meet another one on the radio.
  wires.radio_down.corrupt = 0;
  Network network(seed, small_shard(), wires, random_host(random), random_host(random));
  Fragmenter router(network.core_port, Instant(std::chrono::milliseconds(random.below(4000))), small_mtu);
  Reassembler ip_layer(network.ue);
  network.precede_core(router);
  network.precede_ue(ip_layer);
  transfer_at_random(network, random, 1'000'000, 0.3);
  expect_end(network);
}

TEST(FragmentSim, RandomConnectionsSurviveFragments) {
  for_each_seed(live);
}

}  // namespace
}  // namespace sluice::test
