// Maps counter names of `sluicectl counters` to metric families with labels. The metrics page calls it for each
// counter. Invariant: frames are one family by action and reason, so that the sum equals the frames received.
#include "proxy/daemon/status/names.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sluice::metrics {
namespace {

/// Metric families that do not consist of a single counter of `sluicectl counters`: gauges, histograms, and families
/// that combine several counters by labels.
constexpr std::array families = {
    Family{"sluice_packets", Kind::counter, "frames by action and reason; their sum is the number of received frames"},
    Family{"sluice_traffic_bytes", Kind::counter, "bytes of received frames by handling; those that pass, by reason"},
    Family{"sluice_received_frames", Kind::counter, "frames that shards received from a port"},
    Family{"sluice_transmitted_frames", Kind::counter, "frames that shards sent to a port"},
    Family{"sluice_paths_smaller", Kind::counter, "times that segments became smaller because of an ICMP error"},
    Family{"sluice_retransmitted_segments", Kind::counter, "segments retransmitted"},
    Family{"sluice_fast_recoveries", Kind::counter, "loss recoveries without a timeout"},
    Family{"sluice_acks_misplaced", Kind::counter, "ACKs that end inside a segment, as if sent before it arrived"},
    Family{"sluice_timeouts", Kind::counter, "retransmission timeouts"},
    Family{"sluice_feedback_messages", Kind::counter, "feedback datagrams by result"},
    Family{"sluice_port_received_packets", Kind::counter, "frames received"},
    Family{"sluice_port_received_bytes", Kind::counter, "bytes received"},
    Family{"sluice_port_oversized_packets", Kind::counter, "received frames longer than the port's MTU"},
    Family{"sluice_port_transmitted_packets", Kind::counter, "frames transmitted"},
    Family{"sluice_port_transmitted_bytes", Kind::counter, "bytes transmitted"},
    Family{"sluice_port_transmit_dropped_packets", Kind::counter, "frames that the device did not accept"},
    Family{"sluice_port_link_changes", Kind::counter, "times that the link went down or came up"},
    Family{"sluice_port_copy_failed_packets", Kind::counter,
           "frames dropped: no packet buffer left for the copy the driver needs"},
    Family{"sluice_build", Kind::info, "the program"},
    Family{"sluice_config", Kind::info, "active configuration, identified by a hash that leaves secrets out"},
    Family{"sluice_config_last_reload_successful", Kind::gauge, "1 if the last reload was activated or there was none"},
    Family{"sluice_uptime_seconds", Kind::gauge, "seconds since the start"},
    Family{"sluice_draining", Kind::gauge, "1 while a drain hands connections back and splits none"},
    Family{"sluice_packet_buffers", Kind::gauge, "number of packet buffers"},
    Family{"sluice_packet_buffers_in_use", Kind::gauge, "packet buffers in use"},
    Family{"process_cpu_seconds", Kind::counter, "user and system processor time of all threads"},
    Family{"process_resident_memory_bytes", Kind::gauge, "resident memory, without huge pages"},
    Family{"process_virtual_memory_bytes", Kind::gauge, "virtual memory"},
    Family{"process_open_fds", Kind::gauge, "open file descriptors"},
    Family{"process_max_fds", Kind::gauge, "maximum number of open file descriptors"},
    Family{"process_start_time_seconds", Kind::gauge, "start of the process, in seconds since 1970 (UTC)"},
    Family{"sluice_connections", Kind::gauge,
           "tracked connections by state. handshake: SYN-ACK seen; split; handing_back: in handback; end_to_end: not "
           "split; released: handed back"},
    Family{"sluice_bearers", Kind::gauge,
           "bearers (connections of a UE under one policy); governed: yes if a rate controller limits the bearer now"},
    Family{"sluice_cross_traffic_waiting_bytes", Kind::gauge,
           "bytes of QUIC and other packets that no controlled connection sends, while they wait for a UE's window"},
    Family{"sluice_port_link_up", Kind::gauge, "1 if the port's link is up"},
    Family{"sluice_fail_open_ready", Kind::gauge, "1 if the bridge would forward frames after an end of the program"},
    Family{"sluice_shard_cpu_seconds", Kind::counter,
           "processor time of the poll thread; its rate is the shard's utilisation if shards.poll is adaptive"},
    Family{"sluice_shard_snapshot_age_seconds", Kind::gauge,
           "seconds since the poll thread last published its state, normally ten times a second"},
    Family{"sluice_shards_stalled", Kind::gauge, "poll threads that have published nothing for a second"},
    Family{"sluice_group_reports", Kind::counter, "reports of the UEs' radio queues, each queue once"},
    Family{"sluice_group_queue_samples", Kind::counter,
           "samples of the UEs' radio queues: one per report; under ACK-based control, bearers with data in flight are "
           "sampled ten times a second (at most 256 per shard, in turn)"},
    Family{"sluice_group_transmitted_bytes", Kind::counter,
           "bytes that left the radio queues according to reports; under ACK-based control, bytes sent minus bytes in "
           "flight"},
    Family{"sluice_group_dropped_bytes", Kind::counter, "bytes that the radio queues dropped according to reports"},
    Family{
        "sluice_group_queue_delay_seconds", Kind::counter,
        "sum of queue / mean rate over the samples with a rate; divided by sluice_group_queue_delay_samples_total, it "
        "is the mean queueing delay"},
    Family{"sluice_group_queue_delay_samples", Kind::counter,
           "samples of the UEs' radio queues for which the mean rate of the link is known"},
    Family{"sluice_observed_decisions", Kind::counter, "decisions of the observed controller, in mode observe"},
    Family{"sluice_observed_decided_bytes", Kind::counter,
           "sum over the decisions of the window or allowance that the observed controller computed"},
    Family{"sluice_observed_actual_bytes", Kind::counter,
           "sum over the decisions of the bytes that were in flight or sent"},
    Family{"sluice_observed_delays", Kind::counter,
           "decisions of the observed ACK-based controller at which both queueing delays were known"},
    Family{"sluice_observed_decided_delay_seconds", Kind::counter,
           "sum of the queueing delays at which the observed windows aim"},
    Family{"sluice_observed_actual_delay_seconds", Kind::counter,
           "sum of the queueing delays that round trips showed at the same decisions"},
    Family{"sluice_feedback_age_seconds", Kind::histogram, "age of a UE's last report when the next one arrived"},
    Family{"sluice_relay_sojourn_seconds", Kind::histogram,
           "time that data from the server waits in the proxy for the radio leg; split connections with data in flight "
           "to the UE are sampled ten times a second (at most 256 per shard, in turn)"},
    Family{"sluice_rtt_seconds", Kind::histogram,
           "smoothed RTT between proxy and UE; split connections with data in flight to the UE are sampled ten times a "
           "second (at most 256 per shard, in turn)"},
    Family{"sluice_flow_completion_seconds", Kind::histogram,
           "time from the split of a connection to its last FIN or ACK, unless a reset or timeout ended it"},
    Family{"sluice_ack_exposed_bytes", Kind::histogram,
           "bytes acknowledged to one host and not yet by the other, in samples of split connections"},
};

/// Suffixes for the metrics of leg counters, by the name of the counter. A suffix states the unit, which the name of
/// the counter does not contain.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> units_of_legs = {
    {{"received", "_frames"}, {"transmitted", "_frames"}, {"retransmitted", "_segments"}}};
