// Tests of scenarios with several Node-Bs and handovers between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "emulator/scenario/describe.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/unit/nodeb/scenario_errors.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string two_nodebs = R"(cell:
  name: west
  scheduler: pf
  ues:
    - address: 10.45.0.2
      channel: {type: constant, rate: 5Mb/s}
nodebs:
  - {name: east, cells: 2}
moves:
)";

TEST(ScenarioNodebs, FurtherNodeBsInheritFromTheFirst) {
  const auto plan = parse_plan(two_nodebs +
                                   "  - {type: handover, at: 1s, nodeb: east, cell: 1}\n"
                                   "  - {type: outage, at: 2s}\n"
                                   "  - {type: handover, at: 3s, nodeb: west, path_switch: 30ms}\n",
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  ASSERT_EQ(plan->base.nodeb_count(), 2U);
  EXPECT_EQ(plan->base.radio(1).name, "east");
  EXPECT_EQ(plan->base.radio(1).scheduler, "pf");
  EXPECT_EQ(plan->base.radio(1).cells, 2U);
  const std::vector<MoveSpec>& moves = plan->base.moves;
  EXPECT_TRUE(moves[0].between_nodebs());
  EXPECT_EQ(moves[0].to, 1U);
  EXPECT_EQ(moves[1].from, 1U) << "the outage is at the Node-B that the UE is with by then";
  EXPECT_EQ(moves[2].to, 0U);
  EXPECT_EQ(moves[2].path_switch, 30ms);
}

TEST(ScenarioNodebs, HandoversBetweenNodeBsAreChecked) {
  const auto moves = [](const std::string& text) { return errors_of(two_nodebs + text); };
  EXPECT_THAT(moves("  - {type: handover, at: 1s, nodeb: north}\n"),
              HasSubstr("s.yaml:10:30: moves[0].nodeb, expected a Node-B: west, east, got \"north\""));
  EXPECT_THAT(moves("  - {type: handover, at: 1s, nodeb: west}\n"),
              HasSubstr("s.yaml:10:30: moves[0].nodeb, expected another Node-B than the one that the UE is with"));
  EXPECT_THAT(moves("  - {type: handover, at: 1s, nodeb: east}\n  - {type: handover, at: 2s, nodeb: east}\n"),
              HasSubstr("s.yaml:11:30: moves[1].nodeb, expected another"));
  EXPECT_THAT(moves("  - {type: handover, at: 1s, nodeb: east, cell: 2}\n"),
              HasSubstr("s.yaml:10:43: moves[0].cell, expected a cell below 2"));
  EXPECT_THAT(moves("  - {type: handover, at: 1s, nodeb: east}\n  - {type: handover, at: 1055ms, nodeb: west}\n"),
              HasSubstr("s.yaml:11:22: moves[1].at, expected what happens to a UE one after the other"))
      << "the path has not been switched";
  EXPECT_THAT(moves("  - {type: handover, at: 59950ms, nodeb: east}\n"),
              HasSubstr("s.yaml:10:22: moves[0].at, expected the UE to be with the other Node-B before the run ends"));
  EXPECT_THAT(moves("  - {type: outage, at: 1s, nodeb: east}\n"), HasSubstr("only when type is handover"));
}

TEST(ScenarioNodebs, NodeBsHaveUniqueNamesThatUesReferTo) {
  const std::string nodebs = "nodebs: [{name: east}, {name: east}]\n";
  EXPECT_THAT(errors_of(smallest + nodebs), HasSubstr("s.yaml:5:25: nodebs[1].name, expected every name once"));
  EXPECT_THAT(errors_of(smallest + "nodebs: [{cells: 2}]\n"), HasSubstr("missing key 'nodebs[0].name'"));
  EXPECT_THAT(errors_of("cell: {ues: [{address: 10.0.0.1, nodeb: east, channel: {type: constant}}]}\n"),
              HasSubstr("s.yaml:1:34: cell.ues[0].nodeb, expected a Node-B: first, got \"east\""));
  EXPECT_THAT(
      errors_of("cell: {ues: [{address: 10.0.0.1, channel: {type: wlan}}]}\nmodes: [none]\nnodebs: [{name: b}]\n"),
      HasSubstr("s.yaml:3:1: nodebs, expected cells with TTIs"));
}

TEST(ScenarioNodebs, NodeBsNeedDistinctSendersAndAddresses) {
  const std::string keys = "keys: [{id: 1, secret: \"000102030405060708090a0b0c0d0e0f\"}]";
  const std::string live = "live: {feedback: {listen: 127.0.0.1:7001, sender: 5, " + keys + "}}\n";
  const auto further = [&](const std::string& listen, const std::string& sender) {
    return errors_of(smallest + live + "nodebs: [{name: b, feedback: {listen: " + listen + ", sender: " + sender +
                     ", " + keys + "}}]\n");
  };
  EXPECT_EQ(further("127.0.0.1:7002", "6"), "");
  EXPECT_THAT(further("127.0.0.1:7002", "5"), HasSubstr("nodebs[0].feedback.sender, expected another id"));
  EXPECT_THAT(further("127.0.0.1:7001", "6"), HasSubstr("nodebs[0].feedback.listen, expected another address"));
}

}  // namespace
}  // namespace sluice::emulator
