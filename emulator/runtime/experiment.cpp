// Runs all plans of an experiment in virtual time on several threads. The commands of `nodeb` call run_experiment().
// Each thread has its own packet buffers and takes the next run that is not started. Invariant: results are stored by
// the index of the run, so they do not depend on the number of threads.

#include "emulator/runtime/experiment.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/pool_memory.hpp"
#include "emulator/report/ratios.hpp"
#include "emulator/runtime/virtual_run.hpp"

namespace sluice::emulator {
namespace {

/// Exception that ends a run early, because the experiment was stopped.
struct Stopped {};

/// Returns the packet buffer size in bytes that is large enough for the MTU of every run.
std::uint16_t room_for(const Plan& plan) {
  std::uint16_t mtu = plan.base.hosts.mtu;
  for (const RunPlan& run : plan.runs) mtu = std::max(mtu, run.scenario.hosts.mtu);
  return dpdk::buffer_room(mtu);
}

/// Distributes the runs of a plan over threads and collects their results.
class Workshop {
 public:
  Workshop(const Plan& plan, TraceLibrary& traces, const std::function<void(const ExperimentProgress&)>& progress,
           const std::atomic<bool>& stop, const RunStore& store)
      : plan_(plan),
        traces_(traces),
        progress_(progress),
        stop_(stop),
        store_(store),
        results_(plan.runs.size()),
        fractions_(plan.runs.size()) {}

  void work(unsigned worker) {
    const dpdk::ThreadRegistration registration;
    try {
      RunPool pool("experiment" + std::to_string(worker), plan_.base.buffers, room_for(plan_));
      for (std::size_t run = next_++; run < plan_.runs.size() && !stop_ && !failed_; run = next_++) one(run, pool);
    } catch (...) {
      fail();
    }
  }

  ExperimentOutcome outcome() {
    if (failure_) std::rethrow_exception(failure_);
    ExperimentOutcome outcome;
    for (std::optional<RunResult>& result : results_) {
      if (result) outcome.results.push_back(std::move(*result));
    }
    outcome.skipped.assign(skipped_.begin(), skipped_.end());
    outcome.stopped = stop_;
    return outcome;
  }

 private:
  void one(std::size_t run, RunPool& pool) {
    if (store_.find) results_[run] = store_.find(plan_.runs[run]);
    if (results_[run]) return found(run);
    try {
      results_[run] = run_virtual(plan_.runs[run], plan_.name, pool, traces_, [&](double part) {
        if (stop_) throw Stopped{};
        report(run, part);
      });
      if (store_.keep) store_.keep(plan_.runs[run], *results_[run]);
    } catch (const Stopped&) {
      return;
    } catch (const TraceMissing& missing) {
      const std::lock_guard lock(mutex_);
      skipped_.insert(missing.what());
    }
    const std::lock_guard lock(mutex_);
    ++done_;
  }

  /// Counts a run whose stored result is used. Progress is not updated, because such a run takes no time.
  void found(std::size_t run) {
    const std::lock_guard lock(mutex_);
    whole_ += 1;
    fractions_[run] = 1;
    ++done_;
  }

  void report(std::size_t run, double part) {
    const std::lock_guard lock(mutex_);
    whole_ += part - fractions_[run];
    fractions_[run] = part;
    if (progress_) progress_({whole_ / static_cast<double>(fractions_.size()), done_, fractions_.size()});
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_ = true;
  }

  const Plan& plan_;
  TraceLibrary& traces_;
  const std::function<void(const ExperimentProgress&)>& progress_;
  const std::atomic<bool>& stop_;
  const RunStore& store_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::vector<std::optional<RunResult>> results_;
  std::vector<double> fractions_;
  std::set<std::string> skipped_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  double whole_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

ExperimentOutcome run_experiment(const Plan& plan, TraceLibrary& traces, unsigned workers,
                                 const std::function<void(const ExperimentProgress&)>& progress,
                                 const std::atomic<bool>& stop, const RunStore& store) {
  Workshop workshop(plan, traces, progress, stop, store);
  const auto count = static_cast<unsigned>(std::clamp<std::size_t>(plan.runs.size(), 1, std::max(1U, workers)));
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back([&workshop, i] { workshop.work(i); });
  for (std::thread& thread : threads) thread.join();
  ExperimentOutcome outcome = workshop.outcome();
  if (plan.base.output.ratio) add_ratios(outcome.results, *plan.base.output.ratio);
  return outcome;
}

std::uint32_t experiment_memory_mib(const Plan& plan, unsigned workers) {
  const std::uint64_t bytes =
      packet::pool_footprint(RunPool::begins_with(plan.base.buffers), room_for(plan)) * std::max(1U, workers);
  return static_cast<std::uint32_t>(128 + (bytes >> 20));
}

}  // namespace sluice::emulator
