// Tests of the slab that holds flows: slots, construction and destruction.
#include "dataplane/flow/slab.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace sluice::flow {
namespace {

struct Counted {
  explicit Counted(int& counter, int number = 0) : live(counter), value(number) { ++live; }
  ~Counted() { --live; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int& live;
  int value;
};

TEST(Slab, MakesAndDestroysObjects) {
  int live = 0;
  Slab<Counted> slab(3);
  const std::uint32_t first = slab.emplace(live, 7);
  EXPECT_EQ(slab[first].value, 7);
  EXPECT_EQ(slab.index_of(slab[first]), first);
  EXPECT_TRUE(slab.contains(first));
  EXPECT_FALSE(slab.contains(first + 1));
  slab.erase(first);
  EXPECT_EQ(live, 0);
  EXPECT_FALSE(slab.contains(first));
}

TEST(Slab, IsFullAtItsCapacityAndReusesFreedSlots) {
  int live = 0;
  Slab<Counted> slab(3);
  EXPECT_EQ(slab.emplace(live), 0U);
  EXPECT_EQ(slab.emplace(live), 1U);
  EXPECT_EQ(slab.emplace(live), 2U);
  EXPECT_EQ(slab.emplace(live), Slab<Counted>::none);
  EXPECT_EQ(slab.size(), 3U);
  slab.erase(0);
  slab.erase(2);
  EXPECT_EQ(slab.emplace(live), 2U) << "the last one freed is the first one used";
  EXPECT_EQ(slab.emplace(live), 0U);
  EXPECT_EQ(slab.emplace(live), Slab<Counted>::none);
  EXPECT_EQ(live, 3);
}

TEST(Slab, DestroysRemainingObjects) {
  int live = 0;
  {
    Slab<Counted> slab(200);
    for (int i = 0; i < 150; ++i) ASSERT_NE(slab.emplace(live), Slab<Counted>::none);
    slab.erase(64);
    EXPECT_EQ(live, 149);
  }
  EXPECT_EQ(live, 0);
}

TEST(Slab, VisitsEveryObjectAndAllowsErasure) {
  int live = 0;
  Slab<Counted> slab(200);
  for (int i = 0; i < 130; ++i) ASSERT_NE(slab.emplace(live, i), Slab<Counted>::none);
  std::vector<int> seen;
  slab.for_each([&](std::uint32_t index, Counted& object) {
    seen.push_back(object.value);
    if (object.value % 2 == 0) slab.erase(index);
  });
  EXPECT_EQ(seen.size(), 130U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(slab.size(), 65U);
}

TEST(Slab, ObjectsBeginOnHalfCacheLines) {
  struct Odd {
    char bytes[65];
  };
  Slab<Odd> slab(10);
  EXPECT_EQ(Slab<Odd>::stride(), 96U);
  const std::uint32_t a = slab.emplace();
  const std::uint32_t b = slab.emplace();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&slab[a]) % 32, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&slab[b]) % 32, 0U);
}

struct Picky {
  explicit Picky(bool refuse) : text(std::make_unique<int>(1)) {
    if (refuse) throw std::runtime_error("refused");
  }
  std::unique_ptr<int> text;
};

TEST(Slab, AFailedConstructionChangesNothing) {
  Slab<Picky> slab(3);
  EXPECT_THROW((void)slab.emplace(true), std::runtime_error);
  EXPECT_EQ(slab.size(), 0U);
  EXPECT_EQ(slab.emplace(false), 0U);
  EXPECT_EQ(slab.emplace(false), 1U);
  EXPECT_EQ(slab.emplace(false), 2U);
  slab.erase(1);
  slab.erase(0);
  EXPECT_THROW((void)slab.emplace(true), std::runtime_error);
  EXPECT_EQ(slab.emplace(false), 0U);
  EXPECT_EQ(slab.emplace(false), 1U);
  EXPECT_EQ(slab.emplace(false), Slab<Picky>::none);
}

TEST(Slab, ALargeLimitCostsNothingUntilItIsUsed) {
  struct Large {
    char bytes[4096];
  };
  Slab<Large> slab(100'000'000);  // 400 GB of address space
  const std::uint32_t index = slab.emplace();
  slab[index].bytes[4095] = 'x';
  EXPECT_EQ(slab.size(), 1U);
}

}  // namespace
}  // namespace sluice::flow
