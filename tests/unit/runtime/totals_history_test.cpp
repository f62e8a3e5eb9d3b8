// Tests of the rows that the history of the live page receives from the program's totals.
#include "proxy/daemon/status/totals_history.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

nlohmann::json newest(const TotalsHistory& history) {
  return nlohmann::json::parse(history.rows().newest_json());
}

/// Totals at 100 s, as long as the program has carried nothing.
ProgramTotals idle_totals() {
  ProgramTotals totals;
  totals.at = Instant{} + 100s;
  return totals;
}

TEST(TotalsHistory, ARateNeedsTwoTotals) {
  TotalsHistory history;
  history.add(idle_totals());
  EXPECT_EQ(history.rows().size(), 0U);
}

TEST(TotalsHistory, ARowHoldsRatesSinceTheRowBefore) {
  TotalsHistory history;
  ProgramTotals totals = idle_totals();
  history.add(totals);
  totals.at += 2s;
  totals.to_ue_bytes = 500'000;
  totals.from_ue_bytes = 1000;
  totals.connections = 7;
  totals.bearers = 3;
  totals.split_packets = 300;
  totals.forwarded_packets = 20;
  totals.dropped_packets = 1;
  history.add(totals);
  const nlohmann::json row = newest(history);
  EXPECT_EQ(row["time_s"], 102);
  EXPECT_EQ(row["to_ue_bps"], 2e6);
  EXPECT_EQ(row["from_ue_bps"], 4000);
  EXPECT_EQ(row["connections"], 7);
  EXPECT_EQ(row["bearers"], 3);
  EXPECT_EQ(row["split_pps"], 150);
  EXPECT_EQ(row["forwarded_pps"], 10);
  EXPECT_EQ(row["dropped_pps"], 0.5);
  totals.at += 1s;
  history.add(totals);
  EXPECT_EQ(newest(history)["to_ue_bps"], 0) << "no further byte was transmitted";
}

TEST(TotalsHistory, AGroupHasTheMeansOfItsNewSamples) {
  TotalsHistory history;
  ProgramTotals totals = idle_totals();
  ProgramTotals::Group& control = totals.groups[1];
  control.queues.samples = 10;
  control.queues.queue_bytes = 1e6;
  control.rtt_samples = 5;
  control.rtt_sum = 5s;
  history.add(totals);
  totals.at += 1s;
  control.queues.samples += 4;
  control.queues.queue_bytes += 80'000;
  control.queues.queue_delay_s += 0.2;
  control.queues.delay_samples += 2;
  control.queues.transmitted += 125'000;
  control.rtt_samples += 2;
  control.rtt_sum += 120ms;
  history.add(totals);
  const nlohmann::json row = newest(history);
  EXPECT_EQ(row["control_queue_bytes"], 20'000);
  EXPECT_EQ(row["control_queue_delay_ms"], 100) << "two of the four samples have no delay, because no rate is known";
  EXPECT_EQ(row["control_rtt_ms"], 60);
  EXPECT_EQ(row["control_radio_bps"], 1e6);
}

TEST(TotalsHistory, ValuesWithoutASampleAreUnknown) {
  TotalsHistory history;
  ProgramTotals totals = idle_totals();
  history.add(totals);
  totals.at += 1s;
  history.add(totals);
  const nlohmann::json row = newest(history);
  for (const char* const column :
       {"optimised_queue_bytes", "optimised_queue_delay_ms", "optimised_rtt_ms", "optimised_radio_bps"})
    EXPECT_TRUE(row[column].is_null()) << column;
}

TEST(TotalsHistory, AnHourTakesABoundedNumberOfBytes) {
  TotalsHistory history;
  ProgramTotals totals = idle_totals();
  totals.bearers = 100'000;
  for (int second = 0; second < 4000; ++second) {
    totals.at += 1s;
    totals.to_ue_bytes += 123'456'789;
    totals.from_ue_bytes += 3'456'789;
    history.add(totals);
  }
  EXPECT_EQ(history.rows().size(), page::History::one_hour);
  EXPECT_EQ(history.rows().bytes(), 3600U * (8 + 15 * 4));
  EXPECT_LT(history.rows().json().size(), 600'000U);
}

}  // namespace
}  // namespace sluice::proxy
