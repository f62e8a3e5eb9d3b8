#include "proxy/fail_open/hang_timer.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace sluice::proxy {

HangTimer::HangTimer() {
  sigevent what{};
  what.sigev_notify = SIGEV_SIGNAL;
  what.sigev_signo = SIGKILL;
  if (timer_create(CLOCK_MONOTONIC, &what, &timer_) != 0)
    throw std::system_error(errno, std::generic_category(), "a timer that ends the process when it hangs");
}

HangTimer::~HangTimer() {
  timer_delete(timer_);
}

void HangTimer::put_off(Duration left) {
  set(std::max(left, Duration(1)));
}

void HangTimer::disarm() {
  set(Duration::zero());
}

void HangTimer::set(Duration left) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = (left - seconds).count();
  timer_settime(timer_, 0, &when, nullptr);
}

}  // namespace sluice::proxy
