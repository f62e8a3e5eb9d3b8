// What a cell is made of, each part alone.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emulator/cell/queue_ledger.hpp"
#include "emulator/cell/shared_air.hpp"
#include "emulator/cell/tti_clock.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;

/// Records the TTIs that run and requests one later TTI, as the test sets it.
class Diary final : public TtiUser {
 public:
  std::uint64_t run_tti(std::uint64_t tti, Instant /*now*/) override {
    ran.push_back(tti);
    return std::exchange(next, TtiClock::asleep);
  }
  std::vector<std::uint64_t> ran;
  std::uint64_t next = TtiClock::asleep;
};

TEST(TtiClock, CountsTtisFromTheOrigin) {
  EventLoop loop;
  Diary diary;
  TtiClock clock(loop, 2ms, diary);
  EXPECT_EQ(clock.tti_of(Instant(3ms)), 1U);
  EXPECT_EQ(clock.first_from(Instant(3ms)), 2U);
  EXPECT_EQ(clock.first_from(Instant(4ms)), 2U);
  EXPECT_EQ(clock.passed(Instant(0ms)), 0U);
  EXPECT_EQ(clock.passed(Instant(4ms)), 2U);  // the third begins now
  EXPECT_EQ(clock.passed(Instant(5ms)), 3U);
  EXPECT_THROW(TtiClock(loop, 0ms, diary), std::invalid_argument);
}

TEST(TtiClock, TheEarliestTtiRunsAndItsOwnerChoosesTheNext) {
  EventLoop loop;
  Diary diary;
  TtiClock clock(loop, 1ms, diary);
  clock.wake_at(5);
  clock.wake_at(3);
  clock.wake_at(4);
  loop.run_until(Instant(20ms));
  EXPECT_EQ(diary.ran, (std::vector<std::uint64_t>{3}));  // it knew of no other, so what was set before is void
  diary.next = 25;
  clock.wake_at(22);
  loop.run_until(Instant(25ms));
  EXPECT_EQ(diary.ran, (std::vector<std::uint64_t>{3, 22, 25}));
}

TEST(SharedAir, AnUnusedTtiOffersTheMeanOfTheAttachedUes) {
  SharedAir air;
  // Two UEs, four TTIs of 100 and 300 bytes. The first UE had one of them.
  air.taken(400);
  air.served(100);
  EXPECT_EQ(air.offered(1600, 2), 100U + 3 * 200U);
}

TEST(SharedAir, EarlierTtisAreNotRecountedWhenAUeLeaves) {
  SharedAir air;
  air.add_unused_capacity(1600, 2);  // four unused TTIs of 100 and 300
  EXPECT_EQ(air.offered(1600, 1), 800U);
  EXPECT_EQ(air.offered(1600 + 2 * 100, 1), 800U + 200U);  // the second has a silent channel from now on
  EXPECT_EQ(air.offered(1700, 0), 800U);
}

TEST(QueueLedger, BalancesAtEveryMoment) {
  QueueLedger ledger(Bytes(40));
  ledger.arrived(Bytes(100), Bytes(120));
  ledger.entered(Bytes(100), Bytes(120), Instant(0s));
  EXPECT_EQ(ledger.frames(), 3U);
  ledger.left(Bytes(50), Bytes(50), Instant(1s));
  ledger.transmitted(Bytes(50));
  EXPECT_EQ(ledger.frames(), 2U);  // one is begun
  ledger.left(Bytes(50), Bytes(70), Instant(2s));
  ledger.forwarded(Bytes(100), Bytes(50), Bytes(70));
  const QueueCounters counters = ledger.counters(Instant(5s));
  EXPECT_DOUBLE_EQ(counters.air_seconds, 120 + 70);
  EXPECT_EQ(counters.recalled_bytes, 50U);
  EXPECT_EQ(counters.arrived_bytes, counters.transmitted_bytes + counters.forwarded_bytes - counters.recalled_bytes);
  EXPECT_EQ(ledger.bytes(), Bytes(0));
  EXPECT_EQ(counters.max_air, 120U);
}

}  // namespace
}  // namespace sluice::emulator
