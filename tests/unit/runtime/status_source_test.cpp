// Tests of what the running program shows of itself: the answers to commands, the metrics page and the live page, from
// the snapshots of two shards and two ports.
#include "proxy/daemon/status/status_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/dpdk/clock.hpp"
#include "proxy/daemon/status/live_view.hpp"
#include "proxy/daemon/status/metrics_page.hpp"
#include "proxy/daemon/status/version.hpp"
#include "tests/support/eal.hpp"
#include "tests/unit/dpdk/ring_pair.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using admin::Json;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<dpdk::Port> open_port(const std::string& device, dpdk::Facing facing) {
  dpdk::PortConfig config;
  config.device = device;
  config.facing = facing;
  return std::make_unique<dpdk::Port>(config, test::pool());
}

/// Two shards that have published a snapshot each, and two ports whose frames arrive at two others.
class Status : public testing::Test {
 protected:
  Status() {
    first_.snapshots.back() = snapshot(1);
    second_.snapshots.back() = snapshot(10);
    for (ShardChannel* channel : {&first_, &second_}) channel->snapshots.publish();
    static_cast<void>(radio_link_.look(dpdk::Link::up, now_ - 9s));
    static_cast<void>(core_link_.look(dpdk::Link::up, now_ - 9s));
    static_cast<void>(core_link_.look(dpdk::Link::down, now_ - 5s));
  }
  /// A snapshot in which no two values are equal; those of `scale` 10 are ten times as large.
  ShardSnapshot snapshot(std::uint32_t scale) const {
    ShardSnapshot shard;
    shard.at = now_ - 3s;
    shard.flow_count = 2 * scale;
    shard.bearer_count = 3 * scale;
    shard.released_count = 4 * scale;
    shard.end_to_end_count = 5 * scale;
    shard.sleeps = 6 * scale;
    shard.statuses_lost = 7 * scale;
    shard.flow_states = {.handshakes = 11 * scale,
                         .split = 12 * scale,
                         .handing_back = 13 * scale,
                         .governed = 14 * scale,
                         .ungoverned = 15 * scale,
                         .cross_traffic_waiting = 16 * scale};
    shard.counters.add(Counter::received_radio, 20 * scale);
    shard.counters.add(Counter::received_core, 1 * scale);
    shard.counters.add(Counter::optimised, 22 * scale);
    shard.counters.add(Counter::forward_mid_flow, 23 * scale);
    shard.counters.add(Counter::drop_tcp_checksum, 24 * scale);
    shard.counters.add(Counter::flows_split, 25 * scale);
    shard.counters.add(Counter::reports, 26 * scale);
    shard.counters.add_controlled_bytes(true, 30 * scale);
    shard.counters.add_controlled_bytes(false, 10 * scale);
    shard.counters.add_passed_bytes(Counter::forward_mid_flow, 60 * scale);
    for (const std::size_t group : {0U, 1U}) {
      GroupTotals& totals = shard.groups.at(group);
      const std::uint64_t of = scale * (group + 1);
      totals = {.reports = 2 * of,
                .samples = 4 * of,
                .transmitted = 5 * of,
                .dropped = 6 * of,
                .queue_bytes = 400.0 * static_cast<double>(of),
                .queue_delay_s = 0.5 * static_cast<double>(of),
                .delay_samples = 2 * of,
                .observed = {}};
      totals.observed.decisions = 8 * of;
      totals.observed.decided_bytes = 80.0 * static_cast<double>(of);
      totals.observed.actual_bytes = 160.0 * static_cast<double>(of);
      totals.observed.delays = 2 * of;
      totals.observed.decided_delay_s = 0.25 * static_cast<double>(of);
      totals.observed.actual_delay_s = 0.75 * static_cast<double>(of);
    }
    shard.times.at(0).feedback_age.record(std::chrono::microseconds(300 * scale));
    shard.times.at(0).relay_sojourn.record(std::chrono::milliseconds(scale));
    shard.times.at(0).rtt.record(std::chrono::milliseconds(4 * scale));
    shard.times.at(0).flow_completion.record(std::chrono::milliseconds(50 * scale));
    shard.exposure.record(1000 * scale);
    shard.passing.push_back({.ue = IpAddress::v4(10, 45, 0, 2),
                             .server = IpAddress::v4(192, 0, 2, 1),
                             .ue_port = 5000,
                             .server_port = 443,
                             .protocol = 17,
                             .reason = "forward_udp",
                             .bytes = 1000ULL * scale,
                             .uncertain = 500,
                             .first = now_ - 6s,
                             .last = now_ - 2s});
    shard.draining = scale == 10;
    return shard;
  }
  StatusSource source() {
    StatusSource made({.config = &config_,
                       .channels = {&first_, &second_},
                       .ports = {radio_.get(), core_.get()},
                       .steering = &steering_,
                       .pool = &test::pool(),
                       .feedback = nullptr,
                       .watch = &watch_,
                       .links = {&radio_link_, &core_link_},
                       .bridge = nullptr,
                       .started = now_ - 7s});
    made.refresh();
    return made;
  }
  /// Sends `count` frames of 100 bytes through one of the proxy's ports.
  static void send(dpdk::Port& port, int count) {
    for (int i = 0; i < count; ++i) {
      packet::Packet frame = test::pool().allocate();
      static_cast<void>(frame.append(100));
      port.transmit(0, {&frame, 1});
    }
  }
  static void receive(dpdk::Port& port) {
    std::array<packet::Packet, 64> burst;
    while (port.receive(0, burst) > 0) {
      for (packet::Packet& frame : burst) frame = {};
    }
  }

