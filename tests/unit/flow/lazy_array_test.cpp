// Tests of the lazy array: huge pages for large arrays, and none for small ones.
#include "dataplane/flow/lazy_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/mapped_memory.hpp"

namespace sluice::flow {
namespace {

using Words = LazyArray<std::uint64_t>;

TEST(LazyArray, ALargeArrayRequestsHugePages) {
  const Words words(Words::huge_from / sizeof(std::uint64_t));
  EXPECT_TRUE(test::mapping_of(words.data()).advised);
  EXPECT_EQ(words[words.size() - 1], 0U);
}

TEST(LazyArray, ASmallArrayRequestsNone) {
  const Words words(Words::huge_from / sizeof(std::uint64_t) - 1);
  ASSERT_TRUE(test::mapping_of(words.data()).found);
  EXPECT_FALSE(test::mapping_of(words.data()).advised);
}

}  // namespace
}  // namespace sluice::flow
