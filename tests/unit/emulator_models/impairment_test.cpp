// Tests of random impairments of a wire: loss, duplication, reordering, corruption and delay jumps.
#include "emulator/net/impairment.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::at_ms;
using test::packet_of;
using test::Recorder;

/// Sends `count` packets of 100 zero bytes, one per millisecond, the last byte their number.
std::vector<Recorder::Entry> pass(const ImpairmentConfig& config, std::uint64_t seed, int count,
                                  ImpairmentCounters* counters = nullptr) {
  EventLoop loop;
  Recorder far;
  Impairment impairment(loop, sluice::test::pool(), config, Random(seed), far);
  for (int i = 0; i < count; ++i) {
    loop.run_until(at_ms(i));
    std::vector<std::uint8_t> bytes(100, 0);
    bytes.back() = static_cast<std::uint8_t>(i % 256);
    impairment.receive(packet_of(bytes), loop.now());
  }
  loop.run_until(at_ms(count + 1000));
  if (counters != nullptr) *counters = impairment.counters();
  return far.entries;
}

TEST(Impairment, AnEmptyImpairmentChangesNothing) {
  const auto entries = pass({}, 1, 200);
  ASSERT_EQ(entries.size(), 200U);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i], (Recorder::Entry{at_ms(static_cast<double>(i)), 100, static_cast<std::uint8_t>(i)}));
  }
}

TEST(Impairment, LosesDuplicatesAndReordersWithTheConfiguredRates) {
  ImpairmentConfig config;
  config.loss = 0.1;
  config.duplicate = 0.05;
  config.reorder = 0.2;
  ImpairmentCounters counters;
  const auto entries = pass(config, 2, 20'000, &counters);
  EXPECT_NEAR(static_cast<double>(counters.lost), 2000, 150);
  EXPECT_NEAR(static_cast<double>(counters.duplicated), 900, 100);
  EXPECT_NEAR(static_cast<double>(counters.reordered), 3600, 200);
  EXPECT_EQ(entries.size(), counters.packets - counters.lost + counters.duplicated);
}

TEST(Impairment, ReorderedPacketsAreOvertaken) {
  ImpairmentConfig config;
  config.reorder = 0.5;
  config.reorder_delay = milliseconds(3);
  for (const auto& entry : pass(config, 3, 200)) {
    const double late = to_milliseconds(entry.at.time_since_epoch()) - entry.mark;
    EXPECT_TRUE(late == 0 || late == 3) << late;
  }
}

TEST(Impairment, TheSameSeedGivesTheSameOutcome) {
  ImpairmentConfig config;
  config.loss = config.duplicate = config.reorder = config.corrupt = 0.1;
  EXPECT_EQ(pass(config, 4, 2000), pass(config, 4, 2000));
  EXPECT_NE(pass(config, 4, 2000), pass(config, 5, 2000));
}

class Bits final : public Element {
 public:
  void receive(packet::Packet packet, Instant /*now*/) override {
    for (std::size_t i = 0; i < packet.size(); ++i) {
      const int ones = std::popcount(packet.data()[i]);
      (i < 14 ? header : behind) += ones;
    }
  }
  int header = 0;
  int behind = 0;
};

TEST(Impairment, CorruptionInvertsBitsBehindTheEthernetHeader) {
  EventLoop loop;
  Bits bits;
  ImpairmentConfig config;
  config.corrupt = 1;
  Impairment one(loop, sluice::test::pool(), config, Random(6), bits);
  for (int i = 0; i < 100; ++i) one.receive(packet_of(std::vector<std::uint8_t>(60, 0)), loop.now());
  EXPECT_EQ(bits.behind, 100);
  EXPECT_EQ(bits.header, 0);
  EXPECT_EQ(one.counters().corrupted, 100U);
}

TEST(Impairment, CorruptionLeavesOtherHoldersOfThePacketAlone) {
  EventLoop loop;
  Bits bits;
  ImpairmentConfig config;
  config.corrupt = 1;
  Impairment impairment(loop, sluice::test::pool(), config, Random(7), bits);
  const packet::Packet kept = packet_of(std::vector<std::uint8_t>(60, 0));
  impairment.receive(kept.share(), loop.now());
  EXPECT_EQ(bits.behind, 1);
  for (const std::uint8_t byte : kept.bytes()) EXPECT_EQ(byte, 0);
}

TEST(Impairment, ADelayJumpHoldsPacketsBackInOrder) {
  ImpairmentConfig config;
  config.jumps = {{at_ms(10), at_ms(20), milliseconds(50)}};
  ImpairmentCounters counters;
  const auto entries = pass(config, 8, 100, &counters);
  ASSERT_EQ(entries.size(), 100U);
  EXPECT_EQ(counters.delayed, 10U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(entries[i].mark, i);
  EXPECT_EQ(entries[9].at, at_ms(9));
  EXPECT_EQ(entries[10].at, at_ms(60));
  EXPECT_EQ(entries[19].at, at_ms(69));
  EXPECT_EQ(entries[20].at, at_ms(69));  // sent at 20, waits for those before it
  EXPECT_EQ(entries[80].at, at_ms(80));
}

TEST(Impairment, RefusesWhatIsOutOfRange) {
  EventLoop loop;
  Recorder far;
  const auto refused = [&](auto change) {
    ImpairmentConfig config;
    change(config);
    EXPECT_THROW(Impairment(loop, sluice::test::pool(), config, Random(1), far), std::invalid_argument);
  };
  refused([](ImpairmentConfig& c) { c.loss = 1.1; });
  refused([](ImpairmentConfig& c) { c.duplicate = -0.1; });
  refused([](ImpairmentConfig& c) { c.reorder = std::numeric_limits<double>::quiet_NaN(); });
  refused([](ImpairmentConfig& c) { c.corrupt = 2; });
  refused([](ImpairmentConfig& c) { c.reorder_delay = milliseconds(-1); });
  refused([](ImpairmentConfig& c) { c.jumps = {{{}, {}, milliseconds(-1)}}; });
}

}  // namespace
}  // namespace sluice::emulator