  Instant now_ = dpdk::now();
  Config config_;
  ShardChannel first_;
  ShardChannel second_;
  dpdk::test::RingPair radio_rings_{"status-radio"};
  dpdk::test::RingPair core_rings_{"status-core"};
  std::unique_ptr<dpdk::Port> radio_ = open_port(radio_rings_.a(), dpdk::Facing::radio);
  std::unique_ptr<dpdk::Port> core_ = open_port(core_rings_.a(), dpdk::Facing::core);
  std::unique_ptr<dpdk::Port> ues_ = open_port(radio_rings_.b(), dpdk::Facing::radio);
  std::unique_ptr<dpdk::Port> servers_ = open_port(core_rings_.b(), dpdk::Facing::core);
  dpdk::RssSteering steering_{{radio_.get(), core_.get()}, 2};
  ShardWatch watch_{2};
  LinkWatch radio_link_;
  LinkWatch core_link_;
};

TEST_F(Status, IsTheSumOfTheShards) {
  const Json status = source().status();
  EXPECT_EQ(status["version"], version);
  EXPECT_EQ(status["mode"], to_string(config_.shard.mode));
  EXPECT_GE(status["uptime_s"], 7.0);
  EXPECT_EQ(status["shards"], 2);
  EXPECT_EQ(status["shards_stalled"], 0);
  EXPECT_EQ(status["flows"], 22);
  EXPECT_EQ(status["flows_released"], 44);
  EXPECT_EQ(status["bearers"], 33);
  EXPECT_EQ(status["draining"], true) << "one shard drains";
  EXPECT_EQ(status["packet_buffers"]["total"], test::pool().capacity());
  EXPECT_EQ(status["packet_buffers"]["in_use"], test::pool().in_use());
  EXPECT_EQ(status["traffic"], Json::parse(R"({"controlled_bytes": 330, "split_bytes": 110, "passed_bytes": 660,
                                               "controlled_percent": 30.0})"));
  EXPECT_EQ(status["ports"]["radio"]["device"], radio_rings_.a());
  EXPECT_EQ(status["ports"]["core"]["device"], core_rings_.a());
  EXPECT_TRUE(status["ports"]["core"]["interface"].is_null()) << "a ring is no kernel interface";
  EXPECT_EQ(status["ports"]["radio"]["link"], "up");
  EXPECT_EQ(status["ports"]["core"]["link"], "down");
  EXPECT_EQ(status["fail_open"], "none");
  EXPECT_TRUE(status["last_run"].is_null());
  EXPECT_FALSE(status.contains("feedback"));
}

