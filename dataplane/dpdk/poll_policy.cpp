#include "dataplane/dpdk/poll_policy.hpp"

#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>

namespace sluice::dpdk {
namespace {

/// Shorter sleeps cost what they save.
constexpr Duration shortest = std::chrono::microseconds(5);
/// However well the ports can wake us, the thread looks around this often (it may have been told to stop).
constexpr Duration longest = std::chrono::milliseconds(10);
/// After so much silence the steps may grow.
constexpr Duration silence = std::chrono::milliseconds(100);
/// Of a processor, sleeping in steps may take this part, and how far they may grow for it.
constexpr int share = 24;
constexpr Duration longest_step = std::chrono::microseconds(500);

timespec to_timespec(Duration duration) {
  return {.tv_sec = 0, .tv_nsec = duration.count()};
}

Duration thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Duration(time.tv_sec * 1'000'000'000 + time.tv_nsec);
}

}  // namespace

PollPolicy::PollPolicy(PollMode mode, Duration spin, Duration step)
    : mode_(mode), spin_(spin), step_(std::min(step, longest)), idle_step_(step_) {
  const int waker = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (waker < 0) throw std::runtime_error("poll policy: no event descriptor: " + std::string(strerror(errno)));
  descriptors_.push_back({.fd = waker, .events = POLLIN, .revents = 0});
}

PollPolicy::~PollPolicy() {
  close(descriptors_.front().fd);
}

void PollPolicy::watch(int descriptor) {
  if (descriptor < 0) {
    blind_ports_ = true;
    return;
  }
  descriptors_.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
}

void PollPolicy::prepare_thread() {
  if (mode_ == PollMode::busy) return;
  // By default the kernel may end a sleep 50 us late to save a wake-up: as long as the whole step.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  if (!sleeps_in_steps()) return;
  constexpr int trials = 50;
  const timespec pause = to_timespec(step_);
  const Duration before = thread_time();
  for (int i = 0; i < trials; ++i) ppoll(descriptors_.data(), 1, &pause, nullptr);
  const Duration cost = (thread_time() - before) / trials;
  idle_step_ = std::clamp(cost * share, step_, std::max(step_, longest_step));
}

Duration PollPolicy::longest_sleep(Instant now) const noexcept {
  if (!sleeps_in_steps()) return longest;
  return now - last_work_ > silence ? idle_step_ : step_;
}

bool PollPolicy::sleep(Instant now, Instant deadline) noexcept {
  const Duration limit = longest_sleep(now);
  const Duration length = deadline == never ? limit : std::min(limit, deadline - now);
  if (length < shortest) return false;
  const timespec time = to_timespec(length);
  ++sleeps_;
  if (ppoll(descriptors_.data(), descriptors_.size(), &time, nullptr) > 0) take_wakeups();
  return true;
}

void PollPolicy::take_wakeups() noexcept {
  if ((descriptors_.front().revents & POLLIN) != 0) {
    eventfd_t count = 0;
    eventfd_read(descriptors_.front().fd, &count);
  }
  for (std::size_t i = 1; i < descriptors_.size(); ++i) {
    if ((descriptors_[i].revents & ~POLLIN) == 0) continue;
    // An interface that went down reports an error until it is asked; do not spin on it.
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(descriptors_[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
    const timespec pause = to_timespec(step_);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
}

void PollPolicy::wake() noexcept {
  eventfd_write(descriptors_.front().fd, 1);
}

}  // namespace sluice::dpdk
