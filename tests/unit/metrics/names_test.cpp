#include "proxy/daemon/status/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proxy/engine/base/counters.hpp"

namespace sluice::metrics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::string> names_of_shard_counters() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < proxy::counter_count; ++i) {
    names.push_back("proxy." + std::string(proxy::counter_text(i).name));
  }
  return names;
}

TEST(MetricNames, DecisionsAboutPacketsAreOneFamily) {
  const MetricName dropped = metric_name("proxy.drop_tcp_checksum");
  EXPECT_EQ(dropped.family, "sluice_packets");
  EXPECT_THAT(dropped.labels, ElementsAre(Pair("action", "dropped"), Pair("reason", "tcp_checksum")));
  EXPECT_THAT(metric_name("proxy.forward_udp").labels, ElementsAre(Pair("action", "forwarded"), Pair("reason", "udp")));
  EXPECT_THAT(metric_name("proxy.optimised").labels, ElementsAre(Pair("action", "optimised"), Pair("reason", "split")));
}

TEST(MetricNames, LegsPortsAndResultsAreLabels) {
  EXPECT_EQ(metric_name("proxy.retransmitted_core").family, "sluice_retransmitted_segments");
  EXPECT_THAT(metric_name("proxy.retransmitted_core").labels, ElementsAre(Pair("leg", "core")));
  EXPECT_EQ(metric_name("ports.radio.received").family, "sluice_port_received_packets");
  EXPECT_EQ(metric_name("ports.radio.received_bytes").family, "sluice_port_received_bytes");
  EXPECT_THAT(metric_name("ports.radio.received").labels, ElementsAre(Pair("port", "radio")));
  EXPECT_THAT(metric_name("feedback.accepted").labels, ElementsAre(Pair("result", "accepted")));
  EXPECT_THAT(metric_name("feedback.refused_bad_tag").labels, ElementsAre(Pair("result", "bad_tag")));
  EXPECT_EQ(metric_name("feedback.datagrams_sent").family, "sluice_feedback_datagrams_sent");
  EXPECT_EQ(metric_name("steering.dropped").family, "sluice_steering_dropped");
}

TEST(MetricNames, BytesOfAllTrafficAreOneFamily) {
  EXPECT_EQ(metric_name("traffic.controlled_bytes").family, "sluice_traffic_bytes");
  EXPECT_THAT(metric_name("traffic.controlled_bytes").labels,
              ElementsAre(Pair("handling", "controlled"), Pair("reason", "rate_controller")));
  EXPECT_THAT(metric_name("traffic.split_bytes").labels,
              ElementsAre(Pair("handling", "split"), Pair("reason", "congestion_control")));
  EXPECT_EQ(metric_name("traffic.passed_bytes.mid_flow").family, "sluice_traffic_bytes");
  EXPECT_THAT(metric_name("traffic.passed_bytes.mid_flow").labels,
              ElementsAre(Pair("handling", "passed"), Pair("reason", "mid_flow")));
  EXPECT_NE(family_of("sluice_traffic_bytes"), nullptr);
}

TEST(MetricNames, EveryCounterOfAShardHasItsOwnMetric) {
  std::set<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> places;
  for (const std::string& name : names_of_shard_counters()) {
    MetricName metric = metric_name(name);
    EXPECT_TRUE(places.emplace(std::move(metric.family), std::move(metric.labels)).second) << name;
  }
}

TEST(MetricNames, FamiliesOfSeveralCountersHaveAHelpText) {
  for (const std::string& name : names_of_shard_counters()) {
    const MetricName metric = metric_name(name);
    EXPECT_EQ(metric.labels.empty(), family_of(metric.family) == nullptr) << name;
  }
}

}  // namespace
}  // namespace sluice::metrics
