// Tests of packets to a UE that belong to no split connection, while the ACK-based controller or reports steer the UE:
// which of them wait, when they go on, and what becomes of them when the controller ends.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/packet/build_datagram.hpp"
#include "tests/unit/proxy/shard_acks.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Counter;
using proxy::Side;
using tcp::Flags;

/// A download that fills its window, and datagrams beside it.
class ShardCrossTraffic : public ShardAcks {
 protected:
  static constexpr std::uint16_t port = 443;

  explicit ShardCrossTraffic(const proxy::ShardConfig& config = acks_config()) : ShardAcks(config) {}

  /// Opens the download and lets the UE acknowledge a round trip. The controller then knows the link, the window is
  /// full and the server's next segments wait.
  void fill_window() {
    hosts.open();
    acknowledge_a_round_trip();
  }
  void acknowledge_a_round_trip() {
    offer(hosts, offered, 60);
    in_flight += static_cast<std::uint32_t>(data_sent() / on_wire) * segment_size;
    lab.pass_time(20ms);
    acknowledge(in_flight);
    in_flight += static_cast<std::uint32_t>(data_sent() / on_wire) * segment_size;
    lab.pass_time(1ms);
  }
  /// The UE acknowledges the next `bytes` of the download.
  void acknowledge(std::uint32_t bytes) {
    acked += bytes;
    in_flight -= bytes;
    hosts.ue(Flags::ack_bit, 0, acked);
  }
  /// Returns a datagram of the server whose last byte is the next serial number.
  packet::Packet numbered(std::size_t size, std::uint16_t from, std::uint8_t first, std::uint8_t tos) {
    packet::Addresses addresses = hosts.ue_to_server.reversed();
    addresses.src_port = from;
    packet::Packet packet = datagram_of(false, addresses, size, first, tos);
    packet.data()[packet.size() - 1] = ++serial;
    return packet;
  }
  /// Returns a datagram from the server's port `from` to the UE; `first` is the first byte of its payload.
  packet::Packet datagram(std::size_t size, std::uint16_t from = port, std::uint8_t first = 0x40) {
    return numbered(size, from, first, 0);
  }
  /// Returns a datagram that begins with the long header of QUIC version 1.
  packet::Packet quic_handshake() {
    packet::Packet packet = datagram(1200, port, 0xc0);
    packet.data()[packet.size() - 1200 + 4] = 1;
    return packet;
  }
  void send(int count, std::size_t size = 1000, std::uint16_t from = port) {
    for (int i = 0; i < count; ++i) lab.put(Side::core, datagram(size, from));
  }
  /// Takes what came out towards the UE, and returns the number of datagrams. Checks that each flow's are in order.
  int datagrams_sent() {
    int count = 0;
    while (const auto seen = lab.next(Side::radio)) {
      in_flight += static_cast<std::uint32_t>(seen->payload.size());
      if (seen->result != packet::ParseResult::udp) continue;
      ++count;
      EXPECT_GT(seen->frame.back(), last_serial) << "a datagram overtook another one";
      last_serial = seen->frame.back();
    }
    return count;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    return lab.count(Counter::drop_queue_full) + lab.count(Counter::drop_queue_delay);
  }

  std::uint32_t in_flight = 0;
  std::uint32_t acked = 0;
  std::uint8_t serial = 0;
  std::uint8_t last_serial = 0;
};

TEST_F(ShardCrossTraffic, PassesAtOnceWhileNoConnectionShowsTheLink) {
  hosts.open();
  send(50);
  EXPECT_EQ(datagrams_sent(), 50);
  EXPECT_EQ(lab.count(Counter::cross_traffic_queued), 0U);
}

TEST_F(ShardCrossTraffic, WaitsWhileTheWindowIsUsedUp) {
  fill_window();
  send(60);
  const int at_once = datagrams_sent();
  EXPECT_LT(at_once, 50);
  EXPECT_EQ(lab.count(Counter::cross_traffic_queued), static_cast<std::uint64_t>(60 - at_once));
}

