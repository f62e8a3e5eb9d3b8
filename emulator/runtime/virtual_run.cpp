// One run in virtual time: builds network, hosts and proxy of a plan, runs the event loop to its end and collects the
// result.
// run_experiment() and prepare_profiles() call run_virtual(). Invariant: everything random derives from the plan's
// seed, and a run that lacks packet buffers fails.

#include "emulator/runtime/virtual_run.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/runtime/deferred_element.hpp"
#include "emulator/runtime/endpoints.hpp"
#include "emulator/runtime/feedback_wire.hpp"
#include "emulator/runtime/figures.hpp"
#include "emulator/runtime/handover_watch.hpp"
#include "emulator/runtime/network.hpp"
#include "emulator/runtime/profiles.hpp"
#include "emulator/runtime/proxy_node.hpp"
#include "emulator/runtime/user_figures.hpp"
#include "emulator/runtime/window_watch.hpp"

namespace sluice::emulator {
namespace {

proxy::ShardConfig shard_config(const RunPlan& plan) {
  proxy::ShardConfig config = plan.scenario.proxy;
  config.mode = plan.mode.mode;
  config.intercept = plan.mode.intercept;
  if (!plan.scenario.bypass_servers.empty()) {
    proxy::Policy untouched;
    untouched.server = plan.scenario.bypass_servers;
    untouched.settings.mode = proxy::Mode::bypass;
    untouched.settings.smvs.uplink = config.smvs.uplink;
    config.policies.push_back(std::move(untouched));
  }
  return config;
}

/// Returns how many times the proxy changed its behaviour to save packet buffers.
std::uint64_t sparing(const proxy::Counters& counters) {
  using proxy::Counter;
  return counters[Counter::buffers_exhausted] + counters[Counter::payload_refused] + counters[Counter::forward_memory] +
         counters[Counter::flows_reset_memory] + counters[Counter::released_memory] + counters[Counter::acks_freed];
}

/// All objects of one run. An object is created after those that it depends on.
class VirtualRun {
 public:
  VirtualRun(const RunPlan& plan, RunPool& buffers, TraceLibrary& traces)
      : plan_(plan), buffers_(buffers), shard_config_(shard_config(plan)) {
    packet::PacketPool& pool = buffers.packets();
    buffers.begin_run();
    if (plan.mode != RunMode::none) proxy_.emplace(loop_, pool, shard_config_, plan.seed);
    NetworkEnds ends{&to_servers_, nullptr, nullptr, &to_ues_};
    if (proxy_) {
      ends.proxy_core = &proxy_->core_port();
      ends.proxy_radio = &proxy_->radio_port();
    }
    network_.emplace(loop_, pool, plan.scenario, plan.seed, traces, ends);
    servers_.emplace(loop_, pool, plan.scenario, plan.seed, network_->from_servers());
    ues_.emplace(loop_, pool, plan.scenario, plan.seed, network_->from_ues());
    to_servers_.set_next(servers_->entry());
    to_ues_.set_next(ues_->entry());
    windows_.emplace(loop_, plan.scenario, servers_->hosts());
    if (proxy_) proxy_->connect(network_->from_proxy_radio(), network_->from_proxy_core());
    if (const auto period = report_period(plan.scenario, plan.mode)) add_feedback(*period);
    watch_.emplace(loop_, plan.scenario, [this] {
      return HandoverWatch::Sample{network_->meter().retransmissions(), timeouts()};
    });
  }

  RunResult run(const Progress& progress) {
    network_->meter().start(loop_.now());
    if (feedback_) feedback_->start(loop_.now());
    for (const auto& reporter : reporters_) reporter->start(loop_.now());
    const Instant end = loop_.now() + plan_.scenario.duration;
    loop_.run_until(Instant{} + plan_.scenario.warmup);
    network_->end_warmup();
    constexpr int parts = 100;
    for (int part = 1; part <= parts; ++part) {
      loop_.run_until(std::max(loop_.now(), Instant{} + plan_.scenario.duration * part / parts));
      require_buffers();
      if (progress) progress(static_cast<double>(part) / parts);
    }
    return result(end);
  }

 private:
  void add_feedback(Duration period) {
    const Scenario& scenario = plan_.scenario;
    feedback_.emplace(loop_,
                      FeedbackWire::Config{period, scenario.reports.delay.value_or(scenario.proxy_nodeb.delay),
                                           scenario.reports.loss, network_->nodebs()},
                      plan_.seed, *proxy_, network_->meter());
    for (std::uint32_t i = 0; i < network_->nodebs(); ++i) {
      const ReporterConfig config = network_->reporter_config(scenario, i, period, FeedbackWire::sender_of(i));
      reporters_.push_back(std::make_unique<Reporter>(loop_, network_->cell(i), config, feedback_->sink(i)));
      feedback_->set_reporter(i, *reporters_.back());
      network_->meter().add_reporter(*reporters_.back());
    }
  }

