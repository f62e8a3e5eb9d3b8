// Gathers the state of the running program from the shards' snapshots, the ports and feedback, for admin commands,
// metrics, the live page and the log. Invariant: it only reads what poll threads have published, so no query delays a
// packet.
#include "proxy/daemon/status/status_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/device_arguments.hpp"
#include "proxy/daemon/status/counter_texts.hpp"
#include "proxy/daemon/status/version.hpp"

namespace sluice::proxy {
namespace {

using admin::Json;

constexpr std::array<const char*, 2> side_names{"radio", "core"};

/// True for counters whose increase is logged as a warning: every drop, and events which show that a limit was reached.
bool is_alarming(Counter counter, std::string_view name) {
  if (name.starts_with("drop_")) return true;
  switch (counter) {
    case Counter::forward_flow_limit:
    case Counter::forward_memory:
    case Counter::buffers_exhausted:
    case Counter::fallbacks:
    case Counter::steps_too_long:
    case Counter::steps_too_coarse:
      return true;
    default:
      return false;
  }
}

double whole_milliseconds(Duration duration) {
  return to_seconds(std::chrono::floor<std::chrono::milliseconds>(duration));
}

/// Returns a percentile of durations in ms, or null if the histogram is empty. `share` is the percentile as a fraction.
Json percentile_ms(const TimeHistogram& times, double share) {
  if (times.counts().count() == 0) return nullptr;
  return static_cast<double>(times.counts().percentile(share)) / 1000;
}

/// Returns a duration in ms, or null if it is zero because nothing was measured yet.
Json milliseconds_or_null(Duration duration) {
  return duration > Duration::zero() ? Json(to_milliseconds(duration)) : Json();
}

/// Returns a rate in bit/s, or null if it is zero because nothing was measured yet.
Json rate_or_null(Rate rate) {
  return rate > Rate() ? Json(std::llround(rate.bps())) : Json();
}

/// Returns the name of the kernel interface that the port uses, or null if it uses none. `side` is the index of the
/// port.
Json interface_of(const Config& config, std::size_t side) {
  const PortSettings& port = side == 0 ? config.ports.radio : config.ports.core;
  const auto interface = dpdk::served_interface(port.device);
  return interface ? Json(*interface) : Json();
}

/// Returns `sum` divided by `count`, the mean, or null if `count` is zero.
Json mean(double sum, std::uint64_t count) {
  return count > 0 ? Json(sum / static_cast<double>(count)) : Json();
}

double mbps(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) * 8e-6 / seconds : 0;
}

}  // namespace

void StatusSource::refresh() {
  for (ShardChannel* channel : parts_.channels) channel->snapshots.fetch();
}

Counters StatusSource::totals() const {
  Counters sum;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().counters;
  return sum;
}

std::uint64_t StatusSource::flow_count() const {
  std::uint64_t sum = 0;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().flow_count;
  return sum;
}

bool StatusSource::draining() const {
  return std::any_of(parts_.channels.begin(), parts_.channels.end(),
                     [](const ShardChannel* channel) { return channel->snapshots.front().draining; });
}

std::uint64_t StatusSource::standing_count() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < parts_.channels.size(); ++i) {
    if (parts_.watch->stalled_for(i, dpdk::now()) > Duration::zero()) ++count;
  }
  return count;
}

std::uint64_t StatusSource::bearer_count() const {
  std::uint64_t sum = 0;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().bearer_count;
  return sum;
}

std::uint64_t StatusSource::released_count() const {
  std::uint64_t sum = 0;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().released_count;
  return sum;
}

void StatusSource::add_shard_counters(std::vector<NamedCounter>& out) const {
  const Counters sum = totals();
  for (std::size_t i = 0; i < counter_count; ++i) {
    const auto& [name, text] = counter_text(i);
    out.push_back({"proxy." + std::string(name), text, sum.at(i), is_alarming(static_cast<Counter>(i), name)});
  }
}

