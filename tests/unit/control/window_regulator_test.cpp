// Tests of the Window Regulator's three forms with scripts: the windows that they write and the ACKs that they hold.
#include "control/window_laws/window_regulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace sluice::control {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr Bytes packet{1000};

WindowRegulator regulator(WindowRegulation form, std::int64_t buffer_packets = 10) {
  WindowRegulatorParameters parameters;
  parameters.form = form;
  parameters.buffer = packet * buffer_packets;
  parameters.segment = packet;
  return WindowRegulator(parameters);
}

/// The words of the paper: packets leave the queue, ACKs arrive and go. Counts in packets.
struct Script {
  WindowRegulator law;
  std::vector<std::int64_t> held{};  ///< what the ACKs acknowledge that were not let go
  std::int64_t furthest_edge = 0;    ///< furthest right edge of the released ACKs

  std::vector<std::int64_t> dequeue(std::int64_t end, bool empty = false) {
    return go(law.on_dequeue(packet * end, empty));
  }
  std::vector<std::int64_t> ack(std::int64_t ack, bool empty = false) {
    held.push_back(ack);
    return go(law.on_ack(packet * ack, empty));
  }
  /// The windows of the ACKs that went.
  std::vector<std::int64_t> go(AckRelease release) {
    std::vector<std::int64_t> windows;
    while (!held.empty() && (packet * held.front() <= release.up_to || windows.size() < release.at_least)) {
      const Bytes ack = packet * held.front();
      held.erase(held.begin());
      windows.push_back(law.window(ack).count() / packet.count());
      furthest_edge = std::max(furthest_edge, ack.count() / packet.count() + windows.back());
      law.on_released(ack, law.window(ack));
    }
    return windows;
  }
};

TEST(WindowRegulator, TheStaticFormWritesTheBuffer) {
  Script wrs{regulator(WindowRegulation::fixed)};
  EXPECT_THAT(wrs.dequeue(5), IsEmpty());
  EXPECT_THAT(wrs.ack(1), ElementsAre(10));
  EXPECT_THAT(wrs.ack(5), ElementsAre(10));
}

// Figure 4.
TEST(WindowRegulator, TheDynamicFormAddsTheBytesOnTheAir) {
  Script wrd{regulator(WindowRegulation::dynamic)};
  wrd.dequeue(5);
  EXPECT_EQ(wrd.law.on_air(), packet * 5);
  EXPECT_THAT(wrd.ack(1), ElementsAre(14)) << "Y = 4";
  EXPECT_THAT(wrd.ack(2), ElementsAre(13)) << "one less: the edge is frozen";
  wrd.dequeue(8);
  EXPECT_THAT(wrd.ack(3), ElementsAre(15));
}

TEST(WindowRegulator, DelayedAcksCountAllTheyCover) {
  Script wrd{regulator(WindowRegulation::dynamic)};
  wrd.dequeue(5);
  EXPECT_THAT(wrd.ack(3), ElementsAre(12)) << "Y = 2";
}

TEST(WindowRegulator, RetransmissionsAndDuplicatesAreNotCounted) {
  Script wrd{regulator(WindowRegulation::dynamic)};
  wrd.dequeue(5);
  wrd.ack(2);
  wrd.dequeue(3);
  EXPECT_EQ(wrd.law.on_air(), packet * 3) << "3 was sent before";
  wrd.ack(2);
  wrd.ack(1);
  EXPECT_EQ(wrd.law.on_air(), packet * 3);
  wrd.ack(7);
  EXPECT_EQ(wrd.law.on_air(), 0_B) << "the word of the queue is late";
}

// Figure 5.
TEST(WindowRegulator, AcksThatWouldShrinkTheWindowWaitForADequeue) {
  Script wrb{regulator(WindowRegulation::ack_buffer)};
  wrb.dequeue(5);
  EXPECT_THAT(wrb.ack(1), ElementsAre(14));
  EXPECT_THAT(wrb.ack(2), IsEmpty()) << "13 < 14";
  EXPECT_THAT(wrb.ack(3), IsEmpty());
  EXPECT_EQ(wrb.law.held(), packet * 2) << "Ba";
  EXPECT_THAT(wrb.dequeue(6), ElementsAre(14)) << "the oldest, with Y + B + Ba = 3 + 10 + 1";
  EXPECT_THAT(wrb.dequeue(7), ElementsAre(14));
  EXPECT_THAT(wrb.held, IsEmpty());
  EXPECT_THAT(wrb.dequeue(8), IsEmpty());
  EXPECT_THAT(wrb.ack(4), ElementsAre(14)) << "no smaller than the last";
  EXPECT_THAT(wrb.dequeue(10), IsEmpty());
  EXPECT_THAT(wrb.ack(5), ElementsAre(15)) << "the pipe has grown";
}

