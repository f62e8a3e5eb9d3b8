#include "dataplane/packet/pool.hpp"

#include <gtest/gtest.h>
#include <rte_lcore.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/eal.hpp"

namespace sluice::packet {
namespace {

std::vector<Packet> take(PacketPool& pool, std::uint32_t count) {
  std::vector<Packet> taken;
  while (taken.size() < count) {
    Packet packet = pool.allocate();
    if (!packet) break;
    taken.push_back(std::move(packet));
  }
  return taken;
}

/// Runs in a thread that DPDK knows, and so keeps buffers at hand for; they stay there when it has ended.
template <typename Work>
void in_another_thread(Work&& work) {
  std::thread([&] {
    ASSERT_EQ(rte_thread_register(), 0);
    work();
    rte_thread_unregister();
  }).join();
}

TEST(PacketPool, WhatIsAvailableCanBeHad) {
  PacketPool pool("shared", 2000);
  in_another_thread([&] { take(pool, 100); });
  const std::uint32_t available = pool.available();
  EXPECT_LT(available, pool.capacity()) << "DPDK keeps none for the other thread, so this test shows nothing";
  EXPECT_EQ(take(pool, pool.capacity()).size(), available);
}

TEST(PacketPool, WhatAThreadHandsBackIsThereForAll) {
  PacketPool pool("released", 2000);
  in_another_thread([&] {
    take(pool, 100);
    pool.release_cached();
  });
  EXPECT_EQ(pool.available(), pool.capacity());
  EXPECT_EQ(take(pool, pool.capacity()).size(), pool.capacity());
}

}  // namespace
}  // namespace sluice::packet