TEST_F(ShardCrossTraffic, GoesOnWithTheAcksOfTheDownload) {
  fill_window();
  send(60);
  const int at_once = datagrams_sent();
  int sent = at_once;
  for (int i = 0; i < 40 && sent < 60; ++i) {
    lab.pass_time(5ms);
    acknowledge(std::min(in_flight, 4 * segment_size));
    sent += datagrams_sent();
  }
  EXPECT_EQ(sent + static_cast<int>(dropped()), 60);
  EXPECT_GT(sent, at_once + 5);
}

TEST_F(ShardCrossTraffic, AShortDatagramPassesBesideAFullWindow) {
  fill_window();
  send(60);
  datagrams_sent();
  send(1, 60, 3478);
  EXPECT_EQ(datagrams_sent(), 1) << "a call does not wait for a download";
}

TEST_F(ShardCrossTraffic, AFlowBeyondItsPartLosesItsOldestPackets) {
  fill_window();
  send(200);
  EXPECT_GT(lab.count(Counter::drop_queue_full), 0U);
  int sent = datagrams_sent();
  lab.pass_time(15s);  // without any ACK everything passes in the end
  sent += datagrams_sent();
  EXPECT_EQ(sent + static_cast<int>(dropped()), 200);
  EXPECT_EQ(lab.count(Counter::received_core) + lab.count(Counter::received_radio),
            lab.shard.counters().forwarded() + lab.shard.counters().dropped() + lab.count(Counter::optimised))
      << "every frame is counted once";
}

/// A packet that waits may be dropped, so its bytes count as passed when it leaves.
TEST_F(ShardCrossTraffic, ADroppedPacketDoesNotCountAsPassed) {
  constexpr std::uint64_t frame_bytes = 1000 + 8 + 20 + packet::ethernet_length;
  fill_window();
  const std::uint64_t before = lab.shard.counters().bytes(proxy::Handling::passed);
  send(200);
  int sent = datagrams_sent();
  lab.pass_time(15s);
  sent += datagrams_sent();
  ASSERT_GT(dropped(), 0U);
  EXPECT_EQ(lab.shard.counters().bytes(proxy::Handling::passed) - before,
            static_cast<std::uint64_t>(sent) * frame_bytes);
  std::vector<proxy::PassingInfo> flows;
  lab.shard.describe_passing(flows, lab.now);
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].server_port, port);
  EXPECT_NEAR(static_cast<double>(flows[0].bytes), static_cast<double>(sent) * frame_bytes, 2 * 2048);
}

TEST_F(ShardCrossTraffic, WhatWaitsIsShownPerUe) {
  const auto waiting = [this] {
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    return bearers.at(0).cross_traffic_waiting;
  };
  constexpr std::int64_t packet_bytes = 1000 + 8 + 20;
  fill_window();
  EXPECT_EQ(waiting(), Bytes{});
  send(40);
  const int at_once = datagrams_sent();
  EXPECT_EQ(waiting(), Bytes(packet_bytes * (40 - at_once - static_cast<int>(dropped()))));
  EXPECT_GT(waiting(), Bytes{});
  lab.shard.sample_flow_stats(100, lab.now);
  EXPECT_EQ(lab.shard.flow_state_counts().cross_traffic_waiting, static_cast<std::uint64_t>(waiting().count()));
  lab.pass_time(15s);
  datagrams_sent();
  EXPECT_EQ(waiting(), Bytes{});
}

TEST_F(ShardCrossTraffic, AHandshakeIsNotDropped) {
  fill_window();
  for (int i = 0; i < 40; ++i) lab.put(Side::core, quic_handshake());
  EXPECT_EQ(dropped(), 0U);
  int sent = datagrams_sent();
  lab.pass_time(15s);
  sent += datagrams_sent();
  EXPECT_EQ(sent, 40);
}

