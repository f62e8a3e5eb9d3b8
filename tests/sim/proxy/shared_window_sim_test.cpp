// Connections of one UE that share the window of the ACK-based controller, over impaired wires, with random hosts. A
// connection whose data is lost must leave the window to the others. Each run is replayed exactly by its seed.

#include <gtest/gtest.h>

#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

/// Up to 24 connections in four seconds. Everything that is decided comes from `seed`.
void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "scenario");
  proxy::ShardConfig config = small_shard();
  config.mode = proxy::Mode::smvs;
  config.smvs.law = proxy::ControllerLocation::acks;
  random_exposure(random, config.limits);
  const HostConfig ue = random_host(random);
  const HostConfig server = random_host(random);
  Network network(seed, config, random_wires(random), ue, server);
  const std::uint64_t count = 1 + random.below(24);
  for (std::uint64_t i = 0; i < count; ++i) {
    network.transfer(1 + random.below(60'000), random.chance(0.3), std::chrono::milliseconds(random.below(4000)));
  }
  expect_complete(network, std::chrono::hours(1));
}

TEST(SharedWindowSim, RandomConnectionsDeliverEveryByte) {
  for_each_seed(live);
}

// In this run the UE offers no SACK, and one connection loses all that it has in flight. That fills the window, so that
// every retransmission had to wait for it.
TEST(SharedWindowSim, AConnectionThatLosesEverythingLeavesTheWindow) {
  live(190);
}

// A connection that waits for the window with a retransmission alone has no unsent data. It must be served all the same
// when the other connections end.
TEST(SharedWindowSim, TheLastRetransmissionsGetTheWindow) {
  for (const std::uint64_t seed : {28U, 218U, 286U, 440U}) {
    proxy::ShardConfig config = small_shard();
    config.mode = proxy::Mode::smvs;
    config.smvs.law = proxy::ControllerLocation::acks;
    HostConfig ue;
    ue.sack = false;
    Wires wires;
    wires.radio_rate = Rate::bits_per_second(2e6);
    wires.radio_down.loss = 0.1;
    Network network(seed, config, wires, ue);
    for (int i = 0; i < 8; ++i) network.transfer(60'000, false, std::chrono::milliseconds(100 * i));
    SCOPED_TRACE(seed);
    expect_complete(network, std::chrono::seconds(60));
  }
}

// The unit of the window towards the server is that of the UE's window scale, here 16 KiB, which is more than the
// window that the second loop computes for a slow link. A window of zero would stop the download.
TEST(SharedWindowSim, AWindowOfLargeUnitsStaysOpen) {
  for (const std::uint16_t mtu : {std::uint16_t{600}, std::uint16_t{1500}}) {
    proxy::ShardConfig config = small_shard();
    config.mode = proxy::Mode::smvs;
    config.smvs.law = proxy::ControllerLocation::acks;
    HostConfig ue;
    ue.window_scale = 14;
    ue.mtu = mtu;
    Wires wires;
    wires.radio_rate = Rate::bits_per_second(300e3);
    Network network(1, config, wires, ue);
    network.transfer(400'000, false);
    SCOPED_TRACE(mtu);
    expect_complete(network, std::chrono::seconds(15));  // 12 s without the proxy
  }
}

}  // namespace
}  // namespace sluice::test
