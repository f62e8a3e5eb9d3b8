// Tests of the history of a live page: a bounded ring of rows, and its JSON text.
#include "proxy/ops/http/history.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <stdexcept>

namespace sluice::page {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

TEST(History, IsEmptyAtFirst) {
  const History history({"rate_bps"});
  EXPECT_EQ(history.size(), 0U);
  EXPECT_EQ(history.json(), R"({"columns":["time_s","rate_bps"],"rows":[]})");
  EXPECT_EQ(history.newest_json(), "null");
}

TEST(History, ReturnsRowsFromTheOldestToTheNewest) {
  History history({"rate_bps", "delay_ms"});
  history.add(1, std::array{2e6F, 12.5F});
  history.add(2.0004, std::array{0.F, unknown});
  EXPECT_EQ(history.json(),
            R"({"columns":["time_s","rate_bps","delay_ms"],"rows":[[1.000,2e+06,12.5],[2.000,0,null]]})");
  EXPECT_EQ(history.newest_json(), R"({"time_s":2.000,"rate_bps":0,"delay_ms":null})");
}

TEST(History, KeepsTheNewestRowsInConstantMemory) {
  History history({"value"}, 3);
  const std::size_t bytes = history.bytes();
  for (int i = 1; i <= 5; ++i) history.add(i, std::array{static_cast<float>(10 * i)});
  EXPECT_EQ(history.size(), 3U);
  EXPECT_EQ(history.bytes(), bytes);
  EXPECT_EQ(history.json(), R"({"columns":["time_s","value"],"rows":[[3.000,30],[4.000,40],[5.000,50]]})");
}

TEST(History, RefusesARowOfOtherLength) {
  History history({"value"}, 3);
  EXPECT_THROW(history.add(1, std::array{1.F, 2.F}), std::invalid_argument);
  EXPECT_THROW(History({"value"}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::page
