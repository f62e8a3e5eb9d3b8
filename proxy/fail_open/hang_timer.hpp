#pragma once

#include <ctime>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Kernel timer that ends this process by SIGKILL unless it is re-armed in time. A process that hangs cannot end
/// itself, nor can one that was stopped by SIGSTOP. Thread: one.
class HangTimer {
 public:
  /// Creates a disarmed timer. Throws std::system_error if the kernel has no timer left.
  HangTimer();
  ~HangTimer();
  HangTimer(const HangTimer&) = delete;
  HangTimer& operator=(const HangTimer&) = delete;

  /// Arms the timer: the process ends unless the next call follows within `left`, which is above zero.
  void put_off(Duration left);
  void disarm();

 private:
  void set(Duration left);

  timer_t timer_{};
};

}  // namespace sluice::proxy
