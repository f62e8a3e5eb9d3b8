// Tests of the memory of packet pools: layout, footprint and errors.
#include "dataplane/packet/pool_memory.hpp"

#include <gmock/gmock.h>
#include <rte_malloc.h>
#include <rte_mempool.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tests/support/eal.hpp"

namespace sluice::packet {
namespace {

/// Where each buffer of a pool begins, lowest first.
std::vector<std::uintptr_t> addresses_of(const PacketPool& pool) {
  std::vector<std::uintptr_t> addresses;
  rte_mempool_obj_iter(
      pool.handle(),
      [](rte_mempool*, void* result, void* buffer, unsigned) {
        static_cast<std::vector<std::uintptr_t>*>(result)->push_back(reinterpret_cast<std::uintptr_t>(buffer));
      },
      &addresses);
  std::ranges::sort(addresses);
  return addresses;
}

std::uint64_t allocated() {
  rte_malloc_socket_stats statistics{};
  rte_malloc_get_socket_stats(0, &statistics);
  return statistics.heap_allocsz_bytes;
}

TEST(PoolMemory, BuffersAreContiguousSoThatADriverCanRegisterThem) {
  for (const std::uint16_t room : {std::uint16_t{2048}, std::uint16_t{3072}}) {
    const PacketPool pool("dense", 3000, room);
    const std::uint32_t size =
        rte_mempool_calc_obj_size(pool.handle()->elt_size, pool.handle()->flags, nullptr);  // as net_af_xdp reckons
    const std::vector<std::uintptr_t> addresses = addresses_of(pool);
    ASSERT_EQ(addresses.size(), 3000U);
    EXPECT_EQ(addresses.back() - addresses.front(), 2999U * std::uint64_t{size});
    EXPECT_TRUE(is_contiguous(pool));
  }
}

TEST(PoolMemory, TheFootprintBoundsTheAllocation) {
  for (const std::uint32_t count : {2000U, 10000U}) {
    for (const std::uint16_t room : {std::uint16_t{2048}, std::uint16_t{10240}}) {
      const std::uint64_t before = allocated();
      const PacketPool pool("measured", count, room);
      EXPECT_LE(allocated() - before, pool_footprint(count, room));
      EXPECT_GE(2 * (allocated() - before), pool_footprint(count, room));
    }
  }
}

TEST(PoolMemory, BuffersCanBeSentByADevice) {
  PacketPool pool("devices", 100);
  const Packet packet = pool.allocate();
  EXPECT_NE(rte_mbuf_iova_get(packet.buffer()), RTE_BAD_IOVA);
  EXPECT_EQ(pool.handle()->flags & RTE_MEMPOOL_F_NON_IO, 0U);
}

TEST(PoolMemory, ItsMemoryIsFreed) {
  const std::uint64_t before = allocated();
  for (int i = 0; i < 3; ++i) const PacketPool pool("again", 20000);
  EXPECT_EQ(allocated(), before);
}

TEST(PoolMemory, MoreMemoryThanDpdkHasIsRefusedWithTheAmountNeeded) {
  try {
    const PacketPool pool("large", 400'000);  // the tests' EAL has 512 MiB
    FAIL() << "there was memory for it";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::ContainsRegex("they take [0-9]+ MiB of DPDK's memory"));
  }
}

}  // namespace
}  // namespace sluice::packet
