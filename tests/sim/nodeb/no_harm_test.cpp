// Tests of the default controller if a UE does not have a deep queue of its own. They cover a shared line,
// unresponsive datagrams, a slow hop beyond the UE, slow links, and a path that becomes longer. Most bounds are
// relative to CUBIC or BBR without a proxy in the same network.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

struct Sender {
  std::string mode;        ///< mode of the proxy
  std::string congestion;  ///< congestion control of the servers
};
const Sender law{"smvs", "cubic"};
const Sender end_to_end{"smvs/regulate", "cubic"};
const Sender cubic{"none", "cubic"};
const Sender bbr{"none", "bbr"};

/// Runs one of these senders over a network.
RunResult run(const Sender& sender, const std::string& network) {
  return run_all("modes: [" + sender.mode + "]\nsmvs: {law: acks}\nhosts: {tcp: {congestion: " + sender.congestion +
                 "}}\noutput: {flows: true}\n" + network)
      .front();
}

/// UEs at 400 Mb/s behind one line of 20 Mb/s. `uplink` is the delay of the uplink.
std::string shared_line(int ues, const std::string& buffer, const std::string& uplink = "10ms") {
  std::string text =
      "duration: 40s\nwarmup: 10s\nserver_proxy: {delay: 10ms}\nproxy_nodeb: {delay: 5ms, rate: 20Mb/s, buffer: " +
      buffer + "}\napps: [{type: bulk, ues: " + std::to_string(ues) + "}]\ncell:\n  uplink: {delay: " + uplink +
      "}\n  ues:\n";
  for (int ue = 0; ue < ues; ++ue) {
    text += "    - {address: 10.45.0." + std::to_string(2 + ue) +
            ", frame: 0B, buffer: 600KiB, channel: {type: constant, rate: 400Mb/s}}\n";
  }
  return text;
}

TEST(NoHarm, UesBehindOneLinkHoldItsQueueTogether) {
  for (const int ues : {2, 4, 8}) {
    SCOPED_TRACE(std::to_string(ues) + " UEs");
    const RunResult result = run(law, shared_line(ues, "2MB"));
    const RunResult filled = run(cubic, shared_line(ues, "2MB"));
    EXPECT_GT(result.throughput_bps, 0.95 * filled.throughput_bps);
    EXPECT_LE(result.retransmissions, filled.retransmissions / 10);
    EXPECT_LT(result.server_to_ue_delay.p95_ms, filled.server_to_ue_delay.p95_ms / 4);
    EXPECT_GT(result.jain, 0.8);
  }
}

TEST(NoHarm, UesBehindOneLinkLoseLittleMoreInAShortBuffer) {
  for (const int ues : {2, 4, 8}) {
    SCOPED_TRACE(std::to_string(ues) + " UEs");
    const RunResult result = run(law, shared_line(ues, "100kB"));
    const RunResult filled = run(cubic, shared_line(ues, "100kB"));
    EXPECT_GT(result.throughput_bps, 0.95 * filled.throughput_bps);
    EXPECT_LE(result.retransmissions, 3 * filled.retransmissions + 300) << "each alone has lost fourteen thousand";
  }
}

// The ACKs of each UE arrive in bursts, and the data of other UEs lies between them.
TEST(NoHarm, UesBehindOneLinkKeepItsQueueShortEndToEnd) {
  for (const int ues : {8, 16}) {
    SCOPED_TRACE(std::to_string(ues) + " UEs");
    const RunResult result = run(end_to_end, shared_line(ues, "2MB"));
    const RunResult filled = run(cubic, shared_line(ues, "2MB"));
    EXPECT_GT(result.throughput_bps, 0.95 * filled.throughput_bps);
    EXPECT_LT(result.server_to_ue_delay.p95_ms, 0.75 * filled.server_to_ue_delay.p95_ms) << "the buffer filled before";
    EXPECT_LE(result.retransmissions, filled.retransmissions / 10);
  }
}

// The queue of other UEs stays while one UE drains its own data, as the delay of a longer path would.
TEST(NoHarm, UesBehindOneLinkDoNotTakeTheirQueueForALongerPath) {
  for (const int ues : {6, 8, 12, 16}) {
    SCOPED_TRACE(std::to_string(ues) + " UEs");
    const RunResult result = run(end_to_end, shared_line(ues, "2MB", "0ms"));
    EXPECT_GT(result.throughput_bps, 18e6);
    EXPECT_LT(result.proxy_to_ue_delay.p95_ms, 80) << "122 to 178 ms if the delay passes for that of the path";
  }
}

