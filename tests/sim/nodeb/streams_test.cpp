// Tests of applications that fetch repeatedly, over an RTT of 20 ms and 20 Mb/s.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "emulator/hosts/flow_source.hpp"
#include "emulator/hosts/request_client.hpp"
#include "tests/sim/nodeb/two_hosts.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;

class StreamsTest : public test::TwoHosts {
 protected:
  FlowSourceConfig flows() const {
    FlowSourceConfig flows;
    flows.server = server_.config().address;
    return flows;
  }
  RequestConfig requests() const {
    RequestConfig requests;
    requests.server = server_.config().address;
    requests.size = {SizeKind::fixed, Bytes(1000), Bytes(1000), 1};
    return requests;
  }
};

TEST_F(StreamsTest, RequestsFollowTheirAnswersAfterAThinkTime) {
  RequestConfig config = requests();
  config.interval = 100ms;
  RequestClient client(loop_, client_, config, Random(1), log_);
  run(60s);
  // 20 ms a round trip and 100 ms of thinking.
  EXPECT_NEAR(static_cast<double>(log_.fetches), 60.0 / 0.12, 50);
  EXPECT_NEAR(to_milliseconds(log_.fetch_times.percentile(0.5)), 20.5, 1);
  ASSERT_EQ(log_.flows.size(), 1U);
  EXPECT_EQ(log_.flows[0].reason, tcp::CloseReason::none);
  EXPECT_GE(log_.flows[0].bytes, log_.fetches * 1000);
}

TEST_F(StreamsTest, TelnetSendsRequestsAtFixedIntervals) {
  RequestConfig config = requests();
  config.name = "telnet";
  config.pace = RequestPace::clocked;
  config.interval = 100ms;
  RequestClient client(loop_, client_, config, Random(1), log_);
  run(30s);
  EXPECT_NEAR(static_cast<double>(log_.fetches), 300, 2);
}

TEST_F(StreamsTest, OnOffSourcesPause) {
  RequestConfig config = requests();
  config.pace = RequestPace::clocked;
  config.interval = 10ms;
  config.on = 500ms;
  config.off = 1500ms;
  RequestClient client(loop_, client_, config, Random(1), log_);
  run(400s);
  EXPECT_NEAR(static_cast<double>(log_.fetches) / 40'000, 0.25, 0.05) << "on for a quarter of the time";
}

TEST_F(StreamsTest, FlowsArriveAsAPoissonProcessWithTriangularSizes) {
  FlowSourceConfig config = flows();
  config.interval = 200ms;
  config.size = {SizeKind::triangular, Bytes(1000), Bytes(101'000), 1};
  config.stop = Instant(290s);
  FlowSource source(loop_, client_, config, Random(2), log_);
  run(300s);
  const auto count = static_cast<double>(log_.flows.size());
  EXPECT_NEAR(count, 290 / 0.2, 4 * std::sqrt(290 / 0.2));
  double sum = 0;
  double squares = 0;
  for (const FlowRecord& flow : log_.flows) {
    EXPECT_EQ(flow.reason, tcp::CloseReason::finished);
    sum += static_cast<double>(flow.bytes);
    squares += static_cast<double>(flow.bytes) * static_cast<double>(flow.bytes);
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 51'000, 2000);
  // (max − min)² / 24 is the variance of a symmetric triangle.
  EXPECT_NEAR((squares / count - mean * mean) / (1e10 / 24), 1, 0.1);
  EXPECT_EQ(counters_.ends.size(), log_.flows.size());
}

TEST_F(StreamsTest, ObjectsOfAPageHaveTheirOwnConnections) {
  FlowSourceConfig config = flows();
  config.interval = 2s;
  config.objects_mean = 5;
  config.gap = 10ms;
  config.size = {SizeKind::pareto, Bytes(2900), Bytes(200'000), 1.2};
  FlowSource source(loop_, client_, config, Random(3), log_);
  run(600s);
  // ceil of an exponential with mean 5 has mean 1/(1 − e^(−1/5)) = 5.52.
  EXPECT_NEAR(static_cast<double>(log_.flows.size()) / 300, 5.52, 1);
  EXPECT_TRUE(std::all_of(log_.flows.begin(), log_.flows.end(), [](const FlowRecord& f) { return f.bytes >= 2900; }));
}

TEST_F(StreamsTest, BothEndsOfEveryFlowAreLogged) {
  FlowSourceConfig config = flows();
  config.interval = 1s;
  config.size = {SizeKind::fixed, Bytes(400'000), Bytes(400'000), 1};
  FlowSource source(loop_, client_, config, Random(4), log_);
  run(20s);
  ASSERT_FALSE(log_.flows.empty());
  for (const FlowRecord& flow : log_.flows) {
    const auto server = counters_.ends.find(flow.ends);
    ASSERT_NE(server, counters_.ends.end());
    EXPECT_GT(server->second.srtt, 20ms);
    EXPECT_GT(flow.finished, flow.opened + 20ms);
  }
}

}  // namespace
}  // namespace sluice::emulator
