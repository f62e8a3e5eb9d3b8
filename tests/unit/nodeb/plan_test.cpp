// Tests of sweeps in scenario files: the runs that they produce, and errors.
#include "emulator/scenario/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/nodeb/scenario_errors.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string swept = R"(modes: [i-tcp, smvs]
cell:
  ues:
    - address: 10.45.0.2
      channel: {type: piecewise, min: 1Mb/s, max: 2Mb/s, period: 1s}
sweep:
  - {column: period_s, keys: [cell.ues.0.channel.period], unit: s, values: [0.02, 2]}
)";

TEST(Plan, ASweepMultipliesTheRuns) {
  const auto plan = parse_plan(swept, "s.yaml", 3);
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  ASSERT_EQ(plan->runs.size(), 2U * 2 * 3);
  EXPECT_EQ(plan->runs[0].scenario.cell.ues[0].channel.period, 20ms);
  EXPECT_EQ(plan->runs[0].swept, (std::vector<std::pair<std::string, std::string>>{{"period_s", "0.02"}}));
  EXPECT_EQ(plan->runs[2].seed, 3U);
  EXPECT_EQ(plan->runs[3].mode, RunMode::smvs);
  EXPECT_EQ(plan->runs[11].scenario.cell.ues[0].channel.period, 2s);
}

const std::string named_modes = smallest + R"(modes: [none]
sweep:
  - {column: mode, keys: [modes.0], values: [none, smvs, smvs], labels: [none, smvs, smvs by acks]}
  - {keys: [smvs.law], values: [nodeb, nodeb, acks], with: mode}
)";

TEST(Plan, ASweepMayNameTheModes) {
  const auto plan = parse_plan(named_modes, "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  ASSERT_EQ(plan->runs.size(), 3U);
  EXPECT_EQ(plan->runs[0].mode_name, "none");
  EXPECT_EQ(plan->runs[1].mode_name, "smvs");
  const RunPlan& last = plan->runs[2];
  EXPECT_EQ(last.mode_name, "smvs by acks");
  EXPECT_EQ(last.mode, RunMode::smvs);
  EXPECT_EQ(last.scenario.proxy.smvs.law, proxy::ControllerLocation::acks);
  EXPECT_TRUE(last.swept.empty()) << "neither sweep is a column of its own";
}

TEST(Plan, EachModeNameIsOneMode) {
  std::string text = named_modes;
  text.replace(text.find("modes: [none]"), 13, "modes: [none, i-tcp]");
  EXPECT_THAT(errors_of(text), HasSubstr("modes, expected one mode, because a sweep names the modes, got 2"));
}

TEST(Plan, ASweepHasAColumnOrJoinsAnotherSweep) {
  EXPECT_THAT(errors_of(smallest + "sweep:\n  - {keys: [cell.tti], values: [1ms]}\n"),
              HasSubstr("sweep[0].column, expected a name unless it advances with another sweep, got none"));
}

TEST(Plan, ASweptColumnHasANameOfItsOwn) {
  for (const std::string taken :
       {"utilisation", "drops", "radio_marks", "flow_jain", "scenario", "clock", "paper_drops"}) {
    std::string text = swept;
    text.replace(text.find("period_s"), 8, taken);
    EXPECT_THAT(errors_of(text),
                HasSubstr("s.yaml:7:6: sweep[0].column, expected a name that results.csv does not have"))
        << taken;
  }
}

TEST(Plan, SweepsMayAdvanceTogether) {
  const auto plan = parse_plan(swept +
                                   "  - {column: buffer_packets, keys: [cell.ues.*.buffer], unit: ' packets', values: "
                                   "[10, 20], with: period_s}\n"
                                   "  - {column: rate, keys: [cell.ues.0.channel.max], values: [3Mb/s, 4Mb/s, 5Mb/s], "
                                   "labels: [low, middle, high]}\n",
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  ASSERT_EQ(plan->runs.size(), 2U * 3 * 2);
  const RunPlan& last = plan->runs.back();
  EXPECT_EQ(last.scenario.cell.ues[0].buffer.limit, 20U);
  EXPECT_EQ(last.scenario.cell.ues[0].channel.period, 2s);
  EXPECT_EQ(last.swept[2].second, "high");
}

TEST(Plan, BadValuesOfASweepAreReportedAtTheirPosition) {
  const std::string text = R"(cell:
  ues: [{address: 10.45.0.2, channel: {type: constant, rate: 5Mb/s}}]
sweep:
  - column: rate
    keys: [cell.ues.0.channel.rate]
    values: [1Mb/s, fast]
)";
  EXPECT_THAT(errors_of(text), HasSubstr("s.yaml:6:21: cell.ues[0].channel.rate"));
}

TEST(Plan, PathsToNoKeyAreRefused) {
  const auto with_key = [](const std::string& key) {
    return errors_of(smallest + "sweep:\n  - {column: x, keys: [" + key + "], values: [1]}\n");
  };
  EXPECT_THAT(with_key("cell.ues.1.channel.rate"), HasSubstr("the list there has 1 elements"));
  EXPECT_THAT(with_key("cell.ues.first.channel.rate"), HasSubstr("a number or *"));
  EXPECT_THAT(with_key("cell.ues.0.address.x"), HasSubstr("a value is given above"));
  EXPECT_THAT(with_key("cell"), HasSubstr("a map or a list is given there"));
  EXPECT_THAT(with_key("cell.speed"), HasSubstr("unknown key 'cell.speed'"));
}

TEST(Plan, AKeyThatIsReadOnceIsNotSwept) {
  for (const std::string key :
       {"buffers", "live.buffers", "output.columns", "output.plots.0.title", "paper.source", "title", "sweep.0.unit"}) {
    const std::string first =
        key.starts_with("output") ? key.substr(0, key.find('.', 7)) : key.substr(0, key.find('.'));
    EXPECT_THAT(errors_of(smallest + "sweep:\n  - {column: x, keys: [seed, " + key + "], values: [40000, 80000]}\n"),
                HasSubstr("sweep, expected keys that differ between virtual-time runs; " + first +
                          " is read once for all of them, got \"" + key + "\""))
        << key;
  }
}

TEST(Plan, TooManyRunsAreRefused) {
  std::string values;
  for (int i = 1; i <= 500; ++i) values += (i > 1 ? ", " : "") + std::to_string(i);
  std::string text = smallest + "sweep:\n";
  for (const char* key : {"seed", "warmup", "cell.pf_window"}) {
    text += "  - {column: " + std::string(1, "abc"[key[0] % 3]) + ", keys: [" + key + "], values: [" + values + "]}\n";
  }
  EXPECT_THAT(errors_of(text), HasSubstr("at most 100000 runs"));
}

std::string with_paper(const std::string& values) {
  return smallest + R"(modes: [none, smvs]
sweep:
  - {column: rate, keys: [cell.ues.0.channel.rate], unit: Mb/s, values: [5, 10], labels: [slow, fast]}
  - {column: frames, keys: [cell.ues.0.buffer], unit: " packets", values: [200, 400]}
paper:
  source: a paper, table 3
  reproduces: [the order]
  differs: ["the height: ours is higher"]
  values:
)" + values;
}