TEST(NoHarm, ManyUesBehindOneLinkLoseNothingInALongBuffer) {
  for (const int ues : {16, 32}) {
    SCOPED_TRACE(std::to_string(ues) + " UEs");
    const RunResult result = run(law, shared_line(ues, "2MB"));
    EXPECT_LT(result.retransmissions, 100) << "thousands if the rate of a UE is that of the whole line";
    EXPECT_LT(result.server_to_ue_delay.p95_ms, 1000) << "2.1 and 4.0 s before";
  }
}

/// Returns a scenario with datagrams of `bytes` bytes each millisecond beside the downloads of a UE at 20 Mb/s, in an
/// unlimited queue.
std::string beside_datagrams(int downloads, int bytes) {
  return "duration: 30s\nwarmup: 5s\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\napps: [{type: bulk, "
         "connections: " +
         std::to_string(downloads) + "}, {type: game, start: 0s, tick: 1ms, down: " + std::to_string(bytes) +
         "B, up: 24B}]\ncell:\n  uplink: {delay: 0ms}\n  ues: [{address: 10.45.0.2, frame: 0B, buffer: unlimited, "
         "channel: {type: constant, rate: 20Mb/s}}]\n";
}

TEST(NoHarm, UnresponsiveDatagramsDoNotFillTheQueue) {
  for (const auto& [downloads, bytes] : {std::pair(1, 722), std::pair(1, 1397), std::pair(4, 722)}) {
    SCOPED_TRACE(std::to_string(downloads) + " downloads, " + std::to_string(bytes) + " B each ms");
    const std::string network = beside_datagrams(downloads, bytes);
    const RunResult result = run(law, network);
    const RunResult beside = run(bbr, network);
    EXPECT_GT(result.throughput_bps, 0.95 * beside.throughput_bps);
    EXPECT_LT(result.radio_queue_delay.p95_ms, 100) << "0.5 to 2 s if they do not wait for the window";
  }
}

/// Downloads of a UE whose server 1 is bypassed: the proxy forwards what comes from it untouched, as QUIC. Servers use
/// CUBIC.
std::string with_bypassed_server(const std::string& settings, const std::string& apps) {
  return "modes: [smvs]\nsmvs: {" + settings +
         "}\nduration: 60s\nwarmup: 10s\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\n"
         "servers: [192.0.2.1, 192.0.2.2]\nproxy: {bypass_servers: [192.0.2.2/32]}\n"
         "hosts: {receive_buffer: 8MiB, send_buffer: 8MiB, tcp: {congestion: cubic}}\noutput: {flows: true}\n"
         "apps: [" +
         apps +
         "]\n"
         "cell:\n  uplink: {delay: 0ms}\n  ues: [{address: 10.45.0.2, frame: 0B, buffer: unlimited, "
         "channel: {type: constant, rate: 20Mb/s}}]\n";
}

std::string beside_untouched(const std::string& settings) {
  return with_bypassed_server(settings, "{type: bulk}, {type: bulk, server: 1}");
}

TEST(NoHarm, AnUntouchedDownloadAloneWaitsForReports) {
  const auto run_alone = [](const std::string& settings) {
    return run_all(with_bypassed_server(settings, "{type: bulk, server: 1}")).front();
  };
  for (const std::string settings : {"law: nodeb", "law: proxy"}) {
    SCOPED_TRACE(settings);
    const RunResult result = run_alone(settings);
    EXPECT_GT(result.utilisation, 0.95);
    EXPECT_LT(result.radio_queue_delay.p95_ms, 60);
    EXPECT_GT(run_alone(settings + ", cross_traffic: forward").radio_queue_delay.p95_ms, 1000);
  }
}

TEST(NoHarm, AnUntouchedDownloadSharesTheShortQueue) {
  for (const std::string settings : {"law: acks", "law: nodeb", "law: proxy"}) {
    SCOPED_TRACE(settings);
    const RunResult result = run_all(beside_untouched(settings)).front();
    EXPECT_GT(result.utilisation, 0.95);
    EXPECT_LT(result.radio_queue_delay.p95_ms, 60);
    ASSERT_EQ(result.flows.size(), 2U);
    EXPECT_GT(result.flows[1].measured_bps, 0.6 * result.flows[0].measured_bps);
    EXPECT_GT(result.flows[0].measured_bps, 0.6 * result.flows[1].measured_bps);
  }
  const RunResult forwarded = run_all(beside_untouched("law: acks, cross_traffic: forward")).front();
  EXPECT_GT(forwarded.radio_queue_delay.p95_ms, 1000) << "without the queue of the UE its window is in the radio queue";
}

