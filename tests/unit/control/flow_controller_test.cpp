// Every line of the table of per-flow window controllers makes a controller that computes a window from reports.

#include "control/window_laws/flow_controller.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

QueueView queue() {
  QueueView view;
  view.queue = 20'000_B;
  view.buffer = 60'000_B;
  view.mean_rate = Rate::bytes_per_second(800'000);
  view.best_rate = Rate::bytes_per_second(1'000'000);
  view.flows = 2;
  return view;
}

/// 30 kB sent: 10 acknowledged, 5 on the air, 12 queued, 3 on their way.
FlowView flow() {
  FlowView view;
  view.left = 15'000_B;
  view.arrived = 27'000_B;
  view.sent = 30'000_B;
  view.round_trip = 40ms;
  return view;
}

Bytes window_of(FlowControllerKind which) {
  FlowController law(which, {}, {40ms, 1000_B});
  law.on_data(30'000_B);
  static_cast<void>(law.on_queue(queue(), flow()));
  return law.window(10'000_B, queue(), flow());
}

TEST(FlowControllers, EveryNameIsUnique) {
  std::set<std::string_view> words;
  for (const FlowControllerText& text : flow_controller_table) {
    EXPECT_TRUE(words.insert(text.word).second) << text.word;
    EXPECT_TRUE(text.split || text.regulate) << text.word;
  }
  EXPECT_EQ(text_of(FlowControllerKind::gwa_fcfs).word, "gwa-fcfs");
  EXPECT_FALSE(text_of(FlowControllerKind::ack_regulator).split);
}

TEST(FlowControllers, EachTableRowCreatesItsController) {
  for (std::size_t i = 0; i < flow_controller_table.size(); ++i) {
    const auto which = static_cast<FlowControllerKind>(i);
    EXPECT_EQ(FlowController(which, {}, {}).which(), which);
  }
}

TEST(FlowControllers, EachControllerComputesItsWindowFromOneReport) {
  EXPECT_EQ(window_of(FlowControllerKind::wrs), 30'000_B) << "B/n";
  EXPECT_EQ(window_of(FlowControllerKind::wrd), 35'000_B) << "B/n and the 5 kB on the air";
  EXPECT_EQ(window_of(FlowControllerKind::wrb), 35'000_B);
  EXPECT_EQ(window_of(FlowControllerKind::gwa_rr), 18'000_B) << "B/N less the 12 kB of the flow in the queue";
  EXPECT_EQ(window_of(FlowControllerKind::gwa_fcfs), 20'000_B) << "half of the 40 kB that are free";
  EXPECT_EQ(window_of(FlowControllerKind::ba), 20'000_B) << "half of 1 MB/s for 40 ms";
  EXPECT_EQ(window_of(FlowControllerKind::fair_share), 30'000_B) << "20 of the 40 packets of 1500 bytes";
  EXPECT_EQ(window_of(FlowControllerKind::ack_regulator), Bytes::max()) << "it rewrites nothing";
}

TEST(FlowControllers, OnlyTheFairShareLimitsBothDirectionsAndNeedsOnlyTheBuffer) {
  for (std::size_t i = 0; i < flow_controller_table.size(); ++i) {
    const bool fair_share = static_cast<FlowControllerKind>(i) == FlowControllerKind::fair_share;
    EXPECT_EQ(flow_controller_table[i].both_ways, fair_share) << flow_controller_table[i].word;
    EXPECT_EQ(flow_controller_table[i].needs_buffer_only, fair_share) << flow_controller_table[i].word;
  }
}

TEST(FlowControllers, WhatTheNodeBAdvertisesIsAnUpperBound) {
  QueueView view = queue();
  view.advertised = 7'000_B;
  const FlowController law(FlowControllerKind::gwa_fcfs, {}, {});
  EXPECT_EQ(law.window(0_B, view, flow()), 7'000_B);
}

TEST(FlowControllers, ClampFollowsThePriceFromAckToAck) {
  FlowController law(FlowControllerKind::clamp, {}, {40ms, 1000_B});
  QueueView view = queue();
  AckView ack{
      .now = Instant(1s), .ack = 0_B, .newly = 2'000_B, .offered = Bytes(1 << 20), .limited = true, .in_loss = false};
  for (int i = 0; i < 10; ++i) {
    ack.now += 2ms;
    ack.ack += ack.newly;
    EXPECT_EQ(law.on_ack(ack, view, flow()).up_to, Bytes::max()) << "CLAMP holds no ACK";
  }
  const Bytes without_price = law.window(ack.ack, view, flow());
  EXPECT_EQ(without_price, 21'000_B) << "slow start: a segment for each received";
  view.price = 100ms;
  for (int i = 0; i < 10; ++i) {
    ack.now += 2ms;
    ack.ack += ack.newly;
    EXPECT_EQ(law.on_ack(ack, view, flow()).up_to, Bytes::max());
  }
  EXPECT_LT(law.window(ack.ack, view, flow()), without_price / 2);
}

/// A larger ACK means that a missing segment has arrived. Slow start adds a segment for each counted packet.
TEST(FlowControllers, ClampCountsAtMost64PacketsOfAnAck) {
  for (const auto& [newly, window] : {std::pair{63'000_B, 64'000_B}, {64'000_B, 65'000_B}, {65'000_B, 65'000_B}}) {
    FlowController law(FlowControllerKind::clamp, {}, {40ms, 1000_B});
    const AckView ack{
        .now = Instant(1s), .ack = newly, .newly = newly, .offered = Bytes(1 << 20), .limited = true, .in_loss = false};
    EXPECT_EQ(law.on_ack(ack, queue(), flow()).up_to, Bytes::max());
    EXPECT_EQ(law.window(ack.ack, queue(), flow()), window) << newly.count();
  }
}

TEST(FlowControllers, AnUnusedWindowDoesNotGrow) {
  FlowController law(FlowControllerKind::clamp, {}, {40ms, 1000_B});
  law.seed(30'000_B, queue());
  AckView ack{
      .now = Instant(1s), .ack = 0_B, .newly = 1'000_B, .offered = Bytes(1 << 20), .limited = false, .in_loss = false};
  for (int i = 0; i < 1000; ++i) {
    ack.now += 10ms;
    EXPECT_EQ(law.on_ack(ack, queue(), flow()).up_to, Bytes::max());
  }
  EXPECT_EQ(law.window(0_B, queue(), flow()), 33'250_B) << "the path, half of a = 5500, and τ = 500";
}

/// A new controller gets prices of the former controller's queue for some seconds.
TEST(FlowControllers, ClampIgnoresThePriceOfADrainedQueueAfterASwitch) {
  FlowController law(FlowControllerKind::clamp, {}, {40ms, 1000_B});
  QueueView view = queue();
  view.flows = 1;
  view.queue = 60'000_B;
  view.price = 50ms;
  law.seed(40'000_B, view);
  AckView ack{
      .now = Instant(1s), .ack = 0_B, .newly = 1'000_B, .offered = Bytes(1 << 20), .limited = true, .in_loss = false};
  const auto pass = [&](int acks) {
    for (int i = 0; i < acks; ++i) {
      ack.now += 1ms;
      EXPECT_EQ(law.on_ack(ack, view, flow()).up_to, Bytes::max());
    }
    return law.window(0_B, view, flow());
  };
  EXPECT_EQ(pass(50), 46'000_B) << "while the old queue drains: the path, a = 5500 and τ = 500";
  view.queue = 2'000_B;
  view.price = 45ms;
  const Bytes opened = pass(500);
  EXPECT_GT(opened, 46'000_B) << "nothing waits: it opens, whatever the mean remembers";
  EXPECT_LT(opened, 60'000_B) << "by τ per round trip";
  view.queue = 30'000_B;
  view.price = 30ms;
  EXPECT_LT(pass(50), opened) << "a queue that is there closes it";
}

TEST(FlowControllers, AQueueThatStopsDrainingReducesTheNewWindow) {
  FlowController law(FlowControllerKind::clamp, {}, {40ms, 1000_B});
  QueueView view = queue();
  view.queue = 60'000_B;
  view.price = 50ms;
  law.seed(40'000_B, view);
  AckView ack{
      .now = Instant(1s), .ack = 0_B, .newly = 1'000_B, .offered = Bytes(1 << 20), .limited = true, .in_loss = false};
  for (int i = 0; i < 1500; ++i) {
    ack.now += 1ms;
    EXPECT_EQ(law.on_ack(ack, view, flow()).up_to, Bytes::max());
  }
  EXPECT_LT(law.window(0_B, view, flow()), 5'000_B);
}

TEST(FlowControllers, AQueueThatNeverDrainsReducesTheNewWindow) {
  FlowController law(FlowControllerKind::clamp, {}, {40ms, 1000_B});
  QueueView view = queue();
  view.price = 50ms;
  law.seed(40'000_B, view);
  view.queue = feedback::max_plausible;
  view.mean_rate = Rate::bytes_per_second(1e-3);
  AckView ack{
      .now = Instant(1s), .ack = 0_B, .newly = 1'000_B, .offered = Bytes(1 << 20), .limited = true, .in_loss = false};
  for (int i = 0; i < 1500; ++i) {
    ack.now += 1ms;
    EXPECT_EQ(law.on_ack(ack, view, flow()).up_to, Bytes::max());
  }
  EXPECT_LT(law.window(0_B, view, flow()), 5'000_B);
}

TEST(FlowControllers, FlowsAreCountedLikeInTheirPaper) {
  FlowControllerParameters parameters;
  parameters.gwa.decay = 0.8;
  parameters.fair_share.idle = 7s;
  EXPECT_EQ(counting(FlowControllerKind::gwa_rr, parameters).decay, 0.8);
  EXPECT_EQ(counting(FlowControllerKind::fair_share, parameters).interval, 7s);
  EXPECT_EQ(counting(FlowControllerKind::fair_share, parameters).decay, 0);
}

}  // namespace
}  // namespace sluice::control
