// The figures of Chan and Ramjee (INFOCOM 2004) at a few of their points, shorter than ./run experiment has them.

#include <cmath>

#include "tests/sim/nodeb/paper_runs.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::paper_run;

using Points = std::vector<std::string>;

/// The mean throughput of two seeds in kb/s.
double throughput(const std::string& figure, const std::string& mode, Points point, Duration duration) {
  point.push_back("mode=" + mode);
  double sum = 0;
  for (const std::uint64_t seed : {1U, 2U}) sum += paper_run(figure, point, duration, seed).throughput_bps / 2000;
  return sum;
}

TEST(WindowRegulatorPaper, Figure7TheOrderAtSmallBuffersIsThatOfThePaper) {
  for (const char* service : {"service=packets", "service=slots"}) {
    SCOPED_TRACE(service);
    const auto rate = [service](const std::string& mode) {
      return throughput("wr-fig7", mode, {"buffer_packets=7", service}, 140s);
    };
    const double drop_tail = rate("none");
    const double wrd = rate("wrd/regulate");
    EXPECT_GT(rate("wrb/regulate"), wrd);
    EXPECT_GT(wrd, rate("ack-regulator"));
    EXPECT_GT(rate("ack-regulator"), 1.2 * drop_tail);
    EXPECT_LT(rate("wrs/regulate"), drop_tail);
  }
}

/// The paper has the greatest gain of WRD between 5 and 15 packets. What puts it there is that a packet keeps the rate
/// it began with.
TEST(WindowRegulatorPaper, Figure7WrdGainsMostBetweenFiveAndFifteenPacketsWhereTheCellServesWholePackets) {
  const auto gain = [](const char* service, const char* buffer) {
    const auto rate = [&](const char* mode) { return throughput("wr-fig7", mode, {buffer, service}, 320s); };
    return rate("wrd/regulate") / rate("none");
  };
  const double most = gain("service=packets", "buffer_packets=7");
  EXPECT_GT(most, gain("service=packets", "buffer_packets=3"));
  EXPECT_GT(most, gain("service=packets", "buffer_packets=20"));
  EXPECT_LT(gain("service=slots", "buffer_packets=7"), gain("service=slots", "buffer_packets=3"));
}

/// The gains of the paper are those over the Reno of its time, whose losses cost timeouts.
TEST(WindowRegulatorPaper, Figure7aTheHistoricRenoGainsMore) {
  const auto gain = [](const char* figure, const char* sender) {
    const auto rate = [&](const std::string& mode) {
      return throughput(figure, mode, {"buffer_packets=15", sender}, 140s);
    };
    return rate("wrb/regulate") / rate("none");
  };
  const double reno = gain("wr-fig7a", "sender=reno");
  const double newreno = gain("wr-fig7a", "sender=newreno");
  EXPECT_GT(reno, 1.5);
  EXPECT_GT(reno, newreno + 0.1);
}

/// Payload of 948 bytes, which 256 do not divide: the windows are rounded down to the unit, and none creeps on.
TEST(WindowRegulatorPaper, Figure9WindowScalingCausesNoLosses) {
  for (const char* mode : {"mode=wrd/regulate", "mode=wrb/regulate"}) {
    SCOPED_TRACE(mode);
    for (const std::uint64_t seed : {1U, 2U}) {
      EXPECT_EQ(paper_run("wr-fig9", {"wired_rtt_ms=2", "service=slots", mode}, 320s, seed).drops, 0U)
          << "seed " << seed;
    }
  }
}

TEST(WindowRegulatorPaper, Figure7NoControllerLosesAPacketAndAllConvergeAtLargeBuffers) {
  for (const char* mode : {"wrs/regulate", "wrd/regulate", "wrb/regulate"}) {
    SCOPED_TRACE(mode);
    const std::string on = "mode=" + std::string(mode);
    const RunResult result = paper_run("wr-fig7", {"buffer_packets=10", "service=slots", on}, 140s);
    EXPECT_EQ(result.drops, 0U);
  }
  const double drop_tail = throughput("wr-fig7", "none", {"buffer_packets=50", "service=slots"}, 140s);
  EXPECT_NEAR(throughput("wr-fig7", "wrb/regulate", {"buffer_packets=50", "service=slots"}, 140s), drop_tail,
              0.08 * drop_tail);
}

