#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "emulator/report/results_csv.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/describe.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/unit/nodeb/scenario_errors.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Scenario, TheSmallestOneHasDefaults) {
  const auto plan = parse_plan(smallest, "folder/small.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_EQ(plan->name, "small");
  ASSERT_EQ(plan->runs.size(), 3U);
  EXPECT_EQ(plan->runs[0].mode, RunMode::none);
  EXPECT_EQ(plan->runs[2].mode, RunMode::smvs);
  EXPECT_EQ(plan->base.apps.size(), 1U);
  EXPECT_EQ(plan->base.cell.tti, 1ms);
}

TEST(Scenario, TheLawFollowsFromTheTopology) {
  const auto plan = parse_plan(R"(proxy_nodeb: {delay: 20ms}
cell:
  ues:
    - address: 10.45.0.2
      frame: 500B
      buffer: 200 frames
      channel: {type: piecewise, min: 1Mb/s, max: 2Mb/s, period: 20ms}
)",
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  const control::SmvsParameters& law = plan->base.proxy.smvs.parameters;
  EXPECT_EQ(law.one_way_delay, 20ms);
  EXPECT_EQ(law.frame, Bytes(500));
  EXPECT_EQ(law.buffer, Bytes(100'000));
}

TEST(Scenario, ErrorsNameTheirPlace) {
  EXPECT_THAT(
      errors_of(smallest + "  scheduler: lottery\n"),
      HasSubstr("s.yaml:5:3: cell.scheduler, expected rr, mci, pf, pf-rate, pf-sp, pf-rp or fcds, got \"lottery\""));
  EXPECT_THAT(errors_of(smallest + "  pf_window: 1\n"), HasSubstr("s.yaml:5:3: cell.pf_window, expected more than 1"));
  EXPECT_THAT(errors_of(smallest + "durations: 5s\n"), HasSubstr("s.yaml:5:1: unknown key 'durations'"));
  EXPECT_THAT(errors_of(smallest + "duration: 5 parsecs\n"), HasSubstr("s.yaml:5:11: duration"));
  EXPECT_THAT(errors_of(smallest + "modes: [none, magic]\n"), HasSubstr("s.yaml:5:15: modes[1]"));
  EXPECT_THAT(errors_of("duration: 5s\n"), HasSubstr("missing key 'cell'"));
  EXPECT_THAT(errors_of(smallest + "warmup: 70s\n"), HasSubstr("warmup, expected less than duration"));
}

TEST(Scenario, ImpossibleTopologiesAreRefused) {
  EXPECT_THAT(errors_of(smallest + "apps: [{type: bulk, ue: 1}]\n"), HasSubstr("a ue below 1"));
  EXPECT_THAT(errors_of(smallest + "apps: [{type: bulk, server: 3}]\n"), HasSubstr("a server below 1"));
  EXPECT_THAT(errors_of(smallest + "servers: [2001:db8::1]\n"), HasSubstr("one address family"));
  EXPECT_THAT(errors_of(smallest + "servers: [10.45.0.2]\n"), HasSubstr("10.45.0.2 twice"));
  EXPECT_THAT(errors_of("cell: {ues: []}\n"), HasSubstr("cell.ues"));
}

TEST(Scenario, ChannelKeysBelongToTheirType) {
  EXPECT_THAT(errors_of(R"(cell:
  ues: [{address: 10.0.0.1, channel: {type: constant, period: 1s}}]
)"),
              HasSubstr("this key only when type is piecewise"));
  EXPECT_THAT(errors_of(R"(cell:
  ues: [{address: 10.0.0.1, channel: {type: piecewise, min: 9Mb/s, max: 1Mb/s}}]
)"),
              HasSubstr("at most max"));
  EXPECT_THAT(errors_of(R"(cell:
  ues: [{address: 10.0.0.1, channel: {type: trace}}]
)"),
              HasSubstr("the name of a trace"));
}

TEST(Scenario, HybridArqNeedsTransportBlocks) {
  EXPECT_THAT(errors_of(smallest + "  harq: {processes: 6}\n"), HasSubstr("s.yaml:5:3: cell.harq, expected channels"));
  const auto plan = parse_plan(R"(cell:
  tti: 2ms
  harq: {transmissions: 4, rlc: unacknowledged}
  ues: [{address: 10.0.0.1, channel: {type: hsdpa}}]
)",
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  ASSERT_TRUE(plan->base.cell.harq);
  EXPECT_EQ(plan->base.cell.harq->harq.transmissions, 4U);
  EXPECT_EQ(plan->base.cell.harq->rlc.mode, link::RlcMode::unacknowledged);
}

TEST(Scenario, SlotChannelsHaveKeysOfTheirOwn) {
  const auto plan = parse_plan(R"(cell:
  tti: 3ms
  ues:
    - {address: 10.0.0.1, channel: {type: clamp, slots: {snr: 6dB, speed: 36km/h, attempts: 15}}}
    - {address: 10.0.0.2, channel: {type: evdo, evdo: {snr: 4dB}}}
)",
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_EQ(plan->base.cell.ues[0].channel.clamp.attempts, 15U);
  EXPECT_THAT(errors_of(R"(cell:
  ues: [{address: 10.0.0.1, channel: {type: evdo, slots: {snr: 6dB}}}]
)"),
              HasSubstr("only when type is clamp"));
}

TEST(Scenario, AnLteCellHasResourceBlocksAndItsUesKnow) {
  const auto plan = parse_plan(R"(cell:
  resource_blocks: 50
  users_per_tti: 4
  harq: {processes: 8}
  ues:
    - address: 10.0.0.1
      order: short-flows-first
      short_limit: 20KiB
      drop: head
      channel: {type: ofdma, ofdma: {table: 256qam, profile: vehicular-a}}
)",
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  const UeSpec& ue = plan->base.cell.ues[0];
  EXPECT_EQ(ue.channel.ofdma.resource_blocks, 50U);
  EXPECT_EQ(ue.channel.ofdma.table, link::CqiTable::qam256);
  EXPECT_EQ(ue.order, QueueOrder::short_flows_first);
  EXPECT_EQ(ue.flows.short_limit, Bytes(20 * 1024));
  EXPECT_EQ(plan->base.cell.resources.sharers, 4U);
}

TEST(Scenario, AccessPointsAndCellsDoNotMix) {
  const std::string two = R"(modes: [none]
cell:
  wlan: {buffer: 50}
  ues:
    - {address: 10.0.0.1, channel: {type: wlan}}
    - {address: 10.0.0.2, channel: )";
  const auto plan = parse_plan(two + "{type: wlan}}\n", "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_TRUE(plan->base.cell.is_wlan());
  EXPECT_EQ(plan->base.cell.wlan.buffer, 50U);
  EXPECT_THAT(errors_of(two + "{type: constant}}\n"), HasSubstr("all UEs on the air of one access point"));
  EXPECT_THAT(errors_of("cell:\n  ues: [{address: 10.0.0.1, channel: {type: wlan}}]\n"),
              HasSubstr("s.yaml:1:1: modes"));
  const std::string cell = two.substr(two.find('\n') + 1) + "{type: wlan}}\n";
  const std::string regulated = cell + "modes: [fair-share/regulate, none]\n";
  EXPECT_THAT(errors_of(regulated), HasSubstr("an access point reports nothing, got fair-share/regulate"))
      << "B is nowhere known";
  EXPECT_EQ(errors_of(regulated + "radio_buffer: 150000B\n"), "");
  EXPECT_THAT(errors_of(cell + "modes: [wrb]\nradio_buffer: 150000B\n"), HasSubstr("reports nothing"));
  EXPECT_THAT(errors_of(smallest + "  wlan: {buffer: 50}\n"),
              HasSubstr("only when the UEs' channels are of type wlan"));
}

TEST(Scenario, RoutersNeedARateAndRedThresholds) {
  EXPECT_THAT(errors_of(smallest + "server_proxy: {delay: 1ms, queue: {type: codel}}\n"),
              HasSubstr("a hop with a rate"));
  EXPECT_THAT(errors_of(smallest + "server_proxy: {rate: 1Mb/s, queue: {type: red}}\n"), HasSubstr("min below max"));
  EXPECT_THAT(errors_of(smallest + "server_proxy: {rate: 1Mb/s, queue: {type: lottery}}\n"), HasSubstr("fq-codel"));
  EXPECT_THAT(errors_of(smallest + "server_proxy: {rate: 1Mb/s, queue: {type: fifo, target: 5ms}}\n"),
              HasSubstr("only when type is codel or fq-codel"));
  const auto plan =
      parse_plan(smallest + "server_proxy: {rate: 10Mb/s, buffer: 120kB, queue: {type: red, ecn: true}}\n", "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_TRUE(plan->base.server_proxy.queue->ecn);
}

TEST(Scenario, RadioQueuesMayBeManaged) {
  const std::string ue = "cell:\n  ues:\n    - address: 10.0.0.1\n      channel: {type: constant}\n      queue: ";
  const auto plan = parse_plan(ue + "{type: fq-codel, target: 8ms, interval: 200ms, ecn: true}\n", "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  const RadioQueueSpec& queue = plan->base.cell.ues[0].queue;
  EXPECT_EQ(queue.type, QueueManagement::fq_codel);
  EXPECT_EQ(queue.codel.target, 8ms);
  EXPECT_EQ(queue.codel.interval, 200ms);
  EXPECT_TRUE(queue.codel.ecn);
  EXPECT_EQ(parse_plan(smallest, "s.yaml")->base.cell.ues[0].queue.type, QueueManagement::none);
  EXPECT_THAT(errors_of(ue + "{type: red}\n"),
              HasSubstr("s.yaml:5:21: cell.ues[0].queue.type, expected one of fifo, codel, fq-codel"));
  EXPECT_THAT(errors_of(ue + "{type: codel, target: 0s}\n"), HasSubstr("s.yaml:5:36: cell.ues[0].queue.target"));
  EXPECT_THAT(errors_of(ue + "{target: 5ms}\n"), HasSubstr("only when type is codel or fq-codel"));
  EXPECT_THAT(errors_of(ue + "{type: codel}\n      order: short-flows-first\n"),
              HasSubstr("s.yaml:5:7: cell.ues[0].queue, expected order fifo"));
  EXPECT_THAT(
      errors_of("modes: [none]\ncell: {ues: [{address: 10.0.0.1, queue: {type: codel}, channel: {type: wlan}}]}\n"),
      HasSubstr("s.yaml:2:34: cell.ues[0].queue, expected fifo on the air of an access point"));
  EXPECT_EQ(errors_of(smallest + "      uplink: {queue: {type: codel}, channel: {type: constant}}\n"), "");
}

TEST(Scenario, MovesAreCheckedAgainstTimeAndTopology) {
  EXPECT_THAT(errors_of(smallest + "moves: [{type: outage, at: 1s, ue: 1}]\n"), HasSubstr("a ue below 1"));
  EXPECT_THAT(errors_of(smallest + "moves: [{type: handover, at: 1s, cell: 1}]\n"), HasSubstr("a cell below 1"));
  EXPECT_THAT(errors_of(smallest + "moves: [{type: outage, at: 2s}, {type: outage, at: 1s}]\n"),
              HasSubstr("the order of time"));
  EXPECT_THAT(errors_of(smallest + "moves: [{type: outage, at: 1s, duration: 2s}, {type: leave, at: 2s}]\n"),
              HasSubstr("one after the other"));
  EXPECT_THAT(errors_of(smallest + "moves: [{type: leave, at: 1s, duration: 2s}]\n"),
              HasSubstr("only when type is outage or handover"));
  EXPECT_THAT(errors_of(smallest + "moves: [{type: handover, at: 1s, channel: {type: wlan}}]\n"),
              HasSubstr("s.yaml:5:34: moves[0].channel, expected a channel with TTIs"));
  EXPECT_THAT(
      errors_of(smallest + "moves: [{type: handover, at: 1s, channel: {type: profile, profile: {file: s.yaml}}}]\n"),
      HasSubstr("s.yaml:5:34: moves[0].channel, expected a profile only as the link a UE begins on"));
  const std::string repeats = "cell: {harq: {}, ues: [{address: 10.0.0.1, channel: {type: hsdpa}}]}\n";
  EXPECT_THAT(errors_of(repeats + "moves: [{type: handover, at: 1s, channel: {type: constant}}]\n"),
              HasSubstr("s.yaml:2:34: moves[0].channel, expected a channel with transport blocks"));
  const auto plan = parse_plan(
      smallest + "moves: [{type: handover, at: 1s, forwarding: false, channel: {type: constant, rate: 1Mb/s}}]\n",
      "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_FALSE(plan->base.moves[0].forwarding);
}

TEST(Scenario, ServersHopsAreNoneOrOneEach) {
  EXPECT_THAT(errors_of(smallest + "server_hops: [{delay: 1ms}, {delay: 2ms}]\n"),
              HasSubstr("one for each of 1 servers"));
  EXPECT_EQ(errors_of(smallest + "server_hops: [{delay: 1ms}]\n"), "");
}

TEST(Scenario, StreamsHaveSizesAndClocks) {
  EXPECT_THAT(errors_of(smallest + "apps: [{type: bulk, sizes: {min: 5B}}]\n"),
              HasSubstr("only when type is request, telnet, on-off or flows"));
  EXPECT_THAT(errors_of(smallest + "apps: [{type: flows, sizes: {kind: uniform, min: 9B, max: 5B}}]\n"),
              HasSubstr("at most max"));
  const auto plan = parse_plan(
      smallest + "apps: [{type: flows, arrivals: 4s, sizes: {kind: triangular, min: 1500B, max: 6MB}, stop: 100s}]\n",
      "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_EQ(plan->base.apps[0].sizes.kind, SizeKind::triangular);
}

TEST(Scenario, LawsThatCannotWorkAreRefused) {
  // δ·Ts must be below 1.
  EXPECT_NE(errors_of(smallest + "smvs: {parameters: {step: 10ms, delta: 150}}\n"), "");
}

TEST(Scenario, BuffersAreFramesPacketsSizesOrUnlimited) {
  using config::Scalar;
  const auto frames = Scalar<BufferSpec>::parse("200 frames");
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->limit, 200U);
  EXPECT_EQ(frames->unit, BufferUnit::frames);
  EXPECT_EQ(Scalar<BufferSpec>::parse("100 packets")->unit, BufferUnit::packets);
  EXPECT_EQ(Scalar<BufferSpec>::parse("64KiB")->limit, 65'536U);
  EXPECT_EQ(Scalar<BufferSpec>::parse("unlimited")->limit, 0U);
  for (const char* text :
       {"", "200", "frames", "-5 frames", "0 frames", "200 bananas", "99999999999999999999 frames"}) {
    EXPECT_FALSE(Scalar<BufferSpec>::parse(text)) << text;
  }
  for (const char* text : {"200 frames", "100 packets", "64KiB", "unlimited"}) {
    EXPECT_EQ(Scalar<BufferSpec>::format(*Scalar<BufferSpec>::parse(text)), text);
  }
}

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
  EXPECT_EQ(last.scenario.proxy.smvs.law, proxy::LawPlace::acks);
  EXPECT_TRUE(last.swept.empty()) << "neither sweep is a column of its own";
}

TEST(Plan, NamesOfModesStandForOneMode) {
  std::string text = named_modes;
  text.replace(text.find("modes: [none]"), 13, "modes: [none, i-tcp]");
  EXPECT_THAT(errors_of(text), HasSubstr("modes, expected one mode, where a sweep gives the modes their names, got 2"));
}

TEST(Plan, ASweepHasAColumnOrGoesWithOne) {
  EXPECT_THAT(errors_of(smallest + "sweep:\n  - {keys: [cell.tti], values: [1ms]}\n"),
              HasSubstr("sweep[0].column, expected a name, where it does not go with another sweep, got none"));
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

TEST(Plan, BadValuesOfASweepAreFoundAtTheirPlace) {
  const std::string text = R"(cell:
  ues: [{address: 10.45.0.2, channel: {type: constant, rate: 5Mb/s}}]
sweep:
  - column: rate
    keys: [cell.ues.0.channel.rate]
    values: [1Mb/s, fast]
)";
  EXPECT_THAT(errors_of(text), HasSubstr("s.yaml:6:21: cell.ues[0].channel.rate"));
}

TEST(Plan, PathsThatLeadNowhereAreRefused) {
  const auto with_key = [](const std::string& key) {
    return errors_of(smallest + "sweep:\n  - {column: x, keys: [" + key + "], values: [1]}\n");
  };
  EXPECT_THAT(with_key("cell.ues.7.channel.rate"), HasSubstr("the list there has 1 elements"));
  EXPECT_THAT(with_key("cell.ues.first.channel.rate"), HasSubstr("a number or *"));
  EXPECT_THAT(with_key("cell.ues.0.address.x"), HasSubstr("a value stands above"));
  EXPECT_THAT(with_key("cell"), HasSubstr("a map or a list stands there"));
  EXPECT_THAT(with_key("cell.speed"), HasSubstr("unknown key 'cell.speed'"));
}

TEST(Plan, TooManyRunsAreRefused) {
  std::string values;
  for (int i = 1; i <= 500; ++i) values += (i > 1 ? ", " : "") + std::to_string(i);
  std::string text = smallest + "sweep:\n";
  for (const char* key : {"seed", "buffers", "cell.pf_window"}) {
    text += "  - {column: " + std::string(1, "abc"[key[0] % 3]) + ", keys: [" + key + "], values: [" + values + "]}\n";
  }
  EXPECT_THAT(errors_of(text), HasSubstr("at most 100000 runs"));
}

TEST(Traces, AMissingOneSaysWhereItWasLookedFor) {
  TraceLibrary traces({"/nonexistent/a", "/nonexistent/b"});
  try {
    static_cast<void>(traces.load("Verizon.down"));
    FAIL() << "found";
  } catch (const TraceMissing& missing) {
    EXPECT_STREQ(missing.what(),
                 "the trace Verizon.down is not in /nonexistent/a, /nonexistent/b; name its folder with --traces");
  }
}

TEST(Traces, ABrokenOneNamesItsLine) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nodeb_traces";
  write_file(folder / "broken.down", "1\n2\ntwo\n");
  TraceLibrary traces({folder.string()});
  try {
    static_cast<void>(traces.load("broken.down"));
    FAIL() << "read";
  } catch (const TraceMissing&) {
    FAIL() << "not found";
  } catch (const std::exception& broken) {
    EXPECT_THAT(broken.what(), HasSubstr("broken.down:3"));
  }
  std::filesystem::remove_all(folder);
}

TEST(Traces, TheSameOneIsSharedAndGeneratedOnesDependOnTheirSeed) {
  TraceLibrary traces({});
  ChannelSpec spec;
  spec.type = ChannelType::generated;
  spec.length = 2s;
  EXPECT_EQ(traces.generate(spec, 1), traces.generate(spec, 1));
  EXPECT_NE(traces.generate(spec, 1), traces.generate(spec, 2));
  EXPECT_FALSE(std::ranges::equal(traces.generate(spec, 1)->milliseconds(), traces.generate(spec, 2)->milliseconds()));
}

TEST(Reference, NamesEveryKeyWithItsUnit) {
  const std::string text = config::reference<Scenario>();
  for (const char* key : {"warmup", "scheduler", "fcds", "think_time", "cell_core", "period", "sharp_change"}) {
    EXPECT_THAT(text, HasSubstr(key));
  }
}

/// Two modes, two swept columns; `values` are the entries of paper.values.
std::string with_paper(const std::string& values) {
  return smallest + R"(modes: [none, smvs]
sweep:
  - {column: rate, keys: [cell.ues.0.channel.rate], unit: Mb/s, values: [5, 10], labels: [slow, fast]}
  - {column: frames, keys: [cell.ues.0.buffer], unit: " frames", values: [200, 400]}
paper:
  source: a paper, table 3
  reproduces: [the order]
  differs: ["the height: ours is higher"]
  values:
)" + values;
}

TEST(ScenarioPaper, ValuesGoToTheRowsTheyNameInTheColumnsUnit) {
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

TEST(ScenarioPaper, WhatNamesNoColumnOrRowIsRefusedAtItsPlace) {
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

TEST(Scenario, AnApplicationOfSeveralUesNeedsThemAll) {
  const std::string two = R"(cell:
  ues:
    - {address: 10.0.0.1, channel: {type: constant}}
    - {address: 10.0.0.2, channel: {type: constant}}
)";
  EXPECT_EQ(errors_of(two + "apps: [{type: bulk, ues: 2}]\n"), "");
  EXPECT_EQ(errors_of(two + "apps: [{type: bulk, ue: 1, ues: 0}]\n"), "");
  EXPECT_THAT(errors_of(two + "apps: [{type: bulk, ue: 1, ues: 2}]\n"),
              HasSubstr("no more ues than there are from that one on, got 2"));
}

TEST(Scenario, AProfilesFileStandsBesideIt) {
  const auto plan = parse_plan(R"(cell:
  ues:
    - address: 10.0.0.1
      channel: {type: profile, profile: {file: cell.yaml, where: [scheduler=rr], ue: 2, mean: 2Mb/s}}
)",
                               "folder/s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  const ProfileSpec& profile = plan->base.cell.ues.front().channel.profile;
  EXPECT_EQ(profile.file, "folder/cell.yaml");
  EXPECT_EQ(profile.where, std::vector<std::string>{"scheduler=rr"});
  EXPECT_EQ(profile.ue, 2U);
  EXPECT_EQ(profile.mean, Rate::bits_per_second(2e6));
  TraceLibrary traces({});
  EXPECT_THROW(static_cast<void>(make_channel(plan->base.cell.ues.front().channel, 1ms, 1, 0, traces)),
               std::invalid_argument)
      << "nobody has made it: this is not virtual time";
}

}  // namespace
}  // namespace sluice::emulator