  /// Throws BuffersExhausted if any packet could not be sent or stored for lack of a buffer. The results would not show
  /// such a lack.
  void require_buffers() const {
    try {
      buffers_.require_enough();
      if (proxy_) buffers_.require_enough_for(sparing(proxy_->shard().counters()));
    } catch (const BuffersExhausted& problem) {
      throw BuffersExhausted("mode " + plan_.mode_name + ", seed " + std::to_string(plan_.seed) + ": before " +
                             std::to_string(to_seconds(loop_.now() - Instant{})) + " s " + problem.what());
    }
  }

  /// Returns the number of retransmission timeouts of the TCP senders towards the UEs: the proxy if it splits
  /// connections, else the servers.
  [[nodiscard]] std::uint64_t timeouts() const {
    if (proxy_ && proxy_->shard().counters()[proxy::Counter::flows_split] > 0) {
      return proxy_->shard().counters()[proxy::Counter::timeouts_radio];
    }
    std::uint64_t sum = 0;
    for (const auto& host : servers_->hosts()) sum += host->timeouts();
    return sum;
  }

  RunResult result(Instant now) {
    RunResult result = network_->meter().result(now);
    ues_->end_run(now);
    servers_->end_run(now);
    result.windows = windows_->rows();
    const FlowLog& log = ues_->log();
    if (plan_.scenario.output.flows) {
      result.flows = flow_rows(log, servers_->counters(), Instant{});
      for (std::size_t i = 0; i < log.flows.size(); ++i)
        result.flows[i].measured_bps = measured_bps(log.flows[i], result);
    }
    const Instant measured_from = Instant{} + plan_.scenario.warmup;
    const std::vector<UeSpec>& ues = plan_.scenario.cell.ues;
    add_flow_figures(result, log, measured_from);
    add_fetch_figures(result, log, measured_from, ues.empty() ? nullptr : &ues.front().address);
    add_user_figures(result, log, servers_->game_log());
    network_->count(result.counters);
    if (ues_->has_second_hops()) result.counters["second_hop_drops"] = ues_->second_hop_drops();
    add_access_point_figures(result);
    result.counters["timeouts"] = timeouts();
    if (watch_->any()) {
      result.counters["handover_retransmissions"] = watch_->result().retransmissions;
      result.counters["handover_timeouts"] = watch_->result().timeouts;
    }
    result.fetches = log.fetches;
    if (log.fetches > 0) {
      result.fetch_p50_ms = to_milliseconds(log.fetch_times.percentile(0.50));
      result.fetch_p95_ms = to_milliseconds(log.fetch_times.percentile(0.95));
    }
    result.counters["payload_corrupted"] = log.corrupted + servers_->counters().corrupted;
    result.counters["connections_failed"] = log.failures;
    if (feedback_) {
      result.counters["feedback_lost"] = feedback_->datagrams_lost();
      result.counters["feedback_refused"] = 0;  // records are not encoded, so none is refused
    }
    if (proxy_) {
      result.counters["proxy_copies_failed"] = proxy_->copies_failed();
      const proxy::Counters& counters = proxy_->shard().counters();
      result.counters["proxy_timeouts"] = counters[proxy::Counter::timeouts_radio];
      result.counters["proxy_fast_recoveries"] = counters[proxy::Counter::fast_recoveries_radio];
      result.counters["reports_elsewhere"] = counters[proxy::Counter::reports_elsewhere];
      result.counters["reporters_changed"] = counters[proxy::Counter::reporters_changed];
    }
    return result;
  }

  const RunPlan& plan_;
  const RunPool& buffers_;
  proxy::ShardConfig shard_config_;
  EventLoop loop_;
  DeferredElement to_servers_;
  DeferredElement to_ues_;
  std::optional<ProxyNode> proxy_;
  std::optional<Network> network_;
  std::optional<BuiltInServers> servers_;
  std::optional<BuiltInUes> ues_;
  std::optional<FeedbackWire> feedback_;
  std::optional<HandoverWatch> watch_;
  std::optional<WindowWatch> windows_;
  std::vector<std::unique_ptr<Reporter>> reporters_;  ///< reporters by Node-B
};

}  // namespace

RunResult run_virtual(const RunPlan& plan, const std::string& name, RunPool& pool, TraceLibrary& traces,
                      const Progress& progress) {
  prepare_profiles(plan, pool, traces);
  VirtualRun run(plan, pool, traces);
  RunResult result = run.run(progress);
  result.key = {name, "virtual", plan.mode_name, plan.seed, plan.swept};
  result.paper = plan.paper;
  add_queue_figures(result, plan.scenario);
  add_window_figures(result, plan.scenario);
  add_timeout_figures(result, plan.scenario);
  const ChannelSpec& link = plan.scenario.cell.ues.front().channel;
  const bool profiled = link.type == ChannelType::profile;
  const auto profile = profiled ? traces.profile(link.profile, plan.seed) : nullptr;
  add_model_figures(result, plan.scenario, profile.get());
  return result;
}

}  // namespace sluice::emulator
