#include "proxy/daemon/status/report_watch.hpp"

#include <gtest/gtest.h>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using Event = ReportWatch::Event;

constexpr Instant start{1h};

TEST(ReportWatch, SilenceAndItsEndAreReportedOnce) {
  ReportWatch watch;
  EXPECT_EQ(watch.look(true, 0, start), Event::none);
  EXPECT_EQ(watch.look(true, 0, start + 900ms), Event::none);
  EXPECT_EQ(watch.look(true, 0, start + 1s), Event::silent);
  EXPECT_EQ(watch.silence(), 1s);
  EXPECT_EQ(watch.look(true, 0, start + 2s), Event::none);
  EXPECT_EQ(watch.look(true, 5, start + 3s), Event::received_again);
  EXPECT_EQ(watch.silence(), 3s);
  EXPECT_EQ(watch.look(true, 9, start + 4s), Event::none);
  EXPECT_EQ(watch.look(true, 9, start + 5s), Event::silent);
}

TEST(ReportWatch, MissingReportsAreNotReportedIfNoneAreNeeded) {
  ReportWatch watch;
  EXPECT_EQ(watch.look(false, 0, start), Event::none);
  EXPECT_EQ(watch.look(false, 0, start + 1h), Event::none);
  EXPECT_EQ(watch.look(true, 0, start + 1h + 1s), Event::none) << "the silence begins with the mode";
  EXPECT_EQ(watch.look(true, 0, start + 1h + 2s), Event::silent);
  EXPECT_EQ(watch.look(false, 0, start + 1h + 3s), Event::none);
  EXPECT_EQ(watch.silence(), 0s);
  EXPECT_EQ(watch.look(true, 0, start + 1h + 4s), Event::none);
}

}  // namespace
}  // namespace sluice::proxy
