// Tests of the table of admin commands: parsing of a line, lookup of a verb, and errors. The line comes from any
// client of the socket.
#include "proxy/ops/admin/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace sluice::admin {
namespace {

using testing::HasSubstr;

CommandTable table() {
  return CommandTable({
      {"echo", "[WORD [WORD]]", "says it again", 2,
       [](const std::vector<std::string>& words, const Reply& reply) { reply(Answer::success(words)); }},
      {"fail", "", "throws", 0,
       [](const std::vector<std::string>&, const Reply&) { throw std::runtime_error("as it should"); }},
  });
}

Answer answer_to(std::string_view line) {
  Answer result = Answer::failure("never answered");
  table().run(line, [&result](const Answer& answer) { result = answer; });
  return result;
}

TEST(CommandTable, RunsACommandWithItsArguments) {
  const Answer answer = answer_to("  echo a\tb \r");
  EXPECT_TRUE(answer.ok);
  EXPECT_EQ(answer.value, (Json{"a", "b"}));
}

TEST(CommandTable, RefusesUnknownCommands) {
  EXPECT_THAT(answer_to("").value, "no command; try help");
  EXPECT_THAT(answer_to("  ").value, "no command; try help");
  EXPECT_THAT(answer_to("ech").value, "unknown command 'ech'; did you mean echo?");
  EXPECT_THAT(answer_to("reboot").value, "unknown command 'reboot'; try help");
  EXPECT_THAT(answer_to("echo a b c").value, "too many arguments; usage: echo [WORD [WORD]]");
  EXPECT_FALSE(answer_to(std::string(500, 'x')).ok);
}

TEST(CommandTable, AnExceptionIsAFailure) {
  const Answer answer = answer_to("fail");
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.value, "fail: as it should");
}

TEST(CommandTable, HelpListsEverything) {
  const Answer answer = answer_to("help");
  ASSERT_TRUE(answer.ok);
  ASSERT_EQ(answer.value.size(), 3U);
  EXPECT_EQ(answer.value[0]["command"], "echo [WORD [WORD]]");
  EXPECT_EQ(answer.value[2]["command"], "help");
}

TEST(Answer, IsParsedFromItsLine) {
  for (const Answer& answer :
       {Answer::success({{"a", 1}}), Answer::success("text\nwith \"lines\""), Answer::failure("because")}) {
    const std::string line = answer.to_line();
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const Answer again = Answer::from_line(line);
    EXPECT_EQ(again.ok, answer.ok);
    EXPECT_EQ(again.value, answer.value);
  }
}

TEST(Answer, InvalidUtf8IsReplaced) {
  EXPECT_TRUE(Answer::from_line(Answer::success("a\xff"
                                                "b")
                                    .to_line())
                  .ok);
}

TEST(Answer, AMalformedLineIsAFailure) {
  for (const char* line : {"", "{", "[]", "{\"ok\":1}", "{\"ok\":false}", "\xff"}) {
    EXPECT_FALSE(Answer::from_line(line).ok) << line;
  }
}

TEST(ParseCount, AcceptsWholeNumbersInRange) {
  EXPECT_EQ(parse_count("10", 1, 10), 10U);
  for (const char* text : {"", "0", "11", "-1", "1x", " 1", "99999999999999999999"}) {
    EXPECT_FALSE(parse_count(text, 1, 10)) << text;
  }
}

}  // namespace
}  // namespace sluice::admin
