// Tests of whole runs over radio queues under active queue management.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

const std::string fixed = "{type: constant, rate: 10Mb/s}";
const std::string recorded =
    "{type: generated, model: {mean: 8Mb/s, speed: 30km/h, snr: 12dB, shadowing: 4dB, length: 60s, seed: 7}}";

/// One download by CUBIC through a radio queue of 600 KiB, half a second at 10 Mb/s.
std::string download(const std::string& channel, const std::string& queue, const std::string& rest = "") {
  return "duration: 35s\nwarmup: 5s\nmodes: [none]\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\n"
         "output: {ues: true, flows: true}\ncell:\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: 600KiB, "
         "queue: " +
         queue + ", channel: " + channel + "}\napps: [{type: bulk}]\n" + rest;
}

void expect_balance(const RunResult& result) {
  const UePoint& end = result.ues.back();
  EXPECT_NEAR(static_cast<double>(end.arrived_bytes - end.transmitted_bytes - end.dropped_bytes), end.queue_bytes, 1);
  EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
  EXPECT_EQ(result.counters.at("connections_failed"), 0U);
}

TEST(RadioQueue, CodelHoldsTheDelayNearItsTargetAndDropTailFillsTheBuffer) {
  const RunResult tail = run_all(download(fixed, "{type: fifo}")).front();
  EXPECT_GT(tail.radio_queue_delay.p50_ms, 250) << "half the buffer and more";
  EXPECT_FALSE(tail.counters.contains("radio_early_drops"));
  for (const std::string queue : {"{type: codel}", "{type: fq-codel}", "{type: codel, target: 20ms}"}) {
    SCOPED_TRACE(queue);
    const double target = queue.find("20ms") == std::string::npos ? 5 : 20;
    const RunResult held = run_all(download(fixed, queue)).front();
    EXPECT_LT(held.radio_queue_delay.p50_ms, 3 * target);
    EXPECT_GT(held.utilisation, 0.9);
    EXPECT_GT(held.counters.at("radio_early_drops"), 10U);
    EXPECT_EQ(held.counters.at("radio_marks"), 0U);
    EXPECT_EQ(held.ues.back().dropped_packets, held.counters.at("radio_early_drops")) << "none for want of room";
    expect_balance(held);
  }
}

TEST(RadioQueue, CodelShortensTheQueueOfAVaryingLink) {
  const RunResult tail = run_all(download(recorded, "{type: fifo}")).front();
  for (const std::string queue : {"{type: codel}", "{type: fq-codel}"}) {
    SCOPED_TRACE(queue);
    const RunResult held = run_all(download(recorded, queue)).front();
    EXPECT_LT(held.radio_queue_delay.p50_ms, tail.radio_queue_delay.p50_ms / 5);
    EXPECT_LT(held.radio_queue_delay.p95_ms, tail.radio_queue_delay.p95_ms / 3);
    EXPECT_GT(held.counters.at("radio_early_drops"), 10U);
    expect_balance(held);
  }
}

TEST(RadioQueue, CodelWithEcnLosesNothing) {
  const RunResult marking = run_all(download(fixed, "{type: codel, ecn: true}", "hosts: {ecn: true}\n")).front();
  EXPECT_GT(marking.counters.at("radio_marks"), 10U);
  EXPECT_EQ(marking.retransmissions, 0U);
  EXPECT_LT(marking.radio_queue_delay.p50_ms, 15);
  const RunResult dropping = run_all(download(fixed, "{type: codel}")).front();
  EXPECT_GT(marking.utilisation, dropping.utilisation - 0.03) << "a mark costs what a drop costs";
  expect_balance(marking);
}

TEST(RadioQueue, EverySchedulerServesManagedQueues) {
  for (const std::string scheduler : {"rr", "mci", "pf", "pf-rate", "pf-sp", "pf-rp", "fcds"}) {
    SCOPED_TRACE(scheduler);
    const std::string ue =
        ", frame: 0B, queue: {type: codel}, buffer: 100 packets, channel: {type: hsdpa, radio: {distance: 200m}}}\n";
    const RunResult result = run_all(
                                 "duration: 12s\nwarmup: 2s\nmodes: [none]\noutput: {ues: true}\n"
                                 "cell:\n  tti: 2ms\n  harq: {}\n  scheduler: " +
                                 scheduler + "\n  ues:\n    - {address: 10.45.0.2" + ue + "    - {address: 10.45.0.3" +
                                 ue + "apps: [{type: bulk, ues: 2}]\n")
                                 .front();
    EXPECT_GT(result.counters.at("radio_early_drops"), 0U);
    EXPECT_GT(result.utilisation, 0.7);
    expect_balance(result);
  }
}

TEST(RadioQueue, TheUplinkOfAUeMayBeManaged) {
  const auto upload = [](const std::string& queue) {
    return run_all(
               "duration: 22s\nwarmup: 2s\nmodes: [none]\ncell:\n  ues:\n"
               "    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: 20Mb/s},\n"
               "       uplink: {buffer: 600KiB, queue: " +
               queue + ", channel: {type: constant, rate: 8Mb/s}}}\napps: [{type: bulk, direction: upload}]\n")
        .front();
  };
  const RunResult tail = upload("{type: fifo}");
  const RunResult held = upload("{type: codel}");
  EXPECT_LT(held.counters.at("uplink_delay_p50_us"), tail.counters.at("uplink_delay_p50_us") / 10);
  EXPECT_GT(held.counters.at("uplink_drops"), 5U);
  EXPECT_GT(held.figures.at("upload_bps"), 0.85 * 8e6);
}

}  // namespace
}  // namespace sluice::emulator
