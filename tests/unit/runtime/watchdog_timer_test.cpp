#include "proxy/daemon/fail_open/watchdog_timer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

void do_nothing_for_ever() {
  for (;;) pause();
}

TEST(WatchdogTimer, EndsAProcessThatDoesNotRearmIt) {
  const auto hang = [] {
    WatchdogTimer timer;
    timer.rearm(10ms);
    do_nothing_for_ever();
  };
  EXPECT_EXIT(hang(), testing::KilledBySignal(SIGKILL), "");
}

TEST(WatchdogTimer, EndsAStoppedProcess) {
  const auto stop = [] {
    WatchdogTimer timer;
    timer.rearm(10ms);
    raise(SIGSTOP);
  };
  EXPECT_EXIT(stop(), testing::KilledBySignal(SIGKILL), "");
}

TEST(WatchdogTimer, ADeadlineInThePastFires) {
  const auto late = [] {
    WatchdogTimer timer;
    timer.rearm(-1s);
    do_nothing_for_ever();
  };
  EXPECT_EXIT(late(), testing::KilledBySignal(SIGKILL), "");
}

}  // namespace
}  // namespace sluice::proxy