TEST_F(Status, DrainsOnlyIfAShardDoes) {
  EXPECT_TRUE(source().draining());
  second_.snapshots.back().draining = false;
  second_.snapshots.publish();
  EXPECT_FALSE(source().draining());
}

TEST_F(Status, AShardThatStallsIsCounted) {
  const std::vector<Instant> published{now_ - 60s, now_};
  static_cast<void>(watch_.look(published, now_ - 50ms));
  static_cast<void>(watch_.look(published, now_));
  const StatusSource status = source();
  EXPECT_EQ(status.status()["shards_stalled"], 1);
  const Json shards = status.shards();
  EXPECT_GE(shards[0]["stalled_s"], 60.0);
  EXPECT_EQ(shards[1]["stalled_s"], 0.0);
  EXPECT_EQ(status.counter("shards.stalls").value, 1);
}

TEST_F(Status, EachShardHasARow) {
  const Json shards = source().shards();
  ASSERT_EQ(shards.size(), 2U);
  EXPECT_EQ(shards[1], Json::parse(R"({"shard": 1, "flows": 20, "flows_released": 40, "bearers": 30, "received": 210,
      "optimised": 220, "forwarded": 230, "dropped": 240, "flows_split": 250, "reports": 260, "handed_over": 0,
      "handed_over_dropped": 0, "sleeps": 60, "stalled_s": 0.0})"));
}

TEST_F(Status, PortsAreShownWithTheirLinksAndQueues) {
  config_.shard.accept_partial_checksums = {true, false};
  const Json ports = source().ports();
  EXPECT_EQ(ports["radio"]["device"], radio_rings_.a());
  EXPECT_TRUE(ports["radio"]["interface"].is_null());
  EXPECT_EQ(ports["radio"]["link"], "up");
  EXPECT_GE(ports["radio"]["link_since_s"], 9.0);
  EXPECT_EQ(ports["radio"]["link_changes"], 0);
  EXPECT_EQ(ports["radio"]["partial_checksums"], "accept");
  EXPECT_EQ(ports["core"]["link"], "down");
  EXPECT_GE(ports["core"]["link_since_s"], 5.0);
  EXPECT_EQ(ports["core"]["link_changes"], 1);
  EXPECT_EQ(ports["core"]["partial_checksums"], "refuse");
  for (const char* side : {"radio", "core"}) {
    EXPECT_EQ(ports[side]["receive_queues"], 1) << side;
    EXPECT_EQ(ports[side]["transmit_queues"], 1) << side;
    EXPECT_EQ(ports[side]["spreads_by_ue_address"], false) << side;
    EXPECT_EQ(ports[side]["checks_checksums"], false) << side;
  }
}

TEST_F(Status, InterfacesOfPortsAreNamed) {
  config_.ports.radio.device = "net_af_packet0,iface=lan1";
  config_.ports.core.device = "net_af_packet1,iface=wan1";
  const StatusSource status = source();
  EXPECT_EQ(status.ports()["radio"]["interface"], "lan1");
  EXPECT_EQ(status.ports()["core"]["interface"], "wan1");
  EXPECT_EQ(status.status()["ports"]["core"]["interface"], "wan1");
}

TEST_F(Status, CountersOfPortsFollowTheFrames) {
  send(*ues_, 3);
  receive(*radio_);
  send(*core_, 2);
  receive(*servers_);
  const Json counters = source().counters_by_name();
  EXPECT_EQ(counters["ports.radio.received"], 3);
  EXPECT_EQ(counters["ports.radio.received_bytes"], 300);
  EXPECT_EQ(counters["ports.radio.transmitted"], 0);
  EXPECT_EQ(counters["ports.core.transmitted"], 2);
  EXPECT_EQ(counters["ports.core.transmitted_bytes"], 200);
  EXPECT_EQ(counters["ports.core.received"], 0);
  EXPECT_EQ(counters["ports.core.link_changes"], 1);
  EXPECT_EQ(counters["ports.radio.link_changes"], 0);
  for (const char* zero : {"ports.radio.oversized", "ports.radio.transmit_dropped", "ports.core.copy_failed",
                           "steering.handed_over", "steering.dropped"})
    EXPECT_EQ(counters.at(zero), 0) << zero;
  EXPECT_FALSE(counters.contains("fail_open.repairs"));
  EXPECT_FALSE(counters.contains("feedback.statuses_lost"));
}