/// Two downloads of a UE at 40 Mb/s, one of which goes on over a further hop.
std::string second_hop(const std::string& rate, const std::string& server_delay = "10ms") {
  return "duration: 30s\nwarmup: 5s\nserver_proxy: {delay: " + server_delay +
         "}\nproxy_nodeb: {delay: 10ms}\nservers: [192.0.2.1, "
         "192.0.2.2]\napps: [{type: bulk}, {type: bulk, server: 1}]\nsecond_hops: [{server: 1, delay: 5ms, rate: " +
         rate +
         ", buffer: 100kB}]\ncell:\n  uplink: {delay: 0ms}\n  ues: [{address: 10.45.0.2, frame: 0B, buffer: 400kB, "
         "channel: {type: constant, rate: 40Mb/s}}]\n";
}

TEST(NoHarm, AConnectionLimitedElsewhereDoesNotReduceTheOthers) {
  for (const std::string rate : {"200kb/s", "1Mb/s"}) {
    SCOPED_TRACE(rate);
    const RunResult result = run(law, second_hop(rate));
    const RunResult filled = run(cubic, second_hop(rate));
    ASSERT_EQ(result.flows.size(), 2U);
    EXPECT_GT(result.flows[0].measured_bps, 0.75 * filled.flows.at(0).measured_bps);
    EXPECT_GT(result.flows[1].measured_bps, 0.65 * filled.flows.at(1).measured_bps);
  }
}

// The servers are far away, so the window that the proxy advertises to them limits the downloads. An equal part of the
// measured rate for each would never let the other download exceed the rate of the slow hop.
TEST(NoHarm, AConnectionLimitedElsewhereLeavesItsPartOfTheRateToTheOthers) {
  for (const std::string rate : {"200kb/s", "1Mb/s", "5Mb/s"}) {
    SCOPED_TRACE(rate);
    const RunResult result = run(law, second_hop(rate, "40ms"));
    const RunResult filled = run(cubic, second_hop(rate, "40ms"));
    ASSERT_EQ(result.flows.size(), 2U);
    EXPECT_GT(result.flows[0].measured_bps, 0.7 * filled.flows.at(0).measured_bps);
    EXPECT_GT(result.flows[1].measured_bps, 0.65 * filled.flows.at(1).measured_bps);
  }
}

TEST(NoHarm, TheQueueOfASlowLinkIsBounded) {
  const std::string network =
      "duration: 200s\nwarmup: 5s\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\napps: [{type: "
      "bulk}]\ncell:\n  uplink: {delay: 0ms}\n  ues: [{address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: "
      "{type: constant, rate: 64kb/s}}]\n";
  const RunResult result = run(law, network);
  EXPECT_GT(result.utilisation, 0.95);
  EXPECT_LT(result.server_to_ue_delay.p95_ms, 3000)
      << "half a minute and more without a bound on what keeps a server going";
  EXPECT_LT(result.radio_queue_delay.p95_ms, 1000) << "seconds if the rate is estimated from a part of each gap";
}

TEST(NoHarm, AnAqmThatDropsIsNotFilled) {
  for (const std::string queue : {"codel", "fq-codel", "dualpi2"}) {
    SCOPED_TRACE(queue);
    const std::string network =
        "duration: 25s\nwarmup: 5s\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\napps: [{type: "
        "bulk}]\ncell:\n  uplink: {delay: 0ms}\n  ues: [{address: 10.45.0.2, frame: 0B, buffer: 625kB, channel: "
        "{type: constant, rate: 10Mb/s}, queue: {type: " +
        queue + "}}]\n";
    const RunResult result = run(law, network);
    const RunResult filled = run(cubic, network);
    const RunResult beside = run(bbr, network);
    EXPECT_GT(result.throughput_bps, 0.95 * std::max(filled.throughput_bps, beside.throughput_bps));
    EXPECT_LE(result.retransmissions, 2 * std::max(filled.retransmissions, beside.retransmissions) + 20);
  }
}

// A loss in a short buffer ends an end-to-end server's growth. In its recovery the server sends new data beyond the
// gap, so the window must not count data that the UE has received out of order.
TEST(NoHarm, TheWindowDoesNotLimitARecoveryEndToEnd) {
  struct Link {
    std::string rate, delay, buffer;
  };
  const Link links[] = {{"10Mb/s", "50ms", "25kB"}, {"10Mb/s", "25ms", "12500B"}, {"1Mb/s", "20ms", "6250B"}};
  for (const Link& link : links) {
    SCOPED_TRACE(link.rate + ", buffer of " + link.buffer);
    const std::string network =
        "duration: 40s\nwarmup: 5s\nserver_proxy: {delay: " + link.delay + "}\nproxy_nodeb: {delay: " + link.delay +
        "}\napps: [{type: bulk}]\ncell: {uplink: {delay: 0ms}, ues: [{address: 10.45.0.2, frame: "
        "0B, buffer: " +
        link.buffer + ", channel: {type: constant, rate: " + link.rate + "}}]}\n";
    const RunResult result = run(end_to_end, network);
    const RunResult alone = run(cubic, network);
    EXPECT_GT(result.throughput_bps, 0.97 * alone.throughput_bps);
    EXPECT_LE(result.retransmissions, 3 * alone.retransmissions + 20);
  }
}

