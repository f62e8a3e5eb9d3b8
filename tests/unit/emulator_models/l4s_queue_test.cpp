// Tests of DualPI2 (RFC 9332) and of the router of ABC, as router queues and as radio queues.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "emulator/aqm/abc.hpp"
#include "emulator/aqm/dualpi2.hpp"
#include "emulator/cell/ue_queue.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using test::at_ms;
using Verdict = DualPi2Control::Verdict;

constexpr std::uint8_t not_capable = 0, scalable = 1, classic = 2, congested = 3;

packet::Packet with_ecn(std::uint8_t ecn, std::size_t length = 1000) {
  packet::Packet frame = test::segment(1, length);
  frame.data()[15] = ecn;
  return frame;
}

int ecn_field(const packet::Packet& packet) {
  return packet ? packet.data()[15] & 3 : -1;
}

/// Updates of a queue whose oldest packet has waited `ms` at each of them.
void update(DualPi2Control& control, Instant& now, int times, double ms) {
  for (int i = 0; i < times; ++i) {
    now += 16ms;
    control.follow(now - from_seconds(ms / 1000), now);
  }
}

TEST(DualPi2, TheProbabilityFollowsTheDelayAndItsChange) {
  DualPi2Control control({});
  Instant now(1h);
  control.follow(now, now);
  update(control, now, 1, 25);
  EXPECT_NEAR(control.base(), 0.16 * 0.010 + 3.2 * 0.025, 1e-9) << "ten above the target, 25 more than before";
  update(control, now, 10, 25);
  EXPECT_NEAR(control.base(), 11 * 0.16 * 0.010 + 3.2 * 0.025, 1e-9);
  update(control, now, 1, 15);
  EXPECT_NEAR(control.base(), 11 * 0.16 * 0.010 + 3.2 * 0.015, 1e-9);
  update(control, now, 1000, 0);
  EXPECT_EQ(control.base(), 0);
  update(control, now, 1000, 500);
  EXPECT_EQ(control.base(), 1);
}

TEST(DualPi2, MissedUpdatesAreMadeUpFor) {
  DualPi2Control control({});
  const Instant begin(1h);
  control.follow(begin, begin);
  control.follow(begin, begin + 48ms);  // a packet of the beginning waited 16, 32 and 48 ms at three updates
  EXPECT_NEAR(control.base(), 0.16 * (0.001 + 0.017 + 0.033) + 3.2 * 0.048, 1e-9);
  control.follow(begin + 10h, begin + 10h);  // idle for long
  EXPECT_EQ(control.base(), 0);
}