/// The former law granted 30 packets, of which 5 have left the queue and 1 is acknowledged.
TEST(WindowRegulator, NoAckIsHeldForAWindowOfAFormerController) {
  Script wrb{regulator(WindowRegulation::ack_buffer)};
  wrb.law.on_released(packet, packet * 29);
  wrb.dequeue(5);
  EXPECT_THAT(wrb.ack(2), ElementsAre(13)) << "the edge of 30 stays whatever it says";
  wrb.dequeue(14);
  EXPECT_THAT(wrb.ack(13), ElementsAre(11));
  wrb.dequeue(20);
  EXPECT_THAT(wrb.ack(14), IsEmpty()) << "used up: 20 + B is what was promised, and from here on none shrinks";
  EXPECT_THAT(wrb.dequeue(21), ElementsAre(17));
}

// The figure to the letter, where Ba is never lowered, and the reading that is implemented: an ACK and a dequeue in
// turn.
TEST(WindowRegulator, TheLiteralFigureNeverConverges) {
  std::int64_t on_air = 5, ack_buffer = 0, stored = 0, last = 15;
  Script wrb{regulator(WindowRegulation::ack_buffer)};
  wrb.dequeue(6);
  EXPECT_THAT(wrb.ack(1), ElementsAre(15));
  for (std::int64_t turn = 1; turn <= 100; ++turn) {
    --on_air;
    if (on_air + 10 + ack_buffer < last) {
      ++stored;
      ++ack_buffer;
    }
    ++on_air;
    if (stored > 0) {
      --stored;
      last = on_air + 10 + ack_buffer;
    }
    EXPECT_EQ(last, 15 + turn);
    EXPECT_THAT(wrb.ack(1 + turn), IsEmpty());
    EXPECT_THAT(wrb.dequeue(6 + turn), ElementsAre(15));
  }
}

TEST(WindowRegulator, ADelayedAckWaitsForSpaceForAllItsSegments) {
  Script wrb{regulator(WindowRegulation::ack_buffer)};
  wrb.dequeue(6);
  EXPECT_THAT(wrb.ack(2), ElementsAre(14));
  EXPECT_THAT(wrb.ack(4), IsEmpty());
  EXPECT_THAT(wrb.ack(6), IsEmpty());
  EXPECT_THAT(wrb.dequeue(7), IsEmpty()) << "it would carry 7 + 10 − 4 = 13";
  EXPECT_THAT(wrb.dequeue(8), ElementsAre(14));
  EXPECT_THAT(wrb.dequeue(10), ElementsAre(14));
}

TEST(WindowRegulator, ADuplicateAckReleasesAllHeldAcks) {
  Script wrb{regulator(WindowRegulation::ack_buffer)};
  wrb.dequeue(5);
  wrb.ack(1);
  EXPECT_THAT(wrb.ack(2), IsEmpty());
  EXPECT_THAT(wrb.ack(3), IsEmpty());
  EXPECT_THAT(wrb.ack(3), ElementsAre(13, 12, 12)) << "in order, so that the server counts right";
}

TEST(WindowRegulator, AnEmptyQueueReleasesTwoThenFourThenEight) {
  Script wrb{regulator(WindowRegulation::ack_buffer)};
  wrb.dequeue(40);
  wrb.ack(1);
  for (std::int64_t i = 2; i <= 30; ++i) EXPECT_THAT(wrb.ack(i), IsEmpty());
  EXPECT_EQ(wrb.ack(31, true).size(), 2U);
  EXPECT_EQ(wrb.ack(32, true).size(), 4U);
  EXPECT_EQ(wrb.ack(33, false).size(), 0U) << "data again";
  EXPECT_EQ(wrb.ack(34, true).size(), 2U) << "from the beginning";
  EXPECT_EQ(wrb.ack(35, true).size(), 4U);
  EXPECT_EQ(wrb.ack(36, true).size(), 8U);
}

