// Starts and runs the proxy: DPDK, ports, shards, feedback, admin socket and HTTP. main.cpp creates the object and
// calls run(), whose thread is the control thread. Invariant: the control thread never blocks a poll thread; commands,
// policies and snapshots cross through ShardChannel.
#include "proxy/daemon/runtime/runtime.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/packet/huge_pages.hpp"
#include "proxy/daemon/service/confinement.hpp"
#include "proxy/daemon/status/counter_texts.hpp"
#include "proxy/daemon/status/explain.hpp"
#include "proxy/daemon/status/version.hpp"
#include "proxy/daemon/threads/capturing.hpp"
#include "proxy/ops/admin/proxy_commands.hpp"
#include "proxy/ops/capture/last_frames.hpp"

namespace sluice::proxy {
namespace {

constexpr auto counter_watch_period = std::chrono::seconds(1);
/// Delay of the stop after the command `stop`, so that the answer reaches the client.
constexpr auto stop_delay = std::chrono::milliseconds(50);

constexpr const char* name_of(Side side) {
  return side == Side::radio ? "radio" : "core";
}

spdlog::level::level_enum level_of_dpdk(unsigned level) {
  if (level <= 4) return spdlog::level::err;
  if (level <= 5) return spdlog::level::warn;
  return level <= 7 ? spdlog::level::info : spdlog::level::debug;
}

}  // namespace

Runtime::Runtime(Config config, Logging& log, std::string file)
    : config_(std::move(config)),
      log_(log),
      signals_(context_, SIGTERM, SIGINT, SIGHUP),
      run_record_(open_run_record()),
      watchdog_(start_watchdog()),
      eal_(eal_config()),
      pool_("packets", config_.pool.buffers, buffer_room_for(config_)),
      ports_{open_port(Side::radio), open_port(Side::core)},
      steering_({ports_[0].get(), ports_[1].get()}, config_.shards.count),
      shard_watch_(config_.shards.count),
      reloader_(context_, config_, std::move(file), [this](const Policies& policies) { activate(policies); }),
      service_(context_, ServiceManager::from_environment(),
               {[this] { return healthy(); }, [this] { return summary(); }}),
      watch_(config_.logging.warning_period),
      watch_timer_(context_),
      statistics_timer_(context_),
      stop_timer_(context_) {
  config_.shard.limits.pool_sharers = config_.shards.count;
  // No frame has been received yet, so the buffers in use are the ports'.
  config_.shard.limits.port_buffers = pool_.in_use();
  for (unsigned i = 0; i < config_.shards.count; ++i) channels_.push_back(std::make_unique<ShardChannel>());
  prepare_to_fail_open();
  start_feedback();
  std::vector<ShardChannel*> channels;
  for (const auto& channel : channels_) channels.push_back(channel.get());
  if (config_.ipfix) ipfix_.emplace(context_, *config_.ipfix, channels);
  status_source_.emplace(StatusSource::Parts{&config_,
                                             std::move(channels),
                                             {ports_[0].get(), ports_[1].get()},
                                             &steering_,
                                             &pool_,
                                             feedback_.get(),
                                             &shard_watch_,
                                             {&links_[0], &links_[1]},
                                             fail_open_monitor_ ? &fail_open_monitor_->bridge() : nullptr,
                                             dpdk::now(),
                                             [this](std::vector<NamedCounter>& out) { add_program_counters(out); },
                                             last_run()});
  details_.emplace(context_, *status_source_);
  const auto wake = [this] {
    for (const auto& shard : shards_) shard->wake();
  };
  commands_.emplace(context_, *status_source_, wake);
  captures_.emplace(capture_program("sluice " + std::string(version),
                                    {config_.ports.radio.device, config_.ports.core.device}, channels_, wake));
  traces_.emplace(trace_program("sluice " + std::string(version), channels_, wake));
  stop_.emplace(context_, *commands_, *status_source_, config_.stop.drain, [this] { context_.stop(); });
  if (!config_.eal.hugepages && !packet::grants_huge_pages()) {
    spdlog::info(
        "the kernel grants no transparent huge pages (/sys/kernel/mm/transparent_hugepage/enabled), so packet memory "
        "has pages of 4 KiB");
  }
  start_admin();
  start_web();
  open_state();
  capture::open_last_frames(config_, "sluice " + std::string(version), captures_->time_source(), last_frames_);
  if (last_frames_) captures_->record(last_frames_->rings());
  take_over();
  start_shards();
}

Runtime::~Runtime() {
  for (const auto& shard : shards_) shard->stop();
}

dpdk::EalConfig Runtime::eal_config() const {
  dpdk::EalConfig eal;
  eal.hugepages = config_.eal.hugepages;
  eal.pci = config_.eal.pci;
  eal.shared_memory =
      dpdk::peer_maps_memory(config_.ports.radio.device) || dpdk::peer_maps_memory(config_.ports.core.device);
  eal.arguments = config_.eal.arguments;
  const Bytes memory = config_.eal.memory.value_or(memory_for(config_));
  eal.memory_mib = static_cast<std::uint32_t>(memory.count() >> 20U);
  eal.log = [](unsigned level, std::string_view line) {
    // The memif driver logs this message whenever DPDK runs without shared configuration; it is harmless.
    if (line.find("Failed to register mp action callback") != std::string_view::npos) level = 8;
    spdlog::log(level_of_dpdk(level), "dpdk: {}", line);
  };
  eal.log_level = config_.logging.level <= LogLevel::debug ? 7 : 5;
  return eal;
}

std::unique_ptr<dpdk::Port> Runtime::open_port(Side side) {
  const PortSettings& settings = side == Side::radio ? config_.ports.radio : config_.ports.core;
  dpdk::PortConfig port;
  port.device = settings.device;
  port.facing = static_cast<dpdk::Facing>(side);
  port.queues = config_.shards.count;
  port.mtu = settings.mtu;
  port.promiscuous = settings.promiscuous;
  port.fix_offloads = settings.fix_offloads;
  port.standby = config_.fail_open == FailOpen::bridge;
  port.receive_descriptors = settings.receive_descriptors;
  port.transmit_descriptors = settings.transmit_descriptors;
  try {
    auto opened = std::make_unique<dpdk::Port>(port, pool_);
    // A physical device never delivers unfinished checksums, whatever the configuration states.
    if (dpdk::served_interface(port.device) && !opened->partial_checksums())
      config_.shard.accept_partial_checksums.at(static_cast<std::size_t>(side)) = false;
    spdlog::info("port {}: {} with {} receive and {} transmit queue(s), MTU {}, unfinished checksums {}", name_of(side),
                 opened->name(), opened->receive_queues(), opened->transmit_queues(), settings.mtu,
                 config_.shard.accepts_partial_checksums(side) ? "accepted" : "refused");
    if (!opened->warning().empty()) spdlog::warn("port {}: {}", name_of(side), opened->warning());
    return opened;
  } catch (const std::exception& problem) {
    throw std::runtime_error(std::string("ports.") + name_of(side) + ": " + problem.what());
  }
}

std::unique_ptr<RunRecord> Runtime::open_run_record() const {
  if (!config_.state.file) return nullptr;
  std::unique_ptr<RunRecord> record;
  try {
    record = std::make_unique<RunRecord>(*config_.state.file + ".run", RunRecord::service_environment());
  } catch (const std::runtime_error& problem) {
    spdlog::warn("{}; how the last run ended is unknown, and this one records nothing", problem.what());
    return nullptr;
  }
  const std::optional<LastRun>& last = record->last();
  if (last) spdlog::log(last->orderly ? spdlog::level::info : spdlog::level::warn, "the last run: {}", last->text);
  return record;
}

admin::Json Runtime::last_run() const {
  if (!run_record_ || !run_record_->last()) return nullptr;
  return {{"ended", run_record_->last()->ended}, {"text", run_record_->last()->text}};
}

std::unique_ptr<WatchdogProcess> Runtime::start_watchdog() const {
  if (config_.fail_open == FailOpen::none) return nullptr;
  return std::make_unique<WatchdogProcess>(
      std::size_t{1} + config_.shards.count, [this](ProgressWatch::Verdict verdict) {
        const bool hangs = verdict.state == ProgressWatch::State::hangs;
        if (run_record_) run_record_->killed_by_watchdog(hangs ? EndReason::hang : EndReason::stopped, verdict.thread);
      });
}

void Runtime::prepare_to_fail_open() {
  if (config_.fail_open == FailOpen::none) return;
  const auto interface = [](const PortSettings& port) {
    return dpdk::device_argument(port.device, "iface").value_or("");
  };
  fail_open_monitor_.emplace(
      context_, FailOpenBridge::Interfaces{interface(config_.ports.radio), interface(config_.ports.core)}, *watchdog_);
}

void Runtime::take_over() {
  if (!fail_open_monitor_) return;
  fail_open_monitor_->take_over();
  for (const auto& port : ports_) port->drop_received();
}

void Runtime::open_state() {
  if (!config_.state.file) return;
  try {
    state_.emplace(*config_.state.file,
                   StateIdentity{config_.ports.radio.device + "\n" + config_.ports.core.device, config_.shards.count,
                                 config_.shard.limits.max_flows, config_.state.keep,
                                 [this](const IpAddress& ue) { return steering_.owner(ue); }},
                   dpdk::now());
  } catch (const std::runtime_error& problem) {
    spdlog::warn("{}; after a crash of this run, the next one cannot reset its connections", problem.what());
    return;
  }
  const StateFile::Left& left = state_->left();
  if (!left.ignored.empty()) spdlog::info("state.file {}: {}", *config_.state.file, left.ignored);
  if (left.crashed_connections.empty() && left.recovered.empty()) return;
  spdlog::warn(
      "an earlier run left split connections: {} lost bytes and are reset, {} continue between their hosts and are "
      "split again when idle",
      left.crashed_connections.size(), left.recovered.size());
}

void Runtime::start_shards() {
  ShardConfig each = config_.shard;
  each.ports = carried_ = {ports_.at(0)->limit(), ports_.at(1)->limit()};
  for (unsigned i = 0; i < config_.shards.count; ++i) {
    channels_.at(i)->ports.store(carried_, std::memory_order_relaxed);
    ShardThreadConfig thread;
    thread.index = i;
    if (!config_.shards.cpus.empty()) thread.cpu = config_.shards.cpus.at(i);
    thread.poll = config_.shards.poll;
    thread.priority = config_.shards.priority;
    thread.longest_sleep = config_.shards.longest_sleep;
    thread.burst = config_.shards.burst;
    if (config_.feedback) thread.status_period = config_.feedback->status_period;
    if (watchdog_) thread.progress = &watchdog_->progress(std::size_t{1} + i);
    shards_.push_back(std::make_unique<ShardThread>(
        thread, each, pool_, steering_.shard(i), *channels_.at(i),
        [this](const std::string& why) {
          boost::asio::post(context_, [this, why] {
            failed_ = true;
            spdlog::critical("{}", why);
            service_.stopping(Duration::zero());
            stop_->begin_immediate("a shard failed");
          });
        },
        state_ ? FlowJournal(state_->entries_of(i)) : FlowJournal()));
    if (!state_) continue;
    const StateFile::Inherited inherited = state_->inherited_by(i);
    shards_.back()->adopt_recovered(inherited.recovered, {state_->left().alive, dpdk::now()});
    shards_.back()->inherit(inherited.crashed_connections, inherited.entries, config_.state.keep);
  }
  for (const auto& shard : shards_) shard->start();
}

void Runtime::start_feedback() {
  if (!config_.feedback) return;
  std::vector<ShardChannel*> channels;
  for (const auto& channel : channels_) channels.push_back(channel.get());
  feedback_ = std::make_unique<FeedbackLink>(
      context_, *config_.feedback,
      FeedbackLink::Shards{std::move(channels), [this](const IpAddress& ue) { return steering_.owner(ue); },
                           [this](unsigned shard) { shards_.at(shard)->wake(); }});
  spdlog::info("feedback: listening on {} port {}", feedback_->local().address().to_string(),
               feedback_->local().port());
}

void Runtime::start_admin() {
  if (config_.admin.socket.empty()) return;
  const admin::SocketPlace place{config_.admin.socket, config_.admin.group};
  admin_ = std::make_unique<admin::Server>(context_, place, commands(), admin::ServerLimits{}, Logging::warn);
  spdlog::info("admin: listening on {}", config_.admin.socket);
}

void Runtime::start_web() {
  if (!config_.metrics.listen) return;
  const auto processor_times = [this] {
    std::vector<std::optional<Duration>> times;
    for (const auto& shard : shards_) times.push_back(shard->processor_time());
    return times;
  };
  web_.emplace(context_, config_, WebServer::Program{*status_source_, *details_, reloader_, processor_times, [this] {
                                                       return healthy();
                                                     }});
}

namespace {

/// Returns the maximum number of entries that a command to list flows or bearers requests. Returns nothing if `words`
/// contains an invalid number.
std::optional<std::size_t> limit_of(const std::vector<std::string>& words) {
  if (words.empty()) return 50;
  return words.size() > 1 ? std::nullopt : admin::parse_count(words[0], 1, max_details);
}

admin::Answer wrong_limit() {
  return admin::Answer::failure("the limit is a whole number, 1 to " + std::to_string(max_details));
}

}  // namespace

void Runtime::list_flows(std::vector<std::string> words, const admin::Reply& reply) {
  const bool passing = std::erase(words, "--passing") > 0;
  const auto limit = limit_of(words);
  if (!limit) return reply(wrong_limit());
  if (!passing) return details_->flows(static_cast<std::uint16_t>(*limit), reply);
  status_source_->refresh();
  reply(admin::Answer::success(status_source_->passing(*limit)));
}

admin::CommandTable Runtime::commands() {
  using admin::Answer;
  using Words = std::vector<std::string>;
  const auto now = [this](auto answer) {
    return [this, answer](const Words&, const admin::Reply& reply) {
      status_source_->refresh();
      reply(Answer::success(answer(*status_source_)));
    };
  };
  const auto listed = [this](auto request) {
    return [this, request](const Words& words, const admin::Reply& reply) {
      const auto limit = limit_of(words);
      if (!limit) return reply(wrong_limit());
      request(*details_, static_cast<std::uint16_t>(*limit), reply);
    };
  };
  std::vector<admin::Command> all = admin::proxy_commands({
      {"status", now([this](StatusSource& o) {
         admin::Json status = o.status();
         status["captures"] = captures_->running();
         status["traces"] = traces_->running() ? 1 : 0;
         return status;
       })},
      {"counters", [this](const Words& words, const admin::Reply& reply) {
         status_source_->refresh();
         reply(words.empty() ? Answer::success(status_source_->counters_by_name()) : status_source_->counter(words[0]));
       }},
      {"explain", [this](const Words& words, const admin::Reply& reply) {
         if (words.empty()) return reply(Answer::failure("name a word, such as a counter or a reason"));
         reply(explain(explanations(), words[0]));
       }},
      {"bearers", listed([](DetailCollector& d, std::uint16_t limit, const admin::Reply& reply) { d.bearers(limit, reply); })},
      {"flows", [this](const Words& words, const admin::Reply& reply) { list_flows(words, reply); }},
      {"traffic", now([](StatusSource& o) { return o.traffic(); })},
      {"exposure", now([](StatusSource& o) { return o.exposure(); })},
      {"release", [this](const Words& words, const admin::Reply& reply) { release(words, reply); }},
      {"split-again", [this](const Words& words, const admin::Reply& reply) { split_again(words, reply); }},
      {"drain", [this](const Words& words, const admin::Reply& reply) { drain(words, reply); }},
      {"ports", now([](StatusSource& o) { return o.ports(); })},
      {"capture", [this](const Words& words, const admin::Reply& reply) { reply(captures_->begin(words)); }},
      {"trace", [this](const Words& words, const admin::Reply& reply) { reply(traces_->begin(words)); }},
      {"shards", now([](StatusSource& o) { return o.shards(); })},
      {"config", now([this](StatusSource&) { return admin::Json(print_config(config_)); })},
      {"mode", [this](const Words& words, const admin::Reply& reply) { reply(reloader_.mode(words)); }},
      {"modes", [this](const Words&, const admin::Reply& reply) { reply(Answer::success(to_json(reloader_.modes()))); }},
      {"reload", [this](const Words& words, const admin::Reply& reply) { reply(reload(words)); }},
      {"confirm", [this](const Words&, const admin::Reply& reply) { reply(reloader_.confirm()); }},
      {"revert", [this](const Words&, const admin::Reply& reply) { reply(reloader_.revert()); }},
      {"log-level", [this](const Words& words, const admin::Reply& reply) { reply(log_level(words)); }},
      {"groups", now([](StatusSource& o) { return o.groups(); })},
      {"version", now([](StatusSource&) { return admin::Json(std::string(version)); })},
      {"stop", [this](const Words&, const admin::Reply& reply) {
         reply(Answer::success("stopping"));
         stop_timer_.expires_after(stop_delay);
         stop_timer_.async_wait([this](const boost::system::error_code& error) {
           if (!error) stop(EndReason::command, "requested through the admin socket");
         });
       }},
  });
  for (admin::Command& command : all) {
    command.run = [name = command.name, run = std::move(command.run)](const Words& words, admin::Reply reply) {
      spdlog::debug("admin: {}{}{}", name, words.empty() ? "" : " ", fmt::join(words, " "));
      run(words, std::move(reply));
    };
  }
  return admin::CommandTable(std::move(all));
}

namespace {

/// Parses which UEs a command names: an address, or `all`, for which the inner value is empty. Returns nothing for
/// other words.
std::optional<std::optional<IpAddress>> named_ue(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  std::optional<std::optional<IpAddress>> named(std::in_place);
  if (words[0] == "all") return named;
  *named = IpAddress::parse(words[0]);
  if (!named->has_value()) named.reset();
  return named;
}

const char* const name_a_ue = "usage: the address of a UE, or all";

}  // namespace

void Runtime::release(const std::vector<std::string>& words, const admin::Reply& reply) {
  const auto ue = named_ue(words);
  if (!ue) return reply(admin::Answer::failure(name_a_ue));
  spdlog::info("handing the connections of {} back to plain forwarding", words[0]);
  commands_->release(*ue, reply);
}

void Runtime::split_again(const std::vector<std::string>& words, const admin::Reply& reply) {
  const auto ue = named_ue(words);
  if (!ue) return reply(admin::Answer::failure(name_a_ue));
  spdlog::info("connections of {} that were handed back are split again", words[0]);
  commands_->split_again(*ue, reply);
}

void Runtime::drain(const std::vector<std::string>& words, const admin::Reply& reply) {
  const std::string word = words.empty() ? "on" : words[0];
  if (word == "status") return commands_->look(reply);
  if (word != "on" && word != "off") return reply(admin::Answer::failure("usage: drain, drain off or drain status"));
  spdlog::info("{}", word == "on" ? "draining: no further connection is split, and split ones are handed back"
                                  : "drain ended: new connections are split");
  commands_->drain(word == "on", reply);
}

admin::Answer Runtime::log_level(const std::vector<std::string>& words) {
  if (!words.empty()) {
    const std::optional<LogLevel> level = parse_log_level(words[0]);
    if (!level) {
      return admin::Answer::failure("unknown log level '" + words[0].substr(0, 40) +
                                    "', expected trace, debug, info, warning, error, critical or off");
    }
    spdlog::info("log level: {}, until the configuration is read again", words[0]);
    log_.set_level(*level);
  }
  return admin::Answer::success({{"level", to_string(log_.level())}, {"configured", to_string(config_.logging.level)}});
}

bool Runtime::run() {
  if (config_.confine.seccomp) {
    confine();
    spdlog::info("confined to {} system calls", allowed_system_calls.size());
  }
  await_signal();
  watch_counters();
  if (fail_open_monitor_) fail_open_monitor_->show_progress();
  service_.start();
  if (config_.logging.statistics_period > Duration::zero()) log_statistics();
  spdlog::info("sluice {}: mode {}, {} shard(s), running", version, to_string(config_.shard.mode),
               config_.shards.count);
  context_.run();
  for (const auto& shard : shards_) shard->stop();
  if (ipfix_) ipfix_->export_now();
  if (fail_open_monitor_) fail_open_monitor_->give_back();
  const bool leaves_none = stop_->complete() && !stop_->resets_connections();
  if (state_ && !failed_ && leaves_none && !state_->has_unconfirmed()) state_->remove();
  if (last_frames_ && !failed_) last_frames_->remove();
  status_source_->refresh();
  if (run_record_) run_record_->end(failed_ ? EndReason::failed : end_reason_);
  spdlog::info("stopped; {}", status_source_->statistics_line());
  return !failed_;
}

void Runtime::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (!error) handle_signal(number);
  });
}