TEST_F(Status, CountersOfShardsAreSummed) {
  const Json counters = source().counters_by_name();
  EXPECT_EQ(counters["proxy.flows_split"], 275);
  EXPECT_EQ(counters["proxy.drop_tcp_checksum"], 264);
  EXPECT_EQ(counters["traffic.controlled_bytes"], 330);
  EXPECT_EQ(counters["traffic.passed_bytes.mid_flow"], 660);
}

/// A warning is logged when one of these increases.
TEST_F(Status, DropsAndExhaustedLimitsAreAlarming) {
  for (const NamedCounter& counter : source().counters()) {
    const std::string_view name = counter.name;
    const bool alarming =
        name.starts_with("proxy.drop_") || name == "proxy.forward_flow_limit" || name == "proxy.forward_memory" ||
        name == "proxy.buffers_exhausted" || name == "proxy.fallbacks" || name == "proxy.steps_too_long" ||
        name == "proxy.steps_too_coarse" || name == "steering.dropped" || name.ends_with(".oversized") ||
        name.ends_with(".transmit_dropped") || name.ends_with(".copy_failed");
    EXPECT_EQ(counter.alarming, alarming) << name;
    EXPECT_FALSE(counter.text.empty()) << name;
  }
}

TEST_F(Status, ACounterIsFoundByItsNameOrTheBeginningOfIt) {
  const StatusSource status = source();
  EXPECT_EQ(status.counter("flows_split").value, 275);
  EXPECT_EQ(status.counter("proxy.flows_split").value, 275);
  EXPECT_EQ(status.counter("steering.dropped").value, 0);
  const Json traffic = status.counter("traffic.").value;
  EXPECT_EQ(traffic["traffic.split_bytes"], 110);
  EXPECT_FALSE(traffic.contains("proxy.flows_split"));
  const Json drops = status.counter("drop_tcp").value;
  EXPECT_EQ(drops["proxy.drop_tcp_checksum"], 264);
  EXPECT_FALSE(drops.contains("proxy.drop_runt"));
  EXPECT_EQ(status.counter("flows_spilt").value, "unknown counter 'flows_spilt'; did you mean flows_split?");
}

TEST_F(Status, GroupsHaveTheirTotalsAndMeans) {
  const Json groups = source().groups();
  ASSERT_EQ(groups.size(), 2U);
  const Json& first = groups[0];
  EXPECT_EQ(first["group"], "optimised");
  EXPECT_EQ(first["reports"], 22);
  EXPECT_EQ(first["queue_samples"], 44);
  EXPECT_EQ(first["transmitted_bytes"], 55);
  EXPECT_EQ(first["dropped_bytes"], 66);
  EXPECT_EQ(first["queue_mean_bytes"], 100.0);
  EXPECT_EQ(first["queue_delay_samples"], 22);
  EXPECT_EQ(first["queue_delay_mean_ms"], 250.0) << "samples without a rate do not count";
  EXPECT_EQ(first["observed_decisions"], 88);
  EXPECT_EQ(first["observed_decided_mean_bytes"], 10.0);
  EXPECT_EQ(first["observed_actual_mean_bytes"], 20.0);
  EXPECT_EQ(first["observed_decided_delay_mean_ms"], 125.0);
  EXPECT_EQ(first["observed_actual_delay_mean_ms"], 375.0);
  EXPECT_NEAR(first["rtt_p50_ms"].get<double>(), 4, 0.5) << "a bucket is an eighth wide";
  EXPECT_NEAR(first["rtt_p95_ms"].get<double>(), 40, 5);
  EXPECT_NEAR(first["completion_p50_ms"].get<double>(), 50, 6);
  EXPECT_NEAR(first["completion_p95_ms"].get<double>(), 500, 60);
  EXPECT_EQ(groups[1]["group"], "control");
  EXPECT_EQ(groups[1]["reports"], 44);
  EXPECT_TRUE(groups[1]["rtt_p50_ms"].is_null()) << "the control group has no round trip";
}