TEST(WindowRegulator, NothingIsHeldWithoutDataInFlight) {
  Script wrb{regulator(WindowRegulation::ack_buffer)};
  wrb.dequeue(20);
  wrb.ack(1);
  for (std::int64_t i = 2; i < 20; ++i) wrb.ack(i);
  EXPECT_EQ(wrb.held.size(), 18U);
  EXPECT_EQ(wrb.ack(20, true).size(), 19U) << "nothing would ever release them";
  EXPECT_EQ(wrb.law.held(), 0_B);
}

// The receiver's own window, or its rounding, is what counts as the last one.
TEST(WindowRegulator, NothingIsHeldWhileTheReceiverLimits) {
  WindowRegulator wrb = regulator(WindowRegulation::ack_buffer);
  static_cast<void>(wrb.on_dequeue(packet * 5, false));
  static_cast<void>(wrb.on_ack(packet, false));
  wrb.on_released(packet, packet * 8);
  EXPECT_GE(wrb.on_ack(packet * 2, false).up_to, packet * 2) << "13 packets of room, 8 offered";
}

// A greedy server, ACKs of any number of packets, duplicates, retransmissions, in any order: never more than B in the
// queue, and nothing stays held when all is done.
TEST(WindowRegulator, RandomEventsNeverOverflowTheBufferAndNothingStaysHeld) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
    const std::int64_t buffer = 1 + upto(15);
    Script wrb{regulator(WindowRegulation::ack_buffer, buffer)};
    std::int64_t sent = 1, left = 0, received = 0, edge = 1;
    const auto passed = [&](const std::vector<std::int64_t>& windows) {
      if (!windows.empty()) edge = wrb.furthest_edge;
    };
    for (int i = 0; i < 3000; ++i) {
      sent = upto(3) > 0 ? edge : sent;
      ASSERT_LE(sent - left, buffer) << "seed " << seed << " event " << i;
      if (const std::int64_t event = upto(4); event < 2 && left < sent) {
        ++left;
        passed(wrb.dequeue(left, left == sent));
      } else if (event == 2 && received < left) {
        received += 1 + upto(left - received - 1);
        passed(wrb.ack(received, left == sent));
      } else if (event == 3) {
        passed(wrb.ack(received, left == sent));
      } else if (left > 0) {
        passed(wrb.dequeue(1 + upto(left - 1), left == sent));
      }
      ASSERT_GE(wrb.law.on_air(), 0_B) << "seed " << seed << " event " << i;
    }
    for (; left < sent; ++left) wrb.dequeue(left + 1, left + 1 == sent);
    wrb.ack(sent, true);
    EXPECT_THAT(wrb.held, IsEmpty()) << "seed " << seed;
    EXPECT_GT(sent, 300) << "seed " << seed;
  }
}

TEST(WindowRegulatorRules, ParametersOutOfRangeAreRefused) {
  const auto rule = [](const char* name) { return Field(&Violation::rule, name); };
  const auto broken = [](auto change) {
    WindowRegulatorParameters parameters;
    change(parameters);
    return validate(parameters);
  };
  EXPECT_THAT(validate(WindowRegulatorParameters{}), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.buffer = 0_B; }), ElementsAre(rule("B > 0")));
  EXPECT_THAT(broken([](auto& p) { p.segment = 0_B; }), ElementsAre(rule("segment > 0")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = 1000_B; }), ElementsAre(rule("B ≥ segment")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = 1_B; }), ElementsAre(rule("B ≥ segment")));
  const auto small = broken([](auto& p) { p.buffer = 2000_B; });
  ASSERT_THAT(small, ElementsAre(rule("B ≥ 2 segments")));
  EXPECT_EQ(small[0].severity, Violation::Severity::warning);
  EXPECT_THAT(broken([](auto& p) { p.buffer = p.segment - 1_B; }), ElementsAre(rule("B ≥ segment")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = p.segment; }), ElementsAre(rule("B ≥ 2 segments")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = p.segment * 2 - 1_B; }), ElementsAre(rule("B ≥ 2 segments")));
  EXPECT_THAT(broken([](auto& p) { p.buffer = p.segment * 2; }), IsEmpty());
  EXPECT_THAT(broken([](auto& p) { p.segment = 1_B; }), IsEmpty());
  WindowRegulatorParameters impossible;
  impossible.buffer = 0_B;
  EXPECT_THROW(WindowRegulator{impossible}, std::invalid_argument);
}

}  // namespace
}  // namespace sluice::control
