// Tests of the table of answers: it has the values of all tables for people, and a schema for each command.
#include "proxy/ops/admin/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "proxy/ops/admin/columns.hpp"
#include "proxy/ops/admin/proxy_commands.hpp"

namespace sluice::admin {
namespace {

TEST(Answers, EveryColumnOfATableIsAValueOfTheAnswer) {
  for (const ColumnTable& table : column_tables) {
    for (const Column& column : table.columns) {
      const std::string path = std::string(table.rows) + "." + std::string(column.key);
      EXPECT_NE(answer_field(table.command, path), nullptr) << table.command << ' ' << path;
    }
  }
}

TEST(Answers, EveryCommandWithASingleAnswerHasASchema) {
  constexpr std::array<std::string_view, 2> streams{"capture", "trace"};
  const Json schemas = answer_schema()["$defs"];
  for (const Verb& verb : proxy_verbs) {
    const bool is_stream = std::find(streams.begin(), streams.end(), verb.name) != streams.end();
    EXPECT_NE(schemas.contains(std::string(verb.name)), is_stream) << verb.name;
  }
  EXPECT_TRUE(schemas.contains("flows --passing"));
}

TEST(Answers, AnUnknownValueIsNullInTheSchema) {
  const Json bearer = answer_schema()["$defs"]["bearers"]["items"]["properties"];
  for (const char* const key : {"window_bytes", "observed_window_bytes", "mean_rate_bps", "service_rate_bps"})
    EXPECT_EQ(bearer[key]["type"], Json({"integer", "null"})) << key;
}

}  // namespace
}  // namespace sluice::admin
