#include "proxy/fail_open/hang_timer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

void do_nothing_for_ever() {
  for (;;) pause();
}

TEST(HangTimer, EndsAProcessThatDoesNotRearmIt) {
  const auto hang = [] {
    HangTimer timer;
    timer.put_off(10ms);
    do_nothing_for_ever();
  };
  EXPECT_EXIT(hang(), testing::KilledBySignal(SIGKILL), "");
}

TEST(HangTimer, EndsAStoppedProcess) {
  const auto stop = [] {
    HangTimer timer;
    timer.put_off(10ms);
    raise(SIGSTOP);
  };
  EXPECT_EXIT(stop(), testing::KilledBySignal(SIGKILL), "");
}

TEST(HangTimer, ADeadlineInThePastFires) {
  const auto late = [] {
    HangTimer timer;
    timer.put_off(-1s);
    do_nothing_for_ever();
  };
  EXPECT_EXIT(late(), testing::KilledBySignal(SIGKILL), "");
}

}  // namespace
}  // namespace sluice::proxy
