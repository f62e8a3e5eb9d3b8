#include "proxy/engine/base/counters.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sluice::proxy {
namespace {

TEST(Counters, EveryNameIsUnique) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < counter_count; ++i) {
    EXPECT_TRUE(names.insert(counter_text(i).name).second) << counter_text(i).name;
    EXPECT_FALSE(counter_text(i).text.empty()) << counter_text(i).name;
  }
}

TEST(Counters, ParseOutcomesAreNamedByTheirDisposition) {
  EXPECT_EQ(counter_text(static_cast<std::size_t>(counter_of(packet::ParseResult::arp))).name, "forward_arp");
  EXPECT_EQ(counter_text(static_cast<std::size_t>(counter_of(packet::ParseResult::truncated))).name, "drop_truncated");
  EXPECT_EQ(counter_text(counter_count - 1).name, "drop_bad_tcp_header");
}

TEST(Counters, SumsFollowTheNames) {
  Counters counters;
  counters.add(Counter::forward_mid_flow, 3);
  counters.add(counter_of(packet::ParseResult::udp), 4);
  counters.add(Counter::drop_tcp_checksum, 5);
  counters.add(counter_of(packet::ParseResult::runt), 6);
  counters.add(Counter::optimised, 7);
  EXPECT_EQ(counters.forwarded(), 7U);
  EXPECT_EQ(counters.dropped(), 11U);
}

}  // namespace
}  // namespace sluice::proxy