TEST_F(Status, GroupsWithoutSamplesHaveNoMeans) {
  for (ShardChannel* channel : {&first_, &second_}) {
    channel->snapshots.back() = ShardSnapshot{};
    channel->snapshots.publish();
  }
  const Json group = source().groups()[0];
  EXPECT_EQ(group["queue_samples"], 0);
  for (const char* mean :
       {"queue_mean_bytes", "queue_delay_mean_ms", "observed_decided_mean_bytes", "observed_actual_mean_bytes",
        "observed_decided_delay_mean_ms", "observed_actual_delay_mean_ms", "rtt_p50_ms", "completion_p95_ms"})
    EXPECT_TRUE(group.at(mean).is_null()) << mean;
}

TEST_F(Status, ExposureIsAHistogram) {
  const Json exposure = source().exposure();
  EXPECT_EQ(exposure["samples"], 2);
  EXPECT_EQ(exposure["largest_bytes"], 10'000);
  EXPECT_EQ(exposure["up_to_bytes"].size(), 2U) << exposure;
  EXPECT_EQ(exposure["up_to_bytes"]["1023"], 1);
  EXPECT_EQ(exposure["up_to_bytes"]["10239"], 1);
  EXPECT_EQ(exposure["p50_bytes"], 1023);
  EXPECT_EQ(exposure["p99_bytes"], 10'000);
}

TEST_F(Status, PassingFlowsOfAllShardsAreSortedBySize) {
  const Json passing = source().passing(20);
  ASSERT_EQ(passing.size(), 2U);
  EXPECT_EQ(passing[0]["bytes"], 10'000);
  EXPECT_EQ(passing[1]["bytes"], 1'000);
  EXPECT_EQ(passing[1]["ue"], "10.45.0.2 5000");
  EXPECT_EQ(passing[1]["server"], "192.0.2.1 443");
  EXPECT_EQ(passing[1]["protocol"], "udp (QUIC by its port)");
  EXPECT_EQ(passing[1]["passes_for"], "udp");
  EXPECT_EQ(passing[1]["uncertain_bytes"], 500);
  EXPECT_EQ(passing[1]["rate_bps"], 1'000) << "500 bytes in 4 s";
  EXPECT_EQ(passing[1]["seen_for_s"], 4.0);
  EXPECT_GE(passing[1]["last_seen_s"], 2.0);
  EXPECT_EQ(source().passing(1).size(), 1U);
}

PassingInfo flow_of(std::uint8_t protocol, std::uint16_t ue_port, std::uint16_t server_port) {
  PassingInfo flow;
  flow.protocol = protocol;
  flow.ue_port = ue_port;
  flow.server_port = server_port;
  return flow;
}

/// The numbers are those of IANA.
TEST(TrafficView, ProtocolsAndUdpPortsHaveTheirAssignedNames) {
  for (const auto& [number, name] : {std::pair<std::uint8_t, const char*>{1, "icmp"},
                                     {4, "ipip"},
                                     {6, "tcp"},
                                     {17, "udp"},
                                     {41, "ipv6"},
                                     {47, "gre"},
                                     {50, "esp"},
                                     {51, "ah"},
                                     {58, "icmpv6"},
                                     {132, "sctp"},
                                     {2, "protocol 2"},
                                     {0, "protocol 0"}})
    EXPECT_EQ(name_of_protocol(flow_of(number, 40'000, 40'001)), name);
  for (const auto& [port, name] : {std::pair<std::uint16_t, const char*>{53, "DNS"},
                                   {123, "NTP"},
                                   {443, "QUIC"},
                                   {500, "IKE"},
                                   {2152, "GTP-U"},
                                   {4500, "IPsec"},
                                   {51820, "WireGuard"}}) {
    const std::string expected = std::string("udp (") + name + " by its port)";
    EXPECT_EQ(name_of_protocol(flow_of(17, 40'000, port)), expected);
    EXPECT_EQ(name_of_protocol(flow_of(17, port, 40'000)), expected) << "the UE may be the server";
    EXPECT_EQ(name_of_protocol(flow_of(6, 40'000, port)), "tcp") << "other protocols have other ports";
  }
  EXPECT_EQ(name_of_protocol(flow_of(17, 53, 443)), "udp (QUIC by its port)") << "the server's port comes first";
}

TEST(TrafficView, AFlowWithoutPortsIsShownByItsAddresses) {
  PassingInfo flow = flow_of(47, 0, 0);
  flow.ue = IpAddress::v4(10, 45, 0, 2);
  flow.server = IpAddress::v4(192, 0, 2, 1);
  flow.reason = "other";
  flow.first = flow.last = Instant(10s);
  const Json rows = passing_rows({flow}, 10, Instant(11s + 240ms));
  EXPECT_EQ(rows[0]["ue"], "10.45.0.2");
  EXPECT_EQ(rows[0]["server"], "192.0.2.1");
  EXPECT_EQ(rows[0]["passes_for"], "other");
  EXPECT_TRUE(rows[0]["rate_bps"].is_null()) << "of a single sample there is no rate";
  EXPECT_EQ(rows[0]["seen_for_s"], 0.0);
  EXPECT_EQ(rows[0]["last_seen_s"], 1.2);
}

TEST(TrafficView, RowsOfTrafficAreSortedBySizeWithTheirShares) {
  Counters counters;
  EXPECT_EQ(traffic_rows(counters), Json::array());
  EXPECT_TRUE(traffic_summary(counters)["controlled_percent"].is_null());
  counters.add_controlled_bytes(true, 100);
  counters.add_controlled_bytes(false, 300);
  counters.add_passed_bytes(Counter::forward_mid_flow, 200);
  EXPECT_EQ(traffic_rows(counters),
            Json::parse(R"([{"handling": "split", "reason": null, "bytes": 300, "share_percent": 50.0},
                            {"handling": "passed", "reason": "mid_flow", "bytes": 200, "share_percent": 33.3},
                            {"handling": "controlled", "reason": null, "bytes": 100, "share_percent": 16.7}])"));
}

TEST_F(Status, TheLineOfTheLogHasRatesFromItsSecondTimeOn) {
  StatusSource status = source();
  const std::string first = status.statistics_line();
  EXPECT_THAT(first, HasSubstr("flows=22 bearers=33 packet_buffers="));
  EXPECT_THAT(first, HasSubstr(" optimised=242 forwarded=253 dropped=264"));
  EXPECT_THAT(first, Not(HasSubstr("Mb/s")));
  EXPECT_THAT(first, Not(HasSubstr("reports=")));
  send(*ues_, 5);
  receive(*radio_);
  const std::string second = status.statistics_line();
  EXPECT_THAT(second, HasSubstr(" core_in=0.000Mb/s core_out=0.000Mb/s"));
  EXPECT_THAT(second, testing::ContainsRegex(" radio_in=[0-9.]+Mb/s radio_out=0.000Mb/s"));
  EXPECT_THAT(second, Not(HasSubstr("radio_in=0.000Mb/s")));
  EXPECT_THAT(status.statistics_line(), HasSubstr(" radio_in=0.000Mb/s")) << "since the line before";
}

TEST_F(Status, TheMetricsPageHasTheStateOfAllShards) {
  MetricsContext context;
  context.last_reload_successful = false;
  context.processor_times = {Duration(2s), std::nullopt};
  context.now = now_;
  context.process.cpu_seconds = 2.5;
  context.process.resident_bytes = 4096;
  context.process.open_descriptors = 12;
  const std::string page = write_metrics(source(), context, metrics::Format::text);
  for (const char* line : {"sluice_config_last_reload_successful 0",
                           "sluice_uptime_seconds 7",
                           "sluice_draining 1",
                           "process_cpu_seconds_total 2.5",
                           "process_resident_memory_bytes 4096",
                           "process_open_fds 12",
                           "sluice_connections{state=\"handshake\"} 121",
                           "sluice_connections{state=\"split\"} 132",
                           "sluice_connections{state=\"handing_back\"} 143",
                           "sluice_connections{state=\"end_to_end\"} 55",
                           "sluice_connections{state=\"released\"} 44",
                           "sluice_bearers{governed=\"yes\"} 154",
                           "sluice_bearers{governed=\"no\"} 165",
                           "sluice_cross_traffic_waiting_bytes 176",
                           "sluice_port_link_up{port=\"radio\"} 1",
                           "sluice_port_link_up{port=\"core\"} 0",
                           "sluice_shard_cpu_seconds_total{shard=\"0\"} 2",
                           "sluice_shard_snapshot_age_seconds{shard=\"1\"} 3",
                           "sluice_shards_stalled 0",
                           "sluice_group_reports_total{group=\"optimised\"} 22",
                           "sluice_group_reports_total{group=\"control\"} 44",
                           "sluice_group_queue_samples_total{group=\"control\"} 88",
                           "sluice_group_transmitted_bytes_total{group=\"control\"} 110",
                           "sluice_group_dropped_bytes_total{group=\"control\"} 132",
                           "sluice_group_queue_delay_seconds_total{group=\"control\"} 11",
                           "sluice_group_queue_delay_samples_total{group=\"control\"} 44",
                           "sluice_observed_decisions_total 88",
                           "sluice_observed_decided_bytes_total 880",
                           "sluice_observed_actual_bytes_total 1760",
                           "sluice_observed_delays_total 22",
                           "sluice_observed_decided_delay_seconds_total 2.75",
                           "sluice_observed_actual_delay_seconds_total 8.25",
                           "sluice_packets_total{action=\"dropped\",reason=\"tcp_checksum\"} 264",
                           "sluice_port_link_changes_total{port=\"core\"} 1"})
    EXPECT_THAT(page, HasSubstr(std::string("\n") + line + "\n"));
  for (const char* without :
       {"process_virtual_memory_bytes ", "sluice_shard_cpu_seconds_total{shard=\"1\"}", "sluice_fail_open_ready"})
    EXPECT_THAT(page, Not(HasSubstr(std::string("\n") + without)));
  EXPECT_THAT(page, testing::ContainsRegex("\nsluice_config_info\\{hash=\"[0-9a-f]{16}\",mode=\"[a-z-]+\"\\} 1\n"));
  EXPECT_THAT(page, HasSubstr("sluice_packet_buffers " + std::to_string(test::pool().capacity()) + "\n"));
  EXPECT_THAT(page, HasSubstr("sluice_packet_buffers_in_use " + std::to_string(test::pool().in_use()) + "\n"));
}

/// Each bound of a histogram is the end of a bucket, so that the count below it is exact.
TEST_F(Status, HistogramsOfTheMetricsPageAreCumulated) {
  MetricsContext context;
  context.now = now_;
  const std::string page = write_metrics(source(), context, metrics::Format::text);
  for (const char* line :
       {"sluice_ack_exposed_bytes_bucket{le=\"1023.0\"} 1", "sluice_ack_exposed_bytes_bucket{le=\"4095.0\"} 1",
        "sluice_ack_exposed_bytes_bucket{le=\"16383.0\"} 2", "sluice_ack_exposed_bytes_bucket{le=\"268435455.0\"} 2",
        "sluice_ack_exposed_bytes_bucket{le=\"+Inf\"} 2",
        "sluice_feedback_age_seconds_bucket{group=\"optimised\",le=\"0.000256\"} 0",
        "sluice_feedback_age_seconds_bucket{group=\"optimised\",le=\"0.000384\"} 1",
        "sluice_feedback_age_seconds_bucket{group=\"optimised\",le=\"0.002048\"} 1",
        "sluice_feedback_age_seconds_bucket{group=\"optimised\",le=\"0.003072\"} 2",
        "sluice_feedback_age_seconds_bucket{group=\"control\",le=\"0.003072\"} 0",
        "sluice_relay_sojourn_seconds_count{group=\"optimised\"} 2",
        "sluice_rtt_seconds_sum{group=\"optimised\"} 0.044",
        "sluice_flow_completion_seconds_sum{group=\"optimised\"} 0.55"})
    EXPECT_THAT(page, HasSubstr(std::string("\n") + line + "\n"));
  EXPECT_THAT(page, HasSubstr("sluice_rtt_seconds_bucket{group=\"optimised\",le=\"100.663296\"} 2\n")) << "the last";
  EXPECT_THAT(page, Not(HasSubstr("le=\"134.217728\"")));
  EXPECT_THAT(page, Not(HasSubstr("le=\"0.000192\"")));
}

TEST_F(Status, TheMetricsPageOfAHealthyProgramSaysSo) {
  MetricsContext context;
  context.now = now_;
  second_.snapshots.back().draining = false;
  second_.snapshots.publish();
  const std::string page = write_metrics(source(), context, metrics::Format::openmetrics);
  EXPECT_THAT(page, HasSubstr("\nsluice_config_last_reload_successful 1\n"));
  EXPECT_THAT(page, HasSubstr("\nsluice_draining 0\n"));
  EXPECT_THAT(page, testing::EndsWith("# EOF\n"));
}

TEST_F(Status, TheHashOfTheConfigurationChangesWithIt) {
  MetricsContext context;
  const auto hash = [&] {
    const std::string page = write_metrics(source(), context, metrics::Format::text);
    return page.substr(page.find("hash=\""), 24);
  };
  const std::string before = hash();
  EXPECT_EQ(hash(), before);
  config_.shard.mode = config_.shard.mode == Mode::bypass ? Mode::i_tcp : Mode::bypass;
  EXPECT_NE(hash(), before);
}

TEST_F(Status, TheLivePageHasEveryPart) {
  send(*ues_, 3);
  receive(*radio_);
  LiveContext context;
  context.processor_times = {Duration(1500ms), std::nullopt};
  context.modes = {{Mode::bypass, ""}, {Mode::smvs, "it needs reports"}};
  context.now = Instant(12s);
  const StatusSource status = source();
  const Json view =
      live_view(status, context, admin::Answer::success({{"flows", Json::array({1})}, {"bearers", Json::array({2})}}));
  EXPECT_EQ(view["program"], "sluice");
  EXPECT_EQ(view["time_s"], 12.0);
  EXPECT_EQ(view["status"]["flows"], 22);
  EXPECT_EQ(view["modes"][0]["mode"], "bypass");
  EXPECT_EQ(view["modes"][0]["allowed"], true);
  EXPECT_TRUE(view["modes"][0]["why_not"].is_null());
  EXPECT_EQ(view["modes"][1]["allowed"], false);
  EXPECT_EQ(view["modes"][1]["why_not"], "it needs reports");
  EXPECT_EQ(view["policies"], Json::array({to_string(config_.shard.mode)}));
  EXPECT_EQ(view["ports"]["radio"], Json({{"device", radio_rings_.a()},
                                          {"link", "up"},
                                          {"received", 3},
                                          {"received_bytes", 300},
                                          {"transmitted", 0},
                                          {"transmitted_bytes", 0},
                                          {"dropped", 0}}));
  EXPECT_EQ(view["ports"]["core"]["link"], "down");
  EXPECT_EQ(view["shards"][0]["processor_s"], 1.5);
  EXPECT_TRUE(view["shards"][1]["processor_s"].is_null());
  EXPECT_EQ(view["packets"], Json::parse(R"({"optimised": 242, "forwarded": {"mid_flow": 253},
                                             "dropped": {"tcp_checksum": 264}})"));
  EXPECT_EQ(view["traffic"], status.traffic());
  EXPECT_EQ(view["passing"].size(), 2U);
  EXPECT_EQ(view["groups"], status.groups());
  EXPECT_EQ(view["flows"], Json::array({1}));
  EXPECT_EQ(view["bearers"], Json::array({2}));
  EXPECT_FALSE(view.contains("problem"));
}

TEST_F(Status, TheLivePageShowsWhyItHasNoDetails) {
  const Json view = live_view(source(), {}, admin::Answer::failure("a shard does not answer"));
  EXPECT_EQ(view["problem"], "a shard does not answer");
  EXPECT_FALSE(view.contains("flows"));
}

}  // namespace
}  // namespace sluice::proxy