TEST_F(ShardCrossTraffic, AFloodOfHandshakesHasABound) {
  fill_window();
  for (int i = 0; i < 200; ++i) lab.put(Side::core, quic_handshake());
  EXPECT_GT(lab.count(Counter::drop_queue_full), 100U);
}

TEST_F(ShardCrossTraffic, RtpIsNoHandshake) {
  constexpr std::uint8_t rtp_version_2 = 0x80;
  fill_window();
  for (int i = 0; i < 200; ++i) lab.put(Side::core, datagram(1000, port, rtp_version_2));
  EXPECT_GT(lab.count(Counter::drop_queue_full), 100U);
}

TEST_F(ShardCrossTraffic, PassesInOrderOnceTheLinkIsUnknown) {
  fill_window();
  send(60);
  const int at_once = datagrams_sent();
  lab.pass_time(11s);  // the longest stall of a link
  EXPECT_EQ(at_once + datagrams_sent() + static_cast<int>(dropped()), 60);
  send(5);
  EXPECT_EQ(datagrams_sent(), 5);
}

TEST_F(ShardCrossTraffic, ContinuesAtTheMeasuredRateAfterTheDownload) {
  fill_window();
  while (in_flight > 0) {
    acknowledge(in_flight);
    in_flight += static_cast<std::uint32_t>(data_sent() / on_wire) * segment_size;
    lab.pass_time(20ms);
  }
  send(30);
  int sent = datagrams_sent();
  lab.pass_time(1100ms);
  sent += datagrams_sent();
  EXPECT_EQ(sent + static_cast<int>(dropped()), 30);
}

TEST_F(ShardCrossTraffic, PassesWhenThePoliciesChange) {
  fill_window();
  send(60);
  const int at_once = datagrams_sent();
  proxy::ShardConfig plain = shard_config(proxy::Mode::i_tcp);
  const proxy::Policies policies = plain.policy_set();
  lab.shard.apply(policies, lab.now);
  EXPECT_EQ(at_once + datagrams_sent() + static_cast<int>(dropped()), 60);
  send(5);
  EXPECT_EQ(datagrams_sent(), 5);
}

TEST_F(ShardCrossTraffic, PassesWhenTheProxyEnds) {
  fill_window();
  send(60);
  const int at_once = datagrams_sent();
  lab.shard.abort_all();
  lab.pass_time(1ms);
  EXPECT_EQ(at_once + datagrams_sent() + static_cast<int>(dropped()), 60);
}

TEST_F(ShardCrossTraffic, IsDroppedIfThePortNoLongerCarriesIt) {
  fill_window();
  send(60);
  const int at_once = datagrams_sent();
  lab.shard.set_port(Side::radio, packet::LinkLimit{600}, lab.now);
  lab.pass_time(15s);
  EXPECT_EQ(datagrams_sent(), 0);
  EXPECT_EQ(at_once + static_cast<int>(lab.count(Counter::drop_too_long) + dropped()), 60);
}

TEST_F(ShardCrossTraffic, IcmpNeverWaits) {
  fill_window();
  send(60);
  datagrams_sent();
  for (int i = 0; i < 20; ++i) {
    packet::Packet packet = pool().allocate();
    std::fill_n(packet.append(1000), 1000, std::uint8_t{0});
    const auto header = packet::make_template(ScriptedHosts::server_mac, ScriptedHosts::ue_mac, 4);
    packet::write_icmp_headers(packet, header, hosts.ue_to_server.reversed(), {8, 0, 1}, 7);
    lab.put(Side::core, std::move(packet));
    EXPECT_FALSE(lab.silent(Side::radio));
    lab.forget_output();
  }
}

proxy::ShardConfig forwarding_config() {
  proxy::ShardConfig config = acks_config();
  config.smvs.cross_traffic = proxy::CrossTraffic::forward;
  return config;
}

