// Tests of the timer wheel by examples and against a plain model with random schedules.
#include "dataplane/flow/timer_wheel.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace sluice::flow {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant origin = Instant(seconds(1000));

std::vector<std::uint32_t> advance(TimerWheel& wheel, Instant now) {
  std::vector<std::uint32_t> fired;
  wheel.advance(now, [&](std::uint32_t id) { fired.push_back(id); });
  return fired;
}

TEST(TimerWheel, TheTickIsAPowerOfTwo) {
  EXPECT_EQ(TimerWheel(1, origin).tick(), Duration(1 << 19));
  EXPECT_EQ(TimerWheel(1, origin, microseconds(250)).tick(), Duration(1 << 17));
  EXPECT_EQ(TimerWheel(1, origin, Duration(1)).tick(), Duration(1));
  EXPECT_THROW(TimerWheel(1, origin, Duration(0)), std::invalid_argument);
  EXPECT_THROW(TimerWheel(1, origin, seconds(2)), std::invalid_argument);
}

TEST(TimerWheel, FiresAtTheFirstTickAtOrAfterTheDeadline) {
  TimerWheel wheel(4, origin);
  const Instant deadline = origin + milliseconds(200);
  wheel.schedule(2, deadline);
  EXPECT_TRUE(wheel.scheduled(2));
  EXPECT_THAT(advance(wheel, deadline - Duration(1)), testing::IsEmpty());
  EXPECT_THAT(advance(wheel, deadline + wheel.tick()), testing::ElementsAre(2));
  EXPECT_FALSE(wheel.scheduled(2));
  EXPECT_THAT(advance(wheel, deadline + seconds(1)), testing::IsEmpty());
}

TEST(TimerWheel, CancelledTimersDoNotFire) {
  TimerWheel wheel(4, origin);
  wheel.schedule(0, origin + milliseconds(5));
  wheel.schedule(1, origin + milliseconds(5));
  wheel.cancel(0);
  wheel.cancel(3);
  wheel.schedule(1, never);
  EXPECT_EQ(wheel.size(), 0U);
  EXPECT_EQ(wheel.next(), never);
  EXPECT_THAT(advance(wheel, origin + seconds(9)), testing::IsEmpty());
}

TEST(TimerWheel, ATimerCanBePostponedAndAdvanced) {
  TimerWheel wheel(4, origin);
  wheel.schedule(0, origin + milliseconds(100));
  wheel.schedule(0, origin + milliseconds(300));
  EXPECT_THAT(advance(wheel, origin + milliseconds(200)), testing::IsEmpty());
  wheel.schedule(0, origin + milliseconds(250));
  EXPECT_THAT(advance(wheel, origin + milliseconds(249)), testing::IsEmpty());
  EXPECT_THAT(advance(wheel, origin + milliseconds(251)), testing::ElementsAre(0));
}

TEST(TimerWheel, ADeadlineInThePastFiresAtTheNextTick) {
  TimerWheel wheel(4, origin);
  (void)advance(wheel, origin + seconds(5));
  wheel.schedule(0, origin + seconds(1));
  EXPECT_THAT(advance(wheel, origin + seconds(5) + 2 * wheel.tick()), testing::ElementsAre(0));
}

TEST(TimerWheel, ATimeBeforeAnEarlierOneDoesNothing) {
  TimerWheel wheel(4, origin);
  (void)advance(wheel, origin + seconds(5));
  wheel.schedule(0, origin + seconds(6));
  EXPECT_THAT(advance(wheel, origin), testing::IsEmpty());
  EXPECT_THAT(advance(wheel, origin + seconds(7)), testing::ElementsAre(0));
}