void Runtime::handle_signal(int number) {
  await_signal();
  if (number == SIGTERM) return stop(EndReason::sigterm, "SIGTERM");
  if (number == SIGINT) return stop(EndReason::sigint, "SIGINT");
  const std::string problem = log_.reopen();
  if (!problem.empty()) spdlog::error("the log file cannot be opened again: {}", problem);
  spdlog::info("SIGHUP: log opened again");
  reload_by_signal();
}

void Runtime::stop(EndReason ending, const std::string& why) {
  end_reason_ = ending;
  service_.stopping(StopSequence::most(config_.stop.drain));
  stop_->begin(why);
}

admin::Answer Runtime::reload(const std::vector<std::string>& words) {
  admin::Answer answer;
  service_.reload(dpdk::now(), [&] { answer = reloader_.reload(words); });
  if (answer.ok) log_.set_level(config_.logging.level);  // sluicectl log-level may have changed it
  return answer;
}

void Runtime::reload_by_signal() {
  admin::Answer answer;
  service_.reload(dpdk::now(), [&] { answer = reloader_.reload_by_signal(); });
  if (answer.ok) log_.set_level(config_.logging.level);  // sluicectl log-level may have changed it
  if (answer.ok)
    return spdlog::info("SIGHUP: {}",
                        answer.value.is_string() ? answer.value.get<std::string>() : "configuration read again");
  spdlog::error("SIGHUP: the configuration stays as it was: {}", answer.value.get<std::string>());
}

