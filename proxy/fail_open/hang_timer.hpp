#pragma once

#include <ctime>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// A timer of the kernel that ends this process by SIGKILL unless it is put off in time: a process that hangs cannot
/// end itself, nor can one that was stopped (SIGSTOP). Thread: one.
class HangTimer {
 public:
  /// Not armed. Throws std::system_error where the kernel has no timer left.
  HangTimer();
  ~HangTimer();
  HangTimer(const HangTimer&) = delete;
  HangTimer& operator=(const HangTimer&) = delete;

  /// The process ends when this is not called again within `left`, which is above zero.
  void put_off(Duration left);
  void disarm();

 private:
  void set(Duration left);

  timer_t timer_{};
};

}  // namespace sluice::proxy