class ShardCrossTrafficForwarded : public ShardCrossTraffic {
 protected:
  ShardCrossTrafficForwarded() : ShardCrossTraffic(forwarding_config()) {}
};

TEST_F(ShardCrossTrafficForwarded, PassesAtOnceIfTheConfigurationSelectsIt) {
  fill_window();
  send(50);
  EXPECT_EQ(datagrams_sent(), 50);
}

/// Policies by which packets of port 5004 and of DSCP 46 do not wait, but those of a bypassed server do.
proxy::ShardConfig excepting_config() {
  proxy::ShardConfig config = acks_config();
  proxy::Policy calls;
  calls.ports = {{5004, 5004}};
  calls.settings = config;
  calls.settings.smvs.cross_traffic = proxy::CrossTraffic::forward;
  proxy::Policy voice;
  voice.dscp = {46};
  voice.settings = config;
  voice.settings.smvs.cross_traffic = proxy::CrossTraffic::forward;
  proxy::Policy plain;
  plain.ports = {{5005, 5005}};
  plain.settings = config;
  plain.settings.mode = proxy::Mode::bypass;
  config.policies = {calls, voice, plain};
  return config;
}

class ShardCrossTrafficByPolicy : public ShardCrossTraffic {
 protected:
  explicit ShardCrossTrafficByPolicy() : ShardCrossTraffic(excepting_config()) {}
  /// Sends `count` datagrams with this DSCP from the server's port `from`.
  void send_with_dscp(int count, std::uint16_t from, std::uint8_t dscp) {
    for (int i = 0; i < count; ++i) {
      lab.put(Side::core, numbered(1000, from, 0, static_cast<std::uint8_t>(dscp << 2U)));
    }
  }
};

TEST_F(ShardCrossTrafficByPolicy, OnlyWhatAPolicyQueuesWaits) {
  fill_window();
  send(30, 1000, 5004);
  EXPECT_EQ(datagrams_sent(), 30) << "a port";
  send_with_dscp(30, 7001, 46);
  EXPECT_EQ(datagrams_sent(), 30) << "a DSCP";
  EXPECT_EQ(lab.count(Counter::cross_traffic_queued), 0U);
  send(60, 1000, 7000);
  EXPECT_LT(datagrams_sent(), 50) << "no policy matches";
  const std::uint64_t before = lab.count(Counter::cross_traffic_queued);
  EXPECT_GT(before, 0U);
  send(30, 1000, 5005);
  EXPECT_GT(lab.count(Counter::cross_traffic_queued), before) << "what passes unsplit fills the radio queue, too";
}

TEST_F(ShardCrossTrafficByPolicy, AFlowWhoseDscpChangesStaysInOrder) {
  fill_window();
  send(60, 1000, 7000);
  int sent = datagrams_sent();
  send_with_dscp(3, 7000, 46);
  for (int i = 0; i < 60; ++i) {
    lab.pass_time(5ms);
    acknowledge(std::min(in_flight, 4 * segment_size));
    sent += datagrams_sent();
  }
  EXPECT_EQ(sent + static_cast<int>(dropped()), 63);
}

TEST_F(ShardCrossTrafficByPolicy, OtherPoliciesDecideAnew) {
  fill_window();
  send(30, 1000, 5004);
  EXPECT_EQ(datagrams_sent(), 30);
  const proxy::ShardConfig same_for_all = acks_config();
  const proxy::Policies policies = same_for_all.policy_set();
  lab.shard.apply(policies, lab.now);
  acknowledge_a_round_trip();
  send(60, 1000, 5004);
  EXPECT_LT(datagrams_sent(), 50);
}

/// A UE whose Node-B reports an allowance every 5 ms.
class ShardCrossTrafficReported : public ShardCrossTraffic {
 protected:
  explicit ShardCrossTrafficReported(const proxy::ShardConfig& config = shard_config(proxy::Mode::smvs))
      : ShardCrossTraffic(config) {}
  void report(std::int64_t allowance) {
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.allowance = Bytes(allowance);
    reports.send(arrival);
  }
  ScriptedReports reports{lab, hosts};
};