TEST(TimerWheel, FarDeadlinesFireAfterJumpsOfTime) {
  TimerWheel wheel(8, origin);
  wheel.schedule(0, origin + hours(24 * 10));
  wheel.schedule(1, origin + hours(1));
  wheel.schedule(2, origin + milliseconds(1));
  EXPECT_THAT(advance(wheel, origin + hours(24 * 9)), testing::ElementsAre(2, 1));
  EXPECT_THAT(advance(wheel, origin + hours(24 * 20)), testing::ElementsAre(0));
  wheel.schedule(3, origin + hours(24 * 20) + seconds(1));
  EXPECT_THAT(advance(wheel, origin + hours(24 * 365 * 100)), testing::ElementsAre(3));
}

TEST(TimerWheel, ADeadlineBeyondTheHorizonFiresAtTheHorizon) {
  TimerWheel wheel(2, origin, Duration(1));
  wheel.schedule(0, origin + hours(1));
  EXPECT_THAT(advance(wheel, origin + Duration((std::int64_t{1} << 31) - 2)), testing::IsEmpty());
  EXPECT_THAT(advance(wheel, origin + Duration(std::int64_t{1} << 31)), testing::ElementsAre(0));
}

TEST(TimerWheel, NextReturnsTheNextDeadline) {
  TimerWheel wheel(4, origin);
  wheel.schedule(0, origin + milliseconds(3));
  wheel.schedule(1, origin + seconds(100));
  std::vector<std::uint32_t> fired;
  int steps = 0;
  for (Instant now = wheel.next(); now != never; now = wheel.next()) {
    wheel.advance(now, [&](std::uint32_t id) { fired.push_back(id); });
    ASSERT_GT(wheel.next(), now) << "time must move on";
    ASSERT_LT(++steps, 10);
  }
  EXPECT_THAT(fired, testing::ElementsAre(0, 1));
}

TEST(TimerWheel, CallbacksMayScheduleAndCancel) {
  TimerWheel wheel(4, origin);
  for (std::uint32_t id = 0; id < 3; ++id) wheel.schedule(id, origin + milliseconds(10));
  int calls = 0;
  wheel.advance(origin + milliseconds(11), [&](std::uint32_t id) {
    ++calls;
    for (std::uint32_t other = 0; other < 3; ++other) wheel.cancel(other);
    wheel.schedule(id, origin);  // due at once: the next tick, not this round for ever
    wheel.schedule(3, origin + milliseconds(500));
  });
  EXPECT_GE(calls, 1);
  EXPECT_LE(calls, 4);
  EXPECT_TRUE(wheel.scheduled(3));
}

/// A reference model of the wheel that looks at every timer each time.
class Model {
 public:
  Model(Instant start, Duration tick) : start_(start), tick_(tick.count()) {}
  void schedule(std::uint32_t id, Instant deadline) {
    const std::int64_t tick = deadline <= start_ ? 0 : ((deadline - start_).count() + tick_ - 1) / tick_;
    due_[id] = std::max(tick, present_ + 1);
  }
  void cancel(std::uint32_t id) { due_.erase(id); }
  std::vector<std::uint32_t> advance(Instant now) {
    present_ = std::max(present_, (now - start_).count() / tick_);
    std::vector<std::pair<std::int64_t, std::uint32_t>> fired;
    for (const auto& [id, tick] : due_) {
      if (tick <= present_) fired.emplace_back(tick, id);
    }
    std::sort(fired.begin(), fired.end());
    std::vector<std::uint32_t> ids;
    for (const auto& [tick, id] : fired) {
      due_.erase(id);
      ids.push_back(id);
    }
    return ids;
  }
  [[nodiscard]] Instant earliest() const {
    Instant result = never;
    for (const auto& [id, tick] : due_) result = std::min(result, start_ + Duration(tick * tick_));
    return result;
  }
  [[nodiscard]] std::size_t size() const { return due_.size(); }
  [[nodiscard]] std::int64_t due(std::uint32_t id) const { return due_.at(id); }

 private:
  Instant start_;
  std::int64_t tick_;
  std::int64_t present_ = 0;
  std::map<std::uint32_t, std::int64_t> due_;
};

