#include "proxy/daemon/status/link_watch.hpp"

#include <gtest/gtest.h>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using dpdk::Link;

constexpr Instant start = Instant(100s);

TEST(LinkWatch, ALinkThatIsUpFromTheStartIsNotReported) {
  LinkWatch watch;
  EXPECT_FALSE(watch.look(Link::up, start));
  EXPECT_FALSE(watch.look(Link::up, start + 1s));
  EXPECT_EQ(watch.since(), start);
  EXPECT_EQ(watch.changes(), 0U);
}

TEST(LinkWatch, ALinkThatIsDownFromTheStartIsReported) {
  LinkWatch watch;
  EXPECT_TRUE(watch.look(Link::down, start));
  EXPECT_EQ(watch.changes(), 0U);
}

TEST(LinkWatch, EveryChangeIsReportedOnceWithTheDurationBefore) {
  LinkWatch watch;
  EXPECT_FALSE(watch.look(Link::up, start));
  const auto down = watch.look(Link::down, start + 10s);
  ASSERT_TRUE(down);
  EXPECT_EQ(down->before, Link::up);
  EXPECT_EQ(down->lasted, 10s);
  EXPECT_FALSE(watch.look(Link::down, start + 11s));
  ASSERT_TRUE(watch.look(Link::absent, start + 12s));
  const auto up = watch.look(Link::up, start + 15s);
  ASSERT_TRUE(up);
  EXPECT_EQ(up->before, Link::absent);
  EXPECT_EQ(up->lasted, 3s);
  EXPECT_EQ(watch.changes(), 3U);
  EXPECT_EQ(watch.since(), start + 15s);
}

}  // namespace
}  // namespace sluice::proxy
