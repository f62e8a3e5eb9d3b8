#include "proxy/daemon/threads/triple_buffer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sluice::proxy {
namespace {

TEST(TripleBuffer, TheReaderGetsTheNewestValueOnce) {
  TripleBuffer<int> buffer;
  EXPECT_FALSE(buffer.fetch());
  EXPECT_EQ(buffer.front(), 0);
  buffer.back() = 1;
  buffer.publish();
  buffer.back() = 2;
  buffer.publish();
  EXPECT_TRUE(buffer.fetch());
  EXPECT_EQ(buffer.front(), 2);
  EXPECT_FALSE(buffer.fetch());
  EXPECT_EQ(buffer.front(), 2);
}

TEST(TripleBuffer, TheWriterNeverTouchesWhatIsBeingRead) {
  TripleBuffer<int> buffer;
  buffer.back() = 1;
  buffer.publish();
  ASSERT_TRUE(buffer.fetch());
  const int* const front = &buffer.front();
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(&buffer.back(), front);
    buffer.back() = 100 + i;
    buffer.publish();
  }
  EXPECT_EQ(*front, 1);
}

TEST(TripleBuffer, ValuesAreWholeAndNeverGoBackBetweenThreads) {
  constexpr std::uint64_t last = 100'000;
  TripleBuffer<std::vector<std::uint64_t>> buffer;
  buffer.for_each_slot([](std::vector<std::uint64_t>& slot) { slot.resize(64); });
  std::thread writer([&buffer] {
    for (std::uint64_t i = 1; i <= last; ++i) {
      for (std::uint64_t& word : buffer.back()) word = i;
      buffer.publish();
    }
  });
  std::uint64_t newest = 0;
  while (newest < last) {
    if (!buffer.fetch()) continue;
    const std::uint64_t value = buffer.front().front();
    ASSERT_GT(value, newest);
    for (const std::uint64_t word : buffer.front()) ASSERT_EQ(word, value);
    newest = value;
  }
  writer.join();
}

}  // namespace
}  // namespace sluice::proxy
