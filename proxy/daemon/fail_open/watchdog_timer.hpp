#pragma once

#include <ctime>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Kernel timer that ends this process by SIGKILL unless it is armed again in time. A process that hangs cannot end
/// itself, nor can one that was stopped by SIGSTOP. Thread: one.
class WatchdogTimer {
 public:
  /// Creates a disarmed timer. Throws std::system_error if the kernel has no timer left.
  WatchdogTimer();
  ~WatchdogTimer();
  WatchdogTimer(const WatchdogTimer&) = delete;
  WatchdogTimer& operator=(const WatchdogTimer&) = delete;

  /// Arms the timer: the process ends unless the next call follows within `left`, which is above zero.
  void rearm(Duration left);
  void disarm();

 private:
  void set(Duration left);

  timer_t timer_{};
};

}  // namespace sluice::proxy
