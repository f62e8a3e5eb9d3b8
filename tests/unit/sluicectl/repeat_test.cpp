#include "proxy/ops/sluicectl/repeat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace sluice::sluicectl {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(Repetition, IsRemovedFromTheArguments) {
  std::vector<std::string> words{"--count", "3", "bearers", "--interval", "0.5", "10"};
  const Repetition repetition = Repetition::take(words);
  EXPECT_EQ(repetition.interval, 500ms);
  EXPECT_EQ(repetition.count, 3U);
  EXPECT_THAT(words, ElementsAre("bearers", "10"));
}

TEST(Repetition, DefaultsToOneSecondWithoutALimit) {
  std::vector<std::string> words{"status"};
  const Repetition repetition = Repetition::take(words);
  EXPECT_EQ(repetition.interval, 1s);
  EXPECT_FALSE(repetition.count);
}

TEST(Repetition, RefusesInvalidValues) {
  for (std::vector<std::string> words : {std::vector<std::string>{"--interval", "0"},
                                         {"--interval", "often"},
                                         {"--interval"},
                                         {"--count", "0"},
                                         {"--count", "-1"},
                                         {"--count"}}) {
    EXPECT_THROW(static_cast<void>(Repetition::take(words)), std::invalid_argument) << words.front();
  }
}

}  // namespace
}  // namespace sluice::sluicectl
