// A Node-B that leaves out UEs of which nothing has changed, beside one that reports all of them every period.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sim/nodeb/run_all.hpp"

namespace sluice::emulator {
namespace {

using test::run_all;

/// Two UEs that download without end, and ten that fetch pages and think.
std::string scenario(const std::string& law, const std::string& loss) {
  std::string ues;
  for (int i = 0; i < 12; ++i) {
    ues += "    - {address: 10.45.0." + std::to_string(2 + i) +
           ", frame: 0B, buffer: 150KiB, channel: {type: piecewise, min: 1Mb/s, max: 12Mb/s, period: 300ms}}\n";
  }
  std::string apps = "  - {type: bulk, ue: 0, ues: 2}\n";
  for (int i = 2; i < 12; ++i) apps += "  - {type: web, ue: " + std::to_string(i) + ", think_time: 2s}\n";
  return "duration: 40s\nwarmup: 5s\nmodes: [smvs]\nsmvs: {law: " + law + "}\ncell:\n  ues:\n" + ues + "apps:\n" +
         apps + "reports: {loss: " + loss + (law == "acks" ? ", period: 5ms" : "") + "}\n" +
         "sweep:\n  - {column: refresh, keys: [reports.refresh], values: [0s, 200ms]}\n";
}

void compare(const std::string& law, const std::string& loss) {
  SCOPED_TRACE(law + ", loss " + loss);
  const std::vector<RunResult> results = run_all(scenario(law, loss), 3);
  ASSERT_EQ(results.size(), 6U);
  double use[2] = {};
  double delay[2] = {};
  double fetch[2] = {};
  double mean[2] = {};
  for (const RunResult& result : results) {
    const std::size_t way = result.key.swept.at(0).second == "0s" ? 0 : 1;
    use[way] += result.utilisation / 3;
    delay[way] += result.radio_queue_delay.p95_ms / 3;
    fetch[way] += result.fetch_p50_ms.value_or(0) / 3;
    mean[way] += result.radio_queue_delay.mean_ms;
    EXPECT_EQ(result.counters.at("payload_corrupted"), 0U);
    EXPECT_EQ(result.counters.at("connections_failed"), 0U);
  }
  EXPECT_NE(mean[1], mean[0]) << "nobody was left out";
  EXPECT_NEAR(use[1], use[0], 0.02);
  EXPECT_NEAR(delay[1], delay[0], 0.1 * delay[0] + 2);
  EXPECT_NEAR(fetch[1], fetch[0], 0.1 * fetch[0]);
}

TEST(OmittedUes, SuppressedReportsDoNotChangeTheResult) {
  for (const char* law : {"nodeb", "proxy", "acks"}) compare(law, "0");
}

TEST(OmittedUes, SuppressedReportsDoNotChangeTheResultUnderLoss) {
  for (const char* law : {"nodeb", "proxy"}) {
    compare(law, "0.02");
    compare(law, "0.2");
  }
}

}  // namespace
}  // namespace sluice::emulator