TEST_F(ShardCrossTrafficReported, HasTheShareOfAConnectionInEachGrant) {
  hosts.open();
  report(0);
  offer(hosts, offered, 40);
  data_sent();
  send(20);
  EXPECT_LE(datagrams_sent(), 2) << "nothing is granted but what a new flow may send beyond it";
  lab.pass_time(ScriptedReports::period);
  report(8 * on_wire);
  int segments = 0;
  int datagrams = 0;
  while (const auto seen = lab.next(Side::radio)) {
    if (seen->result == packet::ParseResult::udp) {
      ++datagrams;
    } else if (!seen->payload.empty()) {
      ++segments;
    }
  }
  EXPECT_NEAR(datagrams, 4, 1);
  EXPECT_NEAR(segments, 4, 1);
  lab.pass_time(10s);
}

TEST_F(ShardCrossTrafficReported, ManyShortFlowsTogetherHaveABoundBeyondTheGrant) {
  hosts.open();
  report(0);
  for (std::uint16_t from = 1000; from < 1030; ++from) {
    send(1, 1000, from);
    lab.pass_time(100us);
  }
  EXPECT_LE(datagrams_sent(), 2) << "3000 bytes per round trip";
}

/// A UE without any connection, to which only datagrams go. Its Node-B reports a queue of 20 kB each 5 ms.
class ShardCrossTrafficAlone : public ShardCrossTrafficReported {
 protected:
  void report_queue(std::int64_t allowance, std::int64_t queue = 20'000) {
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.allowance = Bytes(allowance);
    arrival.bearer.queue = Bytes(queue);
    arrival.bearer.arrived = arrival.bearer.transmitted + static_cast<std::uint64_t>(queue);
    reports.send(arrival);
    lab.pass_time(ScriptedReports::period);
  }
  [[nodiscard]] std::size_t bearers() const { return lab.shard.bearer_count(); }
};

TEST_F(ShardCrossTrafficAlone, WaitsForTheGrantsOfReports) {
  send(10);
  EXPECT_EQ(datagrams_sent(), 10) << "nothing is known of the UE yet";
  report_queue(0);
  send(12);
  const int at_once = datagrams_sent();
  EXPECT_LE(at_once, 2) << "what flows that send little may send beyond the grant";
  report_queue(4 * on_wire);
  EXPECT_NEAR(datagrams_sent(), 4, 1);
  for (int i = 0; i < 10; ++i) report_queue(4 * on_wire);
  EXPECT_EQ(lab.shard.counters().forwarded() + dropped(), 22U);
}

TEST_F(ShardCrossTrafficAlone, AReportOfAnEmptyQueueCreatesNothing) {
  send(10);
  report_queue(0, 0);
  EXPECT_EQ(bearers(), 0U);
  EXPECT_EQ(lab.count(Counter::reports_unknown_bearer), 1U);
}

TEST_F(ShardCrossTrafficAlone, EndsSoonAfterTheLastPacketThatWaited) {
  report_queue(0);
  send(5);
  ASSERT_EQ(bearers(), 1U);
  for (int i = 0; i < 4000; ++i) report_queue(on_wire, 1000);
  EXPECT_EQ(lab.shard.counters().forwarded() + dropped(), 5U);
  lab.pass_time(11s);
  EXPECT_EQ(bearers(), 0U) << "ten seconds, for it never had a connection";
}

TEST_F(ShardCrossTrafficAlone, EndsAlthoughReportsOfAnEmptyQueueGoOn) {
  report_queue(0);
  send(1);
  for (int i = 0; i < 2200; ++i) report_queue(on_wire, 0);
  EXPECT_EQ(bearers(), 0U) << "eleven seconds without data in the radio queue";
}