bool Runtime::healthy() {
  status_source_->refresh();
  for (std::size_t shard = 0; shard < channels_.size(); ++shard) {
    if (channels_[shard]->snapshots.front().at == Instant{}) return false;
    if (shard_watch_.stalled_for(shard, dpdk::now()) > Duration::zero()) return false;
  }
  return true;
}

std::string Runtime::summary() {
  return fmt::format("mode {}, {} connection(s) of {} UE(s){}", to_string(config_.shard.mode),
                     status_source_->flow_count(), status_source_->bearer_count(),
                     healthy() ? "" : ", a shard is stalled");
}

void Runtime::activate(const Policies& policies) {
  if (std::exchange(configured_level_, config_.logging.level) != config_.logging.level)
    log_.set_level(config_.logging.level);
  policies_.push_back(std::make_unique<const Policies>(policies));
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    channels_[i]->policies.store(policies_.back().get(), std::memory_order_release);
    shards_.at(i)->wake();
  }
}

void Runtime::watch_counters() {
  status_source_->refresh();
  if (state_) state_->keep_alive(dpdk::now());
  watch_files();
  if (web_) web_->record_history();
  for (const std::string& warning : watch_.look(status_source_->counters(), dpdk::now())) spdlog::warn("{}", warning);
  watch_shards();
  watch_reports();
  watch_links();
  if (fail_open_monitor_) fail_open_monitor_->maintain();
  captures_->free_unused();
  traces_->free_unused();
  watch_timer_.expires_after(counter_watch_period);
  watch_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) watch_counters();
  });
}

