// Tests of the active queue management of a UE's uplink (smvs.uplink): which packets of uploads are dropped or marked
// while ACKs of a download show a long wait for the uplink, and which are never touched.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/ecn_field.hpp"
#include "tests/unit/proxy/shard_acks.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Counter;
using proxy::Side;
using tcp::Flags;

proxy::ShardConfig uplink_config() {
  proxy::ShardConfig config = acks_config();
  config.smvs.uplink = proxy::Uplink::aqm;
  return config;
}

/// A download whose UE sends timestamps, and packets of the same UE. Each ACK waits for the uplink for the time
/// `wait`.
class ShardUplink : public ShardAcks {
 protected:
  static constexpr std::uint16_t quic = 443;
  static constexpr Duration step = 10ms;

  explicit ShardUplink(const proxy::ShardConfig& config = uplink_config()) : ShardAcks(config) { hosts.open(); }

  /// What each step puts into the proxy from the UE, besides ACKs.
  int upload_packets = 1;
  std::size_t upload_size = 1200;
  std::uint8_t upload_ecn = packet::EcnField::not_ect;
  Duration wait{};

  /// Returns a datagram of the UE from its port `from`; `first` is the first byte of its payload.
  packet::Packet datagram(std::size_t size, std::uint8_t ecn, std::uint16_t from = 50000, std::uint8_t first = 0x40) {
    packet::Addresses addresses = hosts.ue_to_server;
    addresses.src_port = from;
    addresses.dst_port = quic;
    packet::Packet packet = datagram_of(true, addresses, size, first, ecn);
    if (size > 4) packet.data()[packet.size() - size + 4] = 1;  // version of a long header
    return packet;
  }
  /// Lets a step of time pass: the server sends one segment, and the UE acknowledges those that it has received.
  void advance() {
    hosts.server(Flags::ack_bit, sent, 0, std::string(segment_size, 's'));
    sent += segment_size;
    const Instant ack_sent = lab.now + 20ms;
    acks.push_back({ack_sent, ack_sent + wait, sent});
    lab.pass_time(step);
    while (!acks.empty() && acks.front().due <= lab.now) {
      tcp::Segment ack =
          hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1 + acks.front().ack);
      const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(acks.front().sent_at - Instant{});
      ack.ts_value = static_cast<std::uint32_t>(milliseconds.count());
      lab.put(Side::radio, hosts.frame(true, ack));
      acks.pop_front();
    }
  }
  void upload() {
    for (int i = 0; i < upload_packets; ++i, ++uploaded) lab.put(Side::radio, datagram(upload_size, upload_ecn));
  }
  /// Runs the download and the upload for a time.
  void run(Duration duration) {
    for (const Instant end = lab.now + duration; lab.now < end;) {
      advance();
      upload();
    }
  }
  /// Runs the download until the proxy knows the UE's clock, and then both with a wait for the uplink.
  void run_with_wait(Duration of_acks, Duration duration) {
    wait = Duration::zero();
    run(2s);
    wait = of_acks;
    run(duration);
  }
  /// Takes what came out towards the server; returns the number of datagrams from the UE's port `from`.
  int passed(std::uint16_t from = 50000) {
    int count = 0;
    while (const auto seen = lab.next(Side::core)) {
      if (seen->result != packet::ParseResult::udp || seen->parsed.src_port != from) continue;
      ++count;
      marks += (seen->parsed.tos & 3U) == packet::EcnField::congestion_experienced ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] std::uint64_t dropped() const { return lab.count(Counter::drop_uplink_delay); }
  void expect_each_frame_is_counted_once() {
    EXPECT_EQ(lab.count(Counter::received_core) + lab.count(Counter::received_radio),
              lab.shard.counters().forwarded() + lab.shard.counters().dropped() + lab.count(Counter::optimised));
  }

  struct Ack {
    Instant sent_at;
    Instant due;
    std::uint32_t ack;
  };
  std::deque<Ack> acks;
  std::uint32_t sent = 0;
  int uploaded = 0;
  int marks = 0;
};

