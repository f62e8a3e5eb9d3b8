// Computes the figures of a run's result from its flow records, series and counters: bulk transfers, fetches, windows,
// queues, access point and theory.
// run_virtual() calls these functions after the run; LiveRun uses some of them. Sources: Padhye's TCP formula, table 2
// of the SMVS paper, the WLAN paper's M/M/1/K analysis.

#include "emulator/runtime/figures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "emulator/model/tcp_throughput.hpp"
#include "emulator/model/wlan_ratio.hpp"

namespace sluice::emulator {
namespace {

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : sum_of(values) / static_cast<double>(values.size());
}

/// Returns the bytes that a packet of MTU size takes on the radio link, with padding to whole radio frames.
double packet_on_air(const Scenario& scenario) {
  const double mtu = scenario.hosts.mtu;
  const auto frame = static_cast<double>(scenario.cell.ues.front().frame.count());
  return frame > 0 ? std::ceil(mtu / frame) * frame : mtu;
}

double buffer_in_packets(const Scenario& scenario) {
  const UeSpec& ue = scenario.cell.ues.front();
  const auto limit = static_cast<double>(ue.buffer.limit);
  if (ue.buffer.unit == BufferUnit::packets) return limit;
  if (ue.buffer.unit == BufferUnit::bytes) return limit / scenario.hosts.mtu;
  return limit * static_cast<double>(ue.frame.count()) / packet_on_air(scenario);
}

/// Adds the values of table 2 of the SMVS paper (Ren and Lin, TMC 2011) to RunResult::figures. The timeout T0 is twice
/// the round trip, as in a footnote of that table. The loss share p counts drop events, because the sender reacts to
/// each event as to one loss.
void add_tcp_models(RunResult& result, const Scenario& scenario, const CapacityProfile& profile) {
  constexpr double header = 40;  // IPv4 and TCP without options
  const double actual = result.throughput_bps / 8 / (scenario.hosts.mtu - header);
  VaryingLink link;
  for (const Rate rate : profile.rates) link.packets_per_s.push_back(rate.bytes_per_second() / packet_on_air(scenario));
  link.round_trip_s =
      to_seconds(scenario.server_proxy.delay * 2 + scenario.proxy_nodeb.delay * 2 + scenario.cell.uplink.delay);
  link.buffer_packets = buffer_in_packets(scenario);
  const auto events = static_cast<double>(result.counters["drop_events"]);
  if (actual <= 0 || events <= 0) return;
  const double passes = result.measured_s / (to_seconds(profile.interval) * static_cast<double>(profile.rates.size()));
  const double p1 = std::min(1.0, passes * spurious_timeouts(link) / events);
  PadhyeInput padhye;
  padhye.loss = events / (actual * result.measured_s);
  padhye.round_trip_s = link.round_trip_s + result.radio_queue_delay.mean_ms / 1000;
  padhye.timeout_s = 2 * padhye.round_trip_s;
  result.figures["packets_per_s"] = actual;
  result.figures["spurious_share"] = p1;
  result.figures["model_packets_per_s"] = varying_link_throughput(link, p1);
  result.figures["padhye_packets_per_s"] = padhye_throughput(padhye);
  result.figures["model_error"] = std::abs(actual - result.figures["model_packets_per_s"]) / actual;
  result.figures["padhye_error"] = std::abs(actual - result.figures["padhye_packets_per_s"]) / actual;
}

/// Adds the throughput ratio that the WLAN model predicts. The model covers one upload and some downloads, without loss
/// outside the access point.
void add_wlan_model(RunResult& result, const Scenario& scenario) {
  std::uint64_t uploads = 0;
  std::uint64_t downloads = 0;
  for (const AppSpec& app : scenario.apps) {
    (app.direction == Direction::upload ? uploads : downloads) += std::uint64_t{app.ues} * app.connections;
  }
  if (uploads != 1 || downloads < 1 || scenario.cell.wlan.buffer == 0) return;
  WlanShare share;
  share.downloads = static_cast<double>(downloads);
  share.buffer_packets = scenario.cell.wlan.buffer;
  share.window_packets = std::floor(static_cast<double>(scenario.hosts.receive_buffer.count()) / scenario.hosts.mtu);
  result.figures["model_ratio"] = wlan_ratio(share);
  if (const double naive = wlan_naive_ratio(share); std::isfinite(naive)) result.figures["naive_ratio"] = naive;
  if (const double orders = wlan_full_window_orders(share); std::isfinite(orders))
    result.figures["model_full_window"] = orders;
}

/// Adds columns with the rates of the first four transfers in `throughout`, and with the mean time that a 1 MB file
/// would take. `throughout` has the goodputs, in b/s, of the bulk transfers that ran during the whole measurement.
void add_single_flows(RunResult& result, const std::vector<double>& throughout) {
  constexpr std::size_t named = 4;
  constexpr double megabyte = 8e6;  // bits
  std::vector<double> times;
  for (std::size_t i = 0; i < throughout.size(); ++i) {
    if (i < named) result.figures["flow_" + std::to_string(i + 1) + "_bps"] = throughout[i];
    if (throughout[i] > 0) times.push_back(megabyte / throughout[i]);
  }
  result.figures["fetch_1mb_s"] = mean_of(times);
}

}  // namespace