void StatusSource::add_port_counters(std::vector<NamedCounter>& out) const {
  for (std::size_t side = 0; side < parts_.ports.size(); ++side) {
    const dpdk::PortCounters counters = parts_.ports.at(side)->counters();
    const auto add = [&](std::string_view pattern, std::uint64_t value, std::string detail = {}) {
      out.push_back(counter_of(pattern, value, side_names.at(side), std::move(detail)));
    };
    add("ports.*.received", counters.received);
    add("ports.*.received_bytes", counters.received_bytes);
    add("ports.*.oversized", counters.oversized, parts_.ports.at(side)->oversized_remedy());
    add("ports.*.transmitted", counters.transmitted);
    add("ports.*.transmitted_bytes", counters.transmitted_bytes);
    add("ports.*.transmit_dropped", counters.transmit_dropped);
    add("ports.*.link_changes", parts_.links.at(side)->changes());
    add("ports.*.copy_failed", counters.copy_failed);
  }
  std::uint64_t handed_over = 0;
  std::uint64_t dropped = 0;
  for (unsigned i = 0; i < parts_.steering->shards(); ++i) {
    handed_over += parts_.steering->shard(i).handed_over();
    dropped += parts_.steering->shard(i).dropped();
  }
  out.push_back(counter_of("steering.handed_over", handed_over));
  out.push_back(counter_of("steering.dropped", dropped));
}

void StatusSource::add_feedback_counters(std::vector<NamedCounter>& out) const {
  if (parts_.feedback == nullptr) return;
  for (const control::feedback::SourceCounter& counter : parts_.feedback->counters()) {
    out.push_back({counter.name, counter.text, counter.value, counter.alarming, counter.detail});
  }
  std::uint64_t statuses_lost = 0;
  for (const ShardChannel* channel : parts_.channels) statuses_lost += channel->snapshots.front().statuses_lost;
  out.push_back(counter_of("feedback.statuses_lost", statuses_lost));
}

std::vector<NamedCounter> StatusSource::counters() const {
  std::vector<NamedCounter> out;
  add_shard_counters(out);
  add_traffic_counters(totals(), out);
  out.push_back(counter_of("shards.stalls", parts_.watch->stalls()));
  add_port_counters(out);
  if (parts_.bridge != nullptr) out.push_back(counter_of("fail_open.repairs", parts_.bridge->repairs()));
  add_feedback_counters(out);
  parts_.add_program_counters(out);
  return out;
}

Json StatusSource::counters_by_name() const {
  Json object = Json::object();
  for (const NamedCounter& counter : counters()) object[counter.name] = counter.value;
  return object;
}

admin::Answer StatusSource::counter(const std::string& name) const {
  const std::string own = name.substr(name.starts_with("proxy.") ? std::string_view("proxy.").size() : 0);
  const std::vector<NamedCounter> all = counters();
  for (const NamedCounter& counter : all) {
    if (counter.name == name || counter.name == "proxy." + own) return admin::Answer::success(counter.value);
  }
  Json matching = Json::object();
  std::vector<std::string> known;
  for (const NamedCounter& counter : all) {
    if (counter.name.starts_with(name) || counter.name.starts_with("proxy." + own))
      matching[counter.name] = counter.value;
    known.push_back(counter.name.substr(counter.name.starts_with("proxy.") ? std::string_view("proxy.").size() : 0));
  }
  if (!matching.empty()) return admin::Answer::success(std::move(matching));
  return admin::unknown_word("counter", own, admin::suggestion(own, known, "counters lists all"));
}

Json StatusSource::fail_open() const {
  if (parts_.bridge == nullptr) return "none";
  const std::string& problem = parts_.bridge->problem();
  Json object = {{"bridge", parts_.bridge->name()}, {"ready", problem.empty()}};
  if (!problem.empty()) object["problem"] = problem;
  return object;
}

