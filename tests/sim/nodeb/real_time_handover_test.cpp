#include <gtest/gtest.h>

#include <string>

#include "tests/sim/nodeb/both_clocks.hpp"

// A UE that goes from one Node-B to another and back, by the clock and in virtual time.

namespace sluice::emulator {
namespace {

const std::string scenario =
    "duration: 3s\nwarmup: 500ms\nmodes: [none]\nproxy_nodeb: {delay: 5ms}\noutput: {ues: true}\n"
    "cell:\n  name: west\n  ues:\n"
    "    - {address: 10.45.0.2, frame: 0B, buffer: 200KiB, channel: {type: constant, rate: 8Mb/s}}\n"
    "nodebs: [{name: east}]\n"
    "moves:\n  - {type: handover, at: 1s, nodeb: east}\n  - {type: handover, at: 2s, nodeb: west}\n"
    "apps:\n  - {type: bulk}\n  - {type: bulk, direction: upload}\n";

TEST(RealTimeHandover, EqualsVirtualTime) {
  const auto [expected, result] = test::run_by_both_clocks(scenario);
  EXPECT_EQ(result.counters.at("handovers"), 2U);
  EXPECT_GT(result.counters.at("forwarded_packets"), 0U);
  EXPECT_EQ(result.counters.at("end_markers_missed"), 0U);
  EXPECT_EQ(result.counters.at("connections_failed"), 0U);
  EXPECT_NEAR(result.throughput_bps / expected.throughput_bps, 1, 0.005);
  EXPECT_EQ(result.ues.back().nodeb, "west");
}

}  // namespace
}  // namespace sluice::emulator