TEST(WindowRegulatorPaper, Figure8TheGainsShrinkWithManyUsers) {
  const auto rate = [](const std::string& mode, const char* users) {
    return paper_run("wr-fig8", {"mode=" + mode, users, "buffer_packets=5"}, 120s).throughput_bps;
  };
  const double four = rate("none", "users=4");
  const double eight = rate("none", "users=8");
  EXPECT_GT(eight, 1.15 * four);
  EXPECT_GT(rate("ack-regulator", "users=4"), 1.1 * four);
  EXPECT_GT(rate("wrd/regulate", "users=4"), 1.1 * four);
  EXPECT_GT(rate("wrb/regulate", "users=4"), 1.15 * four);
  const double gain = rate("wrb/regulate", "users=8") / eight;
  EXPECT_GT(gain, 1.05);
  EXPECT_LT(gain, rate("wrb/regulate", "users=4") / four);
}

/// In the paper the Ack Regulator is ahead of WRD with several users; here it is with the smallest buffers.
TEST(WindowRegulatorPaper, Figure8TheAckRegulatorExceedsWrdWithTheSmallestBuffers) {
  for (const char* users : {"users=4 in packets", "users=8 in packets"}) {
    SCOPED_TRACE(users);
    const auto rate = [users](const std::string& mode) {
      return paper_run("wr-fig8", {"mode=" + mode, users, "buffer_packets=3"}, 120s).throughput_bps;
    };
    const double regulator = rate("ack-regulator");
    EXPECT_GT(regulator, rate("wrd/regulate"));
    EXPECT_LT(regulator, rate("wrb/regulate"));
  }
}

/// The columns are wired round trips in ms.
TEST(WindowRegulatorPaper, Figure9WindowLimitedControllersLoseAtLongRttsUnlikeTheAckRegulator) {
  for (const char* service : {"service=packets", "service=slots"}) {
    SCOPED_TRACE(service);
    const auto rate = [service](const std::string& mode, const char* round_trip) {
      return throughput("wr-fig9", mode, {round_trip, service}, 320s);
    };
    const double near = rate("none", "wired_rtt_ms=120");
    EXPECT_GT(rate("wrb/regulate", "wired_rtt_ms=120"), 1.1 * near);
    EXPECT_LT(rate("wrs/regulate", "wired_rtt_ms=120"), near);
    const double far = rate("none", "wired_rtt_ms=400");
    EXPECT_LT(rate("wrb/regulate", "wired_rtt_ms=400"), far);
    EXPECT_LT(rate("wrd/regulate", "wired_rtt_ms=400"), far);
    EXPECT_NEAR(rate("ack-regulator", "wired_rtt_ms=400"), far, 0.12 * far);
  }
}

/// The paper has WRB about 25 % above drop-tail at 200 ms, and WRS above it up to 70 ms.
TEST(WindowRegulatorPaper, Figure9WholePacketsReproduceTheGainsAtLongRtts) {
  const auto gain = [](const char* mode, const char* service, const char* round_trip) {
    const auto rate = [&](const char* law) { return throughput("wr-fig9", law, {round_trip, service}, 320s); };
    return rate(mode) / rate("none") - 1;
  };
  const auto off = [&](const char* service) {
    return std::abs(gain("wrb/regulate", service, "wired_rtt_ms=200") - 0.25);
  };
  EXPECT_LT(off("service=packets"), off("service=slots"));
  EXPECT_GT(gain("wrs/regulate", "service=packets", "wired_rtt_ms=2"), 0);
  EXPECT_LT(gain("wrs/regulate", "service=slots", "wired_rtt_ms=2"), 0);
}

TEST(WindowRegulatorPaper, Figure10aRandomLossMakesAllControllersEqual) {
  const auto rate = [](const std::string& mode, const char* loss) {
    return throughput("wr-fig10a", mode, {loss}, 120s);
  };
  EXPECT_GT(rate("wrb/regulate", "loss=0.0001"), 1.08 * rate("none", "loss=0.0001"));
  const double lossy = rate("none", "loss=0.01");
  for (const char* mode : {"wrd/regulate", "wrb/regulate", "ack-regulator"}) {
    SCOPED_TRACE(mode);
    EXPECT_NEAR(rate(mode, "loss=0.01"), lossy, 0.1 * lossy);
  }
}

/// Over the sender of that time; what windows gain is gone when the queue of the wires is full.
TEST(WindowRegulatorPaper, Figure10bWiredCongestionRemovesTheGainOfWindows) {
  const auto gain = [](const std::string& mode, const char* cross) {
    const auto mobile = [&](const std::string& law) {
      return paper_run("wr-fig10b", {"mode=" + law, cross}, 120s).figures.at("flow_1_bps");
    };
    return mobile(mode) / mobile("none");
  };
  const double free = gain("wrb/regulate", "cross_kbps=300");
  EXPECT_GT(free, 1.15);
  EXPECT_LT(gain("wrb/regulate", "cross_kbps=450"), free - 0.15);
}