void add_model_figures(RunResult& result, const Scenario& scenario, const CapacityProfile* profile) {
  if (scenario.output.model == ModelType::tcp_throughput && profile != nullptr) {
    add_tcp_models(result, scenario, *profile);
  }
  if (scenario.output.model == ModelType::wlan_ratio && scenario.cell.is_wlan()) add_wlan_model(result, scenario);
}

double measured_bps(const FlowRecord& flow, const RunResult& result) {
  return result.measured_s > 0 ? static_cast<double>(flow.measured) * 8 / result.measured_s : 0;
}

/// Size class of the first UE's flows: the largest size in bytes, and the name of the results column with the mean
/// fetch time.
struct SizeClass {
  std::uint64_t most;
  const char* figure;
};
constexpr SizeClass size_classes[] = {{4'000, "first_ue_to_4kb_ms"},    {6'000, "first_ue_to_6kb_ms"},
                                      {10'000, "first_ue_to_10kb_ms"},  {20'000, "first_ue_to_20kb_ms"},
                                      {50'000, "first_ue_to_50kb_ms"},  {200'000, "first_ue_to_200kb_ms"},
                                      {1'000'000, "first_ue_to_1mb_ms"}};

/// Returns how many of `drops` happened in the two seconds up to the time `time_s`.
std::uint64_t drops_before(const std::vector<DropRow>& drops, double time_s) {
  constexpr double within_s = 2;
  return static_cast<std::uint64_t>(std::count_if(drops.begin(), drops.end(), [time_s](const DropRow& drop) {
    return drop.time_s > time_s - within_s && drop.time_s <= time_s;
  }));
}

/// Adds the mean and the longest time of all fetches. Adds mean fetch times by size of completed flows of applications
/// of type flows (short flows). Only flows that began after `measured_from` count. `first_ue` is the address of the
/// first UE, whose flows also get columns of their own; it may be null.
void add_fetch_figures(RunResult& result, const FlowLog& log, Instant measured_from, const IpAddress* first_ue) {
  constexpr std::uint64_t short_limit = 15'000;
  constexpr std::uint64_t medium_limit = 200'000;
  std::map<std::string, std::vector<double>> times;
  for (const FlowRecord& flow : log.flows) {
    const bool is_complete = flow.reason == tcp::CloseReason::finished;
    if (flow.application != "flows" || !is_complete || flow.opened < measured_from) continue;
    const double time = to_milliseconds(flow.finished - flow.opened);
    if (first_ue != nullptr && flow.ends.ue == *first_ue) {
      if (flow.bytes < short_limit) times["first_ue_short_fetch_ms"].push_back(time);
      const auto* const least = std::find_if(std::begin(size_classes), std::end(size_classes),
                                             [&](const SizeClass& each) { return flow.bytes <= each.most; });
      if (least != std::end(size_classes)) times[least->figure].push_back(time);
    }
    const char* const size = flow.bytes < short_limit     ? "short_fetch_ms"
                             : flow.bytes <= medium_limit ? "medium_fetch_ms"
                                                          : "long_fetch_ms";
    times[size].push_back(time);
  }
  for (const auto& [figure, list] : times) result.figures[figure] = mean_of(list);
  if (log.fetch_times.count() == 0) return;
  result.figures["fetch_mean_ms"] = to_milliseconds(log.fetch_times.mean());
  result.figures["fetch_max_ms"] = to_milliseconds(log.fetch_times.max());
}

