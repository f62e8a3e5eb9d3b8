#include "proxy/daemon/status/counter_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Instant start = Instant(100s);

std::vector<NamedCounter> drops(std::uint64_t value) {
  return {{"a.received", "frames", value * 1000, false}, {"a.drop", "frames dropped", value, true}};
}

TEST(CounterWatch, DoesNotWarnWhileNoWatchedCounterGrows) {
  CounterWatch watch(10s);
  EXPECT_THAT(watch.look(drops(0), start), IsEmpty());
  EXPECT_THAT(watch.look(drops(0), start + 1min), IsEmpty());
}

TEST(CounterWatch, WarnsAtOnceAndThenOncePerPeriodWithTheDifference) {
  CounterWatch watch(10s);
  EXPECT_THAT(watch.look(drops(3), start), ElementsAre("a.drop: 3 more (3 in all): frames dropped"));
  EXPECT_THAT(watch.look(drops(50), start + 1s), IsEmpty());
  EXPECT_THAT(watch.look(drops(70), start + 9s), IsEmpty());
  EXPECT_THAT(watch.look(drops(100), start + 10s), ElementsAre("a.drop: 97 more (100 in all): frames dropped"));
  EXPECT_THAT(watch.look(drops(100), start + 30s), IsEmpty());
  EXPECT_THAT(watch.look(drops(101), start + 31s), ElementsAre("a.drop: 1 more (101 in all): frames dropped"));
}

TEST(CounterWatch, AWarningNamesTheNewestCase) {
  CounterWatch watch(10s);
  EXPECT_THAT(watch.look({{"a", "x", 1, true, "it was sender 7"}}, start),
              ElementsAre("a: 1 more (1 in all): x; it was sender 7"));
}

TEST(CounterWatch, EachCounterHasItsOwnPeriod) {
  CounterWatch watch(10s);
  EXPECT_EQ(watch.look({{"a", "x", 1, true}, {"b", "y", 0, true}}, start).size(), 1U);
  EXPECT_EQ(watch.look({{"a", "x", 2, true}, {"b", "y", 1, true}}, start + 1s).size(), 1U);
}

}  // namespace
}  // namespace sluice::proxy
