// Tests of whole runs with the other elements of scenarios: access points, routers, handovers and hybrid ARQ.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "emulator/report/results_csv.hpp"
#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

/// Returns a scenario with one upload and one download through an access point with a buffer of `buffer` packets; TCP
/// as in the paper.
std::string wlan(int buffer, const std::string& rest) {
  return "duration: 105s\nwarmup: 5s\nmodes: [none]\n"
         "server_proxy: {delay: 5ms}\nproxy_nodeb: {delay: 1ms}\noutput: {flows: true}\n"
         "hosts: {receive_buffer: 63000B, timestamps: false, sack: false, tcp: {delayed_ack: 0s}}\n"
         "cell:\n  wlan: {buffer: " +
         std::to_string(buffer) +
         "}\n  uplink: {delay: 0s}\n  ues:\n"
         "    - {address: 10.45.0.2, channel: {type: wlan}}\n    - {address: 10.45.0.3, channel: {type: wlan}}\n"
         "apps:\n  - {type: bulk, ue: 0, direction: upload}\n  - {type: bulk, ue: 1}\n" +
         rest;
}

double ratio(const RunResult& result) {
  std::map<std::string, double> bytes;
  for (const FlowRow& flow : result.flows) bytes[flow.direction] += static_cast<double>(flow.bytes);
  return bytes["upload"] / bytes["download"];
}

// Pilosof et al., region 1: with room for both windows nothing is lost and both get the same.
TEST(Wlan, UploadAndDownloadAreEqualWithABufferAboveTwoWindows) {
  const RunResult result = run_all(wlan(100, "")).front();
  EXPECT_EQ(result.drops, 0U);
  EXPECT_NEAR(ratio(result), 1, 0.1);
  EXPECT_GT(result.utilisation, 0.99);
}

// Region 3: below one window the download starves while the upload, whose lost ACKs hardly matter, does not.
TEST(Wlan, TheUploadWinsWithASmallBuffer) {
  const RunResult result = run_all(wlan(20, "")).front();
  EXPECT_GT(result.drops, 100U);
  EXPECT_GT(ratio(result), 3);
}

std::string plain(const std::string& ue, const std::string& apps) {
  return "duration: 31s\nwarmup: 1s\nmodes: [none]\nserver_proxy: {delay: 5ms}\nproxy_nodeb: {delay: 1ms}\n"
         "output: {flows: true}\ncell:\n  ues: [{address: 10.45.0.2, frame: 0B, buffer: 100kB, " +
         ue + "channel: {type: constant, rate: 10Mb/s}}]\napps: " + apps + "\n";
}

TEST(Cell, LosesTheConfiguredShareOfPackets) {
  const RunResult result = run_all(plain("loss: 0.02, ", "[{type: bulk}]")).front();
  const double packets = result.throughput_bps * result.measured_s / 8 / 1448;
  EXPECT_NEAR(static_cast<double>(result.drops), 0.02 * packets, 0.005 * packets);
  EXPECT_GE(result.retransmissions, result.drops / 2);
  EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
}