/// A path that becomes longer by 40 ms at 15 s and shorter again at 35 s.
TEST(NoHarm, APathThatBecomesLongerCostsLittle) {
  const std::string network =
      "duration: 50s\nwarmup: 5s\ninterval: 1s\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms, steps: [{at: "
      "15s, extra: 20ms}, {at: 35s, extra: 0ms}]}\napps: [{type: bulk}]\ncell:\n  uplink: {delay: 0ms}\n  ues: "
      "[{address: 10.45.0.2, frame: 0B, buffer: 500kB, channel: {type: constant, rate: 8Mb/s}}]\n";
  const RunResult result = run(law, network);
  int slow = 0;
  for (const SeriesPoint& second : result.series) {
    if (second.time_s >= 5 && second.throughput_bps < 4e6) ++slow;
  }
  EXPECT_LE(slow, 1) << "seconds below half of the rate";
  EXPECT_GT(result.throughput_bps, 0.9 * 8e6 * 1448 / 1500);
}

/// Returns the longest time in s, after the warm-up, in which the link carried less than half of `rate_bps`, as a mean
/// over 0.3 s. The series has intervals of 0.1 s.
double longest_idle_time(const RunResult& result, double rate_bps, double warmup_s) {
  int longest = 0;
  int below = 0;
  for (std::size_t i = 2; i < result.series.size(); ++i) {
    const auto& series = result.series;
    if (series[i].time_s <= warmup_s) continue;
    const double used = series[i].link_used_bps + series[i - 1].link_used_bps + series[i - 2].link_used_bps;
    below = used / 3 < rate_bps / 2 ? below + 1 : 0;
    longest = std::max(longest, below);
  }
  return longest / 10.0;
}

// A UE acknowledges the last segment before a silence late, so that this ACK arrives in the silence. When a path
// becomes shorter, ACKs arrive together. Neither may hide the change, because the window falls with the measured rate.
TEST(NoHarm, AChangeOfThePathCostsASecondAtMost) {
  struct Path {
    int rate_mbps;
    std::string delay;   ///< between proxy and Node-B
    std::string change;  ///< of the steps
    bool timestamps;
  };
  const Path paths[] = {{2, "10ms", "extra: 40ms, way: down", true},   {2, "10ms", "extra: 40ms, way: down", false},
                        {2, "10ms", "extra: 100ms, way: up", false},   {2, "10ms", "extra: 200ms, way: down", true},
                        {2, "30ms", "extra: 100ms, way: down", false}, {10, "10ms", "extra: 100ms, way: down", true},
                        {10, "10ms", "extra: 200ms, way: up", false},  {10, "30ms", "extra: 100ms, way: down", false},
                        {10, "30ms", "extra: 200ms, way: down", false}};
  for (const Path& path : paths) {
    for (const bool repeated : {false, true}) {
      if (repeated && path.rate_mbps == 2) continue;
      SCOPED_TRACE(std::to_string(path.rate_mbps) + " Mb/s, " + path.delay + ", " + path.change +
                   (repeated ? ", repeated" : "") + (path.timestamps ? "" : ", no timestamps"));
      const std::string back = "extra: 0ms" + path.change.substr(path.change.find(", "));
      std::string steps = "{at: 17300ms, " + path.change + "}";
      if (repeated)
        steps += ", {at: 20300ms, " + back + "}, {at: 23300ms, " + path.change + "}, {at: 26300ms, " + back + "}";
      const RunResult result =
          run_all("modes: [smvs]\nsmvs: {law: acks}\nhosts: {timestamps: " +
                  std::string(path.timestamps ? "true" : "false") +
                  "}\nduration: 30s\nwarmup: 5s\ninterval: 100ms\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: " +
                  path.delay + ", steps: [" + steps + "]}\napps: [{type: bulk}]\ncell:\n  uplink: {delay: 0ms}\n" +
                  "  ues: [{address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: " +
                  std::to_string(path.rate_mbps) + "Mb/s}}]\n")
              .front();
      EXPECT_LE(longest_idle_time(result, path.rate_mbps * 1e6, 5), 1.0);
      EXPECT_LT(result.radio_queue_delay.p95_ms, repeated ? 300 : 150);
    }
  }
}

