// What hybrid ARQ repeats in a cell of LTE and NR with an outer loop for the CQIs, and without.

#include <gtest/gtest.h>

#include <string>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

/// Retransmissions per block: a little more than the share of first transmissions that were lost.
double repeats(const std::string& tti, const std::string& keys, unsigned seed) {
  const RunResult result = test::run_all("seed: " + std::to_string(seed) +
                                         "\nduration: 20s\nwarmup: 2s\nmodes: [none]\ncell:\n  tti: " + tti +
                                         "\n  resource_blocks: 50\n  harq: {processes: 8, transmissions: 4}\n  ues:\n"
                                         "    - {address: 10.45.0.2, buffer: 1MiB, channel: {type: ofdma, ofdma: {" +
                                         keys + "}}}\n")
                               .at(0);
  return static_cast<double>(result.counters.at("harq_retransmissions")) /
         static_cast<double>(result.counters.at("harq_blocks"));
}

TEST(OuterLoopCell, RetransmitsOneBlockInTenAtEverySpeed) {
  for (const std::string speed : {"3km/h", "30km/h", "120km/h"}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(speed + ", seed " + std::to_string(seed));
      EXPECT_NEAR(repeats("1ms", "speed: " + speed + ", target_bler: 0.1", seed), 0.1, 0.02);
      EXPECT_NEAR(repeats("500us",
                          "speed: " + speed + ", table: 256qam, overhead: 0.14, target_bler: 0.1, profile: flat", seed),
                  0.1, 0.03);
    }
  }
  EXPECT_GT(repeats("1ms", "speed: 30km/h", 1), 0.3);
}

}  // namespace
}  // namespace sluice::emulator
