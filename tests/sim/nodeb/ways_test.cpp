// Tests of whole runs over paths with policers and changing delays. Hosts have two addresses or devices behind them,
// and some connections are not steered by the proxy.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

/// One UE at 50 Mb/s, 30 ms of round trip; `rest` adds apps and what else there is.
std::string network(const std::string& mode, const std::string& rest, const std::string& near = "",
                    const std::string& ue = "") {
  return "duration: 25s\nwarmup: 5s\nmodes: [" + mode +
         "]\noutput: {flows: true}\nsmvs: {law: acks}\nserver_proxy: {delay: 10ms}\nproxy_nodeb: {delay: 5ms" + near +
         "}\ncell:\n  uplink: {delay: 0s}\n  ues: [{address: 10.45.0.2, frame: 0B, buffer: 100kB, " + ue +
         "channel: {type: constant, rate: 50Mb/s}}]\n" + rest;
}

double rate_of(const RunResult& result, std::size_t flow) {
  return result.flows.at(flow).measured_bps;
}

TEST(Policer, DropsPacketsAboveItsRateWithoutQueueing) {
  const RunResult result =
      run_all(network("none", "apps: [{type: bulk}]\n", ", policer: {rate: 10Mb/s, burst: 125kB}")).front();
  EXPECT_LT(result.throughput_bps, 10e6);
  EXPECT_GT(result.throughput_bps, 7e6);
  EXPECT_GT(result.counters.at("hop_drops"), 5U);
  EXPECT_GE(result.counters.at("proxy_nodeb_down_drops"), result.counters.at("hop_drops"));
  EXPECT_LT(result.radio_queue_delay.p95_ms, 3);
  EXPECT_EQ(result.drops, 0U) << "the radio queue drops nothing";
}

TEST(Policer, MayStandBeforeTheProxy) {
  std::string text = network("none", "apps: [{type: bulk}]\n");
  text.replace(text.find("{delay: 10ms}"), 13, "{delay: 10ms, policer: {rate: 10Mb/s, burst: 125kB}}");
  const RunResult result = run_all(text).front();
  EXPECT_LT(result.throughput_bps, 10e6);
  EXPECT_GT(result.counters.at("hop_drops"), 5U);
}

TEST(Hops, DropsOfAPlainBufferAreCounted) {
  const RunResult result = run_all(network("none", "apps: [{type: bulk}]\n", ", rate: 20Mb/s, buffer: 30kB")).front();
  EXPECT_GT(result.counters.at("proxy_nodeb_down_drops"), 5U);
  EXPECT_GT(result.counters.at("hop_drops"), 0U);
  EXPECT_LE(result.counters.at("hop_drops"), result.counters.at("proxy_nodeb_down_drops"))
      << "without those of the warm-up";
}

TEST(Hops, DelayStepsApplyToOneDirection) {
  // Pings of a game: 15 ms each way at first, 100 ms more up from the end of the warm-up on.
  const std::string ping = "apps: [{type: game, tick: 100ms}]\n";
  const RunResult up = run_all(network("none", ping, ", steps: [{at: 5s, extra: 100ms, way: up}]")).front();
  EXPECT_NEAR(up.figures.at("game_up_p50_ms"), 115, 2);
  EXPECT_NEAR(up.figures.at("game_down_p50_ms"), 15, 2);
  const RunResult queue = run_all(network("none", ping,
                                          ", rate: 80Mb/s, buffer: 100kB, queue: {type: fifo}, "
                                          "steps: [{at: 1s, extra: 50ms}, {at: 5s, extra: 100ms, way: down}]"))
                              .front();
  EXPECT_NEAR(queue.figures.at("game_down_p50_ms"), 115, 2);
  EXPECT_NEAR(queue.figures.at("game_up_p50_ms"), 65, 2);
}

TEST(Pie, HoldsTheQueueOfARouterAtItsTarget) {
  const RunResult result = run_all(network("none", "apps: [{type: bulk, connections: 4}]\n",
                                           ", rate: 20Mb/s, buffer: 1MB, queue: {type: pie}"))
                               .front();
  EXPECT_GT(result.throughput_bps, 0.85 * 20e6);
  EXPECT_GT(result.counters.at("hop_drops"), 0U);
  EXPECT_LT(result.proxy_to_ue_delay.p50_ms, 40);
}