// ACKs wait for 0.26 or 1.05 s behind an upload. Without timestamps this wait makes the path look longer to the
// controller. It must not look like the bottleneck of a single download, because each download would then be limited.
TEST(NoHarm, DownloadsWithoutTimestampsContinueBesideAnUpload) {
  for (const std::string buffer : {"32KiB", "128KiB"}) {
    SCOPED_TRACE(buffer);
    const std::string network =
        "duration: 40s\nwarmup: 10s\nserver_proxy: {delay: 10ms}\nproxy_nodeb: {delay: 20ms}\ncell:\n"
        "  uplink: {delay: 10ms, rate: 1Mb/s, buffer: " +
        buffer +
        "}\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: 10Mb/s}}\n"
        "apps: [{type: bulk, connections: 2}, {type: bulk, direction: upload, start: 5s}]\n";
    const auto megabits = [&](const std::string& mode) {
      return run_all("modes: [" + mode + "]\nsmvs: {law: acks}\nhosts: {timestamps: false}\n" + network)
                 .front()
                 .throughput_bps /
             1e6;
    };
    EXPECT_GE(megabits("smvs"), 0.75 * megabits("none"));
  }
}

// One download has no other one to hide behind. With and without timestamps its ACKs wait for 1.05 s, which must not
// shrink the window below what keeps the downlink busy.
TEST(NoHarm, ASingleDownloadContinuesBesideAnUpload) {
  for (const std::string timestamps : {"true", "false"}) {
    for (const std::string rate : {"4500kb/s", "10Mb/s"}) {
      SCOPED_TRACE(rate + ", timestamps: " + timestamps);
      const std::string network =
          "duration: 40s\nwarmup: 10s\nserver_proxy: {delay: 10ms}\nproxy_nodeb: {delay: 20ms}\ncell:\n"
          "  uplink: {delay: 10ms, rate: 1Mb/s, buffer: 128KiB}\n  ues:\n"
          "    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: " +
          rate + "}}\napps: [{type: bulk}, {type: bulk, direction: upload, start: 5s}]\n";
      const auto megabits = [&](const std::string& mode) {
        return run_all("modes: [" + mode + "]\nsmvs: {law: acks}\nhosts: {timestamps: " + timestamps + "}\n" + network)
                   .front()
                   .throughput_bps /
               1e6;
      };
      EXPECT_GE(megabits("smvs"), 0.9 * std::min(megabits("none"), megabits("i-tcp")));
    }
  }
}

// The window of the uploads keeps the modem's queue short, so that ACKs and pings of the UE do not wait for seconds.
TEST(NoHarm, UploadsLeaveTheModemsQueueShortBesideADownload) {
  for (const auto& [uploads, rate] : {std::pair<std::string, std::string>("1", "300kb/s"),
                                      {"1", "1Mb/s"},
                                      {"1", "5Mb/s"},
                                      {"4", "1Mb/s"},
                                      {"4", "5Mb/s"}}) {
    SCOPED_TRACE(uploads + " uploads, " + rate);
    const std::string network =
        "duration: 40s\nwarmup: 15s\nserver_proxy: {delay: 20ms}\nproxy_nodeb: {delay: 10ms}\ncell:\n"
        "  uplink: {delay: 0ms, rate: " +
        rate +
        ", buffer: 128KiB}\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: "
        "constant, "
        "rate: 10Mb/s}}\napps: [{type: bulk}, {type: bulk, direction: upload, start: 3s, connections: " +
        uploads +
        "}, {type: game, start: 0s, tick: 100ms, down: 32B, up: 24B}]\noutput: {flows: true}\nmodes: [smvs]\n";
    const auto results = [&](const std::string& treatment) {
      return run_all("smvs: {law: acks, upload_windows: " + treatment + "}\n" + network).front();
    };
    const RunResult limited = results("limited");
    const RunResult forwarded = results("unlimited");
    EXPECT_GT(limited.throughput_bps, 0.8 * 10e6) << "0.1 to 9.7 Mb/s without the limit";
    EXPECT_LT(limited.figures.at("game_up_p95_ms"), std::max(400.0, forwarded.figures.at("game_up_p95_ms") / 4));
    EXPECT_LT(limited.figures.at("game_up_p95_ms"), forwarded.figures.at("game_up_p95_ms"));
  }
}

}  // namespace
}  // namespace sluice::emulator
