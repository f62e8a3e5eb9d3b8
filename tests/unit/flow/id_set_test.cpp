#include "dataplane/flow/id_set.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>
#include <vector>

namespace sluice::flow {
namespace {

std::vector<std::uint32_t> drained(IdSet& ids) {
  std::vector<std::uint32_t> out;
  ids.drain([&](std::uint32_t id) { out.push_back(id); });
  return out;
}

TEST(IdSet, VisitsEachIdOnceInOrder) {
  IdSet ids(10'000);
  for (const std::uint32_t id : {9999U, 0U, 4096U, 64U, 63U, 64U}) ids.insert(id);
  EXPECT_TRUE(ids.contains(64));
  EXPECT_FALSE(ids.contains(65));
  EXPECT_THAT(drained(ids), testing::ElementsAre(0U, 63U, 64U, 4096U, 9999U));
  EXPECT_FALSE(ids.contains(64));
  EXPECT_THAT(drained(ids), testing::IsEmpty());
}

TEST(IdSet, AnIdErasedDuringAVisitIsNotVisited) {
  IdSet ids(1000);
  for (std::uint32_t id = 0; id < 1000; ++id) ids.insert(id);
  std::uint32_t visited = 0;
  ids.drain([&](std::uint32_t id) {
    ++visited;
    if (id % 2 == 0) ids.erase(id + 1);
  });
  EXPECT_EQ(visited, 500U);
}

TEST(IdSet, EqualsAStandardSet) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto capacity = static_cast<std::uint32_t>(1 + random() % 20'000);
    IdSet ids(capacity);
    std::set<std::uint32_t> model;
    for (int step = 0; step < 5000; ++step) {
      const auto id = static_cast<std::uint32_t>(random() % capacity);
      if (random() % 3 == 0) {
        ids.erase(id);
        model.erase(id);
      } else {
        ids.insert(id);
        model.insert(id);
      }
      if (random() % 500 != 0) continue;
      ASSERT_THAT(drained(ids), testing::ElementsAreArray(model)) << "seed " << seed << " step " << step;
      model.clear();
    }
  }
}

}  // namespace
}  // namespace sluice::flow