TEST_F(ShardUplink, NothingIsDroppedWithoutAWait) {
  run_with_wait(0ms, 5s);
  EXPECT_EQ(passed(), uploaded);
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(ShardUplink, NothingIsDroppedWhileTheWaitIsUnknown) {
  for (int i = 0; i < 500; ++i) {
    lab.pass_time(step);
    upload();
  }
  EXPECT_EQ(passed(), uploaded);
}

TEST_F(ShardUplink, AWaitBelowTheTargetIsLeftAlone) {
  run_with_wait(40ms, 5s);
  EXPECT_EQ(passed(), uploaded);
}

TEST_F(ShardUplink, ALargeUploadLosesPacketsWhileTheWaitIsLong) {
  run_with_wait(120ms, 3s);
  const int lost = uploaded - passed();
  EXPECT_GT(lost, 10);
  EXPECT_LE(lost, 300 / 8);
  EXPECT_EQ(dropped(), static_cast<std::uint64_t>(lost));
  expect_each_frame_is_counted_once();
}

TEST_F(ShardUplink, ABriefWaitIsLeftAlone) {
  wait = 0ms;
  run(2s);
  for (int i = 0; i < 5; ++i) {
    wait = 120ms;
    run(150ms);
    wait = 0ms;
    run(350ms);
  }
  EXPECT_EQ(passed(), uploaded) << "shorter than an interval of CoDel";
}

/// Signals that do not shorten the wait end after some seconds, because then no queue of the upload is its reason.
TEST_F(ShardUplink, ALongerPathIsNotTakenForAQueue) {
  run_with_wait(120ms, 6s);
  passed();
  const std::uint64_t before = dropped();
  EXPECT_GT(before, 0U);
  run(10s);
  EXPECT_EQ(dropped(), before);
  wait = 300ms;
  run(2s);
  EXPECT_GT(dropped(), before) << "a longer wait than that one is a queue again";
}

/// ACKs that wait for more than a second have no known delay, so a long wait lasts until an ACK shows a shorter one.
TEST_F(ShardUplink, ALongWaitLastsWhileAcksAreMissing) {
  run_with_wait(120ms, 1s);
  passed();
  const std::uint64_t before = dropped();
  for (int i = 0; i < 500; ++i) {
    lab.pass_time(step);
    upload();
  }
  EXPECT_GT(dropped(), before + 30);
  for (int i = 0; i < 700; ++i) {
    lab.pass_time(step);
    upload();
  }
  const std::uint64_t later = dropped();
  for (int i = 0; i < 500; ++i) {
    lab.pass_time(step);
    upload();
  }
  EXPECT_EQ(dropped(), later) << "ten seconds later it may have another reason";
}

TEST_F(ShardUplink, PacketsOfEcnCapableSendersAreMarked) {
  upload_ecn = packet::EcnField::ect0;
  run_with_wait(120ms, 3s);
  EXPECT_EQ(passed(), uploaded);
  EXPECT_GT(marks, 10);
  EXPECT_EQ(lab.count(Counter::uplink_marked), static_cast<std::uint64_t>(marks));
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(ShardUplink, Ect1IsMarkedEarly) {
  upload_ecn = packet::EcnField::ect1;
  run_with_wait(35ms, 2s);
  passed();
  EXPECT_GT(marks, 100);
  EXPECT_EQ(lab.count(Counter::uplink_marked), static_cast<std::uint64_t>(marks));
}

TEST_F(ShardUplink, FlowsThatSendLittleAreLeftAlone) {
  wait = 0ms;
  run(2s);
  wait = 120ms;
  int calls = 0;
  for (int i = 0; i < 300; ++i) {
    advance();
    upload();
    if (i % 2 == 0) lab.put(Side::radio, datagram(250, 0, 50001)), ++calls;
  }
  int seen = 0;
  while (const auto each = lab.next(Side::core)) seen += each->parsed.src_port == 50001 ? 1 : 0;
  EXPECT_EQ(seen, calls);
  EXPECT_GT(dropped(), 0U);
}

TEST_F(ShardUplink, HandshakesAcksAndPingsAreLeftAlone) {
  wait = 0ms;
  run(2s);
  wait = 120ms;
  upload_packets = 0;
  passed();
  int handshakes = 0;
  for (int i = 0; i < 300; ++i) {
    advance();
    lab.put(Side::radio, datagram(1200, 0, 50000, 0xc0));
    lab.put(Side::radio, datagram(60, 0));
    ++handshakes;
    packet::Packet ping = pool().allocate();
    ping.append(1000);
    packet::write_icmp_headers(ping, packet::make_template(ScriptedHosts::ue_mac, ScriptedHosts::server_mac, 4),
                               hosts.ue_to_server, {8, 0, 1}, 9);
    lab.put(Side::radio, std::move(ping));
  }
  EXPECT_EQ(passed(), 2 * handshakes);
  EXPECT_EQ(dropped(), 0U);
  EXPECT_EQ(lab.count(proxy::counter_of(packet::ParseResult::icmp)), 300U);
}

TEST_F(ShardUplink, AcknowledgementsThatFillTheUplinkAreNotAttributedToAnUpload) {
  wait = 0ms;
  run(2s);
  wait = 120ms;
  for (int i = 0; i < 300; ++i) {
    advance();
    for (int ack = 0; ack < 20; ++ack) lab.put(Side::radio, datagram(60, 0, 50002));
    upload();
  }
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(ShardUplink, AUeThatClaimsAWaitLosesOnlyItsOwnPackets) {
  wait = 0ms;
  run(2s);
  wait = 120ms;
  const packet::Addresses own = hosts.ue_to_server;
  int others = 0;
  for (int i = 0; i < 300; ++i) {
    advance();
    upload();
    hosts.ue_to_server.src = IpAddress::v4(10, 45, 0, 3);
    for (int packet = 0; packet < 3; ++packet, ++others) lab.put(Side::radio, datagram(1200, 0, 50003));
    hosts.ue_to_server = own;
  }
  EXPECT_GT(dropped(), 0U);
  EXPECT_EQ(passed(50003), others);
}

TEST_F(ShardUplink, ASplitUploadLosesSegments) {
  wait = 0ms;
  upload_packets = 0;
  run(2s);
  wait = 120ms;
  ScriptedHosts other{lab};
  other.ue_to_server.src_port = 40001;
  other.open();
  std::uint32_t position = 0;
  for (int i = 0; i < 300; ++i, position += 1200) {
    advance();
    other.ue(Flags::ack_bit, position, 0, std::string(1200, 'u'));
  }
  EXPECT_GT(dropped(), 0U);
  EXPECT_LE(dropped(), 300U / 8);
  expect_each_frame_is_counted_once();
}

/// A segment of a connection that is older than the proxy. Only its data may be lost.
TEST_F(ShardUplink, AnUntrackedUploadLosesData) {
  wait = 0ms;
  upload_packets = 0;
  run(2s);
  wait = 120ms;
  ScriptedHosts other{lab};
  other.ue_to_server.src_port = 40001;
  std::uint32_t position = 0;
  for (int i = 0; i < 300; ++i, position += 1200) {
    advance();
    other.ue(Flags::ack_bit, position, 0, std::string(1200, 'u'));
  }
  EXPECT_GT(dropped(), 0U);
  EXPECT_EQ(lab.count(Counter::forward_mid_flow) + dropped(), 300U);
  const std::uint64_t before = dropped();
  for (int i = 0; i < 50; ++i) {
    advance();
    other.ue(Flags::ack_bit | Flags::fin_bit, position, 0, std::string(1200, 'u'));
  }
  EXPECT_EQ(dropped(), before) << "the end of a connection is no data of it";
  expect_each_frame_is_counted_once();
}

proxy::ShardConfig end_to_end_config() {
  proxy::ShardConfig config = uplink_config();
  config.intercept = proxy::Intercept::regulate;
  return config;
}

class ShardUplinkEndToEnd : public ShardUplink {
 protected:
  ShardUplinkEndToEnd() : ShardUplink(end_to_end_config()) {}
};

TEST_F(ShardUplinkEndToEnd, UploadsLosePacketsWhileTheAcksOfAnEndToEndDownloadWait) {
  wait = 0ms;
  run(2s);
  wait = 120ms;
  passed();
  const int before = uploaded;
  ScriptedHosts other{lab};
  other.ue_to_server.src_port = 40001;
  other.open();
  std::uint32_t position = 0;
  for (int i = 0; i < 300; ++i, position += 1200) {
    advance();
    upload();
    other.ue(Flags::ack_bit, position, 0, std::string(1200, 'u'));
  }
  const auto datagrams_lost = static_cast<std::uint64_t>(uploaded - before - passed());
  EXPECT_GT(datagrams_lost, 0U);
  EXPECT_GT(dropped(), datagrams_lost) << "the end-to-end upload has lost segments, too";
  expect_each_frame_is_counted_once();
}

class ShardUplinkForwarded : public ShardUplink {
 protected:
  ShardUplinkForwarded() : ShardUplink(acks_config()) {}
};

TEST_F(ShardUplinkForwarded, NothingIsDroppedByDefault) {
  run_with_wait(120ms, 3s);
  EXPECT_EQ(passed(), uploaded);
  EXPECT_EQ(lab.count(Counter::uplink_observed), 0U);
}

proxy::ShardConfig observing_config() {
  proxy::ShardConfig config = uplink_config();
  config.mode = proxy::Mode::observe;
  config.observed = proxy::Mode::smvs;
  return config;
}

class ShardUplinkObserved : public ShardUplink {
 protected:
  ShardUplinkObserved() : ShardUplink(observing_config()) {}
};

TEST_F(ShardUplinkObserved, PacketsAreOnlyCounted) {
  upload_ecn = packet::EcnField::ect0;
  run_with_wait(120ms, 3s);
  EXPECT_EQ(passed(), uploaded);
  EXPECT_EQ(marks, 0);
  EXPECT_GT(lab.count(Counter::uplink_observed), 10U);
}

proxy::ShardConfig excepted_config() {
  proxy::ShardConfig config = uplink_config();
  proxy::Policy datagrams;
  datagrams.ports = {{443, 443}};
  datagrams.settings = config;
  datagrams.settings.smvs.uplink = proxy::Uplink::forward;
  config.policies.push_back(datagrams);
  return config;
}

class ShardUplinkExcepted : public ShardUplink {
 protected:
  ShardUplinkExcepted() : ShardUplink(excepted_config()) {}
};

TEST_F(ShardUplinkExcepted, APolicyMayExceptFlows) {
  run_with_wait(120ms, 3s);
  EXPECT_EQ(passed(), uploaded);
}

proxy::ShardConfig uncontrolled_config() {
  proxy::ShardConfig config = uplink_config();
  config.control_group = 1;
  return config;
}

class ShardUplinkControlGroup : public ShardUplink {
 protected:
  ShardUplinkControlGroup() : ShardUplink(uncontrolled_config()) {}
};

TEST_F(ShardUplinkControlGroup, UesOfTheControlGroupAreLeftAlone) {
  run_with_wait(120ms, 3s);
  EXPECT_EQ(passed(), uploaded);
}

}  // namespace
}  // namespace sluice::test
