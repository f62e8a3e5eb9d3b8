// Tests of scenario files of the emulator: defaults, rules and errors with their positions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "emulator/report/results_csv.hpp"
#include "emulator/scenario/channels.hpp"
#include "emulator/scenario/describe.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/unit/nodeb/recorded.hpp"
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

TEST(Scenario, ParametersOfTheControllerFollowFromTheTopology) {
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

TEST(Scenario, FrameSizesFollowFromTheChannel) {
  const auto ue = [](const std::string& keys) {
    const auto plan = parse_plan("modes: [none]\ncell: {ues: [{address: 10.45.0.2, " + keys + "}]}\n", "s.yaml");
    EXPECT_TRUE(plan) << config::to_string(plan.errors);
    return plan->base.cell.ues.front();
  };
  using config::Scalar;
  const auto buffer = [](const UeSpec& spec) { return Scalar<BufferSpec>::format(spec.buffer); };
  for (const char* type : {"constant", "piecewise", "trace, file: x", "generated", "clamp", "evdo", "ofdma", "wlan"}) {
    SCOPED_TRACE(type);
    const UeSpec spec = ue("channel: {type: " + std::string(type) + "}");
    EXPECT_EQ(spec.frame, Bytes(0));
    EXPECT_EQ(buffer(spec), Scalar<Bytes>::format(Bytes(8000)));
  }
  EXPECT_EQ(ue("channel: {type: hsdpa}").frame, Bytes(40));
  EXPECT_EQ(buffer(ue("channel: {type: hsdpa}")), "200 frames");
  EXPECT_EQ(ue("frame: 0B, channel: {type: hsdpa}").frame, Bytes(0));
  EXPECT_EQ(buffer(ue("frame: 0B, channel: {type: hsdpa}")), Scalar<Bytes>::format(Bytes(8000)));
  EXPECT_EQ(ue("frame: 500B, channel: {type: constant}").frame, Bytes(500));
  EXPECT_EQ(buffer(ue("frame: 500B, channel: {type: constant}")), "200 frames");
  EXPECT_THAT(
      errors_of("modes: [none]\ncell: {ues: [{address: 10.45.0.2, buffer: 200 frames, channel: {type: trace, "
                "file: x}}]}\n"),
      HasSubstr("s.yaml:2:35: cell.ues[0].buffer, expected packets or a size where frame is 0B, got 200 frames"));
  const auto plan = parse_plan(smallest, "s.yaml");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->base.proxy.smvs.parameters.frame, Bytes(40)) << "the law's unit stays";
  EXPECT_EQ(plan->base.proxy.smvs.parameters.buffer, Bytes(8000));
}

TEST(Scenario, ATargetOfTheOuterLoopIsCheckedAtItsPosition) {
  const auto errors = [](const std::string& keys) {
    return errors_of("cell:\n  ues:\n    - address: 10.0.0.1\n      channel:\n        type: ofdma\n        ofdma: {" +
                     keys + "}\n");
  };
  EXPECT_EQ(errors("target_bler: 0.1"), "");
  for (const char* value : {"0", "0.0009", "0.51", "1", "-0.1", "ten", "nan", "inf"}) {
    EXPECT_THAT(errors("target_bler: " + std::string(value)),
                HasSubstr("s.yaml:6:30: cell.ues[0].channel.ofdma.target_bler, expected a number, 0.001 … 0.5, got \"" +
                          std::string(value) + "\""));
  }
  EXPECT_THAT(errors("block_errors: false, target_bler: 0.1"),
              HasSubstr("cell.ues[0].channel.ofdma.target_bler, expected block_errors: true beside it, got"));
  EXPECT_THAT(errors("target_blr: 0.1"), HasSubstr("s.yaml:6:17: unknown key 'cell.ues[0].channel.ofdma.target_blr'"));
}

