// Tests of what the proxy knows of a UE's uplink: which flows send most over it, and which part of the wait for it
// drops do not shorten.

#include <gtest/gtest.h>

#include <cstdint>

#include "proxy/engine/bearer/uplink_flows.hpp"
#include "proxy/engine/bearer/uplink_state.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1h};
constexpr std::uint32_t upload = 0x1234, other = 0x5678;
constexpr Bytes packet_size{1500};

TEST(UplinkFlows, TheLargestFlowIsLarge) {
  UplinkFlows flows;
  for (int i = 0; i < 100; ++i) {
    flows.add(upload, packet_size, start + i * 10ms);
    if (i % 4 == 0) flows.add(other, packet_size, start + i * 10ms);
  }
  EXPECT_TRUE(flows.is_large(upload));
  EXPECT_FALSE(flows.is_large(other));
}

TEST(UplinkFlows, AFewPacketsAreNoLargeFlow) {
  UplinkFlows flows;
  for (int i = 0; i < 3; ++i) flows.add(upload, packet_size, start);
  EXPECT_FALSE(flows.is_large(upload));
  flows.add(upload, packet_size, start);
  EXPECT_TRUE(flows.is_large(upload));
}

TEST(UplinkFlows, EqualFlowsAreAllLarge) {
  UplinkFlows flows;
  for (int i = 0; i < 20; ++i) {
    for (const std::uint32_t flow : {1U, 2U, 3U, 4U}) flows.add(flow, packet_size, start + i * 10ms);
  }
  for (const std::uint32_t flow : {1U, 2U, 3U, 4U}) EXPECT_TRUE(flows.is_large(flow)) << flow;
}

TEST(UplinkFlows, NoFlowIsLargeIfMostBytesAreNoData) {
  UplinkFlows flows;
  for (int i = 0; i < 20; ++i) {
    flows.add(upload, packet_size, start);
    flows.add_other(packet_size + Bytes(1), start);
  }
  EXPECT_FALSE(flows.is_large(upload));
  flows.add(upload, packet_size, start);
  EXPECT_TRUE(flows.is_large(upload));
}

TEST(UplinkFlows, AnEndedUploadIsForgotten) {
  UplinkFlows flows;
  for (int i = 0; i < 100; ++i) flows.add(upload, packet_size, start);
  for (int i = 0; i < 8; ++i) flows.add(other, packet_size, start + 10s);
  EXPECT_FALSE(flows.is_large(upload));
  EXPECT_TRUE(flows.is_large(other));
}

/// Flows that share both slots of the upload only reduce what it is credited with.
TEST(UplinkFlows, AFlowIsNeverCreditedWithBytesOfOthers) {
  UplinkFlows flows;
  for (int i = 0; i < 100; ++i) flows.add(upload, packet_size, start);
  for (std::uint32_t i = 1; i <= 50; ++i) flows.add(upload + (i << 16U), packet_size, start);
  for (std::uint32_t i = 1; i <= 50; ++i) EXPECT_FALSE(flows.is_large(upload + (i << 16U))) << i;
}

TEST(UplinkFlows, ManyBytesDoNotOverflow) {
  UplinkFlows flows;
  for (int i = 0; i < 70'000; ++i) flows.add(upload, Bytes(UINT16_MAX), start);
  EXPECT_TRUE(flows.is_large(upload));
}

TEST(UplinkFlows, TheRateIsThatOfAllPackets) {
  UplinkFlows flows;
  EXPECT_EQ(flows.rate(start), Rate());
  Instant now = start;
  for (; now < start + 5s; now += 12ms) {
    flows.add(upload, Bytes(1000), now);
    flows.add_other(Bytes(500), now);
  }
  EXPECT_NEAR(flows.rate(now).bps(), 1e6, 2e4);
  EXPECT_LT(flows.rate(now + 60s).bps(), 5e4);
}

/// Gives a signal with each packet, each 10 ms, for `duration`. Returns the last controlled part.
template <typename Wait>
Duration control(UncontrolledWait& uncontrolled, Instant& now, Duration duration, Wait wait) {
  Duration part{};
  for (const Instant end = now + duration; now < end; now += 10ms) {
    part = uncontrolled.controlled_part(wait(now), 50ms, now);
    if (part >= 50ms) uncontrolled.on_signal();
  }
  return part;
}

TEST(UncontrolledWait, ASteadyWaitIsNotControlled) {
  UncontrolledWait uncontrolled;
  Instant now = start;
  const auto steady = [](Instant) { return Duration(200ms); };
  EXPECT_EQ(control(uncontrolled, now, 3900ms, steady), 200ms);
  EXPECT_EQ(control(uncontrolled, now, 300ms, steady), 0ms);
  EXPECT_EQ(uncontrolled.controlled_part(270ms, 50ms, now), 70ms) << "what is longer than that is a queue";
}

TEST(UncontrolledWait, AShorterWaitShowsThatItIsControlled) {
  UncontrolledWait uncontrolled;
  Instant now = start;
  control(uncontrolled, now, 5s, [](Instant) { return Duration(200ms); });
  EXPECT_EQ(uncontrolled.controlled_part(20ms, 50ms, now), 0ms);
  EXPECT_EQ(uncontrolled.controlled_part(200ms, 50ms, now), 180ms);
}

TEST(UncontrolledWait, AFallingWaitIsControlled) {
  UncontrolledWait uncontrolled;
  Instant now = start;
  const auto falling = [](Instant at) { return Duration(900ms) - (at - start) / 10; };
  EXPECT_GT(control(uncontrolled, now, 6s, falling), 250ms);
}

TEST(UncontrolledWait, AWaitBeyondAllMeasurementMayFallUnseen) {
  UncontrolledWait uncontrolled;
  Instant now = start;
  EXPECT_EQ(control(uncontrolled, now, 20s, [](Instant) { return Duration(1s); }), 1s);
}

TEST(UncontrolledWait, WithoutSignalsNothingIsConcluded) {
  UncontrolledWait uncontrolled;
  for (Instant now = start; now < start + 20s; now += 10ms)
    EXPECT_EQ(uncontrolled.controlled_part(200ms, 50ms, now), 200ms);
}

}  // namespace
}  // namespace sluice::proxy
