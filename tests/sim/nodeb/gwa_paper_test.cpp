// The figures of Gerla, Lo Cigno, Mascolo and Weng (ETT 2002) at a few of their points, shorter than ./run experiment
// has them.

#include "tests/sim/nodeb/paper_runs.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::paper_run;

constexpr const char* advertised[] = {"router=gwa-rr", "router=gwa-fcfs", "router=ba"};

RunResult lan(const char* router) {
  return paper_run("gwa-lan", {router, "buffer_kb=60"}, 8s);
}

TEST(GwaPaper, Figure4InALanAdvertisedWindowsAreFairAndFullWithoutLoss) {
  for (const char* router : advertised) {
    SCOPED_TRACE(router);
    const RunResult result = lan(router);
    EXPECT_GT(result.figures.at("flow_min_bps"), 9.3e6);
    EXPECT_LT(result.figures.at("flow_max_bps"), 9.7e6);
    EXPECT_GT(result.utilisation, 0.99);
    EXPECT_EQ(result.drops, 0U);
    EXPECT_EQ(result.server_retransmissions, 0U);
    EXPECT_LT(result.figures.at("fetch_max_ms"), 5);
  }
}

TEST(GwaPaper, Figures4And5InALanDropTailAndRedLoseAreUnevenAndDelayTelnetByTimeouts) {
  for (const char* router : {"router=drop-tail", "router=red"}) {
    SCOPED_TRACE(router);
    const RunResult result = lan(router);
    EXPECT_GT(result.figures.at("flow_max_bps"), 1.3 * result.figures.at("flow_min_bps"));
    EXPECT_GT(result.counters.at("server_proxy_down_drops"), 1000U);
    EXPECT_GT(result.figures.at("fetch_max_ms"), 200);
  }
  const RunResult ecn = paper_run("gwa-lan", {"router=ecn", "buffer_kb=90"}, 8s);
  EXPECT_GT(ecn.counters.at("server_proxy_down_marks"), 1000U);
  EXPECT_EQ(ecn.server_retransmissions, 0U) << "marks instead of drops once it has started";
  EXPECT_GT(ecn.figures.at("flow_jain"), 0.999);
  EXPECT_LT(ecn.figures.at("fetch_max_ms"), 10);
}

TEST(GwaPaper, Figure5WithAQueuePerFlowTelnetIsNotDelayed) {
  const RunResult own = paper_run("gwa-lan-rr", {"buffer_kb=120"}, 10s);
  EXPECT_LT(own.figures.at("fetch_max_ms"), 0.5);
  EXPECT_GT(own.figures.at("flow_jain"), 0.999);
  EXPECT_GT(own.utilisation, 0.98);
}

TEST(GwaPaper, Figure7InAWanOneQueueFavoursShortRoundTripsAndBandwidthAwareDoesNot) {
  const auto wan = [](const char* router, const char* buffer) {
    return paper_run("gwa-wan", {router, buffer, "telnets=0"}, 7s);
  };
  for (const char* router : {"router=gwa-rr", "router=gwa-fcfs"}) {
    SCOPED_TRACE(router);
    const RunResult small = wan(router, "buffer_kb=64");
    const RunResult large = wan(router, "buffer_kb=2048");
    EXPECT_LT(small.utilisation, 0.25) << "the buffer bounds what is under way: B / (rate · round trip)";
    EXPECT_GT(large.utilisation, 0.98);
    EXPECT_GT(small.figures.at("flow_max_bps"), 2 * small.figures.at("flow_min_bps"));
    EXPECT_GT(large.figures.at("flow_jain"), small.figures.at("flow_jain") + 0.05);
    EXPECT_EQ(small.drops + large.drops, 0U);
  }
}

TEST(GwaPaper, Figure7InAWanBandwidthAwareIsFairAndFullBesideTelnet) {
  for (const char* telnets : {"telnets=0", "telnets=10"}) {
    SCOPED_TRACE(telnets);
    const RunResult aware = paper_run("gwa-wan", {"router=ba", "buffer_kb=64", telnets}, 8s);
    EXPECT_GT(aware.utilisation, 0.93);
    EXPECT_GT(aware.figures.at("flow_jain"), 0.999);
    EXPECT_EQ(aware.drops, 0U);
  }
}

