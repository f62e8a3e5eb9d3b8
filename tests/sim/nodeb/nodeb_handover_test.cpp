// Tests of whole runs in which a UE moves from one Node-B to another and back, with and without data forwarding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "emulator/report/results_csv.hpp"
#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

constexpr double first_handover_s = 3;
constexpr double between_handovers_s = 2;
constexpr int handovers = 6;
constexpr double link_bps = 10e6;

/// Returns a scenario with several handovers, one every two seconds, with the given `apps` and `rest`.
std::string back_and_forth(const std::string& modes, bool forwarding, const std::string& apps,
                           const std::string& rest = "") {
  std::string moves;
  for (int i = 0; i < handovers; ++i) {
    const double at = first_handover_s + i * between_handovers_s;
    moves += "  - {type: handover, at: " + std::to_string(static_cast<int>(at * 1000)) +
             "ms, nodeb: " + (i % 2 == 0 ? "east" : "west") +
             ", duration: 50ms, path_switch: 20ms, forwarding: " + (forwarding ? "true" : "false") + "}\n";
  }
  return "duration: 16s\nwarmup: 1s\ninterval: 20ms\nmodes: [" + modes +
         "]\nserver_proxy: {delay: 15ms}\nproxy_nodeb: {delay: 5ms}\nforwarding: {delay: 4ms}\n"
         "output: {ues: true, flows: true}\nsmvs: {parameters: {step: 5ms, reference: 20ms}}\n" +
         rest +
         "cell:\n  name: west\n  uplink: {delay: 5ms}\n  ues:\n"
         "    - {address: 10.45.0.2, frame: 0B, buffer: 200KiB, channel: {type: constant, rate: 10Mb/s}}\n"
         "nodebs: [{name: east}]\napps:\n" +
         apps + "moves:\n" + moves;
}

std::uint64_t counter(const RunResult& result, const std::string& name) {
  return result.counters.at(name);
}

TEST(NodebHandover, EveryByteArrivesAndNoConnectionBreaksInAnyMode) {
  const std::string apps =
      "  - {type: bulk, size: 12MB}\n  - {type: bulk, direction: upload, size: 3MB}\n"
      "  - {type: web, think_time: 200ms}\n";
  for (const bool forwarding : {true, false}) {
    for (const RunResult& result : run_all(back_and_forth("none, bypass, i-tcp, smvs, wrb", forwarding, apps))) {
      SCOPED_TRACE(result.key.mode + (forwarding ? " with" : " without") + " forwarding");
      EXPECT_EQ(counter(result, "handovers"), static_cast<std::uint64_t>(handovers));
      EXPECT_EQ(counter(result, "payload_corrupted"), 0U);
      EXPECT_EQ(counter(result, "connections_failed"), 0U);
      const auto whole = [&](const char* direction, std::uint64_t size) {
        return std::any_of(result.flows.begin(), result.flows.end(), [&](const FlowRow& flow) {
          return flow.direction == direction && flow.application == "bulk" && flow.bytes == size &&
                 flow.ended != "running";
        });
      };
      EXPECT_TRUE(whole("download", 12'000'000));
      EXPECT_TRUE(whole("upload", 3'000'000));
      EXPECT_GT(result.fetches, 20U);
      EXPECT_EQ(counter(result, "forwarded_packets") > 0, forwarding);
      EXPECT_EQ(counter(result, "drops_handover") > 0, !forwarding);
      EXPECT_EQ(counter(result, "end_markers_missed"), 0U);
      EXPECT_EQ(counter(result, "handover_uplink_drops"), 0U);
    }
  }
}

TEST(NodebHandover, WithForwardingTcpLosesNothing) {
  const RunResult with = run_all(back_and_forth("smvs", true, "  - {type: bulk}\n")).front();
  const RunResult without = run_all(back_and_forth("smvs", false, "  - {type: bulk}\n")).front();
  EXPECT_EQ(with.drops, 0U);
  EXPECT_EQ(counter(with, "handover_timeouts"), 0U);
  EXPECT_EQ(with.retransmissions, 0U);
  EXPECT_GT(counter(without, "handover_retransmissions"), static_cast<std::uint64_t>(handovers));
  EXPECT_EQ(without.retransmissions, counter(without, "handover_retransmissions")) << "none at other times";
  EXPECT_GE(with.utilisation, without.utilisation);
}

