// Simulations of a cell with one UE on a trace, compared byte for byte with the rules of Mahimahi's link shell.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "emulator/cell/cell.hpp"
#include "emulator/channel/trace.hpp"
#include "emulator/random.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::at_ms;

const IpAddress ue = test::address("10.45.0.2");

struct Arrival {
  std::uint32_t ms = 0;
  std::uint32_t length = 0;
};

struct Departure {
  std::uint32_t ms = 0;
  std::size_t arrival = 0;
  bool operator==(const Departure&) const = default;
};

std::vector<std::uint32_t> random_trace(Random& random) {
  std::vector<std::uint32_t> lines;
  std::uint32_t ms = static_cast<std::uint32_t>(random.below(3));
  const std::uint64_t count = 1 + random.below(40);
  for (std::uint64_t i = 0; i < count; ++i) {
    lines.push_back(ms);
    if (!random.chance(0.3)) ms += static_cast<std::uint32_t>(random.below(6));
  }
  lines.push_back(ms + 1);
  return lines;
}

std::vector<Arrival> random_arrivals(Random& random, std::uint32_t until) {
  std::vector<Arrival> arrivals;
  const double mean_gap = random.uniform(0.3, 8);
  for (double ms = 0; ms < until; ms += random.exponential(mean_gap)) {
    arrivals.push_back({static_cast<std::uint32_t>(ms), static_cast<std::uint32_t>(20 + random.below(1481))});
  }
  return arrivals;
}

/// The rules, millisecond by millisecond: opportunities first, arrivals after them.
std::vector<Departure> oracle(const std::vector<std::uint32_t>& trace, const std::vector<Arrival>& arrivals,
                              std::uint32_t until, std::size_t limit) {
  std::vector<std::uint32_t> opportunities(until + 1, 0);
  for (std::uint32_t lap = 0; lap <= until; lap += trace.back()) {
    for (const std::uint32_t line : trace) {
      if (lap + line <= until) ++opportunities[lap + line];
    }
  }
  std::vector<Departure> departures;
  std::deque<std::size_t> queue;
  std::size_t in_transit = 0;
  std::uint32_t left_in_transit = 0;
  std::size_t next = 0;
  for (std::uint32_t ms = 0; ms <= until; ++ms) {
    for (std::uint32_t i = 0; i < opportunities[ms]; ++i) {
      std::uint32_t left = 1500;
      while (left > 0) {
        if (left_in_transit == 0) {
          if (queue.empty()) break;
          in_transit = queue.front();
          queue.pop_front();
          left_in_transit = arrivals[in_transit].length;
        }
        const std::uint32_t amount = std::min(left, left_in_transit);
        left -= amount;
        left_in_transit -= amount;
        if (left_in_transit == 0) departures.push_back({ms, in_transit});
      }
    }
    for (; next < arrivals.size() && arrivals[next].ms == ms; ++next) {
      if (limit == 0 || queue.size() < limit) queue.push_back(next);
    }
  }
  return departures;
}

/// The frame's first MAC address carries the arrival's number.
class Numbers final : public Element {
 public:
  void receive(packet::Packet packet, Instant now) override {
    const std::uint8_t* const bytes = packet.data();
    const std::size_t number = static_cast<std::size_t>(bytes[0]) << 16U | static_cast<std::size_t>(bytes[1]) << 8U |
                               static_cast<std::size_t>(bytes[2]);
    departures.push_back({static_cast<std::uint32_t>(now.time_since_epoch() / milliseconds(1)), number});
  }
  std::vector<Departure> departures;
};

std::vector<Departure> replay(const std::vector<std::uint32_t>& trace, const std::vector<Arrival>& arrivals,
                              std::uint32_t until, std::size_t limit, Random& random, LinkUse* use = nullptr) {
  EventLoop loop;
  Numbers ues;
  Cell cell(loop, milliseconds(1), std::make_unique<RoundRobin>(), ues);
  cell.add_ue({ue,
               {Bytes(0), BufferUnit::packets, limit},
               std::make_unique<TraceChannel>(std::make_shared<const CapacityTrace>(trace), milliseconds(1)),
               nullptr});
  double last = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    // Anywhere within its millisecond, its first instant included; never before the one before it.
    last = std::max(last, arrivals[i].ms + (random.chance(0.3) ? 0 : random.uniform(0, 0.999)));
    loop.run_until(at_ms(last));
    packet::Packet packet = test::frame(ue, arrivals[i].length);
    packet.data()[0] = static_cast<std::uint8_t>(i >> 16U);
    packet.data()[1] = static_cast<std::uint8_t>(i >> 8U & 0xffU);
    packet.data()[2] = static_cast<std::uint8_t>(i & 0xffU);
    cell.receive(std::move(packet), loop.now());
  }
  loop.run_until(at_ms(until));
  if (use != nullptr) *use = cell.use(0, at_ms(until) + Duration(1));
  return ues.departures;
}

TEST(Replay, UnderOverloadEveryOpportunityIsUsedInItsMillisecond) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto trace = random_trace(random);
    const std::uint32_t until = trace.back() * 3;
    std::vector<Departure> expected;
    for (std::uint32_t lap = 0; lap < 4; ++lap) {
      for (const std::uint32_t line : trace) {
        // What waits from the very start still misses millisecond 0.
        const std::uint32_t ms = lap * trace.back() + line;
        if (ms > 0 && ms <= until) expected.push_back({ms, expected.size()});
      }
    }
    const std::vector<Arrival> arrivals(expected.size() + 10, {0, 1500});
    Random at_once(0);
    LinkUse use;
    std::vector<Arrival> first_instant = arrivals;
    EventLoop loop;
    const auto departures = replay(trace, first_instant, until, 0, at_once, &use);
    ASSERT_EQ(departures, expected) << "seed " << seed;
    const std::uint64_t at_zero = static_cast<std::uint64_t>(std::count(trace.begin(), trace.end(), 0U));
    EXPECT_EQ(use.offered - use.carried, at_zero * 1500) << "seed " << seed;
  }
}

TEST(Replay, EqualsTheRulesForAnyTrafficAndBuffer) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const auto trace = random_trace(random);
    constexpr std::uint32_t until = 1000;
    const auto arrivals = random_arrivals(random, until);
    const std::size_t limit = random.chance(0.5) ? 0 : 1 + random.below(20);
    const auto expected = oracle(trace, arrivals, until, limit);
    ASSERT_EQ(replay(trace, arrivals, until, limit, random), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::emulator
