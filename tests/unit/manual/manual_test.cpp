// Tests of generated manual pages and shell completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "proxy/ops/sluicectl/completion.hpp"
#include "proxy/ops/sluicectl/pages.hpp"

namespace sluice::manual {
namespace {

using testing::HasSubstr;
using testing::Not;

const Title title{"tool", 1, "does it", "1.2"};

std::string page_of(const std::string& text) {
  Roff page(title);
  page.paragraph(text);
  return page.text();
}

TEST(Roff, BeginsWithTheNameLineOfApropos) {
  const std::string page = Roff(title).text();
  EXPECT_THAT(page, HasSubstr(".TH \"TOOL\" 1 \"\" \"sluice 1.2\" \"Sluice\"\n"));
  EXPECT_THAT(page, HasSubstr(".SH \"NAME\"\ntool \\- does it\n"));
}

TEST(Roff, ControlCharactersOfTheFormatterAreEscaped) {
  EXPECT_THAT(page_of(".so /etc/shadow"), HasSubstr("\n\\&.so /etc/shadow\n"));
  EXPECT_THAT(page_of("one\n.two"), HasSubstr("one\n\\&.two\n"));
  EXPECT_THAT(page_of("'three"), HasSubstr("\n\\&'three\n"));
  EXPECT_THAT(page_of("a\\fBb"), HasSubstr("a\\efBb\n"));
}

TEST(Roff, LiteralTextIsBold) {
  EXPECT_THAT(page_of("say `--so` now"), HasSubstr("say \\fB\\-\\-so\\fR now\n"));
}

class ManualTest : public testing::Test {
 protected:
  ManualTest() {
    app.footer("Exit codes: none.");
    app.add_option("--out,-o", out, "where to")->required();
    app.add_flag("--loud", loud, "say all");
    CLI::App* below = app.add_subcommand("trace", "traces");
    below->add_subcommand("generate", "draws one")->add_option("--seed", seed, "of the draw");
  }
  [[nodiscard]] std::string page(const std::vector<Verb>& verbs = {}) const {
    return program_page(title, {{"It is a tool."}, {"other(8)"}}, app, verbs);
  }
  CLI::App app{"a tool", "tool"};
  std::string out;
  int seed = 0;
  bool loud = false;
};

TEST_F(ManualTest, APageHasEveryOptionOfEverySubcommand) {
  EXPECT_THAT(page(), HasSubstr("\\fB\\-o\\fR, \\fB\\-\\-out\\fR TEXT\nwhere to. Required.\n"));
  EXPECT_THAT(page(), HasSubstr("\\fB\\-\\-loud\\fR\nsay all.\n"));
  EXPECT_THAT(page(), HasSubstr(".SS \"trace generate\"\n.PP\ndraws one.\n"));
  EXPECT_THAT(page(), HasSubstr("\\fB\\-\\-seed\\fR INT\nof the draw.\n"));
  EXPECT_THAT(page(), HasSubstr(".SH \"NOTES\"\n.PP\nExit codes: none.\n"));
  EXPECT_THAT(page(), HasSubstr("\\fBother(8)\\fR"));
}

TEST_F(ManualTest, APageListsTheVerbs) {
  EXPECT_THAT(page({{"drain [off]", "lets go"}}), HasSubstr("\\fBdrain [off]\\fR\nlets go.\n"));
}

TEST(FilePage, HasEveryKeyOfEveryMap) {
  const std::string page = file_page(
      title, {}, {{"", {{"mode", "word", "", "`a`", "which"}}}, {"tcp", {{"rto", "time", "1s … 2s", "`1s`", "long"}}}});
  EXPECT_THAT(page, HasSubstr(".SS \"Top level\"\n.TP\n\\fBmode\\fR (word; \\fBa\\fR)\nwhich.\n"));
  EXPECT_THAT(page, HasSubstr(".SS \"tcp\"\n.TP\n\\fBrto\\fR (time, 1s … 2s; \\fB1s\\fR)\nlong.\n"));
}

TEST_F(ManualTest, CompletionOffersOptionsAndSubcommandsOfTheTypedCommand) {
  const std::string script = completion("bash", app);
  EXPECT_THAT(script, HasSubstr("[\"tool\"]=\"--help --out --loud\""));
  EXPECT_THAT(script, HasSubstr("[\"tool\"]=\"trace\""));
  EXPECT_THAT(script, HasSubstr("[\"tool trace\"]=\"generate\""));
  EXPECT_THAT(script, HasSubstr("[\"tool trace generate\"]=\"--help --seed\""));
  EXPECT_THAT(script, HasSubstr("complete -o bashdefault -o default -F _tool tool\n"));
}

TEST_F(ManualTest, CompletionOffersTheLiteralArgumentsOfAVerb) {
  const std::string script =
      completion("bash", app, {{"mode [MODE [split|auto]]", ""}, {"reload [--within TIME]", ""}});
  EXPECT_THAT(script, HasSubstr("[\"tool\"]=\"trace mode reload\""));
  EXPECT_THAT(script, HasSubstr("[\"tool mode\"]=\"split auto\""));
  EXPECT_THAT(script, HasSubstr("[\"tool reload\"]=\"--within\""));
  EXPECT_THAT(script, Not(HasSubstr("TIME")));
}

}  // namespace
}  // namespace sluice::manual
