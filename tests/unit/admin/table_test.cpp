#include <gtest/gtest.h>

#include "proxy/ops/admin/client.hpp"
#include "proxy/ops/admin/printable.hpp"

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

TEST(Table, WidthCountsCharacters) {
  EXPECT_EQ(to_table({{"δ", 1}, {"ab", 2}}), "δ   1\nab  2\n");
}

TEST(Table, ControlCharactersAreEscaped) {
  const std::string red = "\x1b[31mred\x07";
  EXPECT_EQ(to_table(red), "\\x1b[31mred\\x07\n");
  EXPECT_EQ(to_table({{red, 1}}), "\\x1b[31mred\\x07  1\n");
  EXPECT_EQ(to_table({{"name", "a\nb\r"}}), "name  a\\x0ab\\x0d\n");
  EXPECT_EQ(to_table(Json::array({{{red, "\x7f"}}})), "\\x1b[31mred\\x07\n\\x7f\n");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J \xc2\xb5s \xe2\x80\xa6 \xf0\x9f\x98\x80"),
            "\\xc2\\x9b2J \xc2\xb5s \xe2\x80\xa6 \xf0\x9f\x98\x80")
      << "C1 in UTF-8; other characters stay";
  EXPECT_EQ(printable("\xff\xc2"), "\\xff\\xc2");
}

TEST(Table, NumbersHaveThreeDecimalsAtMost) {
  EXPECT_EQ(to_table({{"ms", 13260.920291873224}, {"share", 0.5}, {"none", 0.0}, {"below", -0.0001}, {"big", 1e18}}),
            "ms     13260.92\nshare  0.5\nnone   0\nbelow  0\nbig    1000000000000000000\n");
}

TEST(Table, NoCellIsJson) {
  const Json change = {{"key", "mode"}, {"after", "bypass"}};
  EXPECT_EQ(to_table({{"changed", Json::array({change, change})}, {"kept", Json::array()}, {"up", true}}),
            "changed  key mode, after bypass, key mode, after bypass\nkept     none\nup       true\n");
  EXPECT_EQ(to_table(Json::array({{{"shard", 0}, {"driver", {{"errors", 2}, {"drops", 0}}}}})),
            "shard  driver\n0      errors 2, drops 0\n");
}

TEST(Table, OtherValuesArePrintedUnchanged) {
  EXPECT_EQ(to_table("a\nb\n"), "a\nb\n");
  EXPECT_EQ(to_table("stopping"), "stopping\n");
  EXPECT_EQ(to_table(Json::array()), "none\n");
  EXPECT_EQ(to_table(Json::array({1, 2})), "1, 2\n");
  EXPECT_EQ(to_table(""), "");
}

}  // namespace
}  // namespace sluice::admin
