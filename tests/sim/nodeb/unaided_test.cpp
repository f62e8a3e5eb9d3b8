// smvs by acknowledgements alone, in virtual time with TCP at both ends: no report of any Node-B.

#include <string>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

/// Downloads by acknowledgements over a link, 20 ms to the Node-B and back.
std::string cell(const std::string& channel, int ues, int flows, const std::string& more = {}) {
  std::string text =
      "duration: 25s\nwarmup: 5s\nmodes: [smvs]\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\n"
      "smvs: {law: acks}\n" +
      more + "cell:\n  tti: 1ms\n  scheduler: rr\n  uplink: {delay: 0ms}\n  ues:\n";
  for (int ue = 0; ue < ues; ++ue) {
    text += "    - {address: 10.45.0." + std::to_string(2 + ue) +
            ", frame: 0B, buffer: unlimited, channel: " + channel + "}\n";
  }
  return text + "apps: [{type: bulk, connections: " + std::to_string(flows) + "}]\n";
}

const std::string varying = "{type: piecewise, min: 2Mb/s, max: 12Mb/s, period: 300ms}";

TEST(AckBased, SteadyLinksAreUsedWithAShortQueue) {
  for (const char* rate : {"1Mb/s", "8Mb/s", "60Mb/s"}) {
    SCOPED_TRACE(rate);
    const auto results = run_all(cell("{type: constant, rate: " + std::string(rate) + "}", 1, 1));
    EXPECT_GT(results.at(0).utilisation, 0.95);
    EXPECT_LT(results.at(0).radio_queue_delay.p95_ms, std::string(rate) == "1Mb/s" ? 90 : 45);
    EXPECT_EQ(results.at(0).drops, 0U);
  }
}

TEST(AckBased, AVaryingLinkIsUsedWithAShortQueue) {
  const auto results = run_all(cell(varying, 1, 1));
  EXPECT_GT(results.at(0).utilisation, 0.9);
  EXPECT_LT(results.at(0).radio_queue_delay.p95_ms, 120);
}

// It fades at the speed of a pedestrian. A relay that stores for the mean rate alone makes it 91.8 %, with the same
// queue.
TEST(AckBased, AVaryingLinkFindsEnoughDataInTheRelay) {
  const auto results = run_all(cell("{type: generated, model: {mean: 20Mb/s, speed: 1km/h, snr: 4dB, seed: 7}}", 1, 1));
  EXPECT_GT(results.at(0).utilisation, 0.94);
  EXPECT_LT(results.at(0).radio_queue_delay.p95_ms, 90);
}

/// Returns the scenario with connections that stay end to end.
std::string end_to_end(std::string scenario) {
  const std::string mode = "modes: [smvs]";
  return scenario.replace(scenario.find(mode), mode.size(), "modes: [smvs/regulate]");
}

struct Mean {
  double used = 0;
  double p95_ms = 0;  ///< p95 delay of the radio queue, ms
};

/// Returns the mean of ten ACK-based downloads whose ACKs wait for uplink grants; `hosts` as in a scenario.
Mean behind_a_scheduled_uplink(const std::string& hosts) {
  const auto results = run_all(R"(
seed: 1
duration: 60s
warmup: 5s
modes: [smvs]
smvs: {law: acks}
server_proxy: {delay: 20ms}
proxy_nodeb: {delay: 10ms}
cell:
  tti: 1ms
  uplink: {delay: 0ms, scheduled: {}}
  ues:
    - address: 10.45.0.2
      frame: 0B
      buffer: unlimited
      channel: {type: generated, model: {mean: 6Mb/s, speed: 10km/h, snr: 9dB, length: 60s}}
apps:
  - {type: bulk}
hosts: )" + hosts + "\n",
                               10);
  EXPECT_EQ(results.size(), 10U);
  Mean mean;
  for (const RunResult& result : results) {
    mean.used += result.utilisation / static_cast<double>(results.size());
    mean.p95_ms += result.radio_queue_delay.p95_ms / static_cast<double>(results.size());
  }
  return mean;
}

// Its window grows while the uplink keeps acknowledgements waiting: without that it is 91.2 % at 46 ms.
TEST(AckBased, AScheduledUplinkCostsLittle) {
  const Mean mean = behind_a_scheduled_uplink("{timestamps: true}");
  EXPECT_GE(mean.used, 0.955);
  EXPECT_LE(mean.p95_ms, 54);
}

// Without timestamps the ACK delay is unknown. With the allowance for ACK aggregation that suffices otherwise,
// utilisation is 81 % at 37 ms.
TEST(AckBased, AScheduledUplinkWithoutTimestampsCostsLittle) {
  const Mean mean = behind_a_scheduled_uplink("{timestamps: false}");
  EXPECT_GE(mean.used, 0.935);
  EXPECT_LE(mean.p95_ms, 57);
}

TEST(AckBased, TheLinkIsUsedWithAShortQueueEndToEnd) {
  for (const char* rate : {"1Mb/s", "8Mb/s", "60Mb/s"}) {
    SCOPED_TRACE(rate);
    const auto results = run_all(end_to_end(cell("{type: constant, rate: " + std::string(rate) + "}", 1, 1)));
    EXPECT_GT(results.at(0).utilisation, 0.95);
    EXPECT_LT(results.at(0).radio_queue_delay.p95_ms, std::string(rate) == "1Mb/s" ? 90 : 50);
  }
  const auto varies = run_all(end_to_end(cell(varying, 1, 1)));
  EXPECT_GT(varies.at(0).utilisation, 0.9);
  EXPECT_LT(varies.at(0).radio_queue_delay.p95_ms, 150);
}

