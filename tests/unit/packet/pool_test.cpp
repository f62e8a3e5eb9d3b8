// Tests of packet pools and handles: buffers are neither lost nor freed twice.
#include "dataplane/packet/pool.hpp"

#include <gtest/gtest.h>
#include <rte_lcore.h>

#include <cstdint>
#include <set>
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

TEST(PacketPool, AvailableBuffersCanBeAllocated) {
  PacketPool pool("shared", 2000);
  in_another_thread([&] { take(pool, 100); });
  const std::uint32_t available = pool.available();
  EXPECT_LT(available, pool.capacity()) << "DPDK keeps none for the other thread, so this test shows nothing";
  EXPECT_EQ(take(pool, pool.capacity()).size(), available);
}

TEST(PacketPool, BuffersFreedByAThreadAreAvailableToAll) {
  PacketPool pool("released", 2000);
  in_another_thread([&] {
    take(pool, 100);
    pool.release_cached();
  });
  EXPECT_EQ(pool.available(), pool.capacity());
  EXPECT_EQ(take(pool, pool.capacity()).size(), pool.capacity());
}

TEST(PacketPool, FreedBuffersOfAnyNumberCanBeAllocatedAgain) {
  PacketPool pool("given_back", 2000);
  for (const std::uint32_t count : {1U, 100U, 384U, 385U, 1000U, 2000U}) {  // DPDK keeps up to 384 at hand
    {
      const std::vector<Packet> taken = take(pool, count);
      EXPECT_EQ(pool.in_use(), count);
    }
    EXPECT_EQ(pool.in_use(), 0U) << count;
    const std::vector<Packet> all = take(pool, 2000);
    std::set<const rte_mbuf*> different;
    for (const Packet& packet : all) different.insert(packet.buffer());
    EXPECT_EQ(different.size(), 2000U) << count;
  }
}

TEST(PacketPool, ABufferIsFreedWithItsLastHandle) {
  PacketPool pool("handles", 100);
  Packet first = pool.allocate();
  Packet second = first.share();
  first.reset();
  EXPECT_EQ(pool.in_use(), 1U);
  EXPECT_FALSE(second.shared());
  second.reset();
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(PacketPool, AThreadUnknownToDpdkCanFreeBuffers) {
  PacketPool pool("stranger", 100);
  std::vector<Packet> taken = take(pool, 50);
  std::thread([&] { taken.clear(); }).join();
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(PacketPool, AModifiedBufferIsResetWhenItIsAllocatedAgain) {
  PacketPool pool("reshaped", 100);
  Packet packet = pool.allocate();
  packet.buffer()->nb_segs = 3;
  packet.reset();
  for (const Packet& again : take(pool, 100)) EXPECT_EQ(again.buffer()->nb_segs, 1);
}

}  // namespace
}  // namespace sluice::packet
