// Writes the page of metrics (/metrics) from the newest snapshots of all shards. WebServer calls it for each request.
// Invariant: every counter of `sluicectl counters` is on the page, and no label names a UE, which bounds the number
// of time series.
#include "proxy/daemon/status/metrics_page.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <map>
#include <stdexcept>

#include "proxy/daemon/status/names.hpp"
#include "proxy/daemon/status/version.hpp"

namespace sluice::proxy {
namespace {

using metrics::Exposition;
using metrics::Kind;
using metrics::Label;

constexpr std::array<std::string_view, 2> port_names{"radio", "core"};          // indexed by Side
constexpr std::array<std::string_view, 2> group_names{"optimised", "control"};  // indexed as GroupStatistics

/// Begins a metric family, with the kind and help text from the table of families.
void begin(Exposition& page, std::string_view name) {
  const metrics::Family* const family = metrics::family_of(name);
  if (family == nullptr) throw std::logic_error("no text for the metric " + std::string(name));
  page.family(name, family->kind, family->help);
}

/// Writes a metric family with a single value.
void add_gauge(Exposition& page, std::string_view name, std::uint64_t value) {
  begin(page, name);
  page.sample({}, value);
}

/// Returns a hash that identifies the active configuration. The hash does not depend on secrets, so it reveals nothing
/// about them.
std::string config_hash(const Config& config) {
  const std::string text = print_config(config);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hash;
  for (std::size_t i = 0; i < 8; ++i) hash += fmt::format("{:02x}", digest.at(i));
  return hash;
}

void add_program(Exposition& page, const StatusSource& status_source, const MetricsContext& context) {
  const StatusSource::Parts& parts = status_source.parts();
  begin(page, "sluice_build");
  page.sample({{"version", version}}, std::uint64_t{1});
  begin(page, "sluice_config");
  page.sample({{"hash", config_hash(*parts.config)}, {"mode", to_string(parts.config->shard.mode)}}, std::uint64_t{1});
  add_gauge(page, "sluice_config_last_reload_successful", context.last_reload_successful ? 1 : 0);
  begin(page, "sluice_uptime_seconds");
  page.sample({}, to_seconds(context.now - parts.started));
  add_gauge(page, "sluice_draining", status_source.draining() ? 1 : 0);
  add_gauge(page, "sluice_packet_buffers", parts.pool->capacity());
  add_gauge(page, "sluice_packet_buffers_in_use", parts.pool->in_use());
}

/// Writes the process_* metrics with the names and units that Prometheus' client libraries use. A metric whose value is
/// unknown gets no sample.
void add_process(Exposition& page, const ProcessStatistics& process) {
  const auto add = [&page](std::string_view name, const auto& value) {
    begin(page, name);
    if (value) page.sample({}, *value);
  };
  begin(page, "process_cpu_seconds");
  page.sample({}, process.cpu_seconds);
  add("process_resident_memory_bytes", process.resident_bytes);
  add("process_virtual_memory_bytes", process.virtual_bytes);
  add("process_open_fds", process.open_descriptors);
  add("process_max_fds", process.max_descriptors);
  add("process_start_time_seconds", process.start_time_seconds);
}

void add_connections(Exposition& page, const StatusSource& status_source) {
  const FlowStateCounts flow_states = status_source.flow_state_counts();
  begin(page, "sluice_connections");
  page.sample({{"state", "handshake"}}, std::uint64_t{flow_states.handshakes});
  page.sample({{"state", "split"}}, std::uint64_t{flow_states.split});
  page.sample({{"state", "handing_back"}}, std::uint64_t{flow_states.handing_back});
  page.sample({{"state", "end_to_end"}}, status_source.end_to_end_count());
  page.sample({{"state", "released"}}, status_source.released_count());
  begin(page, "sluice_bearers");
  page.sample({{"governed", "yes"}}, std::uint64_t{flow_states.governed});
  page.sample({{"governed", "no"}}, std::uint64_t{flow_states.ungoverned});
  add_gauge(page, "sluice_cross_traffic_waiting_bytes", flow_states.cross_traffic_waiting);
}

void add_ports(Exposition& page, const StatusSource& status_source) {
  begin(page, "sluice_port_link_up");
  for (std::size_t side = 0; side < port_names.size(); ++side) {
    const bool up = status_source.parts().links.at(side)->link() == dpdk::Link::up;
    page.sample({{"port", port_names.at(side)}}, std::uint64_t{up ? 1U : 0U});
  }
  const FailOpenBridge* const bridge = status_source.parts().bridge;
  if (bridge == nullptr) return;
  add_gauge(page, "sluice_fail_open_ready", bridge->problem().empty() ? 1 : 0);
}

void add_shards(Exposition& page, const StatusSource& status_source, const MetricsContext& context) {
  begin(page, "sluice_shard_cpu_seconds");
  for (std::size_t i = 0; i < context.processor_times.size(); ++i) {
    if (context.processor_times[i])
      page.sample({{"shard", std::to_string(i)}}, to_seconds(*context.processor_times[i]));
  }
  begin(page, "sluice_shard_snapshot_age_seconds");
  for (std::size_t i = 0; i < status_source.channels().size(); ++i) {
    page.sample({{"shard", std::to_string(i)}},
                to_seconds(context.now - status_source.channels()[i]->snapshots.front().at));
  }
  add_gauge(page, "sluice_shards_stalled", status_source.standing_count());
}

/// Writes a metric family with two samples of `value`: one for the UEs that rate controllers may limit, one for the
/// control group, which they never limit.
template <typename Value>
void add_of_groups(Exposition& page, const StatusSource& status_source, std::string_view name,
                   Value GroupTotals::*value) {
  begin(page, name);
  for (std::size_t i = 0; i < group_names.size(); ++i) {
    page.sample({{"group", group_names.at(i)}}, status_source.group(i).*value);
  }
}

void add_groups(Exposition& page, const StatusSource& status_source) {
  add_of_groups(page, status_source, "sluice_group_reports", &GroupTotals::reports);
  add_of_groups(page, status_source, "sluice_group_queue_samples", &GroupTotals::samples);
  add_of_groups(page, status_source, "sluice_group_transmitted_bytes", &GroupTotals::transmitted);
  add_of_groups(page, status_source, "sluice_group_dropped_bytes", &GroupTotals::dropped);
  add_of_groups(page, status_source, "sluice_group_queue_delay_seconds", &GroupTotals::queue_delay_s);
  add_of_groups(page, status_source, "sluice_group_queue_delay_samples", &GroupTotals::delay_samples);
}

void add_observed(Exposition& page, const StatusSource& status_source) {
  struct Row {
    std::string_view name;
    double (*value)(const Observed& observed);
  };
  constexpr std::array rows{
      Row{"sluice_observed_decisions", [](const Observed& o) { return static_cast<double>(o.decisions); }},
      Row{"sluice_observed_decided_bytes", [](const Observed& o) { return o.decided_bytes; }},
      Row{"sluice_observed_actual_bytes", [](const Observed& o) { return o.actual_bytes; }},
      Row{"sluice_observed_delays", [](const Observed& o) { return static_cast<double>(o.delays); }},
      Row{"sluice_observed_decided_delay_seconds", [](const Observed& o) { return o.decided_delay_s; }},
      Row{"sluice_observed_actual_delay_seconds", [](const Observed& o) { return o.actual_delay_s; }},
  };
  for (const Row& row : rows) {
    begin(page, row.name);
    page.sample({}, row.value(status_source.group(0).observed));
  }
}

/// Computes how many values of a histogram are below each of several limits. Each limit must be a boundary between two
/// buckets of that histogram.
class Cumulated {
 public:
  explicit Cumulated(const Histogram& values) : values_(values) {}
  /// Returns the number of values below `end`. In successive calls `end` must not decrease.
  [[nodiscard]] std::uint64_t below(std::uint64_t end) {
    for (; next_ < Histogram::bucket_count && Histogram::last_of(next_) < end; ++next_) count_ += values_.at(next_);
    return count_;
  }

