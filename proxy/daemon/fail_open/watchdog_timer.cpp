#include "proxy/daemon/fail_open/watchdog_timer.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace sluice::proxy {

WatchdogTimer::WatchdogTimer() {
  sigevent what{};
  what.sigev_notify = SIGEV_SIGNAL;
  what.sigev_signo = SIGKILL;
  if (timer_create(CLOCK_MONOTONIC, &what, &timer_) != 0)
    throw std::system_error(errno, std::generic_category(), "a timer that ends the process when it hangs");
}

WatchdogTimer::~WatchdogTimer() {
  timer_delete(timer_);
}

void WatchdogTimer::rearm(Duration left) {
  set(std::max(left, Duration(1)));
}

void WatchdogTimer::disarm() {
  set(Duration::zero());
}

void WatchdogTimer::set(Duration left) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = (left - seconds).count();
  timer_settime(timer_, 0, &when, nullptr);
}

}  // namespace sluice::proxy
