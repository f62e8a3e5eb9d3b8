// Tests of the active queue management of UEs' uplinks (smvs.uplink: aqm). An upload fills the queue of the UE's modem,
// in which the ACKs of a split download and the packets of a call wait, too. The proxy forwards the upload as it does
// QUIC: TCP of a bypassed server stands for it.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

struct Uplink {
  std::string congestion;        ///< congestion control of the UE's upload
  std::string rate;              ///< of the uplink
  std::string modem;             ///< buffer of the modem
  std::string downlink;          ///< rate of the downlink
  int server = 1;                ///< 0: the proxy splits the upload; 1: it forwards it
  std::string cell = "";         ///< further keys of cell.uplink
  std::string core = "";         ///< further keys of server_proxy
  std::string radio = "";        ///< further keys of proxy_nodeb
  std::string hosts = "";        ///< further keys of hosts
  std::string duration = "40s";  ///< of the run, of which the first 10 s are not measured
};

struct Outcome {
  double download = 0;  ///< Mb/s
  double upload = 0;    ///< Mb/s
  double call_ms = 0;   ///< 95th percentile of the one-way delay of a call's packets from the UE
};

Outcome run(const Uplink& uplink, const std::string& treatment) {
  const RunResult result =
      run_all("duration: " + uplink.duration + "\nwarmup: 10s\nmodes: [smvs]\nserver_proxy: {delay: 20ms" +
              uplink.core + "}\nproxy_nodeb: {delay: 10ms" + uplink.radio +
              "}\nservers: [192.0.2.1, 192.0.2.2]\nproxy: {bypass_servers: [192.0.2.2/32]}\n"
              "hosts: {receive_buffer: 8MiB, send_buffer: 8MiB" +
              uplink.hosts + ", tcp: {congestion: " + uplink.congestion +
              "}}\nserver_tcp: [{congestion: cubic}, {congestion: cubic}]\ncell:\n  tti: 1ms\n  ues:\n"
              "    - {address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {type: constant, rate: " +
              uplink.downlink + "}}\n  uplink: {delay: 0ms, rate: " + uplink.rate + ", buffer: " + uplink.modem +
              uplink.cell + "}\napps:\n  - {type: bulk}\n  - {type: bulk, direction: upload, start: 5s, server: " +
              std::to_string(uplink.server) + "}\n  - {type: game, start: 0s, tick: 20ms, down: 160B, up: 160B}\n" +
              "smvs: {law: acks, upload_windows: unlimited, uplink: " + treatment + "}\noutput: {flows: true}\n")
          .front();
  return {result.figures.at("download_bps") / 1e6, result.figures.at("upload_bps") / 1e6,
          result.figures.at("game_up_p95_ms")};
}

TEST(Uplink, ACallDoesNotWaitBehindAnUpload) {
  for (const auto& [rate, modem, downlink] : {std::array<std::string, 3>{"1Mb/s", "128KiB", "10Mb/s"},
                                              {"1Mb/s", "512KiB", "10Mb/s"},
                                              {"2Mb/s", "1MiB", "20Mb/s"},
                                              {"5Mb/s", "2MiB", "30Mb/s"}}) {
    for (const int server : {0, 1}) {
      SCOPED_TRACE(rate + ", " + modem + (server == 0 ? ", split" : ", forwarded"));
      const Uplink uplink{.congestion = "cubic", .rate = rate, .modem = modem, .downlink = downlink, .server = server};
      const Outcome before = run(uplink, "forward");
      const Outcome after = run(uplink, "aqm");
      EXPECT_LT(after.call_ms, 160);
      EXPECT_LT(after.call_ms, before.call_ms / 5);
      EXPECT_GT(after.download, before.download);
      EXPECT_GT(after.upload, 0.85 * before.upload);
    }
  }
}