 private:
  const Histogram& values_;
  std::size_t next_ = 0;
  std::uint64_t count_ = 0;
};

void add_exposure(Exposition& page, const StatusSource& status_source) {
  const Histogram exposed = status_source.exposed();
  Cumulated cumulated(exposed);
  std::vector<metrics::Bucket> buckets;
  for (unsigned bits = 10; bits <= 28; bits += 2) {
    const std::uint64_t end = std::uint64_t{1} << bits;
    buckets.push_back({static_cast<double>(end - 1), cumulated.below(end)});
  }
  begin(page, "sluice_ack_exposed_bytes");
  page.buckets({}, buckets, exposed.count(), std::nullopt);
}

/// Returns the histogram as buckets for OpenMetrics, from 256 us to 100 s. Two buckets per power of two suffice to
/// compute percentiles.
std::vector<metrics::Bucket> time_buckets(const TimeHistogram& times) {
  constexpr double microsecond = 1e-6;
  Cumulated cumulated(times.counts());
  std::vector<metrics::Bucket> buckets;
  for (unsigned bits = 8; bits <= 26; ++bits) {
    for (const std::uint64_t end : {std::uint64_t{2} << (bits - 1), std::uint64_t{3} << (bits - 1)}) {
      buckets.push_back({static_cast<double>(end) * microsecond, cumulated.below(end)});
    }
  }
  return buckets;
}

void add_times(Exposition& page, const StatusSource& status_source) {
  struct Row {
    std::string_view name;
    TimeHistogram GroupTimes::*times;
  };
  constexpr std::array rows{
      Row{"sluice_feedback_age_seconds", &GroupTimes::feedback_age},
      Row{"sluice_relay_sojourn_seconds", &GroupTimes::relay_sojourn},
      Row{"sluice_rtt_seconds", &GroupTimes::rtt},
      Row{"sluice_flow_completion_seconds", &GroupTimes::flow_completion},
  };
  const std::array groups{status_source.times(0), status_source.times(1)};
  for (const Row& row : rows) {
    begin(page, row.name);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const TimeHistogram& times = groups.at(i).*row.times;
      const Label group{"group", group_names.at(i)};
      page.buckets({&group, 1}, time_buckets(times), times.counts().count(), to_seconds(times.sum()));
    }
  }
}

void add_counters(Exposition& page, const StatusSource& status_source) {
  struct Family {
    std::string_view help;
    std::vector<std::pair<metrics::MetricName, std::uint64_t>> samples;
  };
  std::map<std::string, Family> families;
  for (const NamedCounter& counter : status_source.counters()) {
    metrics::MetricName name = metrics::metric_name(counter.name);
    Family& family = families[name.family];
    const metrics::Family* const shared = metrics::family_of(name.family);
    family.help = shared == nullptr ? counter.text : shared->help;
    family.samples.emplace_back(std::move(name), counter.value);
  }
  for (const auto& [name, family] : families) {
    page.family(name, Kind::counter, family.help);
    for (const auto& [metric, value] : family.samples) {
      std::vector<Label> labels;
      for (const auto& [label, text] : metric.labels) labels.push_back({label, text});
      page.sample(metrics::Labels(labels), value);
    }
  }
}

}  // namespace

std::string write_metrics(const StatusSource& status_source, const MetricsContext& context, metrics::Format format) {
  Exposition page(format);
  add_program(page, status_source, context);
  add_process(page, context.process);
  add_connections(page, status_source);
  add_ports(page, status_source);
  add_shards(page, status_source, context);
  add_groups(page, status_source);
  add_observed(page, status_source);
  add_times(page, status_source);
  add_exposure(page, status_source);
  add_counters(page, status_source);
  return std::move(page).finish();
}

}  // namespace sluice::proxy
