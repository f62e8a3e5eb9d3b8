// Tests of the datagrams in flight: oldest first, in runs of bounded number, with drops of the proxy between them.

#include "control/ack_based/datagrams_in_flight.hpp"

#include <gtest/gtest.h>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

constexpr Bytes full{1500};
constexpr Instant start{10s};

TEST(DatagramsInFlight, RemovesTheOldestFirst) {
  DatagramsInFlight flight;
  flight.add(start, full, false);
  flight.add(start + 5ms, Bytes(500), false);
  EXPECT_EQ(flight.oldest_sent(), start);
  EXPECT_EQ(flight.remove_oldest(1), full);
  EXPECT_EQ(flight.bytes(), Bytes(500));
  EXPECT_EQ(flight.oldest_sent(), start + 5ms);
}

TEST(DatagramsInFlight, DatagramsOfOneRunHaveTheMeanLength) {
  DatagramsInFlight flight;
  flight.add(start, Bytes(1000), false);
  flight.add(start, Bytes(2000), false);
  EXPECT_EQ(flight.remove_oldest(1), full);
  EXPECT_EQ(flight.remove_oldest(5), full) << "no more than the run has";
  EXPECT_TRUE(flight.empty());
}

TEST(DatagramsInFlight, ADatagramBehindADropBeginsARun) {
  DatagramsInFlight flight;
  flight.add(start, full, false);
  flight.add(start, full, true);
  flight.add(start, full, false);
  EXPECT_EQ(flight.oldest_count(), 1U);
  EXPECT_FALSE(flight.oldest_is_behind_drop());
  flight.remove_oldest(1);
  EXPECT_TRUE(flight.oldest_is_behind_drop());
  flight.remove_oldest(1);
  EXPECT_FALSE(flight.oldest_is_behind_drop()) << "the second datagram of the run is behind no drop";
}

TEST(DatagramsInFlight, RemovesWhatWasSentBeforeAnInstant) {
  DatagramsInFlight flight;
  for (int i = 0; i < 10; ++i) flight.add(start + i * 10ms, full, false);
  flight.remove_before(start + 70ms);
  EXPECT_EQ(flight.count(), 3U);
  EXPECT_EQ(flight.oldest_sent(), start + 70ms);
}

TEST(DatagramsInFlight, AnyNumberOfDatagramsIsCounted) {
  DatagramsInFlight flight;
  for (int i = 0; i < 10'000; ++i) flight.add(start + i * 1ms, full, i % 3 == 0);
  EXPECT_EQ(flight.count(), 10'000U);
  EXPECT_EQ(flight.bytes(), full * std::int64_t{10'000});
  EXPECT_TRUE(flight.holds_at_least(100));
  while (!flight.empty()) flight.remove_oldest(7);
  EXPECT_EQ(flight.bytes(), Bytes{});
}

}  // namespace
}  // namespace sluice::control