/// Mean times of short flows: of all users, and of the first, who is at +4 dB and has no files.
TEST(WindowRegulatorPaper, Figure14ShortFlowsFirstShortensThemUnderEveryScheduler) {
  const auto cell = [](const char* scheduler) { return paper_run("wr-fig14", {scheduler}, 1020s); };
  const auto fifo = cell("scheduler=pf-fifo").figures;
  for (const char* scheduler : {"scheduler=pf-sfp", "scheduler=pf-sp", "scheduler=pf-rp"}) {
    SCOPED_TRACE(scheduler);
    const auto first = cell(scheduler).figures;
    EXPECT_LT(first.at("short_fetch_ms"), 0.9 * fifo.at("short_fetch_ms"));
    EXPECT_LT(first.at("first_ue_short_fetch_ms"), fifo.at("first_ue_short_fetch_ms"));
  }
}

/// Serving short flows whatever their links costs diversity; where fades last long, the cell cannot carry it any more.
TEST(WindowRegulatorPaper, Figure15StrictPriorityIsWorstWithLongFades) {
  const auto cell = [](const char* scheduler) {
    return paper_run("wr-fig15", {"speed_kmh=0.2", scheduler}, 1520s).figures;
  };
  const auto strict = cell("scheduler=pf-sp");
  const auto by_rate = cell("scheduler=pf-rp");
  const auto fair = cell("scheduler=pf-sfp");
  EXPECT_GT(strict.at("short_fetch_ms"), 1.3 * by_rate.at("short_fetch_ms"));
  EXPECT_LT(strict.at("backlogged_short_queues"), fair.at("backlogged_queues") - 0.5) << "it chooses among fewer";
  for (const char* size : {"medium_fetch_ms", "long_fetch_ms"}) {
    SCOPED_TRACE(size);
    EXPECT_GT(strict.at(size), 1.3 * by_rate.at(size));
    EXPECT_GT(strict.at(size), 1.3 * fair.at(size));
  }
}

/// Strict priority is the worst for flows of every size, as in the paper, at a walking pace, too.
TEST(WindowRegulatorPaper, Figure15StrictPriorityIsWorstIfTheCellServesWholePackets) {
  const auto cell = [](const char* scheduler) {
    return paper_run("wr-fig15", {"speed_kmh=3 in packets", scheduler}).figures;
  };
  const auto strict = cell("scheduler=pf-sp");
  for (const char* other : {"scheduler=pf-fifo", "scheduler=pf-sfp", "scheduler=pf-rp"}) {
    SCOPED_TRACE(other);
    const auto figures = cell(other);
    for (const char* size : {"short_fetch_ms", "medium_fetch_ms", "long_fetch_ms"}) {
      EXPECT_GT(strict.at(size), figures.at(size)) << size;
    }
  }
}

/// 259 % and 122 % are the paper's most with four and with eight users.
TEST(WindowRegulatorPaper, Figure8HistoricSendersAndSmallBuffersReproduceTheGains) {
  const auto gain = [](const char* what) {
    const auto rate = [what](const char* mode) {
      return paper_run("wr-users", {"users=4", mode, what}).throughput_bps;
    };
    return rate("mode=wrb/regulate") / rate("mode=none") - 1;
  };
  EXPECT_LT(gain("case=as wr-fig8"), 1.22);
  EXPECT_LT(gain("case=all and 3 packets"), 2.59) << "the paper's most is between the two";
  EXPECT_GT(gain("case=all and 2 packets"), 2.59);
}

/// The paper has all alike at a loss of 10⁻². In configs/papers/numbers.csv (10 seeds) WRS is 12.5 to 7.3 % below
/// drop-tail there, and from 2.1 % below to 2.9 % above it with 80 packets; the bound is the middle between the two
/// intervals.
TEST(WindowRegulatorPaper, Figure10aTheBufferLimitsTheStaticWindow) {
  const auto ratio = [](const char* what) {
    double sum[2] = {0, 0};
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      sum[0] += paper_run("wr-loss", {"loss=0.01", "mode=none", what}, {}, seed).throughput_bps;
      sum[1] += paper_run("wr-loss", {"loss=0.01", "mode=wrs/regulate", what}, {}, seed).throughput_bps;
    }
    return sum[1] / sum[0];
  };
  constexpr double bound = 1 - (0.073 + 0.021) / 2;
  EXPECT_LT(ratio("case=as wr-fig10a"), bound);
  EXPECT_GT(ratio("case=80 packets"), bound);
}

}  // namespace
}  // namespace sluice::emulator
