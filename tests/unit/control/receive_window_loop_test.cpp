// Tests of the second loop, which sets the window towards the server, by its formula and in closed loop with a relay
// buffer.
#include "control/smvs/receive_window_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <utility>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

/// A greedy server that fills whatever window it is given, half a round trip away, and a radio leg that drains the
/// relay's buffer. Steps of one millisecond.
struct Relay {
  ReceiveWindowLoop loop;
  std::int64_t rtt_ms = 60;
  std::function<double(std::int64_t)> capacity;  ///< bytes that the radio leg accepts in this millisecond
  /// True if the loop gets the rate that the radio could take (from reports); false if it gets the rate that the radio
  /// took.
  bool told_capacity = true;
  double server_limit = 1e12;  ///< bytes the server sends per millisecond at most
  double best = 0;             ///< best recent drain rate that the loop gets, bytes per millisecond

  double buffered = 0, offered = 0, drained = 0, highest = 0;
  std::int64_t edge = 0, received = 0, sent = 0;
  std::deque<std::pair<std::int64_t, std::int64_t>> edges, data;
  double told = 0;

  void run(std::int64_t from, std::int64_t to) {
    for (std::int64_t now = from; now < to; ++now) {
      for (; !data.empty() && data.front().first <= now; data.pop_front()) {
        received += data.front().second;
        buffered += static_cast<double>(data.front().second);
      }
      const double room = capacity(now);
      const double taken = std::min(room, buffered);
      buffered -= taken;
      offered += room;
      drained += taken;
      told += 0.02 * ((told_capacity ? room : taken) - told);
      const Bytes more = loop.advance({.buffered = Bytes(buffered),
                                       .advertised = Bytes(edge - received),
                                       .radio_error = {},
                                       .drain = OnWire(Rate::bytes_per_second(told * 1000)),
                                       .server_rtt = std::chrono::milliseconds(rtt_ms),
                                       .best = OnWire(Rate::bytes_per_second(best * 1000))});
      ASSERT_GE(more, 0_B);
      edge += more.count();
      if (more > 0_B) edges.emplace_back(now + rtt_ms / 2, edge);
      serve(now);
      highest = std::max(highest, buffered);
    }
  }
  void serve(std::int64_t now) {
    for (; !edges.empty() && edges.front().first <= now; edges.pop_front()) known_edge_ = edges.front().second;
    const auto size = static_cast<std::int64_t>(std::min(server_limit, static_cast<double>(known_edge_ - sent)));
    if (size <= 0) return;
    sent += size;
    data.emplace_back(now + rtt_ms / 2, size);
  }

 private:
  std::int64_t known_edge_ = 0;
};

TEST(ReceiveWindowLoop, StartsWithTheInitialWindow) {
  ReceiveWindowLoop loop;
  EXPECT_EQ(loop.advance({.buffered = 0_B, .advertised = 0_B, .radio_error = {}, .drain = {}, .server_rtt = 0ms}),
            65536_B);
  EXPECT_EQ(loop.advance({.buffered = 0_B, .advertised = 65536_B, .radio_error = {}, .drain = {}, .server_rtt = 0ms}),
            0_B);
  EXPECT_EQ(
      loop.advance({.buffered = 1000_B, .advertised = 60000_B, .radio_error = {}, .drain = {}, .server_rtt = 0ms}),
      4536_B);
}

TEST(ReceiveWindowLoop, ConvergesToDelayTimesDrainPlusReference) {
  ReceiveWindowLoop loop;
  const OnWire drain(Rate::bytes_per_second(1e6));
  const Bytes more =
      loop.advance({.buffered = 40000_B, .advertised = 0_B, .radio_error = {}, .drain = drain, .server_rtt = 100ms});
  // q0 = 30 ms · 1 MB/s = 30000, RTT · b̄ = 100000, and 40000 are there already.
  EXPECT_EQ(more, 90000_B);
  EXPECT_DOUBLE_EQ(loop.state().reference, 30000);
  EXPECT_EQ(loop.advance(
                {.buffered = 40000_B, .advertised = 90000_B, .radio_error = {}, .drain = drain, .server_rtt = 100ms}),
            0_B);
  EXPECT_EQ(loop.advance(
                {.buffered = 90000_B, .advertised = 90000_B, .radio_error = {}, .drain = drain, .server_rtt = 100ms}),
            0_B)
      << "an edge is never taken back";
}

