// Sleep policy of poll threads: spinning, then waiting for port descriptors or sleeping in short steps. Poll threads
// call rest() after every round of polling; other threads wake them through an eventfd. A thread never sleeps longer
// than 10 ms, so it also responds to a stop request.

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

/// Shortest sleep. A shorter sleep costs as much processor time as it saves.
constexpr Duration shortest = std::chrono::microseconds(5);
/// Longest sleep, because the thread must notice a request to stop.
constexpr Duration longest = std::chrono::milliseconds(10);

timespec to_timespec(Duration duration) {
  return {.tv_sec = 0, .tv_nsec = duration.count()};
}

Duration clock_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return Duration(time.tv_sec * 1'000'000'000 + time.tv_nsec);
}

}  // namespace

PollPolicy::PollPolicy(PollMode mode, Duration step, Duration spin)
    : mode_(mode), step_(std::min(step, longest)), least_spin_(spin), spin_(spin) {
  const int waker = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (waker < 0) throw std::runtime_error("poll policy: no event descriptor: " + std::string(strerror(errno)));
  descriptors_.push_back({.fd = waker, .events = POLLIN, .revents = 0});
}

PollPolicy::~PollPolicy() {
  close(descriptors_.front().fd);
}

void PollPolicy::watch(int descriptor) {
  if (descriptor < 0) {
    has_port_without_interrupt_ = true;
    return;
  }
  descriptors_.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
}

void PollPolicy::prepare_thread() {
  if (mode_ == PollMode::busy) return;
  // By default the kernel may end a sleep 50 us late to combine wake-ups, which is as long as a whole step.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  if (!has_port_without_interrupt_) return;
  constexpr int trials = 50;
  const timespec pause = to_timespec(step_);
  const Duration used = clock_time(CLOCK_THREAD_CPUTIME_ID);
  const Duration begin = clock_time(CLOCK_MONOTONIC);
  for (int i = 0; i < trials; ++i) clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  idle_share_ =
      to_seconds(clock_time(CLOCK_THREAD_CPUTIME_ID) - used) / to_seconds(clock_time(CLOCK_MONOTONIC) - begin);
}

/// Sleeps until a packet or a wake-up arrives, or until `deadline`, but at most for `longest`. If the kernel cannot
/// signal the packets of some port, the sleep lasts at most for `step`. The first call of an idle period only announces
/// the sleep to other threads (asleep_). Returns true if it slept.
bool PollPolicy::sleep(Instant now, Instant deadline) noexcept {
  const Duration limit = has_port_without_interrupt_ ? step_ : longest;
  const Duration length = deadline == never ? limit : std::min(limit, deadline - now);
  if (length < shortest) return false;
  if (!asleep_copy_) {
    asleep_copy_ = true;
    asleep_.store(true, std::memory_order_seq_cst);
    return false;
  }
  const timespec time = to_timespec(length);
  ++sleeps_;
  if (ppoll(descriptors_.data(), descriptors_.size(), &time, nullptr) > 0) take_wakeups();
  return true;
}

/// Ends the idle period of this thread. Adapts the spin (time that the thread polls without work before it sleeps) to
/// the length of that period. From then on, other threads need not wake this thread.
void PollPolicy::stay_awake(Instant now) noexcept {
  asleep_copy_ = false;
  if (now - last_work_ > longest_spin) {
    spin_ = std::max(spin_ / 2, least_spin_);
  } else if (now >= yields_until_) {
    spin_ = std::max(std::min(2 * spin_, longest_spin), least_spin_);
  }
  asleep_.store(false, std::memory_order_relaxed);
}

/// True if another thread had the processor between the last round of polling, which found no work, and the present
/// one. The time for which this thread polls without work (spin) then returns to its minimum, because polling delays
/// the other thread.
bool PollPolicy::was_displaced(Instant last_round, Instant now) noexcept {
  if (last_round == last_work_ || now - last_round < longest_empty_round) return false;
  spin_ = least_spin_;
  yields_until_ = now + yielding;
  return true;
}

/// Handles the descriptors that ended a sleep: resets the eventfd and clears socket errors.
void PollPolicy::take_wakeups() noexcept {
  if ((descriptors_.front().revents & POLLIN) != 0) {
    eventfd_t count = 0;
    eventfd_read(descriptors_.front().fd, &count);
  }
  for (std::size_t i = 1; i < descriptors_.size(); ++i) {
    if ((descriptors_[i].revents & ~POLLIN) == 0) continue;
    // An interface that went down reports an error until it is read; a pause prevents spinning on it.
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