// The server grows its window for a second. The rate then rises to many times its mean, although the link is steady.
TEST(AckBased, AServerThatBeginsToSendHidesNoSteadyLinkEndToEnd) {
  for (const char* rate : {"10Mb/s", "100Mb/s"}) {
    SCOPED_TRACE(rate);
    const auto results = run_all(end_to_end(cell("{type: constant, rate: " + std::string(rate) + "}", 1, 1)));
    EXPECT_GT(results.at(0).utilisation, 0.95);
    EXPECT_LT(results.at(0).radio_queue_delay.p95_ms, 25);
  }
}

TEST(AckBased, EndToEndFlowsHaveEqualSharesOfOneWindow) {
  const auto results = run_all(end_to_end(cell(varying, 1, 4)));
  EXPECT_GT(results.at(0).figures.at("flow_jain"), 0.98);
  EXPECT_GT(results.at(0).utilisation, 0.85);
  EXPECT_LT(results.at(0).radio_queue_delay.p95_ms, 180);
}

TEST(AckBased, FlowsAndUesHaveEqualShares) {
  const auto flows = run_all(cell(varying, 1, 4));
  EXPECT_GT(flows.at(0).figures.at("flow_jain"), 0.98);
  EXPECT_GT(flows.at(0).utilisation, 0.85);
  const auto ues = run_all(cell(varying, 4, 1));
  EXPECT_GT(ues.at(0).jain, 0.98);
  EXPECT_GT(ues.at(0).utilisation, 0.85);
}

TEST(AckBased, ReportsOfAnyPeriodDoNotReduceUtilisation) {
  const auto without = run_all(cell(varying, 1, 1));
  for (const char* period : {"5ms", "50ms", "250ms", "1s"}) {
    SCOPED_TRACE(period);
    const auto with = run_all(cell(varying, 1, 1, "reports: {period: " + std::string(period) + "}\n"));
    EXPECT_GT(with.at(0).utilisation, without.at(0).utilisation - 0.01);
    EXPECT_LT(with.at(0).radio_queue_delay.p95_ms, 1.1 * without.at(0).radio_queue_delay.p95_ms + 2);
  }
}

TEST(AckBased, FrequentReportsSteerIfAcksAreLate) {
  const auto late = [](const std::string& more) {
    std::string text = cell(varying, 1, 1, more);
    text.replace(text.find("uplink: {delay: 0ms}"), 20, "uplink: {delay: 40ms}");
    return run_all(text);
  };
  const auto without = late("");
  const auto with = late("reports: {period: 5ms}\n");
  EXPECT_LT(with.at(0).radio_queue_delay.p95_ms, 0.85 * without.at(0).radio_queue_delay.p95_ms);
  EXPECT_GT(with.at(0).utilisation, 0.9);
}

// A first segment of a video beside a download, and the download.
TEST(AckBased, ShortFlowsGoFirstAndLeaveADownloadItsShare) {
  const auto beside = [](const std::string& short_flow) {
    std::string text = cell("{type: constant, rate: 8Mb/s}", 1, 1);
    text.replace(text.find("law: acks"), 9, "law: acks" + short_flow);
    text.replace(text.find("apps: ["), 7, "apps: [{type: video, start: 3s, length: 4s}, ");
    return run_all(text).at(0);
  };
  const RunResult even = beside(", short_flow: 0B");
  const RunResult first = beside("");
  EXPECT_LT(first.figures.at("video_start_ms"), 0.85 * even.figures.at("video_start_ms"));
  EXPECT_GT(first.utilisation, even.utilisation - 0.01);
  EXPECT_GT(first.throughput_bps, even.throughput_bps - 0.1e6);
}

// One page after the other, so that one is always waited for: the download keeps its part.
TEST(AckBased, EndlessShortFlowsCostLittleUtilisation) {
  const auto beside_pages = [](const std::string& channel, const std::string& short_flow_reference) {
    std::string text = cell(channel, 1, 1);
    text.replace(text.find("law: acks"), 9, "law: acks, short_flow_reference: " + short_flow_reference);
    text.replace(text.find("apps: ["), 7, "apps: [{type: web, think_time: 1ms}, ");
    return run_all(text).at(0);
  };
  const std::string steady = "{type: constant, rate: 8Mb/s}";
  EXPECT_LT(beside_pages(steady, "0.5").figures.at("page_mean_ms"),
            0.97 * beside_pages(steady, "1").figures.at("page_mean_ms"));
  EXPECT_GT(beside_pages(varying, "0.5").utilisation, beside_pages(varying, "1").utilisation - 0.05);
}

// Reports never arrive, so the law that asked for them continues with acknowledgements.
TEST(AckBased, AckBasedControlReplacesMissingReports) {
  std::string text = cell("{type: constant, rate: 8Mb/s}", 1, 1, "reports: {loss: 1}\n");
  text.replace(text.find("law: acks"), 9, "law: proxy, without_reports: acks");
  const auto results = run_all(text);
  EXPECT_GT(results.at(0).utilisation, 0.95);
  EXPECT_LT(results.at(0).radio_queue_delay.p95_ms, 45);
}

}  // namespace
}  // namespace sluice::emulator