TEST(ScenarioPaper, ValuesAreAssignedToTheNamedRowsInTheUnitOfTheColumn) {
  const auto plan = parse_plan(with_paper(R"(
    - {column: throughput_bps, unit: kb/s, scale: 1000, where: [mode=smvs, frames=400], along: rate, values: [560.3, -]}
    - {column: utilisation, where: [rate=fast], along: mode, values: [0.7, 0.9]}
    - {column: drops, where: [mode=none, rate=slow, frames=200], values: [12]}
)"),
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  ASSERT_EQ(plan->runs.size(), 8U);
  int given = 0;
  for (const RunPlan& run : plan->runs) {
    const std::string mode(to_string(run.mode));
    const std::string point = mode + " " + run.swept[0].second + " " + run.swept[1].second;
    SCOPED_TRACE(point);
    std::map<std::string, double> expected;
    if (point == "smvs slow 400") expected["throughput_bps"] = 560'300;
    if (point == "none slow 200") expected["drops"] = 12;
    if (run.swept[0].second == "fast") expected["utilisation"] = mode == "none" ? 0.7 : 0.9;
    EXPECT_EQ(run.paper, expected);
    given += static_cast<int>(run.paper.size());
  }
  EXPECT_EQ(given, 6);
  EXPECT_EQ(plan->base.paper->source, "a paper, table 3");
  EXPECT_EQ(plan->base.paper->reproduces, std::vector<std::string>{"the order"});
}

TEST(ScenarioPaper, AnUnknownColumnOrRowIsRefusedAtItsPosition) {
  const auto complaint = [](const std::string& entry) { return errors_of(with_paper("    - " + entry + "\n")); };
  EXPECT_THAT(complaint("{column: throughput, values: [1]}"),
              HasSubstr("s.yaml:14:8: paper.values[0].column, expected a column of results.csv, got \"throughput\""));
  EXPECT_THAT(
      complaint("{column: drops, where: [mode=wrb], values: [1]}"),
      HasSubstr("s.yaml:14:31: paper.values[0].where, expected mode or a swept column, = and one of its points, "
                "got \"mode=wrb\""));
  EXPECT_THAT(complaint("{column: drops, where: [fast], values: [1]}"), HasSubstr("got \"fast\""));
  EXPECT_THAT(complaint("{column: drops, along: speed, values: [1]}"),
              HasSubstr("paper.values[0].along, expected mode or a swept column, got \"speed\""));
  EXPECT_THAT(complaint("{column: drops, along: rate, values: [1]}"),
              HasSubstr("paper.values[0].values, expected 2 values, one for each point, got 1"));
  EXPECT_THAT(complaint("{column: drops, along: rate, values: [1, many]}"),
              HasSubstr("s.yaml:14:48: paper.values[0].values, expected a number, or - where none is given, got "
                        "\"many\""));
  EXPECT_THAT(complaint("{column: drops, where: [rate=slow, rate=fast], values: [1]}"),
              HasSubstr("paper.values[0].values, expected a row of this experiment, got a value for none"));
  EXPECT_THAT(complaint("{column: drops, values: [1]}\n    - {column: drops, where: [mode=none], values: [2]}"),
              HasSubstr("s.yaml:15:52: paper.values[1].values, expected one value for each row, got a second one"));
  EXPECT_THAT(complaint("{column: drops, values: [1], page: 7}"), HasSubstr("unknown key 'paper.values[0].page'"));
  EXPECT_THAT(errors_of(smallest + "output: {columns: [drops, ratio]}\n"),
              HasSubstr("output.columns, expected columns of results.csv, got \"ratio\""));
}

}  // namespace
}  // namespace sluice::emulator