TEST(Servers, MayHaveTheirOwnEndpointSettings) {
  // The congestion control of a server whose connections the proxy splits would hardly matter.
  const std::string text =
      network("smvs",
              "servers: [192.0.2.1, 192.0.2.2]\nserver_tcp: [{congestion: cubic}, {congestion: bbr}]\n"
              "proxy: {bypass_servers: [192.0.2.2/32]}\n"
              "apps: [{type: bulk}, {type: bulk, server: 1, start: 10ms}]\nsweep: [{column: other, keys: "
              "[server_tcp.1.congestion], values: [bbr, cubic]}]\n");
  const auto results = run_all(text);
  ASSERT_EQ(results.size(), 2U);
  for (const RunResult& result : results) {
    ASSERT_EQ(result.flows.size(), 2U);
    EXPECT_GT(rate_of(result, 0) + rate_of(result, 1), 0.9 * 50e6 * 1448 / 1500);
    EXPECT_GT(result.server_retransmissions, 0U) << "of the connection that is not split";
  }
  EXPECT_NE(rate_of(results[0], 1), rate_of(results[1], 1));
}

TEST(Ues, MayHaveTwoAddressesInOneQueue) {
  const RunResult result = run_all(network("none",
                                           "servers: [192.0.2.1, \"2001:db8:1::1\"]\napps: [{type: bulk}, {type: bulk, "
                                           "address: 1, server: 1}]\n",
                                           "", "more_addresses: [\"2001:db8:2::2\"], "))
                               .front();
  ASSERT_EQ(result.flows.size(), 2U);
  EXPECT_EQ(result.flows[1].ue, "2001:db8:2::2");
  EXPECT_GT(rate_of(result, 0), 10e6);
  EXPECT_GT(rate_of(result, 1), 10e6);
  EXPECT_NEAR(rate_of(result, 0) + rate_of(result, 1), 50e6 * 1440 / 1500, 2e6);
  EXPECT_EQ(result.counters.at("connections_failed"), 0U);
}

TEST(Ues, MayHaveDevicesBehindThemThatAreSlower) {
  const RunResult result = run_all(network("none",
                                           "servers: [192.0.2.1, 192.0.2.2]\napps: [{type: bulk}, {type: bulk, server: "
                                           "1}]\nsecond_hops: [{server: 1, delay: 5ms, rate: 2Mb/s, buffer: 50kB}]\n"))
                               .front();
  ASSERT_EQ(result.flows.size(), 2U);
  EXPECT_NEAR(rate_of(result, 1), 2e6 * 1448 / 1500, 0.05e6);
  EXPECT_GT(rate_of(result, 0), 40e6) << "the other one has the rest";
  EXPECT_GT(result.counters.at("second_hop_drops"), 0U);
  EXPECT_NEAR(*result.flows[1].handshake_ms - *result.flows[0].handshake_ms, 10, 1) << "both ways";
}

TEST(Games, TimesBetweenDatagramsMayBeRandom) {
  const auto run = [](const std::string& exponential) {
    std::string apps = "apps:\n";
    for (int i = 0; i < 4; ++i) apps += "  - {type: game, tick: 1ms, down: 1400B, exponential: " + exponential + "}\n";
    return run_all(network("none", apps), exponential == "true" ? 2 : 1);
  };
  const auto results = run("true");
  const RunResult clocked = run("false").front();
  for (const RunResult& result : results) {
    EXPECT_NEAR(result.throughput_bps, clocked.throughput_bps, 0.05 * clocked.throughput_bps);
    EXPECT_GT(result.radio_queue_delay.p99_ms, clocked.radio_queue_delay.p99_ms);
  }
  EXPECT_NE(results[0].throughput_bps, results[1].throughput_bps);
}

TEST(RadioLoss, PacketsAreLostInRuns) {
  const std::string game = "apps: [{type: game, tick: 1ms, down: 100B}]\n";
  for (const double run : {1.0, 8.0}) {
    std::string text = network("none", game, "", "loss: 0.05, loss_run: " + std::to_string(run) + ", ");
    const RunResult result = run_all(text).front();
    EXPECT_NEAR(result.figures.at("game_down_loss"), 0.05, 0.015);
    // A run is within few milliseconds, so it is one event of loss.
    const double events = static_cast<double>(result.counters.at("drop_events"));
    EXPECT_GT(events, run > 1 ? 100 : 300);
    EXPECT_LT(events, run > 1 ? 250 : 1100);
  }
}

}  // namespace
}  // namespace sluice::emulator
