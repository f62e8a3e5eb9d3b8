// Tests of the command lines and output of sluicectl trace and replay.
#include "proxy/ops/sluicectl/trace.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace sluice::sluicectl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string trace_of_two_decisions =
    R"({"sluice_trace":1})"
    "\n"
    R"({"at":0,"of":1,"law":"node-b","event":"state","ue":"10.0.0.2","made_of":{},"state":{}})"
    "\n"
    R"({"at":0,"of":1,"law":"node-b","event":"report",)"
    R"("in":{"report":{"allowance":1,"mean_rate":0,"period":5}},"out":{"allowance":1}})"
    "\n"
    R"({"at":7,"of":1,"law":"node-b","event":"report",)"
    R"("in":{"report":{"allowance":2,"mean_rate":0,"period":5}},"out":{"allowance":2}})"
    "\n";
const std::string end = R"({"at":9,"event":"end","lines":3,"lost":0})"
                        "\n";

struct Replayed {
  bool fine = false;
  std::string out;
  std::string said;
};
Replayed replayed(const std::string& text, std::vector<control::Replay::Change> changes = {}) {
  std::istringstream trace(text);
  std::ostringstream out;
  std::ostringstream said;
  const bool fine = replay(trace, {"file", std::move(changes)}, out, said);
  return {fine, out.str(), said.str()};
}

TEST(TraceCommand, TakesTheFileAndForwardsTheRest) {
  const TraceCommand command = TraceCommand::take({"10.0.0.2", "-w", "file", "--seconds", "3"});
  EXPECT_EQ(command.line, "trace 10.0.0.2 --seconds 3");
  EXPECT_EQ(command.file, "file");
  EXPECT_EQ(TraceCommand::take({"10.0.0.2"}).file, "-");
  EXPECT_THROW(TraceCommand::take({"10.0.0.2 --seconds"}), std::invalid_argument);
  EXPECT_THROW(TraceCommand::take({"10.0.0.2", "-w"}), std::invalid_argument);
}

TEST(ReplayCommand, ParsesAFileAndChanges) {
  const ReplayCommand command = ReplayCommand::take({"--set", "gain=2", "file", "--set", "clamp.gain=600"});
  EXPECT_EQ(command.file, "file");
  ASSERT_EQ(command.changes.size(), 2U);
  EXPECT_EQ(command.changes[1].name, "clamp.gain");
  EXPECT_EQ(command.changes[1].value, "600");
  EXPECT_THROW(ReplayCommand::take({}), std::invalid_argument);
  EXPECT_THROW(ReplayCommand::take({"a", "b"}), std::invalid_argument);
  for (const char* const change : {"gain", "=2", "gain="})
    EXPECT_THROW(ReplayCommand::take({"file", "--set", change}), std::invalid_argument) << change;
}

TEST(ReplayRun, ReportsThatNothingDiffers) {
  const Replayed result = replayed(trace_of_two_decisions + end);
  EXPECT_TRUE(result.fine);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(result.said, "2 decisions of 1 law, all as recorded\n");
}

TEST(ReplayRun, ShowsTheFirstDecisionThatDiffers) {
  std::string text = trace_of_two_decisions;
  text.replace(text.rfind(R"("out":{"allowance":2)"), 20, R"("out":{"allowance":3)");
  const Replayed result = replayed(text);
  EXPECT_FALSE(result.fine);
  EXPECT_EQ(result.out, R"({"line":4,"at":7,"of":1,"law":"node-b","event":"report","recorded":{"allowance":3},)"
                        R"("replayed":{"allowance":2}})"
                        "\n");
  EXPECT_EQ(result.said, "2 decisions of 1 law, 1 otherwise than recorded; the trace is cut off\n");
}

TEST(ReplayRun, ReportsWhatTheTraceLacks) {
  const Replayed result = replayed(R"({"sluice_trace":1})"
                                   "\n"
                                   R"({"of":3,"event":"report","in":{},"out":{}})"
                                   "\n"
                                   R"({"event":"end","lines":1,"lost":4})"
                                   "\n");
  EXPECT_EQ(result.said,
            "0 decisions of 0 laws, all as recorded; 1 more of controllers whose state is not recorded; 4 lines lost "
            "when it was "
            "taken\n");
}

TEST(ReplayRun, RefusesAChangeThatNoControllerUses) {
  EXPECT_THROW(replayed(trace_of_two_decisions, {{"gain", "2"}}), std::runtime_error);
  EXPECT_THROW(replayed(""), std::runtime_error);
}

}  // namespace
}  // namespace sluice::sluicectl
