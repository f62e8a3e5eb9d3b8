// Tests of the JSON objects of flows and bearers: what is not known is null, because 0 would be a value.
#include <gtest/gtest.h>

#include <chrono>

#include "proxy/daemon/status/status_source.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

TEST(StatusJson, RoundTripsOfAFlowAreNullUntilTheyAreMeasured) {
  FlowInfo flow;
  EXPECT_TRUE(to_json(flow)["radio_srtt_ms"].is_null());
  EXPECT_TRUE(to_json(flow)["core_rto_ms"].is_null());
  flow.srtt[0] = 43us;
  flow.rto[0] = 200ms;
  EXPECT_EQ(to_json(flow)["radio_srtt_ms"], 0.043);
  EXPECT_EQ(to_json(flow)["radio_rto_ms"], 200);
  EXPECT_TRUE(to_json(flow)["core_srtt_ms"].is_null());
}

TEST(StatusJson, ValuesOfABearerAreNullUntilTheyAreKnown) {
  BearerInfo bearer;
  const admin::Json unknown = to_json(bearer, Instant{});
  for (const char* const key : {"window_bytes", "mean_rate_bps", "service_rate_bps", "radio_queue_bytes"})
    EXPECT_TRUE(unknown[key].is_null()) << key;
  bearer.window = Bytes(14600);
  bearer.mean_rate = Rate::bits_per_second(8e6);
  bearer.reported_at = Instant{} + 1s;
  const admin::Json known = to_json(bearer, Instant{} + 2s);
  EXPECT_EQ(known["window_bytes"], 14600);
  EXPECT_EQ(known["mean_rate_bps"], 8'000'000);
  EXPECT_EQ(known["service_rate_bps"], 0) << "a report may state a rate of 0";
  EXPECT_EQ(known["radio_queue_bytes"], 0);
}

}  // namespace
}  // namespace sluice::proxy
