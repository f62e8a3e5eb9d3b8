#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/fail_open/progress_watch.hpp"

namespace sluice::proxy {

/// Second process that kills this one by SIGKILL when a thread hangs (see ProgressWatch). A process that hangs or is
/// stopped cannot end itself. A kernel timer would also expire after a pause of the machine, so none is used. The
/// second process ends when this one ends. Create it before DPDK starts, so that it shares no device, and in the main
/// thread.
class WatchdogProcess {
 public:
  static constexpr Duration default_period = std::chrono::milliseconds(100);

  /// Starts the second process. `threads` is the number of watched threads. `report` runs in the second process right
  /// before the kill, and only makes system calls that fork(2) allows. `period` is the time between samples. Throws
  /// std::system_error.
  WatchdogProcess(std::size_t threads, std::function<void(ProgressWatch::Verdict)> report,
                  Duration period = default_period);
  /// Ends the second process without killing this one.
  ~WatchdogProcess();
  WatchdogProcess(const WatchdogProcess&) = delete;
  WatchdogProcess& operator=(const WatchdogProcess&) = delete;

  /// Returns the counter that a thread increases to show progress.
  [[nodiscard]] std::atomic<std::uint64_t>& progress(std::size_t thread) { return counters_[thread]; }
  /// Starts to kill the program if a thread makes no progress. Before this call, missing progress has no effect.
  void arm() { shared_->armed.store(true); }
  void disarm() { shared_->armed.store(false); }
  /// Returns the number of samples taken so far; it stays unchanged if the second process was killed.
  [[nodiscard]] std::uint64_t samples() const { return shared_->samples.load(); }
  [[nodiscard]] pid_t pid() const { return child_; }

 private:
  /// Memory shared by both processes; the counters of the threads follow it in memory.
  struct Shared {
    std::atomic<bool> armed;
    std::atomic<bool> over;
    std::atomic<std::uint64_t> samples;
  };
  [[noreturn]] void watch(pid_t parent);

  std::size_t threads_;
  std::function<void(ProgressWatch::Verdict)> report_;
  Duration period_;
  ProgressWatch watch_;
  std::vector<std::uint64_t> sample_;
  std::size_t size_;
  Shared* shared_ = nullptr;
  std::atomic<std::uint64_t>* counters_ = nullptr;
  pid_t child_ = -1;
};

}  // namespace sluice::proxy