void Runtime::watch_files() {
  if (state_ && !state_lost_ && state_->is_lost()) {
    state_lost_ = true;
    spdlog::error(
        "state.file {} was truncated by another program, or its file system failed; nothing more is written to it. "
        "After a crash of this run, the next one cannot reset its connections; a restart creates the file again",
        *config_.state.file);
  }
  if (last_frames_ && !frames_lost_ && last_frames_->is_lost()) {
    frames_lost_ = true;
    spdlog::error(
        "last_frames.file {} was truncated by another program, or its file system failed; nothing more is written to "
        "it; a restart creates the file again",
        *config_.last_frames.file);
  }
}

void Runtime::add_program_counters(std::vector<NamedCounter>& out) const {
  if (admin_) out.push_back(counter_of("admin.clients_displaced", admin_->displaced()));
  out.push_back(counter_of("log.lines_lost", log_.lost()));
  out.push_back(counter_of("files.lost", std::uint64_t{state_lost_} + std::uint64_t{frames_lost_}));
  if (ipfix_) ipfix_->add_counters(out);
}

void Runtime::watch_shards() {
  std::vector<Instant> published;
  for (const auto& channel : channels_) published.push_back(channel->snapshots.front().at);
  const std::vector<ShardWatch::Event> events = shard_watch_.look(published, dpdk::now());
  for (const ShardWatch::Event& event : events) {
    if (event.is_stalled) {
      spdlog::error("shard {} is stalled for {:.1f} s: its processor is occupied, or a call does not return",
                    event.shard, to_seconds(event.length));
    } else {
      spdlog::warn("shard {} runs again; it was stalled for {:.1f} s", event.shard, to_seconds(event.length));
    }
  }
  if (run_record_ && !events.empty()) run_record_->note_stall(stalled_shard());
}