/// Mean of a column of the series over some time.
double mean(const RunResult& result, double from, double to, double SeriesPoint::*column) {
  double sum = 0;
  int count = 0;
  for (const SeriesPoint& point : result.series) {
    if (point.time_s <= from || point.time_s > to) continue;
    sum += point.*column;
    ++count;
  }
  return sum / count;
}

// 20 ms at 10 Mb/s.
constexpr double reference_bytes = 25'000;
/// Seconds after the UE's arrival in which the queue returns to its reference: 50 RTTs between proxy and Node-B.
constexpr double settled_after_s = 0.5;

TEST(NodebHandover, TheQueueReturnsToItsReferenceAndTheProxyChangesTheReporter) {
  for (const std::string law : {"nodeb", "proxy"}) {
    for (const bool forwarding : {true, false}) {
      SCOPED_TRACE("law at the " + law + (forwarding ? ", with" : ", without") + " forwarding");
      std::string text = back_and_forth("smvs", forwarding, "  - {type: bulk}\n");
      const std::string smvs = "smvs: {";
      text.replace(text.find(smvs), smvs.size(), smvs + "law: " + law + ", ");
      const RunResult result = run_all(text).front();
      for (int i = 0; i < handovers; ++i) {
        const double there = first_handover_s + i * between_handovers_s + 0.05;
        const double next = first_handover_s + (i + 1) * between_handovers_s;
        const double queue = mean(result, there + settled_after_s, next, &SeriesPoint::queue_bytes);
        EXPECT_NEAR(queue, reference_bytes, 0.2 * reference_bytes) << "after handover " << i;
        EXPECT_GT(mean(result, there + settled_after_s, next, &SeriesPoint::link_used_bps), 0.98 * link_bps);
      }
      EXPECT_EQ(counter(result, "reporters_changed"), static_cast<std::uint64_t>(handovers));
    }
  }
}

TEST(NodebHandover, ForwardedPacketsAreCountedOnceInTheFiguresOfTheRun) {
  for (const RunResult& result : run_all(back_and_forth("none, smvs", true, "  - {type: bulk}\n"))) {
    SCOPED_TRACE(result.key.mode);
    ASSERT_FALSE(result.ues.empty());
    for (std::size_t i = 1; i < result.ues.size(); ++i) {
      EXPECT_GE(result.ues[i].arrived_bytes, result.ues[i - 1].arrived_bytes);
      EXPECT_GE(result.ues[i].forwarded_bytes, result.ues[i - 1].forwarded_bytes);
    }
    const UePoint& last = result.ues.back();
    EXPECT_GT(last.forwarded_bytes, 0U);
    // What came, and was not dropped, was transmitted or waits; and the packets that a Node-B had begun to transmit are
    // transmitted again as a whole by the next one.
    const std::uint64_t accounted =
        last.transmitted_bytes + last.dropped_bytes + static_cast<std::uint64_t>(last.queue_bytes);
    EXPECT_GE(accounted, last.arrived_bytes);
    EXPECT_LE(accounted, last.arrived_bytes + handovers * 1500U);
    EXPECT_TRUE(std::any_of(result.ues.begin(), result.ues.end(), [](const UePoint& p) { return p.nodeb == "east"; }));
    EXPECT_TRUE(
        std::any_of(result.ues.begin(), result.ues.end(), [](const UePoint& p) { return p.state == "handover"; }));
    EXPECT_LE(result.utilisation, 1.0);
    EXPECT_GT(result.utilisation, 0.9);
  }
}

