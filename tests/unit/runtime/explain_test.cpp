// Tests of the explanations of words: the generated reference, and the ways in which a word is found.
#include "proxy/daemon/status/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Words of every kind, of which some are a part of others.
std::vector<Explanation> sample() {
  return {{"bearers.ue", "column", "address of the UE"},
          {"flows.ue", "column", "address of the connection's UE"},
          {"released_idle", "reason", "the connection was idle"},
          {"proxy.flows_split", "counter", "connections split"},
          {"proxy.released_idle", "counter", "connections handed back while idle"},
          {"sluice_reports_total", "metric", "reports accepted"},
          {"sluice_flows", "metric", "connections"},
          {"smvs.law", "key", "the law"}};
}

/// Returns the words that the answer explains.
std::vector<std::string> words(const Answer& answer) {
  std::vector<std::string> found;
  if (!answer.ok) return {"refused: " + answer.value.get<std::string>()};
  for (const Json& each : answer.value) found.push_back(each.at("word").get<std::string>());
  return found;
}

TEST(Explain, AWordIsExplainedWithItsKindAndMeaning) {
  const Answer answer = explain(sample(), "bearers.ue");
  ASSERT_TRUE(answer.ok);
  EXPECT_EQ(answer.value, Json::parse(R"([{"word": "bearers.ue", "kind": "column", "meaning": "address of the UE"}])"));
}

TEST(Explain, ACompleteWordIsPreferredToAShortForm) {
  EXPECT_THAT(words(explain(sample(), "released_idle")), ElementsAre("released_idle"));
}

TEST(Explain, ThePartAfterTheLastDotIsAShortForm) {
  EXPECT_THAT(words(explain(sample(), "ue")), ElementsAre("bearers.ue", "flows.ue"));
  EXPECT_THAT(words(explain(sample(), "flows_split")), ElementsAre("proxy.flows_split"));
  EXPECT_THAT(words(explain(sample(), "law")), ElementsAre("smvs.law"));
}

TEST(Explain, AReasonIsFoundWithoutItsPrefixAndNothingElseIs) {
  EXPECT_THAT(words(explain(sample(), "idle")), ElementsAre("released_idle"));
  EXPECT_FALSE(explain(sample(), "split").ok) << "a counter has no prefix before an underscore";
}

TEST(Explain, AMetricIsFoundWithAndWithoutItsSuffix) {
  EXPECT_THAT(words(explain(sample(), "sluice_reports")), ElementsAre("sluice_reports_total"));
  EXPECT_THAT(words(explain(sample(), "sluice_flows_total")), ElementsAre("sluice_flows"));
}

TEST(Explain, AnUnknownWordIsRefusedWithTheMostSimilarOne) {
  EXPECT_THAT(words(explain(sample(), "flows_splitt")),
              ElementsAre("refused: unknown word 'flows_splitt'; did you mean flows_split?"))
      << "counters are suggested without their prefix";
  EXPECT_THAT(words(explain(sample(), "smvs.lw")),
              ElementsAre("refused: unknown word 'smvs.lw'; did you mean smvs.law?"))
      << "keys are suggested whole";
  EXPECT_THAT(words(explain(sample(), "xyzzy_plugh")),
              ElementsAre("refused: unknown word 'xyzzy_plugh'; sluice --help-words lists all words"));
}

TEST(Explain, EveryTableOfTheProgramIsExplained) {
  std::set<std::string_view> kinds;
  for (const Explanation& each : explanations()) {
    kinds.insert(each.kind);
    EXPECT_FALSE(each.word.empty() || each.meaning.empty()) << each.word << ": " << each.meaning;
  }
  EXPECT_THAT(kinds, ElementsAre("column", "command", "counter", "key", "metric", "mode", "phase", "reason"));
}

TEST(Explain, AColumnOfATableHasTheUnitOfItsTitle) {
  const std::vector<Explanation> all = explanations();
  for (const auto& [word, unit] : {std::pair("bearers.rate_Mbps", ", in Mb/s"),
                                   {"bearers.queue_kB", ", in kB"},
                                   {"bearers.delay_ms", ", in ms"}}) {
    const Answer answer = explain(all, word);
    ASSERT_TRUE(answer.ok) << word;
    EXPECT_THAT(answer.value.at(0).at("meaning").get<std::string>(), testing::EndsWith(unit)) << word;
  }
}

TEST(Explain, AKeyIsExplainedWithItsKindAndDefault) {
  EXPECT_THAT(explain(explanations(), "mtu").value.dump(), HasSubstr("default: "));
}

TEST(Explain, TheReferenceInTheRepositoryIsUpToDate) {
  std::stringstream page;
  page << std::ifstream(SLUICE_SOURCE_DIR "/proxy/daemon/status/WORDS.md").rdbuf();
  EXPECT_EQ(page.str(), word_reference()) << "write it again: sluice --help-words > proxy/daemon/status/WORDS.md";
}

}  // namespace
}  // namespace sluice::proxy