TEST_F(ShardCrossTrafficAlone, ManyFlowsShareTheBoundOfWhatWaits) {
  report_queue(0);
  for (int round = 0; round < 60; ++round) {
    for (std::uint16_t from = 1000; from < 1016; ++from) send(1, 1000, from);
  }
  datagrams_sent();
  EXPECT_GT(dropped(), 600U) << "of 960; each flow may hold 12 kB, not all that the link sends in 320 ms";
  for (int i = 0; i < 400; ++i) report_queue(4 * on_wire);
}

TEST_F(ShardCrossTrafficAlone, AFailedHandshakeLosesNoPacketThatWaits) {
  report_queue(0);
  send(8);
  const int at_once = datagrams_sent();
  hosts.send_syn();
  hosts.send_syn_ack();
  hosts.ue(Flags::rst_bit, 0, 0);
  ASSERT_EQ(lab.shard.flow_count(), 0U);
  lab.pass_time(2s);
  EXPECT_EQ(at_once + datagrams_sent() + static_cast<int>(dropped()), 8);
}

/// A shard with eight bearers.
class ShardCrossTrafficFewBearers : public ShardCrossTrafficReported {
 protected:
  ShardCrossTrafficFewBearers() : ShardCrossTrafficReported(config()) {}
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
    config.limits.max_bearers = 8;
    return config;
  }
};

TEST_F(ShardCrossTrafficFewBearers, AnEighthIsLeftForConnections) {
  for (std::uint8_t ue = 100; ue < 120; ++ue) {
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.ue = IpAddress::v4(10, 45, 0, ue);
    arrival.bearer.queue = Bytes(20'000);
    reports.send(arrival);
  }
  EXPECT_EQ(lab.shard.bearer_count(), 7U);
  hosts.open();
  EXPECT_EQ(lab.shard.bearer_count(), 8U);
  EXPECT_EQ(lab.count(Counter::forward_flow_limit), 0U);
}

/// Prefixes of UEs that share a queue each, half of them in the control group.
class ShardCrossTrafficSharedQueues : public ShardCrossTrafficReported {
 protected:
  static constexpr std::uint8_t prefixes = 16;
  ShardCrossTrafficSharedQueues() : ShardCrossTrafficReported(config()) {}
  static IpAddress address(std::uint8_t prefix, std::uint8_t host) {
    return IpAddress::v4(10, 46, 0, static_cast<std::uint8_t>(16 * prefix + host));
  }
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
    config.control_group = 0.5;
    config.limits.max_bearers = 64;
    for (std::uint8_t i = 0; i < prefixes; ++i) config.shared_queues.push_back(IpPrefix{address(i, 0), 96 + 28});
    return config;
  }
};

