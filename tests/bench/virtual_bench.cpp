// How much faster than real time the emulator is on one processor: a capacity trace without TCP, and HSDPA cells with
// TCP hosts, hybrid ARQ and the proxy's own classes in the loop. Counts processor time, so that other work on the
// machine only costs what it takes of the caches.

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/pool.hpp"
#include "emulator/cell/cell.hpp"
#include "emulator/channel/trace.hpp"
#include "emulator/channel/trace_generator.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/runtime/run_pool.hpp"
#include "emulator/runtime/virtual_run.hpp"
#include "emulator/scenario/plan.hpp"
#include "emulator/scheduler/round_robin.hpp"

namespace {

using namespace sluice;
using namespace sluice::emulator;

const IpAddress ue_address = IpAddress::v4(10, 45, 0, 2);

/// Keeps the queue of the one UE full: sends a packet for each that leaves.
class Endless final : public CellObserver {
 public:
  Endless(Cell& cell, packet::PacketPool& pool) : cell_(cell), pool_(pool) {}
  void send(Instant now) {
    packet::Packet packet = pool_.allocate();
    std::uint8_t* const frame = packet.append(14 + 1500);
    std::fill_n(frame, 14 + 20, std::uint8_t{0});
    frame[12] = 0x08;
    frame[14] = 0x45;
    frame[16] = 1500 >> 8;
    frame[17] = 1500 & 0xff;
    std::copy_n(ue_address.octets.begin() + 12, 4, frame + 30);
    cell_.receive(std::move(packet), now);
  }
  void on_departure(UeIndex, const packet::Packet&, Bytes, Duration, Instant now) override { send(now); }
  void on_drop(UeIndex, const packet::Packet&, Bytes, DropReason, Instant) override {}

 private:
  Cell& cell_;
  packet::PacketPool& pool_;
};

double seconds_of(std::clock_t from) {
  return std::max(1e-6, static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC);
}

void trace_link(packet::PacketPool& pool) {
  constexpr double length = 2400;
  const auto trace = std::make_shared<const CapacityTrace>(generate_trace({}, 1, std::chrono::seconds(120)));
  EventLoop loop;
  Discard far;
  Cell cell(loop, std::chrono::milliseconds(1), std::make_unique<RoundRobin>(), far);
  UeConfig config;
  config.address = ue_address;
  config.queue = {Bytes(0), BufferUnit::packets, 0};
  config.channel = std::make_unique<TraceChannel>(trace, std::chrono::milliseconds(1));
  cell.add_ue(std::move(config));
  Endless endless(cell, pool);
  cell.set_observer(&endless);
  const std::clock_t began = std::clock();
  for (int i = 0; i < 20; ++i) endless.send(loop.now());
  loop.run_until(Instant(from_seconds(length)));
  std::printf("one trace link without TCP, 5 Mb/s      %8.0f times real time (aim: 20000)\n",
              length / seconds_of(began));
  std::fflush(stdout);
}

/// Returns the description of a mode's aim, if it has one.
const char* aim_of(const RunMode& mode) {
  if (mode == RunMode::none) return " (aim: 800)";
  return mode == RunMode::smvs ? " (aim: 300)" : "";
}

std::string hsdpa_cell(int ues) {
  std::string text =
      "duration: 60s\nwarmup: 5s\nmodes: [none, i-tcp, smvs]\nbuffers: 65536\n"
      "proxy_nodeb: {delay: 25ms}\ncell:\n  tti: 2ms\n  scheduler: pf\n  harq: {}\n  ues:\n";
  std::string apps = "apps:\n";
  for (int i = 0; i < ues; ++i) {
    text += "    - {address: 10.45.0." + std::to_string(i + 2) +
            ", buffer: 1000 frames, channel: {type: hsdpa, radio: {distance: " + std::to_string(100 + 20 * i) +
            "m}}}\n";
    apps += "  - {type: bulk, ue: " + std::to_string(i) + "}\n";
  }
  return text + apps;
}

/// `only`: the one mode to run; empty = all.
void hsdpa(RunPool& pool, const std::string& only) {
  const auto plan = parse_plan(hsdpa_cell(20), "bench.yaml");
  TraceLibrary traces({});
  for (const RunPlan& run : plan->runs) {
    if (!only.empty() && only != to_string(run.mode)) continue;
    const std::clock_t began = std::clock();
    const RunResult result = run_virtual(run, plan->name, pool, traces);
    const double speed = to_seconds(run.scenario.duration) / seconds_of(began);
    std::printf("20 HSDPA UEs with TCP, mode %-8s %12.0f times real time%s, %.1f Mb/s\n", result.key.mode.c_str(),
                speed, aim_of(run.mode), result.throughput_bps / 1e6);
    std::fflush(stdout);
  }
}

}  // namespace

/// Takes what alone is to run, for profiling: "trace", or a mode of the cells.
int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  dpdk::EalConfig config;
  config.program = "virtual_bench";
  config.memory_mib = 512;
  const dpdk::Eal eal(config);
  RunPool pool("bench", 65'536);
  if (only.empty() || only == "trace") trace_link(pool.packets());
  if (only != "trace") hsdpa(pool, only);
  return 0;
}