constexpr std::array<std::string_view, 5> ports_count_packets = {"received", "transmitted", "transmit_dropped",
                                                                 "oversized", "copy_failed"};

/// Returns the part of `name` after the prefix, or nothing if `name` does not begin with the prefix.
std::optional<std::string_view> behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return name.substr(prefix.size());
}

std::string named(std::string_view first, std::string_view second, std::string_view third = {}) {
  return std::string(first).append(second).append(third);
}

MetricName packets(std::string_view action, std::string_view reason) {
  return {"sluice_packets", {{"action", std::string(action)}, {"reason", std::string(reason)}}};
}

MetricName of_shards(std::string_view name) {
  if (name == "optimised") return packets("optimised", "split");
  if (const auto reason = behind(name, "forward_")) return packets("forwarded", *reason);
  if (const auto reason = behind(name, "drop_")) return packets("dropped", *reason);
  for (const std::string_view leg : {"radio", "core"}) {
    if (!name.ends_with(named("_", leg))) continue;
    const std::string_view what = name.substr(0, name.size() - leg.size() - 1);
    const auto* const unit = std::find_if(units_of_legs.begin(), units_of_legs.end(),
                                          [what](const auto& each) { return each.first == what; });
    return {named("sluice_", what, unit != units_of_legs.end() ? unit->second : ""), {{"leg", std::string(leg)}}};
  }
  return {named("sluice_", name), {}};
}

MetricName of_traffic(std::string_view rest) {
  if (const auto reason = behind(rest, "passed_bytes."))
    return {"sluice_traffic_bytes", {{"handling", "passed"}, {"reason", std::string(*reason)}}};
  const std::string handling(rest.substr(0, rest.find('_')));
  const std::string reason = handling == "controlled" ? "rate_controller" : "congestion_control";
  return {"sluice_traffic_bytes", {{"handling", handling}, {"reason", reason}}};
}

MetricName of_port(std::string_view rest) {
  const std::size_t dot = rest.find('.');
  const std::string_view what = rest.substr(dot + 1);
  const bool packets =
      std::find(ports_count_packets.begin(), ports_count_packets.end(), what) != ports_count_packets.end();
  return {named("sluice_port_", what, packets ? "_packets" : ""), {{"port", std::string(rest.substr(0, dot))}}};
}

}  // namespace

MetricName metric_name(std::string_view counter) {
  if (const auto name = behind(counter, "proxy.")) return of_shards(*name);
  if (const auto name = behind(counter, "ports.")) return of_port(*name);
  if (const auto name = behind(counter, "traffic.")) return of_traffic(*name);
  if (counter == "feedback.accepted") return {"sluice_feedback_messages", {{"result", "accepted"}}};
  if (const auto why = behind(counter, "feedback.refused_"))
    return {"sluice_feedback_messages", {{"result", std::string(*why)}}};
  std::string family = named("sluice_", counter);
  std::replace(family.begin(), family.end(), '.', '_');
  return {std::move(family), {}};
}

const Family* family_of(std::string_view name) {
  const auto* const at =
      std::find_if(families.begin(), families.end(), [name](const Family& each) { return each.name == name; });
  return at != families.end() ? at : nullptr;
}

std::span<const Family> described_families() {
  return families;
}

}  // namespace sluice::metrics