TEST(Apps, AnAbortedTransferLeavesTheLinkToTheOthers) {
  const RunResult result = run_all(plain("", "[{type: bulk}, {type: bulk, start: 5s, stop: 10s}]")).front();
  ASSERT_EQ(result.flows.size(), 2U);
  const bool first = result.flows[0].opened_s > 1;
  const FlowRow& broken = result.flows[first ? 0 : 1];
  EXPECT_DOUBLE_EQ(broken.opened_s, 5);
  EXPECT_DOUBLE_EQ(broken.completion_ms, 5000);
  EXPECT_GT(broken.bytes, 500'000U);
  EXPECT_NE(broken.ended, "running");
  EXPECT_GT(result.utilisation, 0.98);
  EXPECT_EQ(result.counters.at("connections_failed"), 0U);
}

TEST(Apps, RegularArrivalsAreEvenlySpaced) {
  const RunResult result =
      run_all(plain("", "[{type: flows, arrivals: 3s, regular: true, sizes: {kind: fixed, min: 20kB}}]")).front();
  ASSERT_EQ(result.flows.size(), 10U);
  EXPECT_LT(result.flows[0].opened_s, 3);
  for (std::size_t i = 1; i < result.flows.size(); ++i) {
    EXPECT_NEAR(result.flows[i].opened_s - result.flows[i - 1].opened_s, 3, 1e-6);
  }
  EXPECT_GT(result.figures.at("medium_fetch_ms"), 0);
  EXPECT_NEAR(result.figures.at("fetch_mean_ms"), result.figures.at("medium_fetch_ms"), 1);
}

std::string dumbbell(const std::string& queue) {
  return "duration: 30s\nwarmup: 5s\nmodes: [none]\n"
         "server_proxy: {delay: 20ms, rate: 10Mb/s, buffer: 500KiB, queue: " +
         queue +
         "}\n"
         "cell:\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: "
         "100Mb/s}}\n"
         "apps:\n  - {type: bulk, connections: 4}\n  - {type: telnet, interval: 100ms, sizes: {kind: fixed, min: "
         "1000B}}\n";
}

TEST(Router, CodelLimitsTheDelayThatGrowsWithDropTail) {
  const RunResult tail = run_all(dumbbell("{type: fifo}")).front();
  const RunResult codel = run_all(dumbbell("{type: codel}")).front();
  const RunResult fair = run_all(dumbbell("{type: fq-codel}")).front();
  const RunResult red = run_all(dumbbell("{type: red}")).front();
  EXPECT_GT(tail.server_to_ue_delay.p50_ms, 150);
  EXPECT_LT(codel.server_to_ue_delay.p50_ms, 40);
  EXPECT_LT(red.server_to_ue_delay.p50_ms, tail.server_to_ue_delay.p50_ms / 2);
  // What is sparse does not wait behind the others at all.
  EXPECT_LT(*fair.fetch_p95_ms, *codel.fetch_p50_ms);
  EXPECT_LT(*fair.fetch_p95_ms, 90);
  for (const RunResult& result : {tail, codel, fair, red}) {
    EXPECT_GT(result.throughput_bps, 8.5e6);
    EXPECT_GT(result.counters.at("server_proxy_down_drops"), 0U);
  }
}

TEST(Router, ALineWithABufferCountsItsDrops) {
  std::string scenario = dumbbell("{type: fifo}");
  const std::string queue = ", queue: {type: fifo}";
  scenario.erase(scenario.find(queue), queue.size());
  const RunResult result = run_all(scenario).front();
  EXPECT_GT(result.counters.at("server_proxy_down_drops"), 0U);
  EXPECT_EQ(result.counters.at("server_proxy_down_drops"),
            run_all(dumbbell("{type: fifo}")).front().counters.at("server_proxy_down_drops"));
  EXPECT_FALSE(result.counters.contains("server_proxy_down_marks"));
  scenario.replace(scenario.find(", buffer: 500KiB"), 16, "");
  EXPECT_FALSE(run_all(scenario).front().counters.contains("server_proxy_down_drops")) << "it holds everything";
}

TEST(Router, EcnPreventsLosses) {
  const RunResult dropping = run_all(dumbbell("{type: codel}")).front();
  const RunResult marking = run_all(dumbbell("{type: codel, ecn: true}") + "hosts: {ecn: true}\n").front();
  EXPECT_GT(dropping.counters.at("server_proxy_down_drops"), 50U);
  // Bare acknowledgements of requests are not ECN-capable (RFC 3168 section 6.1.4) and are dropped still.
  const std::uint64_t marks = marking.counters.at("server_proxy_down_marks");
  EXPECT_GT(marks, 50U);
  EXPECT_LT(marking.counters.at("server_proxy_down_drops"), marks / 4);
  EXPECT_EQ(marking.retransmissions, 0U);
  EXPECT_LT(marking.server_to_ue_delay.p50_ms, 40);
  EXPECT_GT(marking.throughput_bps, 8.5e6);
}

std::string moving(const std::string& moves, const std::string& mode) {
  return "duration: 12s\nwarmup: 2s\ninterval: 100ms\nmodes: [" + mode +
         "]\noutput: {ues: true}\n"
         "cell:\n  cells: 2\n  ues:\n"
         "    - {address: 10.45.0.2, frame: 0B, buffer: 150KiB, channel: {type: constant, rate: 8Mb/s}}\n"
         "    - {address: 10.45.0.3, frame: 0B, buffer: 150KiB, cell: 1, channel: {type: constant, rate: 8Mb/s}}\n"
         "apps:\n  - {type: bulk, ue: 0}\n  - {type: bulk, ue: 1}\nmoves:\n" +
         moves;
}

double used(const RunResult& result, const std::string& ue, double from, double to) {
  double sum = 0;
  int count = 0;
  for (const UePoint& point : result.ues) {
    if (point.ue != ue || point.time_s <= from || point.time_s > to) continue;
    sum += point.link_used_bps;
    ++count;
  }
  return sum / count;
}

TEST(Mobility, AHandoverMovesTheLoad) {
  for (const std::string mode : {"none", "i-tcp", "smvs"}) {
    SCOPED_TRACE(mode);
    const RunResult result = run_all(moving("  - {type: handover, at: 6s, ue: 0, cell: 1}\n", mode)).front();
    EXPECT_GT(used(result, "10.45.0.2", 3, 6), 7.5e6);
    EXPECT_NEAR(used(result, "10.45.0.2", 9, 12), 4e6, 0.5e6);
    EXPECT_NEAR(used(result, "10.45.0.3", 9, 12), 4e6, 0.5e6);
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
    EXPECT_EQ(result.counters.at("connections_failed"), 0U);
    EXPECT_TRUE(std::any_of(result.ues.begin(), result.ues.end(), [](const UePoint& point) {
      return point.time_s == 6 && point.ue == "10.45.0.2" && point.state == "handover";
    }));
  }
}

TEST(Mobility, WithoutForwardingQueuedPacketsAreLost) {
  const auto drops = [](const std::string& forwarding) {
    const std::string move = "  - {type: handover, at: 6s, ue: 0, cell: 1, forwarding: " + forwarding + "}\n";
    const RunResult result = run_all(moving(move, "smvs")).front();
    std::uint64_t dropped = 0;
    for (const UePoint& point : result.ues) {
      if (point.ue == "10.45.0.2") dropped = point.dropped_packets;
    }
    return dropped;
  };
  EXPECT_GE(drops("false"), drops("true") + 5);
}

TEST(Mobility, TransfersContinueAfterAnOutageButNotAfterLeaving) {
  const RunResult result = run_all(moving("  - {type: outage, at: 4s, ue: 0, duration: 2s}\n"
                                          "  - {type: leave, at: 8s, ue: 1}\n",
                                          "i-tcp"))
                               .front();
  EXPECT_EQ(used(result, "10.45.0.2", 4.1, 6), 0);
  EXPECT_GT(used(result, "10.45.0.2", 9, 12), 7e6);
  EXPECT_EQ(used(result, "10.45.0.3", 8.1, 12), 0);
}

TEST(Harq, ACellWithRadioLossCarriesEverythingInEveryMode) {
  for (const std::string rlc : {"acknowledged", "unacknowledged"}) {
    const std::string text =
        "duration: 22s\nwarmup: 2s\nmodes: [none, i-tcp, smvs]\noutput: {packets: true}\n"
        "cell:\n  tti: 2ms\n  scheduler: pf\n  harq: {transmissions: 2, rlc: " +
        rlc +
        "}\n  ues:\n"
        "    - {address: 10.45.0.2, buffer: 2000 frames, channel: {type: hsdpa, radio: {distance: 200m, speed: "
        "30km/h}}}\n"
        "    - {address: 10.45.0.3, buffer: 2000 frames, channel: {type: hsdpa, radio: {distance: 400m}}}\n"
        "apps: [{type: bulk, ue: 0}, {type: bulk, ue: 1}]\n";
    for (const RunResult& result : run_all(text)) {
      SCOPED_TRACE(rlc + " " + result.key.mode);
      EXPECT_GT(result.utilisation, 0.9);
      EXPECT_GT(result.counters.at("harq_retransmissions"), 100U);
      EXPECT_EQ(result.counters.at("rlc_lost_packets") > 0, rlc == "unacknowledged");
      EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
      EXPECT_FALSE(result.packets.empty());
    }
  }
}

// One UE uploads over 8 Mb/s, the other over 2 Mb/s; neither slows the other.
TEST(Uplink, EachUeHasItsOwnUplink) {
  const std::string text =
      "duration: 12s\nwarmup: 2s\nmodes: [none, i-tcp]\noutput: {flows: true}\n"
      "cell:\n  uplink: {delay: 5ms}\n  ues:\n"
      "    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: 20Mb/s}, uplink: "
      "{buffer: "
      "50 packets, channel: {type: constant, rate: 8Mb/s}}}\n"
      "    - {address: 10.45.0.3, frame: 0B, buffer: unlimited, channel: {type: constant, rate: 20Mb/s}, uplink: "
      "{buffer: "
      "50 packets, channel: {type: constant, rate: 2Mb/s}}}\n"
      "apps:\n  - {type: bulk, ue: 0, direction: upload}\n  - {type: bulk, ue: 1, direction: upload}\n";
  for (const RunResult& result : run_all(text)) {
    SCOPED_TRACE(result.key.mode);
    ASSERT_EQ(result.flows.size(), 2U);
    EXPECT_NEAR(result.flows[0].throughput_bps, 7.5e6, 0.6e6);
    EXPECT_NEAR(result.flows[1].throughput_bps, 1.9e6, 0.2e6);
    EXPECT_GT(result.counters.at("uplink_drops"), 0U);
    EXPECT_GT(result.counters.at("uplink_delay_p95_us"), 30'000U) << "50 packets wait";
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
  }
}

/// One UE over 12 Mb/s, a packet each millisecond, whose uplink has a schedule.
std::string scheduled(const std::string& schedule, const std::string& app) {
  return "duration: 10s\nwarmup: 1s\nmodes: [none]\ncell:\n  uplink: {delay: 0ms, scheduled: {" + schedule +
         "}}\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: 100 packets, channel: {type: constant, rate: "
         "12Mb/s}}\napps: [" +
         app + "]\n";
}

TEST(Uplink, AScheduledUplinkAggregatesAcks) {
  const RunResult result = run_all(scheduled("block_errors: 0", "{type: bulk}")).at(0);
  EXPECT_GT(result.utilisation, 0.95);
  EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
  EXPECT_EQ(result.counters.at("uplink_drops"), 0U);
  EXPECT_EQ(result.counters.at("uplink_retransmissions"), 0U);
  // A block every 8 ms carries what the block before it reported. So an ACK waits for the block after the next, 8 to
  // 16 ms, and for the TTI itself.
  EXPECT_GT(result.counters.at("uplink_delay_p50_us"), 9'000U);
  EXPECT_LT(result.counters.at("uplink_delay_p95_us"), 18'000U);
  EXPECT_GT(result.counters.at("uplink_grants"), 10'000U / 8 - 100);
  EXPECT_LT(result.counters.at("uplink_requests"), 50U);
}

TEST(Uplink, LostBlocksAreRetransmittedWithoutLosses) {
  const RunResult result = run_all(scheduled("block_errors: 0.3", "{type: bulk, direction: upload}")).at(0);
  EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
  EXPECT_GT(result.counters.at("uplink_retransmissions"), 1000U);
  EXPECT_GT(result.counters.at("uplink_delay_p50_us"), 30'000U) << "200 packets wait in the UE";
}

TEST(Uplink, PacketsForASleepingUeWait) {
  const std::string telnet = "{type: telnet, interval: 500ms, sizes: {kind: fixed, min: 500B}}";
  const RunResult awake = run_all(scheduled("", telnet)).at(0);
  EXPECT_LT(awake.radio_queue_delay.p95_ms, 2);
  // The answer comes 60 ms after the request has woken the UE.
  const RunResult asleep = run_all(scheduled("drx: {inactivity: 20ms}", telnet)).at(0);
  EXPECT_GT(asleep.radio_queue_delay.p95_ms, 50);
  EXPECT_LT(asleep.radio_queue_delay.p95_ms, 320);
  EXPECT_EQ(asleep.counters.at("payload_corrupted"), 0U);
}

TEST(Outputs, QueuesAreReportedPerFlow) {
  const RunResult result =
      run_all(
          "duration: 12s\nwarmup: 2s\nmodes: [none]\noutput: {queues: true, packets: true}\n"
          "cell:\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: 60 packets, channel: {type: "
          "constant, rate: 5Mb/s}}\n"
          "apps:\n  - {type: bulk}\n  - {type: telnet, interval: 50ms, sizes: {kind: fixed, min: "
          "200B}}\n")
          .front();
  ASSERT_EQ(result.queues.size(), 2U);
  const QueueRow& bulk = result.queues[0];
  const QueueRow& telnet = result.queues[1];
  EXPECT_GT(bulk.bytes, 20 * telnet.bytes);
  EXPECT_GT(telnet.packets, 100U);
  EXPECT_EQ(bulk.dropped_packets + telnet.dropped_packets, result.drops);
  EXPECT_GT(result.drops, 0U);
  EXPECT_NEAR(telnet.delay.p50_ms / bulk.delay.p50_ms, 1, 0.15) << "first in, first out";
  // Little: what waits on average is what comes in times how long it stays.
  EXPECT_NEAR(bulk.queue_mean_bytes, static_cast<double>(bulk.bytes) / 10 * bulk.delay.mean_ms / 1000,
              0.01 * bulk.queue_mean_bytes);
  double waited = 0;
  for (const PacketRow& packet : result.packets) {
    if (packet.time_s > 2 && packet.event == "departed") waited += packet.bytes * packet.queueing_ms / 1000;
  }
  EXPECT_NEAR(bulk.queue_mean_bytes + telnet.queue_mean_bytes, waited / 10, waited / 1000);
}

TEST(Servers, MayHaveTheirOwnHops) {
  const std::string text =
      "duration: 12s\nwarmup: 2s\nmodes: [none]\noutput: {flows: true}\nservers: [192.0.2.1, 192.0.2.2]\n"
      "server_hops: [{delay: 0s}, {delay: 100ms}]\nserver_proxy: {delay: 10ms}\nproxy_nodeb: {delay: 5ms}\n"
      "cell:\n  uplink: {delay: 5ms}\n  ues:\n"
      "    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: 50Mb/s}}\n"
      "apps:\n  - {type: request, server: 0, think_time: 50ms, sizes: {kind: fixed, min: 1000B}}\n"
      "  - {type: request, server: 1, think_time: 50ms, sizes: {kind: fixed, min: 1000B}}\n";
  const RunResult result = run_all(text).front();
  ASSERT_EQ(result.flows.size(), 2U);
  EXPECT_NEAR(*result.flows[0].handshake_ms, 36, 2);
  EXPECT_NEAR(*result.flows[1].handshake_ms, 236, 2);
  EXPECT_LT(result.server_to_ue_delay.p99_ms, 3) << "propagation does not count";
}

TEST(Outputs, TheSameSeedGivesTheSameBytes) {
  const std::string text = moving("  - {type: handover, at: 6s, ue: 0, cell: 1}\n", "smvs");
  const auto first = run_all(text);
  const auto second = run_all(text);
  EXPECT_EQ(format_csv(ues_table(first)), format_csv(ues_table(second)));
  const auto flows = run_all(wlan(20, ""));
  EXPECT_EQ(format_csv(flows_table(flows)), format_csv(flows_table(run_all(wlan(20, "")))));
  EXPECT_GT(flows.front().flows.size(), 1U);
}

}  // namespace
}  // namespace sluice::emulator
