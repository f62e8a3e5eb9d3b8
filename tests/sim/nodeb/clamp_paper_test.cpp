// The figures of Andrew, Hanly and Mukhtar (TMC 2008) at a few of their points, shorter than ./run experiment has them.

#include <cmath>

#include "tests/sim/nodeb/paper_runs.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::paper_run;

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments between(const RunResult& result, double SeriesPoint::*member, double from_s, double to_s) {
  double n = 0;
  double sum = 0;
  double squares = 0;
  for (const SeriesPoint& point : result.series) {
    if (point.time_s < from_s || point.time_s >= to_s) continue;
    ++n;
    sum += point.*member;
    squares += point.*member * point.*member;
  }
  return {sum / n, std::sqrt(std::max(0.0, squares / n - sum / n * sum / n))};
}

TEST(ClampPaper, Figure2WindowsConvergeAndTheQueueIsProportionalToTheFlows) {
  const RunResult clamp = paper_run("clamp-fig2", {"law=clamp/regulate"}, 250s);
  const RunResult plain = paper_run("clamp-fig2", {"law=none"}, 250s);
  EXPECT_EQ(clamp.drops, 0U);
  EXPECT_GT(plain.drops, 100U);
  // One flow, two, three, two, one.
  const double expected[] = {6000, 6500, 7000, 6500, 6000};
  for (int part = 0; part < 5; ++part) {
    SCOPED_TRACE("part " + std::to_string(part));
    const double from = 50 * part + 20;
    const double to = 50 * part + 50;
    EXPECT_NEAR(between(clamp, &SeriesPoint::queue_bytes, from, to).mean, expected[part], 0.1 * expected[part]);
    EXPECT_LT(5 * between(clamp, &SeriesPoint::outstanding_bytes, from, to).deviation,
              between(plain, &SeriesPoint::outstanding_bytes, from, to).deviation);
  }
  // The paper chose a so that the mean delays are about equal.
  EXPECT_NEAR(plain.radio_queue_delay.mean_ms, clamp.radio_queue_delay.mean_ms, 0.25 * clamp.radio_queue_delay.mean_ms);
}

TEST(ClampPaper, Equation11HoldsForOneTwoAndThreeFlows) {
  for (const char* mode : {"clamp/regulate", "clamp"}) {
    for (const int flows : {1, 2, 3}) {
      SCOPED_TRACE(std::string(mode) + ", flows: " + std::to_string(flows));
      const RunResult result =
          paper_run("clamp-equilibrium", {"mode=" + std::string(mode), "flows=" + std::to_string(flows)}, 50s);
      EXPECT_NEAR(result.queue_mean_frames, 5500 + 500 * flows, 0.1 * (5500 + 500 * flows));
      EXPECT_GT(result.utilisation, 0.99);
      EXPECT_EQ(result.drops, 0U);
      if (flows == 1) continue;
      EXPECT_GT(result.figures.at("flow_jain"), 0.98);
    }
  }
}

/// flow_1 … flow_4 have round trips of 30, 130, 10 and 180 ms; the last two share a queue.
struct Rates {
  double total;
  double flow[4];
};

Rates rates(const RunResult& result) {
  const auto& f = result.figures;
  return {result.throughput_bps, {f.at("flow_1_bps"), f.at("flow_2_bps"), f.at("flow_3_bps"), f.at("flow_4_bps")}};
}

void expect_clamp_fair_and_tcp_not(const Rates& clamp, const Rates& plain) {
  // Three queues about even, and within the shared one the pair.
  EXPECT_NEAR(clamp.flow[1], clamp.flow[0], 0.1 * clamp.flow[0]);
  EXPECT_NEAR(clamp.flow[2] + clamp.flow[3], clamp.flow[0], 0.1 * clamp.flow[0]);
  EXPECT_GT(clamp.flow[3], 0.75 * clamp.flow[2]);
  // Short round trips win, strikingly where they share a queue.
  EXPECT_LT(plain.flow[1], 0.93 * plain.flow[0]);
  EXPECT_LT(plain.flow[3], 0.2 * plain.flow[2]);
  EXPECT_NEAR(plain.total, clamp.total, 0.12 * clamp.total) << "figure 5: the total is not what it wins";
}

TEST(ClampPaper, Figure4UnderFastFadingQueuesAndThroughputsAreEven) {
  const Rates plain = rates(paper_run("clamp-pair", {"speed_kmh=36", "law=none"}, 120s));
  for (const char* law : {"law=clamp/regulate", "law=clamp"}) {
    SCOPED_TRACE(law);
    expect_clamp_fair_and_tcp_not(rates(paper_run("clamp-pair", {"speed_kmh=36", law}, 120s)), plain);
  }
}

TEST(ClampPaper, Figures4And5SlowFadingIsLessFairButHalvesTheMeanFetchTime) {
  const RunResult plain = paper_run("clamp-pair", {"speed_kmh=0.36", "law=none"}, 420s);
  const RunResult clamp = paper_run("clamp-pair", {"speed_kmh=0.36", "law=clamp/regulate"}, 420s);
  EXPECT_NEAR(plain.radio_queue_delay.mean_ms, 50, 12);
  EXPECT_NEAR(clamp.radio_queue_delay.mean_ms, 50, 12);
  EXPECT_GT(plain.figures.at("fetch_1mb_s"), 1.8 * clamp.figures.at("fetch_1mb_s"));
  EXPECT_GT(clamp.figures.at("flow_jain"), plain.figures.at("flow_jain") + 0.08);
  EXPECT_LT(clamp.figures.at("flow_2_bps"), clamp.figures.at("flow_1_bps")) << "less fair than in fast fading";
}

TEST(ClampPaper, Figure10TheLowerRateNeedsNoOtherParameters) {
  const Rates clamp = rates(paper_run("clamp-fig10", {"law=clamp/regulate", "a_bytes=8000"}, 270s));
  EXPECT_NEAR(clamp.flow[1], clamp.flow[0], 0.05 * clamp.flow[0]);
  EXPECT_NEAR(clamp.flow[3], clamp.flow[2], 0.15 * clamp.flow[2]);
  for (const char* buffer : {"buffer_bytes=5000", "buffer_bytes=10000"}) {
    SCOPED_TRACE(buffer);
    const Rates plain = rates(paper_run("clamp-fig10", {"law=none", buffer}, 270s));
    EXPECT_LT(plain.flow[3], 0.5 * plain.flow[2]);
    EXPECT_NEAR(plain.total, clamp.total, 0.05 * clamp.total);
  }
}

TEST(ClampPaper, Figure8TheLongFlowIsSmootherAtTheSameMeanQueue) {
  const RunResult plain = paper_run("clamp-fig8", {"law=none"}, 150s);
  const RunResult clamp = paper_run("clamp-fig8", {"law=clamp/regulate"}, 150s);
  EXPECT_NEAR(clamp.queue_mean_frames, plain.queue_mean_frames, 0.3 * plain.queue_mean_frames);
  EXPECT_LT(clamp.figures.at("flow_1_variation"), plain.figures.at("flow_1_variation"));
  EXPECT_GT(clamp.utilisation, 0.97);
}

}  // namespace
}  // namespace sluice::emulator
