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

/// Child process that kills this process by SIGKILL when a thread hangs (see ProgressWatch). A process that hangs or is
/// stopped cannot end itself. No kernel timer is used, because it would also expire after a pause of the machine. The
/// child ends when this process ends. Create the object in the main thread before DPDK starts, so that the child shares
/// no device.
class WatchdogProcess {
 public:
  static constexpr Duration default_period = std::chrono::milliseconds(100);

  /// Starts the child process. `threads` is the number of watched threads. The child calls `report` right before the
  /// kill; `report` may only make system calls that are allowed after fork(2). `period` is the time between samples.
  /// Throws std::system_error.
  WatchdogProcess(std::size_t threads, std::function<void(ProgressWatch::Verdict)> report,
                  Duration period = default_period);
  /// Ends the child process without killing this process.
  ~WatchdogProcess();
  WatchdogProcess(const WatchdogProcess&) = delete;
  WatchdogProcess& operator=(const WatchdogProcess&) = delete;

  /// Returns the counter that a thread increases to show progress.
  [[nodiscard]] std::atomic<std::uint64_t>& progress(std::size_t thread) { return counters_[thread]; }
  /// Enables the kill: from now on the program is killed if a thread makes no progress.
  void arm() { shared_->armed.store(true); }
  void disarm() { shared_->armed.store(false); }
  /// Returns how often the child process has sampled the threads' progress counters. It no longer increases if the
  /// child was killed.
  [[nodiscard]] std::uint64_t samples() const { return shared_->samples.load(); }
  [[nodiscard]] pid_t pid() const { return child_; }

 private:
  /// Memory that this process and its child share. The counters of the threads follow directly after it.
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
