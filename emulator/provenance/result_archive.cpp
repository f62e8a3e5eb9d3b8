// Binary form of a run's whole result, for kept runs. KeptRuns calls archive() and result_of(). Invariant: every struct
// is bound with all its members, so a new member does not compile until it is archived.

#include "emulator/provenance/result_archive.hpp"

#include <concepts>
#include <stdexcept>
#include <type_traits>

#include "emulator/provenance/archive.hpp"

namespace sluice::emulator {
namespace {

template <typename S, typename T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

}  // namespace

// Each function names all members of its struct, so that a missing one is a compile error.

template <typename Archive, Is<RunKey> Key>
void fields(Archive& archive, Key& key) {
  auto& [scenario, clock, mode, seed, swept] = key;
  archive(scenario, clock, mode, seed, swept);
}

template <typename Archive, Is<DelaySummary> Summary>
void fields(Archive& archive, Summary& summary) {
  auto& [count, p50, p95, p99, mean, max] = summary;
  archive(count, p50, p95, p99, mean, max);
}

template <typename Archive, Is<SeriesPoint> Point>
void fields(Archive& archive, Point& point) {
  auto& [time, rate, used, throughput, outstanding, allowance, queue, frames, reference, router_queue, radio_delay,
         proxy_delay, server_delay, drops, retransmissions] = point;
  archive(time, rate, used, throughput, outstanding, allowance, queue, frames, reference, router_queue, radio_delay,
          proxy_delay, server_delay, drops, retransmissions);
}

template <typename Archive, Is<UePoint> Point>
void fields(Archive& archive, Point& point) {
  auto& [time, ue, nodeb, state, rate, used, airtime, queue, queue_mean, arrived, transmitted, delivered, dropped,
         dropped_packets, lost, forwarded] = point;
  archive(time, ue, nodeb, state, rate, used, airtime, queue, queue_mean, arrived, transmitted, delivered, dropped,
          dropped_packets, lost, forwarded);
}

template <typename Archive, Is<FlowRow> Row>
void fields(Archive& archive, Row& row) {
  auto& [application, ue, port, direction, opened, handshake, completion, bytes, throughput, measured,
         ue_retransmissions, server_retransmissions, ue_timeouts, server_timeouts, ue_srtt, server_srtt, ended] = row;
  archive(application, ue, port, direction, opened, handshake, completion, bytes, throughput, measured,
          ue_retransmissions, server_retransmissions, ue_timeouts, server_timeouts, ue_srtt, server_srtt, ended);
}

template <typename Archive, Is<PacketRow> Row>
void fields(Archive& archive, Row& row) {
  auto& [time, ue, event, bytes, queueing] = row;
  archive(time, ue, event, bytes, queueing);
}

template <typename Archive, Is<WindowRow> Row>
void fields(Archive& archive, Row& row) {
  auto& [time, server, ue, port, congestion, advertised, in_flight, timeouts] = row;
  archive(time, server, ue, port, congestion, advertised, in_flight, timeouts);
}

template <typename Archive, Is<DropRow> Row>
void fields(Archive& archive, Row& row) {
  auto& [time, ue, source, source_port, ue_port, reason, sequence] = row;
  archive(time, ue, source, source_port, ue_port, reason, sequence);
}

template <typename Archive, Is<QueueRow> Row>
void fields(Archive& archive, Row& row) {
  auto& [ue, source, source_port, ue_port, packets, bytes, dropped, dropped_bytes, mean, delay] = row;
  archive(ue, source, source_port, ue_port, packets, bytes, dropped, dropped_bytes, mean, delay);
}

template <typename Archive, Is<RunResult> Result>
void fields(Archive& archive, Result& result) {
  auto& [key, measured, goodput, utilisation, throughput, radio_delay, proxy_delay, server_delay, queue_mean,
         queue_stddev, queue_empty, drops, retransmissions, server_retransmissions, jain, fetches, fetch_p50, fetch_p95,
         counters, figures, paper, series, ues, flows, packets, queues, windows, dropped] = result;
  archive(key, measured, goodput, utilisation, throughput, radio_delay, proxy_delay, server_delay, queue_mean,
          queue_stddev, queue_empty, drops, retransmissions, server_retransmissions, jain, fetches, fetch_p50,
          fetch_p95, counters, figures, paper, series, ues, flows, packets, queues, windows, dropped);
}

std::string archive(const RunResult& result) {
  ArchiveWriter writer;
  writer(result);
  return writer.take();
}

RunResult result_of(std::string_view bytes) {
  ArchiveReader reader(bytes);
  RunResult result;
  reader(result);
  if (!reader.at_end()) throw std::runtime_error("has more than a run");
  return result;
}

}  // namespace sluice::emulator
