// Poll thread of one shard: receives bursts, passes reports and commands from the control thread, runs timers,
// publishes snapshots and sleeps when idle. Runtime creates one per shard. Invariant: the loop takes no lock and
// never waits for the control thread; everything crosses through ShardChannel.
#include "proxy/daemon/threads/shard_thread.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/thread_priority.hpp"

namespace sluice::proxy {
namespace {

/// Interval between two snapshots. A snapshot that an operator requests is published earlier.
constexpr Duration publication_period = std::chrono::milliseconds(100);

/// Number of flows per snapshot for which the acknowledged but undelivered bytes are sampled. Sampling takes some
/// microseconds.
constexpr std::uint32_t sampled_flows = 128;

/// Number of flows, and of bearers, whose states are counted per snapshot. Counting takes at most some tens of
/// microseconds.
constexpr std::uint32_t counted_flows = 256;

/// Maximum number of Node-B reports processed in one round of the poll loop, so that packets are not delayed until all
/// waiting reports are processed.
constexpr std::size_t max_reports_at_once = 64;

/// Returns a random secret that attackers cannot guess, from the random source of the operating system. Throws
/// std::system_error.
flow::HashKey new_secret() {
  flow::HashKey secret;
  // A request this short is returned in full or fails (getrandom(2)).
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret) {
    throw std::system_error(errno, std::generic_category(), "the system provides no random numbers");
  }
  return secret;
}

/// Returns the configuration with a new secret, from which the shard computes random segment boundaries that hosts
/// cannot predict. An ACK of a number between two boundaries therefore acknowledges data that the host has not
/// received.
ShardConfig with_secret(ShardConfig shard) {
  shard.tcp.boundary_secret = new_secret().first;
  return shard;
}

}  // namespace

ShardThread::ShardThread(const ShardThreadConfig& config, const ShardConfig& shard, packet::PacketPool& pool,
                         dpdk::ShardPorts& ports, ShardChannel& channel, std::function<void(std::string)> failed,
                         FlowJournal journal)
    : config_(config),
      ports_(ports),
      channel_(channel),
      failed_(std::move(failed)),
      output_(ports),
      shard_(with_secret(shard), pool, output_, new_secret(), dpdk::now(), journal),
      policy_(config.poll, config.longest_sleep),
      carried_(shard.ports),
      reports_(max_reports_at_once),
      burst_(config.burst) {
  statuses_.reserve(shard.limits.max_bearers);
  if (channel_.records) shard_.record_connections(*channel_.records);
  ports_.watch_with(policy_);
}

ShardThread::~ShardThread() {
  stop();
}

void ShardThread::start() {
  thread_ = std::thread([this] { run(); });
}

void ShardThread::stop() {
  channel_.stop.store(true, std::memory_order_relaxed);
  wake();
  if (thread_.joinable()) thread_.join();
}

