#include "dataplane/dpdk/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace sluice::dpdk {
namespace {

TEST(Random, RandomOctetsDoNotRepeat) {
  std::set<std::array<std::uint8_t, 16>> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(random_octets<16>());
  EXPECT_EQ(drawn.size(), 1000U);
}

}  // namespace
}  // namespace sluice::dpdk