TEST_F(ShardCrossTrafficSharedQueues, BelongToTheControlGroupTogether) {
  proxy::Policies policies;
  policies.control_group = 0.5;
  std::size_t outside = 0;
  for (std::uint8_t i = 0; i < prefixes; ++i) {
    outside += policies.in_control_group(address(i, 0)) ? 0U : 1U;
    for (std::uint8_t host = 0; host < 16; ++host) {
      proxy::ReportArrival arrival = reports.next();
      arrival.bearer.ue = address(i, host);
      arrival.bearer.queue = Bytes(20'000);
      reports.send(arrival);
    }
  }
  EXPECT_GT(outside, 0U);
  EXPECT_LT(outside, prefixes);
  EXPECT_EQ(lab.shard.bearer_count(), outside);
}

TEST_F(ShardCrossTrafficReported, PassesWhenReportsEnd) {
  hosts.open();
  report(0);
  send(8);
  const int at_once = datagrams_sent();
  EXPECT_LE(at_once, 2);
  lab.pass_time(2s);
  EXPECT_EQ(at_once + datagrams_sent() + static_cast<int>(dropped()), 8);
}

proxy::ShardConfig counting_config() {
  proxy::ShardConfig config = acks_config();
  config.smvs.uplink_answers = proxy::UplinkAnswers::count;
  return config;
}

/// A UE without a connection and without reports, to which a download over datagrams goes. Its link carries a datagram
/// per millisecond, and the UE answers each second one.
class ShardCrossTrafficAnswered : public ShardCrossTraffic {
 protected:
  static constexpr int most_unanswered = 150;  ///< window of the server, in datagrams

  explicit ShardCrossTrafficAnswered(const proxy::ShardConfig& config = counting_config())
      : ShardCrossTraffic(config) {}

  void answer(std::size_t size = 35) {
    packet::Packet packet = pool().allocate();
    std::fill_n(packet.append(static_cast<std::uint16_t>(size)), size, std::uint8_t{0x40});
    const auto header = packet::make_template(ScriptedHosts::ue_mac, ScriptedHosts::server_mac, 4);
    packet::Addresses addresses = hosts.ue_to_server;
    addresses.dst_port = port;
    packet::write_udp_headers(packet, header, addresses, 7);
    lab.put(Side::radio, std::move(packet));
    while (lab.next(Side::core)) {
    }
  }
  /// The server sends, the link delivers and the UE answers for `time`.
  void run(Duration time, bool answers = true) {
    for (Duration passed{}; passed < time; passed += 1ms) {
      const int unanswered = offered_datagrams - delivered - static_cast<int>(dropped());
      const int wanted = offered_datagrams < most_offered ? std::clamp(most_unanswered - unanswered, 0, 4) : 0;
      send(wanted, 1300);
      offered_datagrams += wanted;
      radio_queue += take_datagrams();
      most_queued = std::max(most_queued, radio_queue);
      if (radio_queue > 0) {
        --radio_queue;
        ++delivered;
        if (answers && delivered % 2 == 0) answer();
      }
      lab.pass_time(1ms);
    }
  }
  /// Like datagrams_sent(), without a check of the order, because there are more than 256.
  int take_datagrams() {
    int count = 0;
    while (const auto seen = lab.next(Side::radio)) count += seen->result == packet::ParseResult::udp ? 1 : 0;
    return count;
  }

  int offered_datagrams = 0;
  int most_offered = 1 << 30;
  int radio_queue = 0;
  int most_queued = 0;
  int delivered = 0;
};

TEST_F(ShardCrossTrafficAnswered, ADownloadIsHeldToLearnItsAnswers) {
  send(99, 1300);
  EXPECT_EQ(take_datagrams(), 99) << "a download begins with a hundred datagrams in a second";
  EXPECT_EQ(lab.shard.bearer_count(), 0U);
  send(20, 1300);
  EXPECT_EQ(take_datagrams(), 0);
  EXPECT_EQ(lab.count(Counter::answer_clocks_started), 1U);
  EXPECT_EQ(lab.shard.bearer_count(), 1U);
  lab.pass_time(1s);
  EXPECT_EQ(take_datagrams(), 20) << "after a silence the radio queue is empty";
}

TEST_F(ShardCrossTrafficAnswered, ShortOrRareDatagramsAreNoDownload) {
  for (int i = 0; i < 300; ++i) {
    send(1, 1300);
    send(1, 200);
    lab.pass_time(20ms);
  }
  EXPECT_EQ(take_datagrams(), 600);
  EXPECT_EQ(lab.count(Counter::answer_clocks_started), 0U);
}

TEST_F(ShardCrossTrafficAnswered, WaitsForTheWindowOnceTheAnswersAreKnown) {
  run(6s);
  EXPECT_EQ(lab.count(Counter::answer_clocks_known), 1U);
  most_queued = 0;
  const int before = delivered;
  run(3s);
  EXPECT_LT(most_queued, 60) << "datagrams; the server has 150 unanswered";
  EXPECT_GT(delivered - before, 2800) << "the link is used";
}

TEST_F(ShardCrossTrafficAnswered, AHoldOfTheDownloadDoesNotStopOtherDownloads) {
  constexpr std::uint16_t other = 444;
  send(99, 1300);
  send(20, 1300);
  EXPECT_EQ(take_datagrams(), 99);
  send(20, 1300, other);
  EXPECT_EQ(take_datagrams(), 20) << "the download is held, and the other flow goes on";
  lab.pass_time(1s);
  EXPECT_EQ(take_datagrams(), 20);
}

TEST_F(ShardCrossTrafficAnswered, AHoldOfAKnownDownloadDoesNotStopOtherDownloads) {
  constexpr std::uint16_t other = 444;
  run(6s);
  ASSERT_EQ(lab.count(Counter::answer_clocks_known), 1U);
  const auto is_idle = [this] {
    const int before = delivered;
    run(10ms);
    return radio_queue == 0 && delivered == before;
  };
  int most_sent = 0;  // a link may also be idle because the count errs, so the longest series is decisive
  for (int i = 0; i < 2000 && most_sent <= 3; ++i) {
    if (!is_idle()) continue;
    send(8, 1300, other);
    most_sent = std::max(most_sent, take_datagrams());
    run(500ms);
  }
  EXPECT_GT(most_sent, 3) << "more than a flow that has sent little may overdraw";
}

TEST_F(ShardCrossTrafficAnswered, WithoutAnswersItIsForwardedAgain) {
  run(30s, false);
  EXPECT_EQ(lab.count(Counter::answer_clocks_given_up), 1U);
  EXPECT_EQ(lab.count(Counter::answer_clocks_known), 0U);
  send(50, 1300);
  EXPECT_EQ(take_datagrams(), 50);
}

TEST_F(ShardCrossTrafficAnswered, LongDatagramsOfTheUeAreNoAnswers) {
  run(3s, false);
  for (int i = 0; i < 1000; ++i) {
    answer(300);
    run(1ms, false);
  }
  EXPECT_EQ(lab.count(Counter::answer_clocks_known), 0U);
}

TEST_F(ShardCrossTrafficAnswered, WhatWaitsPassesAfterTheDownload) {
  run(6s);
  most_offered = offered_datagrams;
  run(15s);
  EXPECT_EQ(static_cast<std::uint64_t>(delivered + radio_queue) + dropped(),
            static_cast<std::uint64_t>(offered_datagrams));
  lab.pass_time(25s);
  EXPECT_EQ(lab.shard.bearer_count(), 0U) << "the UE has no connection";
}

TEST_F(ShardCrossTrafficAnswered, PassesWhenTheProxyEnds) {
  run(6s);
  lab.shard.abort_all();
  lab.pass_time(1ms);
  radio_queue += take_datagrams();
  send(50, 1300);
  EXPECT_EQ(take_datagrams(), 50);
}

TEST_F(ShardCrossTrafficAnswered, NoDownloadIsHeldWhileBuffersAreShort) {
  std::vector<packet::Packet> taken;
  while (pool().available() > pool().capacity() / 10) taken.push_back(pool().allocate());
  lab.pass_time(2ms);
  send(119, 1300);
  EXPECT_EQ(take_datagrams(), 119);
  EXPECT_EQ(lab.shard.bearer_count(), 0U);
  taken.clear();
  lab.pass_time(1s);
  send(119, 1300);
  EXPECT_EQ(lab.shard.bearer_count(), 1U) << "there are enough again";
}

class ShardCrossTrafficUnanswered : public ShardCrossTrafficAnswered {
 protected:
  ShardCrossTrafficUnanswered() : ShardCrossTrafficAnswered(acks_config()) {}
};

TEST_F(ShardCrossTrafficUnanswered, PassesAtOnceUnlessTheConfigurationCountsAnswers) {
  run(2s);
  EXPECT_EQ(delivered + radio_queue, offered_datagrams);
  EXPECT_EQ(lab.count(Counter::answer_clocks_started), 0U);
  EXPECT_EQ(lab.shard.bearer_count(), 0U);
}

}  // namespace
}  // namespace sluice::test
