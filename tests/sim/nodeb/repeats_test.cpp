// Every retransmission answers a drop, on a path that keeps the order.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "emulator/runtime/experiment.hpp"
#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {
namespace {

/// Returns a scenario of one download over 100 ms and a radio queue of `buffer` packets, in which only that queue
/// drops.
std::string download(const std::string& rate, int buffer, const std::string& congestion) {
  return "duration: 6s\nwarmup: 0s\nmodes: [none]\n"
         "server_proxy: {delay: 15ms}\nproxy_nodeb: {delay: 5ms}\n"
         "cell:\n  tti: 1ms\n  uplink: {delay: 20ms}\n  ues:\n    - {address: 10.45.0.2, frame: 0B, buffer: " +
         std::to_string(buffer) + " packets, channel: {type: constant, rate: " + rate +
         "}}\n"
         "hosts: {receive_buffer: 64MiB, send_buffer: 24MiB, tcp: {congestion: " +
         congestion + "}}\napps: [{type: bulk}]\nbuffers: 65536\n";
}

/// Runs with a packet pool of its own, as large as the scenario sets: thousands of packets are in flight, lost and
/// held.
RunResult run(const std::string& text) {
  const auto plan = parse_plan(text, "test.yaml", 1);
  if (!plan) throw std::runtime_error(config::to_string(plan.errors));
  TraceLibrary traces({});
  const std::atomic<bool> stop{false};
  return run_experiment(
             *plan, traces, 1, [](const ExperimentProgress&) {}, stop)
      .results.front();
}

struct Link {
  const char* rate;
  int buffer;
};

/// A packet dropped last may not be retransmitted before the run ends. One retransmission more than drops is a loss
/// probe.
TEST(Repeats, ADropCausesOneRetransmission) {
  for (const char* congestion : {"newreno", "cubic", "bbr", "bbr3", "copa"}) {
    for (const Link& link : {Link{"100Mb/s", 500}, Link{"300Mb/s", 1500}, Link{"500Mb/s", 2500}}) {
      SCOPED_TRACE(std::string(congestion) + ", " + link.rate);
      const RunResult result = run(download(link.rate, link.buffer, congestion));
      EXPECT_LE(result.retransmissions, result.drops + 3);
      EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
    }
  }
}

}  // namespace
}  // namespace sluice::emulator