Json StatusSource::status() const {
  const Config& config = *parts_.config;
  Json status = {{"version", version},
                 {"mode", to_string(config.shard.mode)},
                 {"uptime_s", whole_milliseconds(dpdk::now() - parts_.started)},
                 {"shards", parts_.channels.size()},
                 {"shards_stalled", standing_count()},
                 {"flows", flow_count()},
                 {"flows_released", released_count()},
                 {"bearers", bearer_count()},
                 {"draining", draining()},
                 {"traffic", traffic_summary(totals())},
                 {"packet_buffers", {{"total", parts_.pool->capacity()}, {"in_use", parts_.pool->in_use()}}}};
  for (std::size_t side = 0; side < parts_.ports.size(); ++side) {
    status["ports"][side_names.at(side)] = {{"device", parts_.ports.at(side)->name()},
                                            {"interface", interface_of(config, side)},
                                            {"link", to_string(parts_.links.at(side)->link())}};
  }
  status["fail_open"] = fail_open();
  status["last_run"] = parts_.last_run;
  if (parts_.feedback == nullptr) return status;
  status["feedback"] = {
      {"source", parts_.feedback->source()},
      {"listen", fmt::format("{}:{}", parts_.feedback->local().address().to_string(), parts_.feedback->local().port())},
      {"destinations", parts_.feedback->destinations()},
      {"accepted", parts_.feedback->accepted()},
      {"refused", parts_.feedback->refused()}};
  return status;
}

Json StatusSource::ports() const {
  Json object = Json::object();
  for (std::size_t side = 0; side < parts_.ports.size(); ++side) {
    const dpdk::Port& port = *parts_.ports.at(side);
    Json& entry = object[side_names.at(side)];
    entry = {{"device", port.name()},
             {"interface", interface_of(*parts_.config, side)},
             {"link", to_string(parts_.links.at(side)->link())},
             {"link_since_s", whole_milliseconds(dpdk::now() - parts_.links.at(side)->since())},
             {"link_changes", parts_.links.at(side)->changes()},
             {"receive_queues", port.receive_queues()},
             {"transmit_queues", port.transmit_queues()},
             {"spreads_by_ue_address", port.receive_by_address()},
             {"checks_checksums", port.checks_checksums()},
             {"partial_checksums", parts_.config->shard.accept_partial_checksums.at(side) ? "accept" : "refuse"}};
    for (const auto& [name, value] : port.extended_statistics()) entry["driver"][name] = value;
  }
  return object;
}

Json StatusSource::shards() const {
  Json list = Json::array();
  for (unsigned i = 0; i < parts_.channels.size(); ++i) {
    const ShardSnapshot& shard = parts_.channels[i]->snapshots.front();
    const dpdk::ShardPorts& ports = parts_.steering->shard(i);
    list.push_back({{"shard", i},
                    {"flows", shard.flow_count},
                    {"flows_released", shard.released_count},
                    {"bearers", shard.bearer_count},
                    {"received", shard.counters.received()},
                    {"optimised", shard.counters[Counter::optimised]},
                    {"forwarded", shard.counters.forwarded()},
                    {"dropped", shard.counters.dropped()},
                    {"flows_split", shard.counters[Counter::flows_split]},
                    {"reports", shard.counters[Counter::reports]},
                    {"handed_over", ports.handed_over()},
                    {"handed_over_dropped", ports.dropped()},
                    {"sleeps", shard.sleeps},
                    {"stalled_s", whole_milliseconds(parts_.watch->stalled_for(i, dpdk::now()))}});
  }
  return list;
}

GroupTotals StatusSource::group(std::size_t index) const {
  GroupTotals sum;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().groups.at(index);
  return sum;
}

GroupTimes StatusSource::times(std::size_t index) const {
  GroupTimes sum;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().times.at(index);
  return sum;
}

FlowStateCounts StatusSource::flow_state_counts() const {
  FlowStateCounts sum;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().flow_states;
  return sum;
}

std::uint64_t StatusSource::end_to_end_count() const {
  std::uint64_t sum = 0;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().end_to_end_count;
  return sum;
}

Histogram StatusSource::exposed() const {
  Histogram sum;
  for (const ShardChannel* channel : parts_.channels) sum += channel->snapshots.front().exposure;
  return sum;
}