void add_flow_figures(RunResult& result, const FlowLog& log, Instant measured_from) {
  std::vector<double> uploads;
  std::vector<double> downloads;
  std::vector<double> throughout;  // rates of the transfers that ran all the time
  for (const FlowRecord& flow : log.flows) {
    if (flow.application != "bulk") continue;
    const double rate = measured_bps(flow, result);
    (flow.upload ? uploads : downloads).push_back(rate);
    if (flow.opened > measured_from || flow.reason != tcp::CloseReason::none) continue;
    if (throughout.empty() && flow.spread.variation()) result.figures["flow_1_variation"] = *flow.spread.variation();
    throughout.push_back(rate);
  }
  if (!uploads.empty()) {
    result.figures["upload_bps"] = sum_of(uploads);
    result.figures["download_bps"] = sum_of(downloads);
    if (mean_of(downloads) > 0) result.figures["up_down_ratio"] = mean_of(uploads) / mean_of(downloads);
  }
  if (throughout.size() < 2) return;
  add_single_flows(result, throughout);
  result.figures["flow_jain"] = jain_index(throughout);
  result.figures["flow_min_bps"] = *std::min_element(throughout.begin(), throughout.end());
  result.figures["flow_max_bps"] = *std::max_element(throughout.begin(), throughout.end());
}

void add_timeout_figures(RunResult& result, const Scenario& scenario) {
  constexpr int named = 4;
  int nth = 0;
  for (const FlowRow& flow : result.flows) {
    if (flow.application != "bulk" || flow.opened_s > to_seconds(scenario.warmup) || flow.ended != "running") continue;
    if (++nth > named) return;
    result.figures["flow_" + std::to_string(nth) + "_timeouts"] = static_cast<double>(flow.server_timeouts);
  }
}

void add_window_figures(RunResult& result, const Scenario& scenario) {
  if (result.windows.empty()) return;
  const WindowRow& first = result.windows.front();
  std::uint64_t looks = 0;
  std::uint64_t limited = 0;
  std::uint64_t lone = 0;
  std::uint64_t timeouts = 0;
  for (const WindowRow& row : result.windows) {
    if (row.server != first.server || row.ue != first.ue || row.ue_port != first.ue_port) continue;
    if (row.time_s >= to_seconds(scenario.warmup)) {
      ++looks;
      if (row.congestion_bytes < row.advertised_bytes) ++limited;
      if (row.timeouts > timeouts && drops_before(result.dropped, row.time_s) <= 1) ++lone;
    }
    timeouts = row.timeouts;
  }
  if (looks == 0) return;
  result.figures["congestion_limits"] = static_cast<double>(limited) / static_cast<double>(looks);
  if (scenario.output.drops) result.figures["lone_timeouts"] = static_cast<double>(lone);
  if (const std::uint64_t events = result.counters["drop_events"]; events != 0)
    result.figures["drops_per_event"] = static_cast<double>(result.drops) / static_cast<double>(events);
}

void add_access_point_figures(RunResult& result) {
  const auto counted = [&result](const char* name) {
    const auto at = result.counters.find(name);
    return at == result.counters.end() ? 0.0 : static_cast<double>(at->second);
  };
  const double data = counted("access_point_data");
  const double acks = counted("access_point_acks");
  const double station_data = counted("station_data");
  const double station_acks = counted("station_acks");
  const double all = data + acks + station_data + station_acks;
  if (all <= 0) return;
  result.figures["access_point_data_share"] = data / all;
  result.figures["access_point_ack_share"] = acks / all;
  result.figures["station_data_share"] = station_data / all;
  result.figures["station_ack_share"] = station_acks / all;
  const double data_drops = counted("access_point_data_drops");
  const double ack_drops = counted("access_point_ack_drops");
  if (data + data_drops > 0) result.figures["access_point_data_loss"] = data_drops / (data + data_drops);
  if (acks + ack_drops > 0) result.figures["access_point_ack_loss"] = ack_drops / (acks + ack_drops);
}

void add_queue_figures(RunResult& result, const Scenario& scenario) {
  const double interval = to_seconds(scenario.interval);
  const auto window = static_cast<std::size_t>(std::max(1.0, 1.0 / interval));
  double queue = 0;
  double reference = 0;
  for (std::size_t i = 0; i < result.series.size(); ++i) {
    if (!result.series[i].reference_bytes) return;
    queue += result.series[i].queue_bytes;
    reference += *result.series[i].reference_bytes;
    if (i >= window) {
      queue -= result.series[i - window].queue_bytes;
      reference -= *result.series[i - window].reference_bytes;
    }
    if (i + 1 < window || reference <= 0) continue;
    if (queue < 0.8 * reference || queue > 1.2 * reference) continue;
    result.figures["settle_s"] = result.series[i].time_s;
    return;
  }
}

}  // namespace sluice::emulator