TEST(Uplink, ASlowUplinkKeepsItsRate) {
  for (const std::string modem : {"64KiB", "256KiB"}) {
    SCOPED_TRACE(modem);
    const Uplink uplink{.congestion = "cubic", .rate = "300kb/s", .modem = modem, .downlink = "3Mb/s"};
    const Outcome before = run(uplink, "forward");
    const Outcome after = run(uplink, "aqm");
    EXPECT_LT(after.call_ms, before.call_ms / 2);
    EXPECT_GT(after.download, 1.2 * before.download);
    EXPECT_GT(after.upload, 0.8 * before.upload);
  }
}

TEST(Uplink, BbrKeepsItsRate) {
  for (const std::string congestion : {"bbr", "bbr3"}) {
    for (const auto& [rate, downlink] :
         {std::array<std::string, 2>{"300kb/s", "3Mb/s"}, {"1Mb/s", "10Mb/s"}, {"5Mb/s", "30Mb/s"}}) {
      SCOPED_TRACE(congestion + ", " + rate);
      const Uplink uplink{.congestion = congestion, .rate = rate, .modem = "512KiB", .downlink = downlink};
      const Outcome before = run(uplink, "forward");
      const Outcome after = run(uplink, "aqm");
      EXPECT_LT(after.call_ms, 1.25 * before.call_ms + 10);
      EXPECT_GT(after.download, 0.97 * before.download);
      EXPECT_GT(after.upload, 0.85 * before.upload);
    }
  }
}

TEST(Uplink, L4sUploadsGetEarlyMarks) {
  for (const int server : {0, 1}) {
    for (const std::string cell : {"", ", scheduled: {}"}) {
      SCOPED_TRACE(std::to_string(server) + cell);
      const Uplink uplink{.congestion = "prague",
                          .rate = "5Mb/s",
                          .modem = "512KiB",
                          .downlink = "10Mb/s",
                          .server = server,
                          .cell = cell,
                          .hosts = ", accurate_ecn: true"};
      const Outcome before = run(uplink, "forward");
      const Outcome after = run(uplink, "aqm");
      EXPECT_LT(after.call_ms, 90);
      EXPECT_GT(after.download, 0.98 * before.download);
      EXPECT_GT(after.upload, 0.95 * before.upload);
    }
  }
}

TEST(Uplink, NothingChangesIfTheUplinkIsNotTheBottleneck) {
  for (const std::string congestion : {"cubic", "bbr", "bbr3"}) {
    for (const std::string cell : {"", ", scheduled: {}"}) {
      SCOPED_TRACE(congestion + cell);
      const Uplink uplink{.congestion = congestion,
                          .rate = "20Mb/s",
                          .modem = "512KiB",
                          .downlink = "10Mb/s",
                          .cell = cell,
                          .core = ", rate: 12Mb/s, buffer: 100kB"};
      const Outcome before = run(uplink, "forward");
      const Outcome after = run(uplink, "aqm");
      EXPECT_EQ(after.upload, before.upload);
      EXPECT_EQ(after.download, before.download);
    }
  }
}

// An uplink path that becomes longer looks like a queue until the controller's minimum follows it. Drops then end
// after some seconds without an effect.
TEST(Uplink, AnUploadSurvivesALongerPath) {
  for (const std::string congestion : {"cubic", "bbr", "bbr3"}) {
    SCOPED_TRACE(congestion);
    const Uplink uplink{.congestion = congestion,
                        .rate = "50Mb/s",
                        .modem = "64KiB",
                        .downlink = "20Mb/s",
                        .core = ", rate: 30Mb/s, buffer: 200kB",
                        .radio = ", steps: [{at: 20s, extra: 100ms, way: up}]",
                        .duration = "80s"};
    const Outcome before = run(uplink, "forward");
    const Outcome after = run(uplink, "aqm");
    EXPECT_GT(after.upload, 0.9 * before.upload);
  }
}

}  // namespace
}  // namespace sluice::emulator