TEST(Scenario, ErrorsNameTheirPosition) {
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

TEST(Scenario, JitterAndAdvertisingHopsAreAllowedOnlyWhereSupported) {
  const std::string wire = smallest + "proxy_nodeb: {delay: 5ms, rate: 1Mb/s, ";
  const auto plan = parse_plan(wire + "buffer: 9kB, queue: {type: fifo, advertise: true}}\n", "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_TRUE(plan->base.proxy_nodeb.queue->advertise);
  EXPECT_THAT(errors_of(wire + "queue: {type: fifo, advertise: true}}\n"),
              HasSubstr("proxy_nodeb.queue, expected a buffer that can be advertised"));
  EXPECT_THAT(errors_of(smallest + "server_proxy: {rate: 1Mb/s, buffer: 9kB, queue: {type: fifo, advertise: true}}\n"),
              HasSubstr("server_proxy, expected advertise only at proxy_nodeb"));
  EXPECT_THAT(errors_of(wire + "jitter: 6ms}\n"), HasSubstr("proxy_nodeb.jitter, expected at most delay"));
  EXPECT_THAT(errors_of(wire + "jitter: 1ms, queue: {type: fifo}}\n"),
              HasSubstr("proxy_nodeb.jitter, expected 0s if there is a queue"));
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

TEST(Scenario, SlotChannelsHaveTheirOwnKeys) {
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

TEST(Scenario, UesOfAnLteCellGetItsResourceBlocks) {
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

TEST(Scenario, WholePacketsNeedTtisOfOneUe) {
  const auto with = [](const std::string& keys) { return errors_of(smallest + "  whole_packets: true\n" + keys); };
  EXPECT_EQ(with(""), "");
  EXPECT_THAT(with("  resource_blocks: 50\n"), HasSubstr("cell.whole_packets, expected one resource block"));
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
  EXPECT_THAT(errors_of(regulated), HasSubstr("because an access point sends no reports, got fair-share/regulate"))
      << "B is nowhere known";
  EXPECT_EQ(errors_of(regulated + "radio_buffer: 150000B\n"), "");
  EXPECT_THAT(errors_of(cell + "modes: [wrb]\nradio_buffer: 150000B\n"), HasSubstr("an access point sends no reports"));
  EXPECT_THAT(errors_of(smallest + "  wlan: {buffer: 50}\n"),
              HasSubstr("only when the UEs' channels are of type wlan"));
}

TEST(Scenario, ApplicationsOfUsersAreRead) {
  const auto plan = parse_plan(smallest + R"(apps:
  - {type: video, ladder: [1Mb/s, 3Mb/s], segment: 2s, buffer: 20s, reservoir: 4s, length: 30s, pause: 5s}
  - {type: game, tick: 15ms, down: 300B, up: 40B}
  - {type: responsiveness, connections: 4, loaded: false, interval: 50ms}
)",
                               "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  const std::vector<AppSpec>& apps = plan->base.apps;
  EXPECT_EQ(apps[0].ladder.back(), Rate::bits_per_second(3e6));
  EXPECT_EQ(apps[0].length, 30s);
  EXPECT_EQ(apps[1].tick, 15ms);
  EXPECT_EQ(apps[1].up, Bytes(40));
  EXPECT_EQ(apps[2].connections, 4U);
  EXPECT_FALSE(apps[2].loaded);
  const std::string video = smallest + "apps: [{type: video, ";
  EXPECT_THAT(errors_of(video + "ladder: [3Mb/s, 3Mb/s]}]\n"), HasSubstr("expected rising bit rates"));
  EXPECT_THAT(errors_of(video + "segment: 2s, buffer: 19s}]\n"), HasSubstr("expected ten segments or more, got 19s"));
  EXPECT_THAT(errors_of(video + "reservoir: 54s}]\n"), HasSubstr("expected less than 0.9 of the buffer, got 54s"));
  EXPECT_THAT(errors_of(video + "tick: 20ms}]\n"), HasSubstr("only when type is game"));
  EXPECT_THAT(errors_of(smallest + "apps: [{type: bulk, loaded: true}]\n"),
              HasSubstr("only when type is responsiveness"));
}

TEST(Scenario, ARatioNeedsAPointOfASweep) {
  const std::string sweep =
      smallest + "apps: [{type: bulk}]\nsweep: [{column: beside, keys: [apps.0.ues], values: [0, 1]}]\n";
  const auto ratio = [&sweep](const std::string& keys) {
    return errors_of(sweep + "output: {ratio: {" + keys + "}}\n");
  };
  EXPECT_EQ(ratio("column: beside, base: 0, of: [utilisation, page_mean_ms]"), "");
  EXPECT_THAT(ratio("column: besides, base: 0, of: [utilisation]"),
              HasSubstr("the column of a sweep, got \"besides\""));
  EXPECT_THAT(ratio("column: beside, base: 2, of: [utilisation]"), HasSubstr("a point of that sweep, got \"2\""));
  EXPECT_THAT(ratio("column: beside, base: 0, of: [nonsense]"), HasSubstr("columns of results.csv, got \"nonsense\""));
  EXPECT_THAT(ratio("column: beside, base: 0, of: [ratio_utilisation]"), HasSubstr("got \"ratio_utilisation\""));
}

TEST(Scenario, PlotsNeedExistingColumns) {
  const std::string sweep =
      smallest +
      "apps: [{type: bulk}]\nsweep: [{column: buffer, keys: [cell.ues.0.buffer], unit: kB, values: [4, 8]}]\n";
  const auto plot = [&sweep](const std::string& keys) {
    return errors_of(sweep + "output: {plots: [{" + keys + "}]}\n");
  };
  EXPECT_EQ(plot("x: {column: buffer}, y: {columns: [utilisation, jain]}, lines: [mode], where: [buffer=4]"), "");
  EXPECT_EQ(plot("x: {column: drops}, y: {columns: [utilisation]}, panels: buffer"), "");
  EXPECT_THAT(plot("x: {column: buffers}, y: {columns: [jain]}"), HasSubstr("one of results.csv, got \"buffers\""));
  EXPECT_THAT(plot("x: {column: buffer}, y: {columns: [jane]}"), HasSubstr("or of sweeps, got \"jane\""));
  EXPECT_THAT(plot("x: {column: buffer}, y: {columns: [jain]}, panels: drops"),
              HasSubstr("a swept column, got \"drops\""));
  EXPECT_THAT(plot("x: {column: buffer}, y: {columns: [jain]}, where: [buffer]"), HasSubstr("a point, got \"buffer\""));
  EXPECT_THAT(plot("x: {column: buffer}, y: {columns: [jain]}, curves: [{name: a, x: [1, 2], y: [1]}]"),
              HasSubstr("as many y as x, got 1 and 2"));
  EXPECT_EQ(plot("x: {column: buffer}, y: {columns: [utilisation, jain], names: [use, evenness]}"), "");
  EXPECT_THAT(plot("x: {column: buffer}, y: {columns: [utilisation, jain], names: [use]}"),
              HasSubstr("y.names, expected as many as columns, got 1"));
  const auto shown = [&sweep](const std::string& keys) { return errors_of(sweep + "output: {" + keys + "}\n"); };
  EXPECT_EQ(shown("windows: [0], drops: true, over_time: {from: 1, to: 2, beside: buffer, where: [buffer=4]}"), "");
  EXPECT_THAT(shown("windows: [1]"), HasSubstr("servers below 1, got 1"));
  EXPECT_THAT(shown("over_time: {from: 3, to: 2}"), HasSubstr("after from"));
  EXPECT_THAT(shown("over_time: {beside: mode}"), HasSubstr("a swept column, got \"mode\""));
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

TEST(Scenario, AnUplinkMayBeScheduled) {
  EXPECT_FALSE(parse_plan(smallest, "s.yaml")->base.cell.uplink.scheduled);
  const auto plan = parse_plan(smallest + "  uplink: {delay: 0ms, scheduled: {drx: {cycle: 40ms}}}\n", "s.yaml");
  ASSERT_TRUE(plan) << config::to_string(plan.errors);
  EXPECT_EQ(plan->base.cell.uplink.delay, 0ms);
  const ScheduledUplinkSpec& uplink = plan->base.cell.uplink.scheduled.value();
  EXPECT_EQ(uplink.request_period, 10ms);
  EXPECT_EQ(uplink.response + uplink.grant_delay, 8ms);
  EXPECT_EQ(uplink.air.harq.processes, 8U);
  EXPECT_FALSE(uplink.configured);
  EXPECT_EQ(uplink.drx.value().cycle, 40ms);
  EXPECT_EQ(uplink.drx.value().on, 10ms);
  const auto scheduled = [](const std::string& keys) {
    return errors_of(smallest + "  uplink: {scheduled: {" + keys + "}}\n");
  };
  EXPECT_EQ(scheduled("request_period: 40ms, configured_grant: {size: 200B}, users_per_tti: 1"), "");
  EXPECT_THAT(scheduled("request_period: 0s"), HasSubstr("s.yaml:5:40: cell.uplink.scheduled.request_period"));
  EXPECT_THAT(scheduled("first_grant: 0B"), HasSubstr("first_grant"));
  EXPECT_THAT(scheduled("block_errors: 1.5"), HasSubstr("block_errors"));
  EXPECT_THAT(scheduled("drx: {on: 50ms, cycle: 40ms}"), HasSubstr("cell.uplink.scheduled.drx.on, expected at most"));
  EXPECT_THAT(scheduled("grant_delay: 9ms"), HasSubstr("a grant_delay of at most harq.processes TTIs"));
  EXPECT_THAT(errors_of(smallest + "  cells: 2\n  uplink: {scheduled: {}}\n"), HasSubstr("one cell if the uplink"));
  EXPECT_THAT(errors_of(smallest + "  uplink: {scheduled: {}}\nnodebs: [{name: east}]\n"),
              HasSubstr("one Node-B if its uplink is scheduled"));
  EXPECT_THAT(errors_of(smallest + "nodebs: [{name: east, uplink: {scheduled: {}}}]\n"),
              HasSubstr("no schedule if there are several Node-Bs"));
  EXPECT_THAT(errors_of("modes: [none]\ncell: {uplink: {scheduled: {}}, ues: [{address: 10.0.0.1, channel: {type: "
                        "wlan}}]}\n"),
              HasSubstr("no schedule on the air of an access point"));
}

TEST(Scenario, HostsMayStretchTheirAcknowledgements) {
  EXPECT_EQ(parse_plan(smallest, "s.yaml")->base.hosts.ack_every, 2U);
  EXPECT_EQ(parse_plan(smallest + "hosts: {tcp: {ack_every: 8}}\n", "s.yaml")->base.hosts.ack_every, 8U);
  EXPECT_THAT(errors_of(smallest + "hosts: {tcp: {ack_every: 1}}\n"), HasSubstr("hosts.tcp.ack_every"));
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

TEST(Scenario, ServersHaveNoHopsOrOneEach) {
  EXPECT_THAT(errors_of(smallest + "server_hops: [{delay: 1ms}, {delay: 2ms}]\n"),
              HasSubstr("one for each of 1 servers"));
  EXPECT_EQ(errors_of(smallest + "server_hops: [{delay: 1ms}]\n"), "");
}

TEST(Scenario, StreamsHaveSizesAndIntervals) {
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

TEST(Scenario, InvalidControllerParametersAreRefused) {
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

TEST(Traces, AMissingTraceNamesTheSearchedFolders) {
  TraceLibrary traces({"/nonexistent/a", "/nonexistent/b"});
  try {
    static_cast<void>(traces.load("Verizon.down"));
    FAIL() << "found";
  } catch (const TraceMissing& missing) {
    EXPECT_STREQ(missing.what(),
                 "the trace Verizon.down is not in /nonexistent/a, /nonexistent/b; name its folder with --traces");
  }
}

TEST(Traces, AnInvalidTraceNamesItsLine) {
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

TEST(Traces, ATraceIsLoadedOnceAndGeneratedOnesDependOnTheirSeed) {
  TraceLibrary traces({});
  ChannelSpec spec;
  spec.type = ChannelType::generated;
  spec.length = 2s;
  EXPECT_EQ(traces.generate(spec, 1), traces.generate(spec, 1));
  EXPECT_NE(traces.generate(spec, 1), traces.generate(spec, 2));
  EXPECT_FALSE(std::ranges::equal(traces.generate(spec, 1)->milliseconds(), traces.generate(spec, 2)->milliseconds()));
}

TEST(Traces, TheSeedDeterminesWhereARunBegins) {
  TraceLibrary traces({});
  ChannelSpec spec;
  spec.type = ChannelType::generated;
  spec.length = 20s;
  spec.seed = 7;  // of the trace, which is the same one in every run
  const auto opportunities = [&](std::uint64_t seed) {
    const auto link = make_channel(spec, 1ms, seed, 0, traces);
    std::vector<std::uint64_t> ttis;
    for (std::uint64_t tti = link->next_useful(0); tti < 2000; tti = link->next_useful(tti + 1)) ttis.push_back(tti);
    return ttis;
  };
  EXPECT_EQ(opportunities(1), opportunities(2));
  spec.drawn_offset = 10s;
  EXPECT_NE(opportunities(1), opportunities(2));
  EXPECT_EQ(opportunities(2), opportunities(2));
}

TEST(Reference, NamesEveryKeyWithItsUnit) {
  const std::string text = config::reference<Scenario>();
  for (const char* key : {"warmup", "scheduler", "fcds", "think_time", "cell_core", "period", "sharp_change"}) {
    EXPECT_THAT(text, HasSubstr(key));
  }
}

/// The reference states the range and the default that the program uses.
TEST(Reference, RangesAndDefaultsOfAllKeysAreTheRecordedOnes) {
  std::string text;
  for (const config::KeyTable& table : config::key_tables<Scenario>()) {
    for (const config::KeyRow& row : table.rows)
      text += table.path + " | " + row.key + " | " + row.kind + " | " + row.range + " | " + row.value + "\n";
  }
  test::expect_recorded("scenario_keys.txt", text);
}

/// Two modes, two swept columns; `values` are the entries of paper.values.
TEST(Scenario, AnApplicationOfSeveralUesNeedsAllOfThem) {
  const std::string two = R"(cell:
  ues:
    - {address: 10.0.0.1, channel: {type: constant}}
    - {address: 10.0.0.2, channel: {type: constant}}
)";
  EXPECT_EQ(errors_of(two + "apps: [{type: bulk, ues: 2}]\n"), "");
  EXPECT_EQ(errors_of(two + "apps: [{type: bulk, ue: 1, ues: 0}]\n"), "");
  EXPECT_THAT(errors_of(two + "apps: [{type: bulk, ue: 1, ues: 2}]\n"),
              HasSubstr("at most as many UEs as there are from that one on, got 2"));
}

TEST(Scenario, TheFileOfAProfileIsRelativeToTheScenario) {
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