/// Each Node-B has its own scheduler. So the UE that stays shares its cell only while the other one is there.
TEST(NodebHandover, AHandoverMovesTheLoad) {
  const std::string text =
      "duration: 12s\nwarmup: 2s\ninterval: 100ms\nmodes: [none, i-tcp, smvs]\noutput: {ues: true}\n"
      "cell:\n  name: west\n  ues:\n"
      "    - {address: 10.45.0.2, frame: 0B, buffer: 150KiB, channel: {type: constant, rate: 8Mb/s}}\n"
      "    - {address: 10.45.0.3, nodeb: east, frame: 0B, buffer: 150KiB, channel: {type: constant, rate: 8Mb/s}}\n"
      "nodebs: [{name: east, scheduler: pf}]\n"
      "apps:\n  - {type: bulk, ue: 0}\n  - {type: bulk, ue: 1}\n"
      "moves: [{type: handover, at: 6s, ue: 0, nodeb: east}]\n";
  const auto used = [](const RunResult& result, const std::string& ue, double from, double to) {
    double sum = 0;
    int count = 0;
    for (const UePoint& point : result.ues) {
      if (point.ue != ue || point.time_s <= from || point.time_s > to) continue;
      sum += point.link_used_bps;
      ++count;
    }
    return sum / count;
  };
  for (const RunResult& result : run_all(text)) {
    SCOPED_TRACE(result.key.mode);
    EXPECT_GT(used(result, "10.45.0.2", 3, 6), 7.5e6);
    EXPECT_GT(used(result, "10.45.0.3", 3, 6), 7.5e6);
    EXPECT_NEAR(used(result, "10.45.0.2", 9, 12), 4e6, 0.5e6);
    EXPECT_NEAR(used(result, "10.45.0.3", 9, 12), 4e6, 0.5e6);
    EXPECT_EQ(counter(result, "connections_failed"), 0U);
  }
}

TEST(NodebHandover, SeparateUplinksMoveWithTheUe) {
  std::string text = back_and_forth("none, i-tcp", true, "  - {type: bulk, direction: upload, size: 5MB}\n");
  const std::string channel = "channel: {type: constant, rate: 10Mb/s}}";
  text.replace(text.find(channel), channel.size(),
               "channel: {type: constant, rate: 10Mb/s}, uplink: {channel: {type: constant, rate: 6Mb/s}}}");
  for (const RunResult& result : run_all(text)) {
    SCOPED_TRACE(result.key.mode);
    ASSERT_EQ(result.flows.size(), 1U);
    EXPECT_EQ(result.flows[0].bytes, 5'000'000U);
    EXPECT_NE(result.flows[0].ended, "running");
    EXPECT_EQ(counter(result, "payload_corrupted"), 0U);
  }
}

TEST(NodebHandover, LostReportsDoNotKeepTheBearerAtTheOldNodeB) {
  const RunResult result =
      run_all(back_and_forth("smvs", true, "  - {type: bulk}\n", "reports: {loss: 0.3}\n")).front();
  EXPECT_GT(counter(result, "feedback_lost"), 0U);
  EXPECT_EQ(counter(result, "reporters_changed"), static_cast<std::uint64_t>(handovers));
  EXPECT_GT(result.utilisation, 0.85);
}

TEST(NodebHandover, TheSameSeedGivesTheSameBytes) {
  const std::string apps = "  - {type: bulk}\n  - {type: web}\n";
  const auto bytes = [&](bool forwarding) {
    std::string text = back_and_forth("none, i-tcp, smvs", forwarding, apps, "reports: {loss: 0.05}\n");
    const std::string steady = "{type: constant, rate: 10Mb/s}";
    text.replace(text.find(steady), steady.size(), "{type: piecewise, min: 2Mb/s, max: 15Mb/s, period: 100ms}");
    const auto results = run_all(text);
    return format_csv(results_table(results)) + format_csv(series_table(results)) + format_csv(ues_table(results)) +
           format_csv(flows_table(results));
  };
  EXPECT_EQ(bytes(true), bytes(true));
  EXPECT_EQ(bytes(false), bytes(false));
  EXPECT_NE(bytes(true), bytes(false));
}

}  // namespace
}  // namespace sluice::emulator
