#include "control/decision_log/line_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace sluice::control {
namespace {

TEST(LineWriter, WritesObjectsAndLists) {
  std::array<char, 200> room{};
  LineWriter line(room);
  line.open('{');
  line.name("a");
  line.whole(std::int64_t{-1});
  line.name("b");
  line.open('[');
  line.truth(true);
  line.nothing();
  line.word("text");
  line.close(']');
  line.name("c");
  line.open('{');
  line.close('}');
  line.name("d");
  line.amount(0.02, "s");
  line.close('}');
  line.end_line();

  EXPECT_TRUE(line.fits());
  EXPECT_EQ(line.text(), "{\"a\":-1,\"b\":[true,null,\"text\"],\"c\":{},\"d\":\"0.02 s\"}\n");
}

TEST(LineWriter, NumbersAreReadBackAsTheyWere) {
  for (const double number : {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789012345678.0}) {
    std::array<char, 64> room{};
    LineWriter line(room);
    line.real(number);
    EXPECT_EQ(std::strtod(std::string(line.text()).c_str(), nullptr), number);
  }
}

TEST(LineWriter, NanAndInfinityAreWrittenAsText) {
  std::array<char, 64> room{};
  LineWriter line(room);
  line.real(std::numeric_limits<double>::infinity());
  EXPECT_EQ(line.text(), "\"infinite\"");
  line.clear();
  line.real(std::nan(""));
  EXPECT_EQ(line.text(), "\"not a number\"");
}

TEST(LineWriter, ReportsALineThatDoesNotFit) {
  std::array<char, 8> room{};
  LineWriter line(room);
  line.word("123456");
  EXPECT_TRUE(line.fits());
  line.end_line();
  EXPECT_FALSE(line.fits());
  line.clear();
  EXPECT_TRUE(line.fits());
  EXPECT_EQ(line.text(), "");
}

}  // namespace
}  // namespace sluice::control
