// Kills the program when one of its threads hangs. Runtime creates it before DPDK starts, and threads increase their
// counters in shared memory. Invariant: after fork() the second process calls only what is safe there, because locks
// of other threads stay locked in it.
#include "proxy/daemon/fail_open/watchdog_process.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>
#include <system_error>
#include <utility>

namespace sluice::proxy {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void sleep_for(Duration period) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
  const timespec time{seconds.count(), (period - seconds).count()};
  nanosleep(&time, nullptr);
}

/// Detaches the watchdog process from the program that it watches. Closes the standard streams. Blocks all signals,
/// because a signal to the process group must not end the watchdog before the program. The kernel kills the watchdog
/// when the program ends.
void detach() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(descriptor);
  prctl(PR_SET_NAME, "sluice-watchdog");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace

WatchdogProcess::WatchdogProcess(std::size_t threads, std::function<void(ProgressWatch::Verdict)> report,
                                 Duration period)
    : threads_(threads),
      report_(std::move(report)),
      period_(period),
      watch_(threads),
      sample_(threads),
      size_(sizeof(Shared) + threads * sizeof(std::atomic<std::uint64_t>)) {
  void* const memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("memory for the watchdog process");
  shared_ = new (memory) Shared{};
  counters_ = new (static_cast<std::byte*>(memory) + sizeof(Shared)) std::atomic<std::uint64_t>[threads] {};
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) watch(parent);
  if (child_ > 0) return;
  munmap(memory, size_);
  fail("the watchdog process");
}

WatchdogProcess::~WatchdogProcess() {
  shared_->over.store(true);
  munmap(shared_, size_);
}

void WatchdogProcess::watch(pid_t parent) {
  detach();
  // The parent may have ended before PR_SET_PDEATHSIG took effect.
  while (getppid() == parent && !shared_->over.load()) {
    sleep_for(period_);
    shared_->samples.fetch_add(1);
    if (!shared_->armed.load()) {
      watch_.restart();
      continue;
    }
    for (std::size_t i = 0; i < threads_; ++i) sample_[i] = counters_[i].load(std::memory_order_relaxed);
    const ProgressWatch::Verdict verdict = watch_.sample(sample_);
    if (verdict.state == ProgressWatch::State::runs || !shared_->armed.load()) continue;
    report_(verdict);
    kill(parent, SIGKILL);
  }
  _exit(0);
}

}  // namespace sluice::proxy