Duration random_span(std::mt19937_64& random) {
  // All orders of magnitude alike, up to a hundred hours.
  const auto bits = random() % 49;
  return Duration(static_cast<std::int64_t>(random() % ((std::uint64_t{1} << bits) + 1)));
}

class TimerWheelAgainstModel : public testing::TestWithParam<unsigned> {};

TEST_P(TimerWheelAgainstModel, EverythingFiresOnceAndInOrder) {
  std::mt19937_64 random(GetParam());
  constexpr std::uint32_t ids = 64;
  TimerWheel wheel(ids, origin, GetParam() % 2 == 0 ? Duration(milliseconds(1)) : Duration(microseconds(250)));
  Model model(origin, wheel.tick());
  Instant now = origin;
  for (int step = 0; step < 20000; ++step) {
    const auto id = static_cast<std::uint32_t>(random() % ids);
    const auto choice = random() % 8;
    if (choice < 5) {
      const Instant deadline = now + random_span(random) - (random() % 10 == 0 ? milliseconds(3) : milliseconds(0));
      wheel.schedule(id, deadline);
      model.schedule(id, deadline);
    } else if (choice == 5) {
      wheel.cancel(id);
      model.cancel(id);
    } else {
      now = choice == 6 && wheel.next() != never ? std::max(now, wheel.next()) : now + random_span(random) / 64;
      Model before = model;
      std::vector<std::uint32_t> got = advance(wheel, now);
      ASSERT_TRUE(std::is_sorted(got.begin(), got.end(), [&](auto a, auto b) { return before.due(a) < before.due(b); }))
          << "seed " << GetParam() << " step " << step;
      ASSERT_THAT(got, testing::UnorderedElementsAreArray(model.advance(now)))
          << "seed " << GetParam() << " step " << step;
    }
    ASSERT_EQ(wheel.size(), model.size()) << "seed " << GetParam() << " step " << step;
    ASSERT_LE(wheel.next(), model.earliest()) << "seed " << GetParam() << " step " << step;
  }
}

// A few at a time, and whatever else happens between: all that are due fire once, in order, and none before its time.
TEST_P(TimerWheelAgainstModel, FiresInBoundedBatches) {
  std::mt19937_64 random(GetParam());
  constexpr std::uint32_t ids = 256;
  constexpr std::uint32_t most = 5;
  TimerWheel wheel(ids, origin, milliseconds(1));
  std::map<std::uint32_t, Instant> due;  // by id
  const auto schedule = [&](Instant deadline) {
    const auto id = static_cast<std::uint32_t>(random() % ids);
    wheel.schedule(id, deadline);
    due[id] = deadline;
  };
  Instant now = origin;
  for (int step = 0; step < 2000; ++step) {
    for (int i = 0; i < 20; ++i) schedule(now + wheel.tick() + random_span(random) / 1024);
    now += random_span(random) / 64;
    Instant newest{};
    bool done = false;
    while (!done) {
      std::uint32_t fired = 0;
      done = wheel.advance(now, most, [&](std::uint32_t id) {
        ++fired;
        ASSERT_EQ(due.count(id), 1U) << "seed " << GetParam() << " step " << step;
        ASSERT_LE(due[id], now);
        ASSERT_GE(due[id] + wheel.tick(), newest);
        newest = due[id];
        due.erase(id);
      });
      ASSERT_LE(fired, most);
      if (done) break;
      ASSERT_LE(wheel.next(), now) << "there is more to do";
      schedule(now + wheel.tick() + random_span(random) / 1024);
      const auto other = static_cast<std::uint32_t>(random() % ids);
      wheel.cancel(other);
      due.erase(other);
    }
    for (const auto& [id, deadline] : due) ASSERT_GT(deadline + wheel.tick(), now) << "seed " << GetParam();
    ASSERT_EQ(wheel.size(), due.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimerWheelAgainstModel, testing::Range(1U, 21U));

}  // namespace
}  // namespace sluice::flow