Json StatusSource::groups() const {
  constexpr std::array names = {"optimised", "control"};  // the labels of the metrics
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const GroupTotals sum = group(i);
    const GroupTimes taken = times(i);
    list.push_back({{"group", names.at(i)},
                    {"reports", sum.reports},
                    {"queue_samples", sum.samples},
                    {"transmitted_bytes", sum.transmitted},
                    {"dropped_bytes", sum.dropped},
                    {"queue_mean_bytes", mean(sum.queue_bytes, sum.samples)},
                    {"queue_delay_samples", sum.delay_samples},
                    {"queue_delay_mean_ms", mean(1000 * sum.queue_delay_s, sum.delay_samples)},
                    {"observed_decisions", sum.observed.decisions},
                    {"observed_decided_mean_bytes", mean(sum.observed.decided_bytes, sum.observed.decisions)},
                    {"observed_actual_mean_bytes", mean(sum.observed.actual_bytes, sum.observed.decisions)},
                    {"observed_decided_delay_mean_ms", mean(1000 * sum.observed.decided_delay_s, sum.observed.delays)},
                    {"observed_actual_delay_mean_ms", mean(1000 * sum.observed.actual_delay_s, sum.observed.delays)},
                    {"rtt_p50_ms", percentile_ms(taken.rtt, 0.50)},
                    {"rtt_p95_ms", percentile_ms(taken.rtt, 0.95)},
                    {"completion_p50_ms", percentile_ms(taken.flow_completion, 0.50)},
                    {"completion_p95_ms", percentile_ms(taken.flow_completion, 0.95)}});
  }
  return list;
}

Json StatusSource::passing(std::size_t limit) const {
  std::vector<PassingInfo> all;
  for (const ShardChannel* channel : parts_.channels) {
    const std::vector<PassingInfo>& passing = channel->snapshots.front().passing;
    all.insert(all.end(), passing.begin(), passing.end());
  }
  return passing_rows(std::move(all), limit, dpdk::now());
}

Json StatusSource::exposure() const {
  const Histogram sum = exposed();
  Json object = {{"samples", sum.count()}};
  for (const auto& [name, share] : {std::pair("p50", 0.5), std::pair("p90", 0.9), std::pair("p99", 0.99)}) {
    object[std::string(name) + "_bytes"] = sum.percentile(share);
  }
  object["largest_bytes"] = sum.largest();
  for (std::size_t i = 0; i < Histogram::bucket_count; ++i) {
    if (sum.at(i) != 0) object["up_to_bytes"][std::to_string(Histogram::last_of(i))] = sum.at(i);
  }
  return object;
}

std::string StatusSource::statistics_line() {
  const Instant now = dpdk::now();
  const double seconds = to_seconds(now - last_line_);
  std::string line = fmt::format("flows={} bearers={} packet_buffers={}/{}", flow_count(), bearer_count(),
                                 parts_.pool->in_use(), parts_.pool->capacity());
  for (std::size_t side = 0; side < parts_.ports.size(); ++side) {
    const dpdk::PortCounters current = parts_.ports.at(side)->counters();
    const dpdk::PortCounters& before = last_ports_.at(side);
    if (last_line_ != Instant{}) {
      line += fmt::format(" {0}_in={1:.3f}Mb/s {0}_out={2:.3f}Mb/s", side_names.at(side),
                          mbps(current.received_bytes - before.received_bytes, seconds),
                          mbps(current.transmitted_bytes - before.transmitted_bytes, seconds));
    }
    last_ports_.at(side) = current;
  }
  last_line_ = now;
  const Counters sum = totals();
  line += fmt::format(" optimised={} forwarded={} dropped={}", sum[Counter::optimised], sum.forwarded(), sum.dropped());
  if (parts_.feedback != nullptr) line += fmt::format(" reports={}", sum[Counter::reports]);
  return line;
}

