#include "control/smvs/step_length_check.hpp"

#include <gtest/gtest.h>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// Returns the rate for frames of 40 bytes.
Rate frames_per_second(double frames) {
  return Rate::bytes_per_second(frames * 40);
}

// Figures 13 and 14 of the SMVS paper: 200 frames are emptied in 0.17 s at 1160 frames/s.
TEST(StepLengthCheck, AStepThatEmptiesAFullBufferIsTooLong) {
  StepLengthCheck check;
  EXPECT_FALSE(check.look(100ms, 8000_B, frames_per_second(1160)));
  EXPECT_TRUE(check.look(200ms, 8000_B, frames_per_second(1160)));
  EXPECT_TRUE(check.broken());
}

TEST(StepLengthCheck, EachViolationIsReportedOnce) {
  StepLengthCheck check;
  EXPECT_FALSE(check.look(100ms, 8000_B, frames_per_second(1999)));
  EXPECT_TRUE(check.look(100ms, 8000_B, frames_per_second(2000)));
  EXPECT_FALSE(check.look(100ms, 8000_B, frames_per_second(3000))) << "still";
  EXPECT_FALSE(check.look(100ms, 8000_B, frames_per_second(1700)));
  EXPECT_FALSE(check.look(100ms, 8000_B, frames_per_second(2100))) << "the rate went up and down around the bound";
  EXPECT_FALSE(check.look(100ms, 8000_B, frames_per_second(1500)));
  EXPECT_FALSE(check.broken());
  EXPECT_TRUE(check.look(100ms, 8000_B, frames_per_second(2000))) << "it held again meanwhile";
}

TEST(StepLengthCheck, UnknownValuesViolateNothing) {
  StepLengthCheck check;
  EXPECT_FALSE(check.look(10s, 0_B, frames_per_second(1e6)));
  EXPECT_FALSE(check.look(10s, 8000_B, Rate()));
}

}  // namespace
}  // namespace sluice::control
