// Maps counter names of `sluicectl counters` to metric families with labels. The metrics page calls it for each
// counter. Invariant: frames are one family by action and reason, so that the sum equals the frames received.
#include "proxy/daemon/status/names.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sluice::metrics {
namespace {

struct Family {
  std::string_view name;
  std::string_view help;
};

/// Names and help texts of the metric families that contain several counters.
constexpr std::array families = {
    Family{"sluice_packets", "frames by action and reason; their sum is the number of received frames"},
    Family{"sluice_traffic_bytes", "bytes of received frames by what was done with them; of those that pass, why"},
    Family{"sluice_received_frames", "frames that shards received from a port"},
    Family{"sluice_transmitted_frames", "frames that shards sent to a port"},
    Family{"sluice_paths_smaller", "times that segments became smaller because of an ICMP error"},
    Family{"sluice_retransmitted_segments", "segments retransmitted"},
    Family{"sluice_fast_recoveries", "loss recoveries without a timeout"},
    Family{"sluice_acks_misplaced", "ACKs that end inside a segment, as if sent before it arrived"},
    Family{"sluice_timeouts", "retransmission timeouts"},
    Family{"sluice_feedback_messages", "feedback datagrams by result"},
    Family{"sluice_port_received_packets", "frames received"},
    Family{"sluice_port_received_bytes", "bytes received"},
    Family{"sluice_port_oversized_packets", "received frames longer than the port's MTU"},
    Family{"sluice_port_transmitted_packets", "frames transmitted"},
    Family{"sluice_port_transmitted_bytes", "bytes transmitted"},
    Family{"sluice_port_transmit_dropped_packets", "frames that the device did not accept"},
    Family{"sluice_port_link_changes", "times that the link went down or came up"},
    Family{"sluice_port_copy_failed_packets", "frames dropped: no packet buffer left for the copy the driver needs"},
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

std::string_view family_help(std::string_view family) {
  const auto* const at =
      std::find_if(families.begin(), families.end(), [family](const Family& each) { return each.name == family; });
  return at != families.end() ? at->help : std::string_view();
}

}  // namespace sluice::metrics