Json to_json(const FlowInfo& flow) {
  Json object = {{"ue", fmt::format("{} {}", flow.ue.to_string(), flow.ue_port)},
                 {"server", fmt::format("{} {}", flow.server.to_string(), flow.server_port)},
                 {"phase", flow.phase},
                 {"reason", flow.reason},
                 {"acks_held", flow.acks_held},
                 {"radio_sent_bytes", flow.sent_to_radio ? Json(flow.sent_to_radio->count()) : Json()},
                 {"blocked_by", flow.blocker}};
  for (std::size_t side = 0; side < side_names.size(); ++side) {
    const std::string prefix = std::string(side_names.at(side)) + "_";
    object[prefix + "state"] = flow.state[side];
    object[prefix + "in_flight_bytes"] = flow.in_flight[side].count();
    object[prefix + "cwnd_bytes"] = flow.congestion_window[side].count();
    object[prefix + "peer_window_bytes"] = flow.peer_window[side].count();
    object[prefix + "srtt_ms"] = milliseconds_or_null(flow.srtt[side]);
    object[prefix + "rto_ms"] = milliseconds_or_null(flow.rto[side]);
    object[prefix + "held_bytes"] = flow.held[side].count();
    object[prefix + "retransmissions"] = flow.retransmissions[side];
  }
  return object;
}

namespace {

double mean_of(double sum, std::uint64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace

Json to_json(const BearerInfo& bearer, Instant now) {
  const bool reported = bearer.reported_at != Instant{};
  const RadioQueueView queue = radio_queue_of(bearer, now);
  const bool is_uplink_known =
      bearer.uplink_wait_at != Instant{} && now - bearer.uplink_wait_at <= std::chrono::seconds(1);
  return {{"ue", bearer.ue.to_string()},
          {"mode", bearer.mode},
          {"policy", bearer.policy},
          {"control_group", bearer.in_control_group},
          {"observed_decisions", bearer.observed.decisions},
          {"observed_decided_mean_bytes", mean_of(bearer.observed.decided_bytes, bearer.observed.decisions)},
          {"observed_actual_mean_bytes", mean_of(bearer.observed.actual_bytes, bearer.observed.decisions)},
          {"observed_acks_to_wait", bearer.observed.waits},
          {"observed_decided_delay_mean_ms", mean(1000 * bearer.observed.decided_delay_s, bearer.observed.delays)},
          {"observed_actual_delay_mean_ms", mean(1000 * bearer.observed.actual_delay_s, bearer.observed.delays)},
          {"observed_window_bytes", bearer.observed_window ? Json(bearer.observed_window->count()) : Json()},
          {"observed_delay_ms", bearer.observed_delay ? Json(to_milliseconds(*bearer.observed_delay)) : Json()},
          {"flows", bearer.flows},
          {"steered_by", to_string(bearer.controller)},
          {"allowance_bytes", bearer.allowance.count()},
          {"cwnd_bytes", bearer.congestion_window.count()},
          {"in_flight_bytes", bearer.in_flight.count()},
          {"window_bytes", bearer.window ? Json(bearer.window->count()) : Json()},
          {"held_bytes", bearer.held.count()},
          {"unsent_bytes", bearer.unsent.count()},
          {"waiting_flows", bearer.waiting},
          {"cross_traffic_waiting_bytes", bearer.cross_traffic_waiting.count()},
          {"uplink_wait_ms", is_uplink_known ? Json(to_milliseconds(bearer.uplink_wait)) : Json()},
          {"uplink_signals", bearer.uplink_signals},
          {"injected_bytes", bearer.injected},
          {"queue_source", queue.source != nullptr ? Json(queue.source) : Json()},
          {"queue_bytes", queue.source != nullptr ? Json(queue.queue.count()) : Json()},
          {"queue_delay_ms", queue.delay ? Json(to_milliseconds(*queue.delay)) : Json()},
          {"radio_queue_bytes", reported ? Json(bearer.queue.count()) : Json()},
          {"report_age_ms", reported ? Json(to_milliseconds(now - bearer.reported_at)) : Json()},
          {"queue_by_acks_bytes", bearer.queue_by_acks.count()},
          {"service_rate_bps", reported ? Json(std::llround(bearer.service_rate.bps())) : Json()},
          {"mean_rate_bps", rate_or_null(bearer.mean_rate)},
          {"long_term_rate_bps", rate_or_null(bearer.long_term_rate.rate(now))},
          {"predicted_error_bytes", bearer.predicted_error},
          {"fallbacks", bearer.falls}};
}

}  // namespace sluice::proxy