TEST(ReceiveWindowLoop, TheReferenceUsesAtLeastHalfOfTheBestRecentRate) {
  const auto reference = [](double best) {
    ReceiveWindowLoop loop;
    loop.advance({.buffered = 0_B,
                  .advertised = 0_B,
                  .radio_error = {},
                  .drain = OnWire(Rate::bytes_per_second(1e6)),
                  .server_rtt = 100ms,
                  .framing = {},
                  .best = OnWire(Rate::bytes_per_second(best))});
    return loop.state().reference;
  };
  EXPECT_DOUBLE_EQ(reference(8e6), 120'000);
  EXPECT_DOUBLE_EQ(reference(1.5e6), 30'000) << "a steady link's is as it was";
  EXPECT_DOUBLE_EQ(reference(0), 30'000);
}

// The link is slow for a second and eight times as fast for 100 ms, so the buffer must last until the server reacts.
TEST(ReceiveWindowLoop, AVaryingLinkHasALargerReference) {
  const auto use = [](double best) {
    Relay relay;
    relay.best = best;
    relay.capacity = [](std::int64_t now) { return now % 1100 < 1000 ? 125.0 : 1000.0; };
    relay.run(0, 2000);
    relay.offered = relay.drained = 0;
    relay.run(2000, 24'000);
    return relay.drained / relay.offered;
  };
  EXPECT_GT(use(1000), use(0) + 0.02);
}

// An excess in the radio queue is withheld from the server at once, and a shortage is requested from it.
TEST(ReceiveWindowLoop, TheErrorOfTheRadioQueueIsAdded) {
  const OnWire drain(Rate::bytes_per_second(1e6));
  const auto advance = [&](Bytes error) {
    ReceiveWindowLoop loop;
    return loop.advance(
        {.buffered = 40000_B, .advertised = 0_B, .radio_error = OnWire(error), .drain = drain, .server_rtt = 100ms});
  };
  EXPECT_EQ(advance(30000_B), 60000_B);
  EXPECT_EQ(advance(-20000_B), 110000_B);
  EXPECT_EQ(advance(500000_B), 0_B);
}

// A queue and a rate of small segments are a tenth headers; what is promised is not.
TEST(ReceiveWindowLoop, TheWindowAccountsForHeadersOnTheRadio) {
  ReceiveWindowObservation seen{0_B,   0_B,           OnWire(11040_B), OnWire(Rate::bytes_per_second(1.104e6)),
                                100ms, /*framing=*/{}};
  EXPECT_EQ(ReceiveWindowLoop().advance(seen), 132480_B) << "nothing is known of the packets yet";
  for (int packet = 0; packet < 1000; ++packet) seen.framing.sent(500_B, OnWire(552_B));
  EXPECT_EQ(ReceiveWindowLoop().advance(seen), 120000_B) << "240 segments, with their headers 132480 bytes";
}

TEST(Framing, FollowsRecentPackets) {
  Framing framing;
  EXPECT_EQ(framing.share(), 1);
  for (int packet = 0; packet < 1000; ++packet) framing.sent(1448_B, OnWire(1500_B));
  EXPECT_NEAR(framing.share(), 1448.0 / 1500, 1e-3);
  for (int packet = 0; packet < 4000; ++packet) framing.sent(100_B, OnWire(152_B));
  EXPECT_NEAR(framing.share(), 100.0 / 152, 0.05);
  EXPECT_EQ(framing.payload_of(OnWire(Bytes{})), 0_B);
}

// After an outage the first loop no longer knows its rate, but servers must not get the initial window again.
TEST(ReceiveWindowLoop, AStalledLinkDoesNotRestoreTheInitialWindow) {
  ReceiveWindowLoop loop;
  loop.advance({.buffered = 0_B,
                .advertised = 0_B,
                .radio_error = {},
                .drain = OnWire(Rate::bytes_per_second(1e6)),
                .server_rtt = 100ms});
  EXPECT_EQ(loop.advance({.buffered = 3000_B, .advertised = 0_B, .radio_error = {}, .drain = {}, .server_rtt = 100ms}),
            0_B);
  EXPECT_EQ(loop.advance({.buffered = 0_B, .advertised = 0_B, .radio_error = {}, .drain = {}, .server_rtt = 100ms}),
            3000_B)
      << "only what finds out whether it moves again";
}

TEST(ReceiveWindowLoop, NeverExceedsTheMaximum) {
  ReceiveWindowParameters parameters;
  parameters.maximum = Bytes(200000);
  ReceiveWindowLoop loop(parameters);
  EXPECT_EQ(loop.advance({.buffered = 40000_B,
                          .advertised = 50000_B,
                          .radio_error = {},
                          .drain = OnWire(Rate::bits_per_second(1e9)),
                          .server_rtt = 100ms}),
            110000_B);
  EXPECT_EQ(loop.advance({.buffered = 150000_B,
                          .advertised = 50000_B,
                          .radio_error = {},
                          .drain = OnWire(Rate::bits_per_second(1e9)),
                          .server_rtt = 100ms}),
            0_B);
}

TEST(ReceiveWindowLoop, KeepsASteadyRadioLegBusyAndItsOwnBufferSmall) {
  for (const double bps : {5e5, 5e6, 5e7}) {
    Relay relay;
    relay.capacity = [=](std::int64_t) { return bps / 8000; };
    relay.run(0, 2000);
    relay.offered = relay.drained = relay.highest = 0;
    relay.run(2000, 10'000);
    EXPECT_GE(relay.drained / relay.offered, 0.999) << bps;
    EXPECT_LE(relay.highest, std::max(10e3, bps / 8 * 0.06)) << bps;
  }
}

TEST(ReceiveWindowLoop, KeepsAVaryingRadioLegBusy) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const std::int64_t rtt : {20, 60, 120}) {
      std::mt19937_64 random(seed);
      double rate = 0;
      Relay relay;
      relay.rtt_ms = rtt;
      relay.capacity = [&](std::int64_t now) {
        if (now % 200 == 0) rate = std::uniform_real_distribution<>(100, 1000)(random);
        return rate;
      };
      relay.run(0, 30'000);
      // At 120 ms more than half of a rate's duration passes before the server can react.
      EXPECT_GE(relay.drained / relay.offered, rtt < 100 ? 0.95 : 0.9) << "seed " << seed << " RTT " << rtt;
      EXPECT_LE(relay.highest, 1000.0 * (25 + 2 * static_cast<double>(rtt))) << "seed " << seed << " RTT " << rtt;
    }
  }
}

// The drain seen while starved is the server's rate and not the radio's: the window still has to find 50 Mb/s.
TEST(ReceiveWindowLoop, FindsTheRateOfARadioLegFromItsDrain) {
  Relay relay;
  relay.told_capacity = false;
  relay.capacity = [](std::int64_t) { return 6250.0; };
  relay.run(0, 1500);
  relay.offered = relay.drained = 0;
  relay.run(1500, 6000);
  EXPECT_GE(relay.drained / relay.offered, 0.99);
}

TEST(ReceiveWindowLoop, ASlowServerKeepsTheInitialWindow) {
  Relay relay;
  relay.told_capacity = false;
  relay.server_limit = 100;  // 0.8 Mb/s into a radio leg of 50
  relay.capacity = [](std::int64_t) { return 6250.0; };
  relay.run(0, 10'000);
  EXPECT_LE(relay.edge - relay.received, 70'000) << "the initial window and no more";
}

TEST(ReceiveWindowLoop, AnOutageFillsAtMostTheAdvertisedWindow) {
  Relay relay;
  relay.capacity = [](std::int64_t now) { return now >= 5000 && now < 10'000 ? 0.0 : 1000.0; };
  relay.run(0, 5000);
  const std::int64_t advertised = relay.edge - relay.received;
  const double before = relay.buffered;
  relay.run(5000, 10'000);
  EXPECT_LE(relay.buffered, before + static_cast<double>(advertised) + 1000 * 30);
  relay.offered = relay.drained = 0;
  relay.run(10'000, 15'000);
  EXPECT_GE(relay.drained / relay.offered, 0.97);
}

}  // namespace
}  // namespace sluice::control
