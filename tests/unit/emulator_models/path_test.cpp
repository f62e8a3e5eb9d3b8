// Tests of paths with more than a delay: policers, delay steps and routes by source address.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "emulator/net/delay_line.hpp"
#include "emulator/net/source_switch.hpp"
#include "emulator/net/token_bucket.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::address;
using test::at_ms;
using test::frame_from;
using test::Recorder;

constexpr double mbps8 = 8e6;  // 1000 bytes in a millisecond

TEST(TokenBucket, PassesTheBurstAndThenTheRate) {
  TokenBucket bucket(Rate::bits_per_second(mbps8), Bytes(5000));
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += bucket.take(Bytes(1000), at_ms(0)) ? 1 : 0;
  EXPECT_EQ(passed, 5);
  passed = 0;
  for (int ms = 1; ms <= 1000; ++ms) {
    for (int i = 0; i < 3; ++i) passed += bucket.take(Bytes(1000), at_ms(ms)) ? 1 : 0;
  }
  EXPECT_EQ(passed, 1000) << "a third of three times the rate";
}

TEST(TokenBucket, HoldsNoMoreThanTheBurst) {
  TokenBucket bucket(Rate::bits_per_second(mbps8), Bytes(3000));
  EXPECT_FALSE(bucket.take(Bytes(3001), at_ms(10'000)));
  EXPECT_TRUE(bucket.take(Bytes(3000), at_ms(10'000))) << "what did not pass has taken nothing";
  EXPECT_FALSE(bucket.take(Bytes(1), at_ms(10'000)));
}

TEST(TokenBucket, RefusesAZeroRateOrBurst) {
  EXPECT_THROW(TokenBucket(Rate(), Bytes(1500)), std::invalid_argument);
  EXPECT_THROW(TokenBucket(Rate::bits_per_second(mbps8), Bytes(0)), std::invalid_argument);
}

std::vector<double> arrivals(const Recorder& far) {
  std::vector<double> times;
  for (const auto& entry : far.entries) times.push_back(to_milliseconds(entry.at - Instant{}));
  return times;
}

TEST(DelayLine, AppliesTheExtraDelayOfTheLastStepAndKeepsTheOrder) {
  EventLoop loop;
  Recorder far;
  DelayLineConfig config;
  config.delay = 10ms;
  config.steps = {{100ms, 50ms}, {200ms, 0ms}};
  DelayLine line(loop, config, far);
  for (const int ms : {0, 99, 100, 199, 200, 250}) {
    loop.run_until(at_ms(ms));
    line.receive(frame_from(address("192.0.2.9"), 100), loop.now());
  }
  loop.run_until(at_ms(1000));
  EXPECT_EQ(arrivals(far), std::vector<double>({10, 109, 160, 259, 259, 260}))
      << "what was sent at 200 ms may not pass what was sent at 199";
}

TEST(DelayLine, CountsStepTimesFromItsConstruction) {
  EventLoop loop;
  loop.run_until(at_ms(5000));
  Recorder far;
  DelayLineConfig config;
  config.delay = 10ms;
  config.steps = {{100ms, 50ms}};
  DelayLine line(loop, config, far);
  line.receive(frame_from(address("192.0.2.9"), 100), loop.now());
  loop.run_until(at_ms(5100));
  line.receive(frame_from(address("192.0.2.9"), 100), loop.now());
  loop.run_until(at_ms(6000));
  EXPECT_EQ(arrivals(far), std::vector<double>({5010, 5160}));
}

TEST(DelayLine, RefusesStepsOutOfOrder) {
  EventLoop loop;
  Recorder far;
  DelayLineConfig config;
  config.delay = 10ms;
  config.steps = {{200ms, 5ms}, {100ms, 0ms}};
  EXPECT_THROW(DelayLine(loop, config, far), std::invalid_argument);
  config.steps = {{200ms, -5ms}};
  EXPECT_THROW(DelayLine(loop, config, far), std::invalid_argument);
}

TEST(SourceSwitch, RoutesPacketsByTheirSourceAddress) {
  Recorder own;
  Recorder rest;
  SourceSwitch at(rest);
  at.add(address("192.0.2.2"), own);
  at.receive(frame_from(address("192.0.2.1"), 100, 1), at_ms(0));
  at.receive(frame_from(address("192.0.2.2"), 100, 2), at_ms(0));
  at.receive(test::packet_of(std::vector<std::uint8_t>(60, 0)), at_ms(0));  // no IP header
  ASSERT_EQ(own.entries.size(), 1U);
  EXPECT_EQ(own.entries[0].mark, 2);
  EXPECT_EQ(rest.entries.size(), 2U);
}

}  // namespace
}  // namespace sluice::emulator
