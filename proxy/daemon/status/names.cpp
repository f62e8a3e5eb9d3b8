// Maps counter names of `sluicectl counters` to metric families with labels. The metrics page calls it for each
// counter. Invariant: frames are one family by action and reason, so that the sum equals the frames received.
#include "proxy/daemon/status/names.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sluice::metrics {
namespace {

/// Families that are not a single counter of `sluicectl counters`: several counters with labels, gauges and histograms.
constexpr std::array families = {
    Family{"sluice_packets", Kind::counter, "frames by what was done with them and why; the sum is what came in"},
    Family{"sluice_received_frames", Kind::counter, "frames that shards took from a port"},
    Family{"sluice_transmitted_frames", Kind::counter, "frames that shards handed to a port"},
    Family{"sluice_paths_smaller", Kind::counter, "times that segments became smaller because a router said so"},
    Family{"sluice_retransmitted_segments", Kind::counter, "segments retransmitted"},
    Family{"sluice_fast_recoveries", Kind::counter, "loss recoveries that did not need the timer"},
    Family{"sluice_timeouts", Kind::counter, "retransmission timeouts"},
    Family{"sluice_feedback_messages", Kind::counter, "feedback datagrams by what became of them"},
    Family{"sluice_port_received_packets", Kind::counter, "frames received"},
    Family{"sluice_port_received_bytes", Kind::counter, "bytes received"},
    Family{"sluice_port_oversized_packets", Kind::counter, "frames longer than the port's MTU that came in"},
    Family{"sluice_port_transmitted_packets", Kind::counter, "frames transmitted"},
    Family{"sluice_port_transmitted_bytes", Kind::counter, "bytes transmitted"},
    Family{"sluice_port_transmit_dropped_packets", Kind::counter, "frames that the device did not take"},
    Family{"sluice_port_link_changes", Kind::counter, "times that the link went down or came up"},
    Family{"sluice_port_copy_failed_packets", Kind::counter,
           "frames dropped: no packet buffer left for the copy the driver needs"},
    Family{"sluice_build", Kind::info, "the program"},
    Family{"sluice_config", Kind::info, "the configuration in force, by a hash that leaves secrets out"},
    Family{"sluice_uptime_seconds", Kind::gauge, "since the start"},
    Family{"sluice_connections", Kind::gauge,
           "handshake: its SYN-ACK went by; split; handing_back: on its way back to its hosts; end_to_end: passes "
           "whole and is tracked; released: handed back and tracked"},
    Family{"sluice_bearers", Kind::gauge,
           "bearers, the connections of a UE under one policy; governed: a law steers them now"},
    Family{"sluice_port_link_up", Kind::gauge, "whether the port's link is up"},
    Family{"sluice_shard_cpu_seconds", Kind::counter,
           "processor time of the poll thread; its rate is the shard's utilisation where shards.poll is adaptive"},
    Family{"sluice_shard_snapshot_age_seconds", Kind::gauge,
           "since the poll thread last published; it does ten times a second unless it is late"},
    Family{"sluice_ack_exposed_bytes", Kind::histogram,
           "bytes acknowledged to one host and not yet by the other, of samples of split connections"},
    Family{"sluice_config_last_reload_successful", Kind::gauge,
           "whether the last reload was put in force, or there was none"},
    Family{"sluice_draining", Kind::gauge, "whether connections are handed back and none is split"},
    Family{"sluice_packet_buffers", Kind::gauge, "packet buffers that there are"},
    Family{"sluice_packet_buffers_in_use", Kind::gauge, "packet buffers that are in use"},
    Family{"sluice_fail_open_ready", Kind::gauge, "whether the bridge would carry the frames if the program ended now"},
    Family{"sluice_shards_standing_still", Kind::gauge, "poll threads that have published nothing for a second"},
    Family{"sluice_group_reports", Kind::counter, "reports of the UEs' radio queues, each queue once"},
    Family{"sluice_group_queue_samples", Kind::counter,
           "samples of the UEs' radio queues: reports; and by acknowledgements bearers that have something in "
           "flight, looked "
           "at ten times a second, of more than 256 of a shard 256 in turn"},
    Family{"sluice_group_transmitted_bytes", Kind::counter,
           "bytes that left the radio queues, by reports; by acknowledgements, what was sent and is not in flight"},
    Family{"sluice_group_dropped_bytes", Kind::counter, "bytes that the radio queues dropped, by reports"},
    Family{"sluice_group_queue_delay_seconds", Kind::counter,
           "sum over the samples of queue / mean rate, of those with a rate: over "
           "sluice_group_queue_samples_total it is the mean "
           "queueing delay"},
    Family{"sluice_feedback_age_seconds", Kind::histogram,
           "how old the last report of a UE had become when the next came"},
    Family{"sluice_relay_sojourn_seconds", Kind::histogram,
           "how long what came from the server waits here for the radio leg: of split connections that have something "
           "under way to the UE; each is looked at ten times a second, of more than 256 of a shard 256 in turn"},
    Family{"sluice_rtt_seconds", Kind::histogram,
           "smoothed round trip between here and the UE: of the same connections, looked at as often"},
    Family{"sluice_flow_completion_seconds", Kind::histogram,
           "from the split of a connection to the last word of its hosts, where no reset or timeout ended it"},
};

/// Units of those counters whose name contains none.
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
  const std::string reason = handling == "steered" ? "rate_controller" : "congestion_control";
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
