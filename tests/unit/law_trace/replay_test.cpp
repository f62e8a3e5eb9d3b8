// Tests of the replay of a decision log: errors of the file, differences and changed parameters.
#include "control/decision_log/replay.hpp"

#include <gmock/gmock.h>

#include "tests/unit/law_trace/recorded.hpp"

namespace sluice::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string state_of_smvs = [] {
  Recorded recorded;
  DecisionLog trace(recorded, {ue, {}});
  Smvs law{SmvsParameters()};
  traced<RecordedController<Smvs>::Restart>(&trace, law, [] { return ControllerIdentity<SmvsParameters>{{ue}, {}}; });
  return recorded.lines.front();
}();

/// Returns the error for a trace that contains this line.
std::string problem_with(const std::string& line, const std::vector<Replay::Change>& changes = {}) {
  Replay replay([](const Replay::Difference&) {}, changes);
  replay.take(R"({"sluice_trace":1})");
  try {
    replay.take(line);
  } catch (const ReplayError& problem) {
    return problem.what();
  }
  return "none";
}

std::string with(std::string line, const std::string& old, const std::string& instead) {
  const std::size_t at = line.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return line.replace(at, old.size(), instead);
}

TEST(Replay, RefusesTracesOfAnotherFormat) {
  Replay replay([](const Replay::Difference&) {});
  EXPECT_THROW(replay.take(R"({"sluice_trace":2})"), ReplayError);
  Replay another([](const Replay::Difference&) {});
  EXPECT_THROW(another.take("{}"), ReplayError);
}

TEST(Replay, ReportsTheLineOfAnError) {
  EXPECT_EQ(problem_with(state_of_smvs), "none");
  EXPECT_EQ(problem_with("what"), "line 2: it is no JSON object");
  EXPECT_EQ(problem_with("[]"), "line 2: it is no JSON object");
  EXPECT_EQ(problem_with("{}"), "line 2: event: expected to be there");
  EXPECT_EQ(problem_with(R"({"event":"x"})"), "line 2: of: expected to be there");
  EXPECT_EQ(problem_with(std::string(Replay::longest_line + 1, ' ')), "line 2: it is longer than any line of a trace");
  EXPECT_THAT(problem_with(with(state_of_smvs, "\"alpha\":0.92", "\"alpha\":\"a\"")),
              HasSubstr("line 2: made_of.alpha: expected a number from"));
  EXPECT_THAT(problem_with(with(state_of_smvs, "\"alpha\":0.92", "\"alpha\":2")), HasSubstr("0 < α < 1"));
  EXPECT_EQ(problem_with(with(state_of_smvs, "\"mean_known\"", "\"mean_unknown\"")),
            "line 2: state.mean_known: expected to be there");
  EXPECT_EQ(problem_with(with(state_of_smvs, "\"mean_known\"", "\"more\":1,\"mean_known\"")),
            "line 2: state.more: expected not to be there: no such name is known");
  EXPECT_THAT(problem_with(with(state_of_smvs, "\"law\":\"smvs\"", "\"law\":\"none\"")), HasSubstr("made_of.law"));
}

TEST(Replay, RefusesIndicesBeyondAnArray) {
  EXPECT_EQ(problem_with(with(state_of_smvs, "\"newest\":0", "\"newest\":17")),
            "line 2: state.eta.newest: expected a whole number from 0 to 16");
  EXPECT_EQ(problem_with(with(state_of_smvs, "\"used\":0", "\"used\":18")),
            "line 2: state.eta.used: expected a whole number from 0 to 17");
  EXPECT_THAT(problem_with(with(state_of_smvs, "\"slices\":[", "\"slices\":[1,")), HasSubstr("a list of 17"));
  EXPECT_THAT(problem_with(with(state_of_smvs, "\"busy_until\":0", "\"busy_until\":9223372036854775807")),
              HasSubstr("state.busy_until: expected a whole number from"));
}

TEST(Replay, CountsCallsOfUnknownControllers) {
  const ReplayTotals totals =
      replayed({R"({"of":7,"event":"step","in":{},"out":{}})", R"({"event":"end","lines":1,"lost":0})"});
  EXPECT_EQ(totals.unknown, 1U);
  EXPECT_EQ(totals.decisions, 0U);
  EXPECT_TRUE(totals.complete);
  EXPECT_FALSE(replayed({}).complete);
}

TEST(Replay, RefusesAnUnknownCallOfAController) {
  Replay replay([](const Replay::Difference&) {});
  replay.take(R"({"sluice_trace":1})");
  replay.take(state_of_smvs);
  EXPECT_THROW(replay.take(R"({"of":1,"event":"jump","in":{},"out":{}})"), ReplayError);
}

TEST(Replay, ReportsBothOutcomesOfADifference) {
  std::string told;
  Replay replay([&](const Replay::Difference& difference) {
    told = std::to_string(difference.line) + difference.recorded.at("out").dump() + difference.out.dump();
  });
  replay.take(R"({"sluice_trace":1})");
  replay.take(R"({"of":1,"law":"node-b","event":"state","ue":"10.0.0.2","made_of":{},"state":{}})");
  replay.take(R"({"of":1,"law":"node-b","event":"report","in":{"report":{"allowance":9,"mean_rate":0,"period":0}},)"
              R"("out":{"allowance":8}})");
  EXPECT_EQ(told, R"(3{"allowance":8}{"allowance":9})");
}

TEST(Replay, ListsUnusedChanges) {
  Replay replay([](const Replay::Difference&) {}, {{"alpha", "0.9"}, {"gain", "2"}, {"clamp.gain", "3"}});
  replay.take(R"({"sluice_trace":1})");
  replay.take(state_of_smvs);
  EXPECT_THAT(replay.unused_changes(), ElementsAre("gain", "clamp.gain"));
}

TEST(Replay, AChangeOfAnUnknownNameChangesNothing) {
  for (const char* const name : {"", ".", "..", ".alpha", "alpha.x", "a~b", "a/b", "reference.value"}) {
    Replay replay([](const Replay::Difference&) {}, {{name, "1"}});
    replay.take(R"({"sluice_trace":1})");
    replay.take(state_of_smvs);
    EXPECT_THAT(replay.unused_changes(), ElementsAre(name));
  }
}

TEST(Replay, RefusesAnInvalidChange) {
  EXPECT_THAT(problem_with(state_of_smvs, {{"delta", "1000"}}), HasSubstr("δ·Ts < 1"));
  EXPECT_THAT(problem_with(state_of_smvs, {{"reference", "many"}}), HasSubstr("made_of.reference"));
}

}  // namespace
}  // namespace sluice::control