std::optional<std::uint32_t> Runtime::stalled_shard() const {
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    if (shard_watch_.stalled_for(i, dpdk::now()) > Duration::zero()) return i;
  }
  return std::nullopt;
}

void Runtime::watch_reports() {
  if (!feedback_) return;
  const Config& config = *status_source_->parts().config;
  const bool needed = config.shard.needs_reports() || config.policies_need_reports();
  switch (report_watch_.look(needed, feedback_->accepted(), dpdk::now())) {
    case ReportWatch::Event::none:
      return;
    case ReportWatch::Event::silent:
      return spdlog::warn("mode {} needs reports, but no Node-B has sent any for {:.1f} s: {}",
                          to_string(config.shard.mode), to_seconds(report_watch_.silence()),
                          wiring(*config.feedback, *feedback_));
    case ReportWatch::Event::received_again:
      return spdlog::info("reports of a Node-B arrive again after {:.1f} s", to_seconds(report_watch_.silence()));
  }
}

void Runtime::watch_links() {
  watch_link(Side::radio);
  watch_link(Side::core);
}

void Runtime::watch_link(Side side) {
  const auto at = static_cast<std::size_t>(side);
  dpdk::Port& port = *ports_.at(at);
  dpdk::Link link = port.link();
  if (link != dpdk::Link::absent && port.interface_replaced()) {
    const std::string before = std::exchange(link_problems_.at(at), std::string());
    try {
      port.rebind_interface();
      spdlog::info("port {}: the interface was recreated and is bound again", name_of(side));
    } catch (const std::runtime_error& problem) {
      link = dpdk::Link::absent;
      link_problems_.at(at) = problem.what();
      if (before != problem.what()) spdlog::error("port {}: {}", name_of(side), problem.what());
    }
  }
  if (link != dpdk::Link::absent) follow_mtu(side);
  const auto change = links_.at(at).look(link, dpdk::now());
  if (!change) return;
  if (link == dpdk::Link::up) {
    spdlog::info("port {}: the link is up again; it was {} for {:.1f} s", name_of(side), to_string(change->before),
                 to_seconds(change->lasted));
  } else if (link == dpdk::Link::down) {
    spdlog::warn("port {}: the link is down", name_of(side));
  } else {
    spdlog::error("port {}: the interface is gone", name_of(side));
  }
}

/// Passes a changed MTU of the port on `side` to the shards, so that the segments they send fit the new MTU.
void Runtime::follow_mtu(Side side) {
  packet::LinkLimit& known = carried_.at(static_cast<std::size_t>(side));
  const packet::LinkLimit limit = ports_.at(static_cast<std::size_t>(side))->limit();
  if (limit == known) return;
  spdlog::warn("port {}: the MTU is {} bytes now instead of {}", name_of(side), limit.mtu, known.mtu);
  known = limit;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    channels_[i]->ports.store(carried_, std::memory_order_relaxed);
    shards_.at(i)->wake();
  }
}

void Runtime::log_statistics() {
  statistics_timer_.expires_after(
      std::chrono::duration_cast<boost::asio::steady_timer::duration>(config_.logging.statistics_period));
  statistics_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    status_source_->refresh();
    spdlog::info("{}", status_source_->statistics_line());
    service_.changed();
    log_statistics();
  });
}

}  // namespace sluice::proxy
