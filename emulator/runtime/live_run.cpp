// The Node-B in real time: builds the network of a scenario between DPDK ports or built-in hosts, and runs its event
// loop by the clock.
// `nodeb live` creates one LiveRun and reads its status from other threads. Invariant: only the poll thread uses the
// network, the ports and the reporters while the run lasts.

#include "emulator/runtime/live_run.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "emulator/runtime/figures.hpp"
#include "emulator/runtime/user_figures.hpp"
#include "emulator/scenario/live_mode.hpp"

namespace sluice::emulator {
namespace {

constexpr Duration publication_period = std::chrono::milliseconds(100);
constexpr std::uint32_t burst = 64;  ///< largest number of packet buffers that one poll of the ports takes

}  // namespace

LiveRun::LiveRun(const Scenario& scenario, RunMode mode, packet::PacketPool& pool, TraceLibrary& traces)
    : scenario_(scenario), mode_(mode), pool_(pool), policy_(scenario.live.poll) {
  check_topology();
  build(traces);
  for (const auto& device : devices_) policy_.watch(device->readiness_descriptor(0));
  if (const auto period = report_period(scenario, mode)) add_feedback(*period);
}

LiveRun::~LiveRun() {
  stop();
}

void LiveRun::check_topology() const {
  if (const auto problem = live_problem(scenario_, mode_)) {
    throw std::runtime_error(problem->key + ": expected " + problem->expected + ", got " + problem->got);
  }
}

Element& LiveRun::open_port(const std::string& name, const std::string& device, dpdk::Facing facing,
                            DeferredElement& inwards) {
  dpdk::PortConfig config;
  config.device = device;
  config.facing = facing;
  config.mtu = scenario_.live.mtu;
  config.fix_offloads = scenario_.live.fix_offloads;
  try {
    devices_.push_back(std::make_unique<dpdk::Port>(config, pool_));
  } catch (const std::exception& problem) {
    throw std::runtime_error("live." + name + ": " + problem.what());
  }
  if (!devices_.back()->warning().empty()) spdlog::warn("live.{}: {}", name, devices_.back()->warning());
  ports_.push_back(std::make_unique<LivePort>(*devices_.back(), inwards));
  return *ports_.back();
}

void LiveRun::build(TraceLibrary& traces) {
  const LiveSpec& live = scenario_.live;
  const bool proxied = mode_ != RunMode::none;
  // Without a hop to the proxy's core port the servers are not reached through this program.
  const bool servers_here = !proxied || !live.hop_proxy.empty();
  NetworkEnds ends{&to_servers_, nullptr, nullptr, &to_ues_};
  if (proxied) {
    ends.proxy_radio = &open_port("cell_core", live.cell_core, dpdk::Facing::core, from_proxy_radio_);
    ends.proxy_core = servers_here ? &open_port("hop_proxy", live.hop_proxy, dpdk::Facing::radio, from_proxy_core_)
                                   : static_cast<Element*>(&discard_);
  }
  network_.emplace(loop_, pool_, scenario_, scenario_.seed, traces, ends);
  from_proxy_radio_.set_next(network_->from_proxy_radio());
  from_proxy_core_.set_next(network_->from_proxy_core());
  from_servers_.set_next(network_->from_servers());
  from_ues_.set_next(network_->from_ues());

  if (!live.cell_ue.empty()) {
    to_ues_.set_next(open_port("cell_ue", live.cell_ue, dpdk::Facing::radio, from_ues_));
  } else {
    ues_.emplace(loop_, pool_, scenario_, scenario_.seed, network_->from_ues());
    to_ues_.set_next(ues_->entry());
  }
  if (!servers_here) {
    to_servers_.set_next(discard_);
  } else if (!live.hop_server.empty()) {
    to_servers_.set_next(open_port("hop_server", live.hop_server, dpdk::Facing::core, from_servers_));
  } else {
    servers_.emplace(loop_, pool_, scenario_, scenario_.seed, network_->from_servers());
    to_servers_.set_next(servers_->entry());
  }
}

void LiveRun::add_feedback(Duration period) {
  const LiveFeedback::Timing timing{period, scenario_.reports.delay.value_or(scenario_.proxy_nodeb.delay),
                                    scenario_.live.priority};
  for (std::uint32_t i = 0; i < network_->nodebs(); ++i) {
    const config::FeedbackConfig& config = *live_feedback_of(scenario_, i);
    Reports reports;
    reports.feedback = std::make_unique<LiveFeedback>(loop_, config, timing, network_->meter(), policy_);
    reports.reporter = std::make_unique<Reporter>(
        loop_, network_->cell(i), network_->reporter_config(scenario_, i, period, config.sender), *reports.feedback);
    network_->meter().add_reporter(*reports.reporter);
    reports_.push_back(std::move(reports));
  }
}

bool LiveRun::deliver(Instant now) {
  bool any = false;
  for (const Reports& reports : reports_) any = reports.feedback->deliver(*reports.reporter, now) || any;
  return any;
}

std::vector<std::string> LiveRun::describe() const {
  std::vector<std::string> lines;
  for (const auto& device : devices_) {
    lines.push_back("port " + device->name() +
                    (device->facing() == dpdk::Facing::radio ? " towards the UEs" : " towards the core") +
                    (device->link_up() ? ", link up" : ", link down: waiting for the other side"));
  }
  if (ues_) lines.push_back(std::to_string(scenario_.cell.ues.size()) + " built-in UEs");
  if (servers_) lines.push_back(std::to_string(scenario_.servers.size()) + " built-in servers");
  return lines;
}

void LiveRun::start() {
  thread_ = std::thread([this] { poll(); });
}

void LiveRun::stop() {
  stop_ = true;
  policy_.wake();
  if (thread_.joinable()) thread_.join();
  for (const Reports& reports : reports_) {
    reports.feedback->stop();
    if (const auto& stale = reports.feedback->stale()) spdlog::warn("statuses were refused: {}", to_string(*stale));
  }
}

void LiveRun::poll() {
  pthread_setname_np(pthread_self(), "node-b");
  const LiveSpec& live = scenario_.live;
  if (live.cpu && !dpdk::pin_to_cpu(*live.cpu)) {
    spdlog::warn("live.cpu: cannot pin the thread to processor {}; the system places the thread", *live.cpu);
  }
  if (live.priority == dpdk::ThreadPriority::real_time && !dpdk::take_real_time_priority()) {
    spdlog::warn("live.priority: real-time is not allowed (CAP_SYS_NICE or a limit of real-time priority)");
  }
  policy_.prepare_thread();
  const dpdk::ThreadRegistration registration;
  network_->meter().start(loop_.now());
  for (const Reports& reports : reports_) reports.reporter->start(loop_.now());

  const Instant origin = dpdk::now();
  const Instant end = Instant{} + scenario_.duration;
  Instant next_publication{};
  Instant now{};
  while (!stop_.load(std::memory_order_relaxed) && now < end) {
    now = std::min(end, Instant{} + (dpdk::now() - origin));  // the run ends there, even if the thread is late
    bool worked = run_due(now);
    for (const auto& port : ports_) worked = port->poll(now) > 0 || worked;
    worked = deliver(now) || worked;
    loop_.run_until(now);  // events that the packets just scheduled for now
    for (const auto& port : ports_) port->flush();
    buffers_short_ = buffers_short_ || pool_.available() < burst;
    if (now >= next_publication) {
      next_publication = now + publication_period;
      publish(now);
    }
    policy_.rest(worked, now, loop_.next());
  }
  ended_ = now;
  const std::lock_guard lock(status_mutex_);
  status_.buffers_short = buffers_short_;
  status_.finished = true;
}

bool LiveRun::run_due(Instant now) {
  const Instant due = loop_.next();
  if (due > now) return false;
  const Duration late = now - due;
  lateness_.add(late);
  ttis_missed_ += static_cast<std::uint64_t>(late / scenario_.cell.tti);
  loop_.run_until(now);
  return true;
}

void LiveRun::publish(Instant now) {
  const std::unique_lock lock(status_mutex_, std::try_to_lock);
  if (!lock) return;  // another thread reads the status; the next call publishes
  Meter& meter = network_->meter();
  status_.time_s = to_seconds(now.time_since_epoch());
  status_.point = meter.newest();
  meter.describe_ues(status_.ues, LiveStatus::max_ues, now);
  status_.ues_total = meter.ues();
  status_.drops = meter.drops_by_reason();
  status_.ttis_missed = ttis_missed_;
  status_.buffers_short = buffers_short_;
  status_.reports = 0;
  status_.statuses = 0;
  for (const Reports& reports : reports_) {
    status_.reports += reports.reporter->reports();
    status_.statuses += reports.feedback->statuses();
  }
}

LiveStatus LiveRun::status() {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

RunResult LiveRun::result() {
  stop();
  RunResult result = network_->meter().result(ended_);
  result.key.clock = "real";
  result.key.mode = to_string(mode_);
  result.key.seed = scenario_.seed;
  if (ues_) {
    ues_->end_run(ended_);
    if (servers_) servers_->end_run(ended_);
    const FlowLog& log = ues_->log();
    add_user_figures(result, log, servers_ ? servers_->game_log() : DatagramLog{});
    if (scenario_.output.flows && servers_) result.flows = flow_rows(log, servers_->counters(), Instant{});
    result.fetches = log.fetches;
    if (log.fetches > 0) {
      result.fetch_p50_ms = to_milliseconds(log.fetch_times.percentile(0.50));
      result.fetch_p95_ms = to_milliseconds(log.fetch_times.percentile(0.95));
    }
    result.counters["connections_failed"] = log.failures;
    result.counters["payload_corrupted"] = log.corrupted + (servers_ ? servers_->counters().corrupted : 0);
  }
  network_->count(result.counters);
  add_access_point_figures(result);
  result.counters["ttis"] = static_cast<std::uint64_t>(ended_.time_since_epoch() / scenario_.cell.tti);
  result.counters["ttis_missed"] = ttis_missed_;
  result.counters["lateness_p50_us"] = whole_microseconds(lateness_.percentile(0.50));
  result.counters["lateness_p99_us"] = whole_microseconds(lateness_.percentile(0.99));
  result.counters["lateness_max_us"] = whole_microseconds(lateness_.max());
  std::uint64_t port_drops = 0;
  for (const auto& device : devices_)
    port_drops += device->counters().transmit_dropped + device->counters().copy_failed;
  result.counters["port_drops"] = port_drops;
  if (!reports_.empty()) count_feedback(result.counters);
  return result;
}

void LiveRun::count_claims(const control::feedback::ClaimCounters& claims,
                           std::map<std::string, std::uint64_t>& counters) {
  counters["claims"] += claims.begun;
  counters["claims_moved"] += claims.moved;
  counters["claims_lapsed"] += claims.lapsed;
  counters["claims_refused"] += claims.refused;
}

void LiveRun::count_feedback(std::map<std::string, std::uint64_t>& counters) const {
  DelayDigest echoes;
  for (const Reports& reports : reports_) {
    const LiveFeedback& feedback = *reports.feedback;
    counters["reports"] += reports.reporter->reports();
    counters["reports_lost"] += feedback.reports_lost();
    counters["statuses"] += feedback.statuses();
    counters["feedback_refused"] += feedback.datagrams_refused();
    if (feedback.may_have_several_proxies()) count_claims(feedback.claims(), counters);
    counters["feedback_send_errors"] += feedback.socket().send_errors;
    echoes.merge(feedback.echoes());
  }
  counters["report_echo_p50_us"] = whole_microseconds(echoes.percentile(0.50));
  counters["report_echo_p99_us"] = whole_microseconds(echoes.percentile(0.99));
}

}  // namespace sluice::emulator
