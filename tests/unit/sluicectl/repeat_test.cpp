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

TEST(Repetition, TheEndsOfRangesAreAllowed) {
  const auto take = [](std::vector<std::string> words) { return Repetition::take(words); };
  EXPECT_EQ(take({"--interval", "0.1"}).interval, 100ms);
  EXPECT_EQ(take({"--interval", "3600"}).interval, 1h);
  EXPECT_EQ(take({"--count", "1"}).count, 1U);
  for (const char* const seconds : {"0.09", "3600.1"})
    EXPECT_THROW(static_cast<void>(take({"--interval", seconds})), std::invalid_argument) << seconds;
}

TEST(AskedLine, WordsThatWouldBeTwoAreRefused) {
  EXPECT_EQ(asked_line("capture", {"--ue", "10.0.0.2"}, ""), "capture --ue 10.0.0.2");
  EXPECT_EQ(asked_line("capture", {}, ""), "capture");
  for (const char* const word : {"", "a b", "a\tb", "a\nb", "a\rb"})
    EXPECT_THROW(static_cast<void>(asked_line("capture", {word}, "")), std::invalid_argument) << word;
}

}  // namespace
}  // namespace sluice::sluicectl
