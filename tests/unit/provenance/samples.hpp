#pragma once

#include <limits>

#include "emulator/provenance/provenance.hpp"
#include "emulator/provenance/sha256.hpp"
#include "emulator/report/result.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator::test {

/// A run that has something of everything.
inline RunResult full_result() {
  RunResult result;
  result.key = {"sample", "virtual", "smvs", 7, {{"period_s", "0.02"}, {"buffer", "a, b"}}};
  result.measured_s = 1.0 / 3;
  result.goodput = std::numeric_limits<double>::quiet_NaN();
  result.utilisation = std::numeric_limits<double>::infinity();
  result.throughput_bps = 1e300;
  result.radio_queue_delay = {5, 0.1, 0.2, 0.3, 0.15, 0.4};
  result.drops = std::numeric_limits<std::uint64_t>::max();
  result.fetch_p50_ms = -0.0;
  result.counters = {{"drops_air", 3}, {"ttis", 0}};
  result.figures = {{"settle_s", 1.3}};
  result.paper = {{"utilisation", 0.2376}};
  SeriesPoint point;
  point.time_s = 0.1;
  point.allowance_bps = 1e6 / 7;
  point.router_queue_bytes = 3000;
  point.radio_queue_delay_ms = 0.25;
  result.series = {point, SeriesPoint{}};
  UePoint ue;
  ue.ue = "10.45.0.2";
  ue.state = "normal";
  ue.dropped_packets = 2;
  result.ues = {ue};
  FlowRow flow;
  flow.application = "bulk";
  flow.ue_port = 65'535;
  flow.handshake_ms = 12.5;
  flow.ended = "running";
  result.flows = {flow};
  PacketRow packet;
  packet.event = "dropped";
  packet.bytes = 1500;
  result.packets = {packet};
  QueueRow queue;
  queue.source = std::string("with\0zero", 9);
  queue.delay = {1, 1, 2, 3, 4, 5};
  result.queues = {queue};
  WindowRow window;
  window.server = "192.0.2.1";
  window.congestion_bytes = 14'600;
  window.timeouts = 3;
  result.windows = {window};
  DropRow drop;
  drop.reason = "buffer_full";
  drop.sequence_bytes = 1448;
  result.dropped = {drop};
  return result;
}

inline RunPlan plan_of(const RunResult& result) {
  RunPlan plan;
  plan.mode_name = result.key.mode;
  plan.seed = result.key.seed;
  plan.swept = result.key.swept;
  plan.point = 3;
  return plan;
}

inline Provenance sample_provenance() {
  Provenance provenance;
  provenance.program = {"0.1.0", "abc", "5", true, "g++ 12", "RelWithDebInfo", sha256("program")};
  provenance.machines = {{"Linux 6.1", "a processor", "glibc 2.36"}};
  provenance.inputs.scenario = {"x.yaml", sha256("seed: 1\n"), "seed: 1\n", {}};
  provenance.inputs.scenarios = {{"other.yaml", sha256("seed: 2\n"), "seed: 2\n", {}}};
  provenance.inputs.traces = {{"link.down", sha256("1\n2\n"), {}, {}}};
  provenance.inputs.missing = {"link.up"};
  provenance.seeds_per_point = 2;
  provenance.seeds = {1, 2};
  provenance.modes = {"smvs"};
  provenance.runs = {4};
  provenance.files = {{"results.csv", sha256("rows")}};
  return provenance;
}

}  // namespace sluice::emulator::test