std::optional<Duration> ShardThread::processor_time() {
  clockid_t clock{};
  timespec time{};
  if (!thread_.joinable() || pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 ||
      clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void ShardThread::run() noexcept {
  try {
    prepare();
    const dpdk::ThreadRegistration registration;
    poll();
    publish(dpdk::now(), {});
  } catch (const std::exception& problem) {
    failed_("shard " + std::to_string(config_.index) + " stopped: " + problem.what());
  }
}

void ShardThread::prepare() {
  pthread_setname_np(pthread_self(), ("shard" + std::to_string(config_.index)).c_str());
  if (config_.cpu && !dpdk::pin_to_cpu(*config_.cpu)) {
    spdlog::warn("shard {}: cannot be pinned to processor {} of shards.cpus; the system places the thread",
                 config_.index, *config_.cpu);
  }
  if (config_.priority == dpdk::ThreadPriority::real_time && !dpdk::take_real_time_priority()) {
    spdlog::warn("shard {}: shards.priority: real-time is not allowed (CAP_SYS_NICE or a limit of real-time priority)",
                 config_.index);
  }
  policy_.prepare_thread();
  constexpr double modest = 0.05;
  if (policy_.idle_share() > modest) {
    spdlog::info(
        "shard {}: uses {:.0f} % of a processor when idle, because one of its ports cannot wake it and timers of this "
        "machine are slow; a longer shards.longest_sleep uses less",
        config_.index, policy_.idle_share() * 100);
  }
}

void ShardThread::poll() {
  while (!channel_.stop.load(std::memory_order_relaxed)) {
    const Instant start = dpdk::now();
    const bool due = shard_.next_deadline() <= start;
    take_policies(start);
    take_ports(start);
    output_.taps = channel_.taps.current();
    take_trace(start);
    const bool reported = take_reports(start);
    const bool commanded = process_commands(start);
    const bool from_radio = take_packets(Side::radio, start);
    // A near server may answer a SYN from the radio port within this iteration. With the time of its start, the answer
    // would show a round trip of zero, which means "unknown".
    const Instant now = from_radio ? dpdk::now() : start;
    const bool from_core = take_packets(Side::core, now);
    shard_.advance(now);
    if (config_.status_period) collect_statuses(now, reported);
    publish_when_due(now);
    const bool exchanged_packets = ports_.exchanged_packets();
    policy_.rest(due || reported || commanded || from_radio || from_core || exchanged_packets, now, next_deadline());
  }
}

Instant ShardThread::next_deadline() const {
  const Instant due = shard_.next_deadline();
  return config_.status_period ? std::min(due, next_status_) : due;
}

bool ShardThread::take_packets(Side side, Instant now) {
  const std::size_t count = ports_.receive(static_cast<dpdk::Facing>(side), burst_);
  if (count == 0) return false;
  const std::span burst = std::span(burst_).first(count);
  if (output_.taps != nullptr) [[unlikely]] {
    shard_.receive_observed(side, burst, now, *output_.taps);
    output_.taps->end_burst();
  } else {
    shard_.receive(side, burst, now);
  }
  return true;
}

void ShardThread::take_policies(Instant now) {
  const Policies* const wanted = channel_.policies.load(std::memory_order_acquire);
  if (wanted == policies_) [[likely]]
    return;
  policies_ = wanted;
  shard_.apply(*wanted, now);
}

void ShardThread::take_ports(Instant now) {
  const std::array<packet::LinkLimit, 2> carried = channel_.ports.load(std::memory_order_relaxed);
  if (carried == carried_) [[likely]]
    return;
  for (const Side side : {Side::radio, Side::core}) {
    const auto at = static_cast<std::size_t>(side);
    if (carried.at(at) != carried_.at(at)) shard_.set_port(side, carried.at(at), now);
  }
  carried_ = carried;
}

void ShardThread::take_trace(Instant now) {
  if (channel_.traces.differs(trace_)) [[unlikely]] {
    shard_.trace(nullptr);
    trace_ = channel_.traces.take();
    shard_.trace(trace_);
  }
  if (trace_ != nullptr) [[unlikely]]
    trace_->set_time(now);
}

bool ShardThread::take_reports(Instant now) {
  const std::size_t taken = channel_.reports.pop(reports_.data(), reports_.size());
  shard_.on_reports(std::span(reports_).first(taken), now);
  channel_.omissions.consume_all([&](const OmissionNotice& notice) { shard_.on_omissions({&notice, 1}, now); });
  return taken > 0;
}

bool ShardThread::process_commands(Instant now) {
  ShardCommand command;
  if (!channel_.commands.pop(command)) return false;
  switch (command.kind) {
    case ShardCommand::Kind::look:
      break;
    case ShardCommand::Kind::release_ue:
      order_found_ = shard_.release(command.ue, now);
      break;
    case ShardCommand::Kind::release_all:
      shard_.release({}, now);
      break;
    case ShardCommand::Kind::split_again_ue:
      order_found_ = shard_.split_again(command.ue);
      break;
    case ShardCommand::Kind::split_again_all:
      shard_.split_again({});
      break;
    case ShardCommand::Kind::abort_all:
      shard_.abort_all();
      break;
    case ShardCommand::Kind::drain:
    case ShardCommand::Kind::resume:
      shard_.drain(command.kind == ShardCommand::Kind::drain);
      break;
  }
  command_taken_ = command.id;
  return true;
}

void ShardThread::collect_statuses(Instant now, bool answer) {
  const bool polled = channel_.all_statuses_requested.load(std::memory_order_relaxed);
  if (!answer && !polled && now < next_status_) return;
  next_status_ = now + *config_.status_period;
  if (polled) channel_.all_statuses_requested.store(false, std::memory_order_relaxed);
  const bool all = polled || all_statuses_due_;
  statuses_.clear();
  shard_.collect_status(statuses_, all);
  const std::size_t sent = channel_.statuses.push(statuses_.data(), statuses_.size());
  all_statuses_due_ = sent < statuses_.size();
  // The queue to the control thread is full; the next round sends all statuses again.
  statuses_lost_ += statuses_.size() - sent;
}

void ShardThread::publish_when_due(Instant now) {
  const DetailRequest wanted = channel_.requested_details.load(std::memory_order_relaxed);
  const bool details_due = wanted.id != 0 && wanted.id != details_published_;
  const bool order_done = command_taken_ != command_published_ && !shard_.scan_in_progress();
  if (order_done) {
    staying_ = shard_.staying();
    command_published_ = command_taken_;
  }
  if (now >= next_sample_) {
    next_sample_ = now + publication_period;
    shard_.sample_exposure(sampled_flows);
    shard_.sample_flow_stats(counted_flows, now);
  }
  if (now >= next_publication_ || details_due || order_done) publish(now, wanted);
}

void ShardThread::publish(Instant now, const DetailRequest& wanted) {
  next_publication_ = now + publication_period;
  if (config_.progress != nullptr) config_.progress->fetch_add(1, std::memory_order_relaxed);
  details_published_ = wanted.id;
  ShardSnapshot& snapshot = channel_.snapshots.back();
  snapshot.at = now;
  snapshot.counters = shard_.counters();
  snapshot.groups = shard_.groups();
  snapshot.flow_count = shard_.flow_count();
  snapshot.bearer_count = shard_.bearer_count();
  snapshot.released_count = shard_.released_count();
  snapshot.sleeps = policy_.sleeps();
  snapshot.statuses_lost = statuses_lost_;
  snapshot.end_to_end_count = shard_.end_to_end_count();
  snapshot.flow_states = shard_.flow_state_counts();
  snapshot.times = shard_.times_taken();
  snapshot.exposure = shard_.exposure();
  snapshot.command = command_published_;
  snapshot.order_found = order_found_;
  snapshot.draining = shard_.draining();
  snapshot.staying = staying_;
  snapshot.details = wanted.id;
  snapshot.flows.clear();
  snapshot.bearers.clear();
  snapshot.passing.clear();
  shard_.describe_passing(snapshot.passing, now);
  if (wanted.flows > 0) shard_.describe_flows(snapshot.flows, wanted.flows);
  if (wanted.bearers > 0) shard_.describe_bearers(snapshot.bearers, wanted.bearers);
  channel_.snapshots.publish();
}

}  // namespace sluice::proxy
