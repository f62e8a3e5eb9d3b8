// Tests the process that kills the program when one of its threads hangs. Each program is a child of the test.
#include "proxy/daemon/fail_open/watchdog_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <thread>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using State = ProgressWatch::State;

constexpr Duration period = 5ms;

/// Writes the verdict to standard error, which the watchdog process has closed, through a copy of its descriptor.
std::function<void(ProgressWatch::Verdict)> to_standard_error() {
  return [copy = dup(STDERR_FILENO)](ProgressWatch::Verdict verdict) {
    const std::string_view text = verdict.state == State::stopped ? "stopped"
                                  : verdict.thread == 0           ? "control hangs"
                                                                  : "shard hangs";
    if (write(copy, text.data(), text.size()) < 0) return;
  };
}

void make_progress_for_ever(WatchdogProcess& watchdog, std::size_t thread) {
  for (;;) {
    watchdog.progress(thread).fetch_add(1);
    std::this_thread::sleep_for(period / 2);
  }
}

TEST(WatchdogProcess, EndsAProgramOfWhichAPollThreadHangs) {
  const auto program = [] {
    WatchdogProcess watchdog(2, to_standard_error(), period);
    watchdog.arm();
    make_progress_for_ever(watchdog, 0);
  };
  EXPECT_EXIT(program(), testing::KilledBySignal(SIGKILL), "shard hangs");
}

TEST(WatchdogProcess, EndsAProgramOfWhichTheControlThreadHangs) {
  const auto program = [] {
    WatchdogProcess watchdog(2, to_standard_error(), period);
    watchdog.arm();
    make_progress_for_ever(watchdog, 1);
  };
  EXPECT_EXIT(program(), testing::KilledBySignal(SIGKILL), "control hangs");
}

TEST(WatchdogProcess, EndsAProgramThatStaysStopped) {
  const auto program = [] {
    WatchdogProcess watchdog(2, to_standard_error(), period);
    watchdog.arm();
    raise(SIGSTOP);
  };
  EXPECT_EXIT(program(), testing::KilledBySignal(SIGKILL), "stopped");
}

/// Waits until the watchdog process has taken `count` more samples.
void await_samples(const WatchdogProcess& watchdog, std::uint64_t count) {
  const std::uint64_t first = watchdog.samples();
  while (watchdog.samples() < first + count) std::this_thread::sleep_for(period);
}

TEST(WatchdogProcess, LeavesAProgramAloneUnlessArmed) {
  const auto program = [] {
    WatchdogProcess watchdog(2, to_standard_error(), period);
    await_samples(watchdog, ProgressWatch::stopped_after + 10);
    watchdog.arm();
    watchdog.disarm();
    await_samples(watchdog, ProgressWatch::stopped_after + 10);
    std::_Exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

/// A pause of the machine stops both processes; what runs first afterwards does not matter.
TEST(WatchdogProcess, LeavesAPausedMachineAlone) {
  const auto program = [] {
    WatchdogProcess watchdog(2, to_standard_error(), period);
    watchdog.arm();
    await_samples(watchdog, 1);
    kill(watchdog.pid(), SIGSTOP);
    std::this_thread::sleep_for((ProgressWatch::stopped_after + 50) * period);
    kill(watchdog.pid(), SIGCONT);
    await_samples(watchdog, 1);
    watchdog.disarm();
    await_samples(watchdog, 2);
    std::_Exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

TEST(WatchdogProcess, EndsWithTheProgram) {
  pid_t watchdog = -1;
  {
    const WatchdogProcess made(1, to_standard_error(), period);
    watchdog = made.pid();
  }
  int status = -1;
  EXPECT_EQ(waitpid(watchdog, &status, 0), watchdog);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sluice::proxy