TEST(GwaPaper, Figure7InAWanWithAQueuePerFlowALargeBufferIsPerfectlyFair) {
  const RunResult large = paper_run("gwa-wan-rr", {"buffer_kb=2048"}, 8s);
  EXPECT_GT(large.utilisation, 0.98);
  EXPECT_GT(large.figures.at("flow_jain"), 0.9999);
  EXPECT_LT(large.figures.at("fetch_max_ms"), 35) << "the propagation delay";
  EXPECT_EQ(large.drops, 0U);
}

TEST(GwaPaper, Figure10AHundredFlowsAreFairOnlyWithAdvertisedWindows) {
  for (const char* router : {"router=gwa-rr", "router=gwa-fcfs"}) {
    SCOPED_TRACE(router);
    const RunResult result = paper_run("gwa-many", {router, "buffer_kb=400"}, 30s);
    EXPECT_GT(result.figures.at("flow_jain"), 0.98);
    EXPECT_GT(result.utilisation, 0.99);
    EXPECT_EQ(result.drops, 0U);
  }
  const RunResult result = paper_run("gwa-many", {"router=drop-tail", "buffer_kb=400"}, 30s);
  EXPECT_GT(result.figures.at("flow_max_bps"), 2.5 * result.figures.at("flow_min_bps"));
  EXPECT_GT(result.counters.at("server_proxy_down_drops"), 1000U);
}

TEST(GwaPaper, Figure10MarksLoseNothingAndAreFairOnlyWithSeveralPacketsPerFlow) {
  const RunResult small = paper_run("gwa-many", {"router=ecn", "buffer_kb=200"}, 30s);
  const RunResult large = paper_run("gwa-many", {"router=ecn", "buffer_kb=800"}, 30s);
  EXPECT_LT(small.server_retransmissions + large.server_retransmissions, 200U) << "all of it at the start";
  EXPECT_LT(small.figures.at("flow_jain"), 0.6);
  EXPECT_GT(large.figures.at("flow_jain"), 0.95);
}

TEST(GwaPaper, Figure1TheSmallerWindowOfTwoRoutersApplies) {
  const auto path = [](const char* bottleneck, const char* advertise) {
    return paper_run("gwa-path", {bottleneck, advertise}, 15s);
  };
  const RunResult alone = path("bottleneck=wire", "advertise=radio");
  EXPECT_GT(alone.counters.at("proxy_nodeb_down_drops"), 200U) << "the radio queue knows nothing of the wire's";
  for (const char* bottleneck : {"bottleneck=wire", "bottleneck=radio", "bottleneck=in turn"}) {
    SCOPED_TRACE(bottleneck);
    const RunResult both = path(bottleneck, "advertise=both");
    EXPECT_LT(both.counters.at("proxy_nodeb_down_drops"), 20U) << "all of it while flows begin";
    EXPECT_EQ(both.drops, 0U);
    EXPECT_EQ(both.server_retransmissions, 0U);
    EXPECT_GT(both.figures.at("flow_jain"), 0.95);
    const double alone_bps = path(bottleneck, "advertise=radio").throughput_bps;
    EXPECT_GT(both.throughput_bps, 0.97 * alone_bps);
  }
}

TEST(GwaPaper, Figure6NothingIsLostIfTransfersBeginApart) {
  const auto drops = [](const char* mode, const char* when) { return paper_run("gwa-start", {mode, when}, 1s).drops; };
  for (const char* mode : {"mode=gwa-rr/regulate", "mode=gwa-fcfs/regulate", "mode=ba/regulate"}) {
    EXPECT_GT(drops(mode, "case=at once"), 50U) << mode;
    EXPECT_EQ(drops(mode, "case=20 ms apart"), 0U) << mode;
  }
}

TEST(GwaPaper, Figure1LateReportsCauseLossesWhileFlowsBegin) {
  const auto drops = [](const char* what) {
    return paper_run("gwa-wire", {what}, 3s).counters.at("proxy_nodeb_down_drops");
  };
  EXPECT_EQ(drops("case=starts 100 ms apart"), 0U);
  EXPECT_GT(drops("case=reports each 20 ms"), 3 * drops("case=as gwa-path"));
}

}  // namespace
}  // namespace sluice::emulator