TEST(DualPi2, ClassicIsMarkedWithTheSquareAndScalableWithTwice) {
  DualPi2Control control({});
  Instant now(1h);
  control.follow(now, now);
  while (control.base() < 0.1) update(control, now, 1, 16);
  const double base = control.base();
  int marks = 0, scalable_marks = 0, drops = 0;
  for (int i = 0; i < 10'000; ++i) {
    marks += control.judge_classic(true) == Verdict::mark ? 1 : 0;
    drops += control.judge_classic(false) == Verdict::drop ? 1 : 0;
    scalable_marks += control.judge_scalable(0ms, Bytes(0)) == Verdict::mark ? 1 : 0;
  }
  EXPECT_NEAR(marks + drops, 20'000 * base * base, 2);
  EXPECT_NEAR(scalable_marks, 10'000 * 2 * base, 2);
}

TEST(DualPi2, TheStepMarksWhatHasWaitedWithMoreBehindIt) {
  DualPi2Control control({});
  EXPECT_EQ(control.judge_scalable(1ms, Bytes(9000)), Verdict::pass);
  EXPECT_EQ(control.judge_scalable(1001us, Bytes(9000)), Verdict::mark);
  EXPECT_EQ(control.judge_scalable(5ms, Bytes(1000)), Verdict::pass) << "one packet is no queue";
}

/// RFC 9332, appendix A.2: beyond p' = 1/k marks carry no further information.
TEST(DualPi2, AnOverloadIsDroppedFromBothQueues) {
  DualPi2Control control({});
  Instant now(1h);
  control.follow(now, now);
  update(control, now, 1, 250);
  ASSERT_GE(control.base(), 0.5);
  const double likelihood = control.base() * control.base();
  int drops = 0, marks = 0, classic_drops = 0;
  for (int i = 0; i < 1000; ++i) {
    const Verdict verdict = control.judge_scalable(0ms, Bytes(0));
    drops += verdict == Verdict::drop ? 1 : 0;
    marks += verdict == Verdict::mark ? 1 : 0;
    classic_drops += control.judge_classic(true) == Verdict::drop ? 1 : 0;
  }
  EXPECT_NEAR(drops, 1000 * likelihood, 2);
  EXPECT_EQ(marks, 1000 - drops) << "the rest is marked";
  EXPECT_NEAR(classic_drops, 1000 * likelihood, 2) << "not marked, although it could be";
}

TEST(DualPi2, L4sPacketsGoFirstForAtMostTheTimeShift) {
  DualPi2Queue queue({}, {});
  const std::vector<std::uint8_t> fields = {classic, not_capable, scalable, congested};
  for (const std::uint8_t ecn : fields) queue.enqueue(with_ecn(ecn), at_ms(0));
  queue.enqueue(with_ecn(scalable), at_ms(29));
  queue.enqueue(with_ecn(scalable), at_ms(31));
  std::vector<int> order;
  for (packet::Packet next = queue.dequeue(at_ms(31)); next; next = queue.dequeue(at_ms(31))) {
    order.push_back(next.data()[15] & 3);
  }
  // The first three may have been marked by the step, which does not change who they are.
  ASSERT_EQ(order.size(), 6U);
  EXPECT_NE(order[0] & 1, 0);
  EXPECT_NE(order[1] & 1, 0);
  EXPECT_NE(order[2] & 1, 0);
  EXPECT_EQ(order[3], classic) << "it has waited 31 ms longer than the last one of L4S";
  EXPECT_EQ(order[4], not_capable);
  EXPECT_EQ(order[5], scalable);
  EXPECT_EQ(queue.counters().departed, 6U);
}

TEST(DualPi2, ParametersOutOfRangeAreRefused) {
  EXPECT_THROW(DualPi2Control({.target = 0ms}), std::invalid_argument);
  EXPECT_THROW(DualPi2Control({.alpha = 0}), std::invalid_argument);
  EXPECT_THROW(DualPi2Control({.coupling = 0.5}), std::invalid_argument);
  EXPECT_THROW(DualPi2Control({.step = 0ms}), std::invalid_argument);
  EXPECT_THROW(DualPi2Control({.tupdate = 0ms}), std::invalid_argument);
  EXPECT_THROW(DualPi2Control({.beta = 0}), std::invalid_argument);
  EXPECT_THROW(DualPi2Control({.shift = -1ns}), std::invalid_argument);
  EXPECT_NO_THROW(DualPi2Control(
      {.target = 1ns, .tupdate = 1ns, .alpha = 1e-9, .beta = 1e-9, .coupling = 1, .step = 1ns, .shift = 0ns}));
}

UeQueue radio_queue(QueueManagement management, std::uint64_t limit = 0) {
  QueueConfig config{Bytes(0), BufferUnit::packets, limit};
  config.management = management;
  config.abc.window = 40ms;
  return UeQueue(config);
}

TEST(DualPi2, AFullRadioQueueDropsAndForwardsTheRestAtHandover) {
  UeQueue queue = radio_queue(QueueManagement::dualpi2, 2);
  EXPECT_TRUE(queue.push(with_ecn(classic), Bytes(1000), at_ms(0)));
  EXPECT_TRUE(queue.push(with_ecn(scalable), Bytes(1000), at_ms(0)));
  EXPECT_FALSE(queue.push(with_ecn(scalable), Bytes(1000), at_ms(0)));
  std::vector<int> handed_on;
  queue.forward_all(at_ms(1), [&](const packet::Packet& packet, Bytes) { handed_on.push_back(ecn_field(packet)); });
  EXPECT_EQ(handed_on, (std::vector<int>{scalable, classic}));
  EXPECT_EQ(queue.counters().dropped_packets, 1U);
}

/// Returns the share of packets that leave as `accelerate`, for a link of 1000 bytes per millisecond whose queue holds
/// `waiting` packets.
double share_accelerated(UeQueue& queue, int waiting, int times) {
  int accelerated = 0, left = 0;
  int ms = 0;
  for (int i = 0; i < waiting; ++i) queue.push(with_ecn(scalable), Bytes(1000), at_ms(ms));
  for (; left < times; ++ms) {
    queue.serve(Bytes(1000), at_ms(ms + 1), [&](const Departed& departed) {
      ++left;
      accelerated += ecn_field(departed.packet) == scalable ? 1 : 0;
    });
    queue.push(with_ecn(scalable), Bytes(1000), at_ms(ms + 1));
  }
  return static_cast<double>(accelerated) / left;
}

TEST(Abc, HalfOfThePacketsAccelerateOnAFullLinkWithAShortQueue) {
  UeQueue queue = radio_queue(QueueManagement::abc);
  EXPECT_NEAR(share_accelerated(queue, 5, 2000), 0.98 / 2, 0.01);
  EXPECT_NEAR(static_cast<double>(queue.counters().marked_packets), 2000 * (1 - 0.98 / 2), 30);
}

/// 66.5 ms above the threshold of 20 ms are half of δ.
TEST(Abc, TheTargetRateEmptiesAQueueAboveTheThresholdWithinDelta) {
  UeQueue queue = radio_queue(QueueManagement::abc);
  EXPECT_NEAR(share_accelerated(queue, 86, 4000), (0.98 - 66.0 / 133) / 2, 0.01);
}

TEST(Abc, EveryPacketAcceleratesAtHalfUse) {
  UeQueue queue = radio_queue(QueueManagement::abc);
  int accelerated = 0;
  for (int ms = 0; ms < 2000; ++ms) {
    queue.push(with_ecn(scalable), Bytes(1000), at_ms(3 * ms));
    // The link carries a packet each millisecond; for two of three nothing waits.
    queue.serve(Bytes(1000), at_ms(3 * ms + 1),
                [&](const Departed& departed) { accelerated += ecn_field(departed.packet) == scalable ? 1 : 0; });
    queue.offer(Bytes(2000), at_ms(3 * ms + 1), at_ms(3 * ms + 3));
  }
  EXPECT_GT(accelerated, 1990);
}

TEST(Abc, OnlyOneWindowOfALongPauseIsCredited) {
  AbcControl control({.window = 40ms});
  control.offer(Bytes(1'000'000), at_ms(0), at_ms(1000));  // 1000 bytes in each millisecond
  int accelerated = 0;
  for (int i = 0; i < 80; ++i) {
    packet::Packet frame = with_ecn(scalable);
    accelerated += control.brakes(frame, Bytes(1000), 0ms, at_ms(1000)) ? 0 : 1;
  }
  EXPECT_LT(accelerated, 50) << "of 40 ms, in which 80 packets were sent";
  EXPECT_GT(accelerated, 30);
}

TEST(Abc, AnOutageBrakes) {
  AbcControl control({});
  control.offer(Bytes(1000), at_ms(0), at_ms(1));
  packet::Packet frame = with_ecn(scalable);
  EXPECT_TRUE(control.brakes(frame, Bytes(1000), 500ms, at_ms(500)));
  EXPECT_EQ(ecn_field(frame), congested);
}

// Algorithm 1 of the paper: other packets leave their tokens to those that ask to accelerate.
TEST(Abc, OnlyPacketsThatAskToAccelerateCostTokens) {
  AbcControl control({.window = 40ms});
  int braked = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    control.offer(Bytes(1000), at_ms(ms), at_ms(ms + 1));
    packet::Packet frame = with_ecn(ms % 2 == 0 ? scalable : not_capable);
    if (control.brakes(frame, Bytes(1000), 0ms, at_ms(ms + 1))) ++braked;
  }
  EXPECT_LT(braked, 20) << "each second packet needs a token, and each packet adds about half of one";
}

TEST(Abc, PacketsWithoutL4sEcnAreNotChanged) {
  for (const std::uint8_t ecn : {not_capable, classic, congested}) {
    AbcControl control({});  // without tokens
    packet::Packet frame = with_ecn(ecn);
    EXPECT_FALSE(control.brakes(frame, Bytes(1000), 500ms, at_ms(500)));
    EXPECT_EQ(ecn_field(frame), ecn);
  }
}

TEST(Abc, ARouterQueueUsesTheLineRate) {
  AbcQueue queue({}, {}, Rate::bits_per_second(8e6));
  int braked = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    queue.enqueue(with_ecn(scalable, 986), at_ms(ms));
    braked += ecn_field(queue.dequeue(at_ms(ms))) == congested ? 1 : 0;
  }
  EXPECT_NEAR(braked, 1000 * (1 - 0.98 / 2), 30);
}

TEST(Abc, ParametersOutOfRangeAreRefused) {
  EXPECT_THROW(AbcControl({.eta = 0}), std::invalid_argument);
  EXPECT_THROW(AbcControl({.delta = 0ms}), std::invalid_argument);
  EXPECT_THROW(AbcControl({.window = 0ms}), std::invalid_argument);
  EXPECT_THROW(AbcControl({.eta = 1.001}), std::invalid_argument);
  EXPECT_THROW(AbcControl({.delay_threshold = -1ns}), std::invalid_argument);
  EXPECT_NO_THROW(AbcControl({.eta = 1, .delta = 1ns, .delay_threshold = 0ns, .window = 1ns}));
}

}  // namespace
}  // namespace sluice::emulator
