#include <gtest/gtest.h>

#include "proxy/admin/client.hpp"

namespace sluice::admin {
namespace {

TEST(Table, AnObjectBecomesAlignedLines) {
  EXPECT_EQ(to_table({{"mode", "smvs"}, {"ports", {{"radio", "up"}, {"core", "down"}}}, {"flows", 3}}),
            "mode         smvs\nports.radio  up\nports.core   down\nflows        3\n");
}

TEST(Table, AListOfObjectsBecomesATable) {
  const Json list = Json::array({{{"ue", "10.0.0.1"}, {"flows", 3}}, {{"ue", "10.0.0.200"}, {"flows", nullptr}}});
  EXPECT_EQ(to_table(list), "ue          flows\n10.0.0.1    3\n10.0.0.200  -\n");
}

TEST(Table, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(to_table({{"δ", 1}, {"ab", 2}}), "δ   1\nab  2\n");
}

TEST(Table, TheRestIsPrintedAsItIs) {
  EXPECT_EQ(to_table("a\nb\n"), "a\nb\n");
  EXPECT_EQ(to_table("stopping"), "stopping\n");
  EXPECT_EQ(to_table(Json::array()), "none\n");
  EXPECT_EQ(to_table(Json::array({1, 2})), "[1,2]\n");
  EXPECT_EQ(to_table(""), "");
}

}  // namespace
}  // namespace sluice::admin
