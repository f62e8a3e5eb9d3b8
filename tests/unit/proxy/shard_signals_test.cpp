// What passes between the hosts beside their bytes: routers' errors, the urgent pointer, keep-alives, congestion marks.

#include <gtest/gtest.h>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/icmp_error.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

/// Returns an ICMP error of a router behind the port `in` about a frame that was sent to it.
packet::Packet router_says(const Seen& about, const packet::IcmpHeader& icmp, std::size_t quoted = 60) {
  const std::uint8_t version = about.parsed.ip_version;
  packet::Packet packet = pool().allocate();
  const std::size_t length = std::min(quoted, about.frame.size() - about.parsed.ip_offset);
  std::copy_n(about.frame.begin() + about.parsed.ip_offset, length, packet.append(static_cast<std::uint16_t>(length)));
  const packet::Addresses addresses{version == 4 ? IpAddress::v4(192, 0, 2, 1) : *IpAddress::parse("fd00:1::1"),
                                    about.parsed.src, 0, 0};
  packet::write_icmp_headers(packet, packet::make_template(ScriptedHosts::ue_mac, ScriptedHosts::server_mac, version),
                             addresses, icmp, 9);
  return packet;
}

constexpr packet::IcmpHeader smaller{3, 4, 1000}, smaller6{2, 0, 1300};

class IcmpErrors : public ScriptedShard {
 protected:
  /// 1400 bytes for the UE that it has not acknowledged; what went to the radio.
  Seen download() {
    hosts.open();
    hosts.server(Flags::ack_bit, 0, 0, std::string(1400, 'd'));
    Seen seen = *lab.next(Side::radio);
    lab.forget_output();
    return seen;
  }
  void use_ipv6() {
    hosts.ip_version = 6;
    hosts.ue_to_server.src = *IpAddress::parse("fd00:45::2");
    hosts.ue_to_server.dst = *IpAddress::parse("fd00:99::2");
  }
};

TEST_F(IcmpErrors, ASmallerPathMtuTowardsTheUeCutsSegmentsOfTheRadioLeg) {
  const Seen data = download();
  const packet::Packet error = router_says(data, smaller);
  const std::vector<std::uint8_t> frame(error.data(), error.data() + error.size());
  lab.put(Side::radio, frame);
  const auto first = lab.next(Side::radio);
  const auto second = lab.next(Side::radio);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->parsed.ip_length, 1000);
  EXPECT_EQ(first->segment().seq, hosts.server_isn + 1);
  EXPECT_TRUE(first->checksum_good && second->checksum_good);
  EXPECT_EQ(first->payload.size() + second->payload.size(), 1400U);
  const auto told = lab.next(Side::core);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->frame, frame) << "true of the server's own path as well";
  EXPECT_EQ(lab.count(Counter::paths_smaller_radio), 1U);
  EXPECT_EQ(lab.count(Counter::icmp_accepted), 1U);
}

TEST_F(IcmpErrors, ASmallerPathMtuTowardsTheServerCutsSegmentsOfTheCoreLeg) {
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, std::string(1400, 'u'));
  const Seen data = *lab.next(Side::core);
  lab.forget_output();
  lab.put(Side::core, router_says(data, smaller));
  EXPECT_EQ(lab.next(Side::core)->parsed.ip_length, 1000);
  EXPECT_EQ(lab.count(Counter::paths_smaller_core), 1U);
}

TEST_F(IcmpErrors, PacketTooBigCutsSegmentsOverIpv6) {
  use_ipv6();
  const Seen data = download();
  lab.put(Side::radio, router_says(data, smaller6, 200));
  EXPECT_EQ(lab.next(Side::radio)->parsed.ip_length, 1300);
  EXPECT_EQ(lab.count(Counter::paths_smaller_radio), 1U);
}

TEST_F(IcmpErrors, AnErrorWithoutASizeMeansTheNextPlateau) {
  const Seen data = download();
  lab.put(Side::radio, router_says(data, {3, 4, 0}));
  EXPECT_EQ(lab.next(Side::radio)->parsed.ip_length, 1006);
}

TEST_F(IcmpErrors, APathBelowTheMinimumAllowsFragmentation) {
  const Seen data = download();
  ASSERT_TRUE(data.parsed.dont_fragment);
  lab.put(Side::radio, router_says(data, {3, 4, 296}));
  const auto cut = lab.next(Side::radio);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->payload.size(), 512U);
  EXPECT_FALSE(cut->parsed.dont_fragment);
}

TEST_F(IcmpErrors, ForgedErrorsChangeNothing) {
  Seen data = download();
  const auto say = [&](const Seen& about, const packet::IcmpHeader& icmp, std::size_t quoted = 60) {
    lab.forget_output();
    lab.put(Side::radio, router_says(about, icmp, quoted));
    EXPECT_TRUE(lab.silent(Side::radio));
    EXPECT_FALSE(lab.silent(Side::core)) << "it passes all the same";
  };
  for (std::size_t quoted = 0; quoted < 28; ++quoted) say(data, smaller, quoted);
  EXPECT_EQ(lab.count(Counter::icmp_rejected), 0U) << "nobody knows what these are about";
  say(data, {3, 4, 67});
  say(data, {3, 4, 1452});  // not less than the packet was
  say(data, {3, 4, 65535});
  EXPECT_EQ(lab.count(Counter::icmp_rejected), 3U);
  Seen forged = data;
  const std::size_t seq = data.parsed.l4_offset + 4U;
  for (const std::uint32_t number : {hosts.server_isn.raw(), hosts.server_isn.raw() + 1401, 0x80000000U}) {
    packet::store_be32(forged.frame.data() + seq, number);
    say(forged, smaller);
  }
  EXPECT_EQ(lab.count(Counter::icmp_rejected), 6U);
  forged = data;
  packet::store_be16(forged.frame.data() + data.parsed.l4_offset + 2, 40001);  // of no connection
  say(forged, smaller);
  EXPECT_EQ(lab.count(Counter::icmp_rejected), 6U);
  EXPECT_EQ(lab.count(Counter::icmp_accepted), 0U);
  EXPECT_EQ(lab.count(Counter::paths_smaller_radio), 0U);
  const proxy::Counters& counters = lab.shard.counters();
  EXPECT_EQ(counters.received(), counters[Counter::optimised] + counters.forwarded() + counters.dropped());
}

TEST(IcmpErrorsEndToEnd, AreForwardedToTheHosts) {
  proxy::ShardConfig config = shard_config(proxy::Mode::wrs);
  config.intercept = proxy::Intercept::regulate;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1400, 'd'));
  const Seen data = *lab.next(Side::radio);
  lab.forget_output();
  lab.put(Side::radio, router_says(data, smaller));
  EXPECT_FALSE(lab.silent(Side::core));
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.count(Counter::icmp_accepted) + lab.count(Counter::icmp_rejected), 0U);
}

TEST_F(IcmpErrors, SizesBelow1280AreIgnoredForIpv6) {
  use_ipv6();
  const Seen data = download();
  for (const std::uint32_t mtu : {0U, 68U, 1279U}) lab.put(Side::radio, router_says(data, {2, 0, mtu}, 200));
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.count(Counter::icmp_rejected), 3U);
}

TEST_F(IcmpErrors, UnreachableEndsNoConnection) {
  const Seen data = download();
  for (const std::uint8_t code : std::initializer_list<std::uint8_t>{0, 1, 2, 3, 13})
    lab.put(Side::radio, router_says(data, {3, code, 0}));
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.count(Counter::icmp_accepted), 5U);
  hosts.ue(Flags::ack_bit, 0, 1400);
  hosts.server(Flags::ack_bit, 1400, 0, "more");
  EXPECT_EQ(lab.last(Side::radio)->payload, "more");
}

TEST_F(IcmpErrors, ASecondErrorOfOneFlightChangesNothing) {
  const Seen data = download();
  lab.put(Side::radio, router_says(data, smaller));
  lab.forget_output();
  lab.put(Side::radio, router_says(data, smaller));
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.count(Counter::paths_smaller_radio), 1U);
}

// --- urgent ---

class UrgentPointer : public ScriptedShard {
 protected:
  [[nodiscard]] packet::Packet urgent_from_server(std::uint32_t seq, std::uint16_t pointer,
                                                  const std::string& payload = {}) const {
    tcp::Segment segment =
        hosts.segment(Flags::ack_bit | Flags::urg_bit, hosts.server_isn.raw() + 1 + seq, hosts.ue_isn.raw() + 1);
    segment.urgent = pointer;
    return hosts.frame(false, segment, payload);
  }
};

TEST_F(UrgentPointer, IsForwardedWithItsData) {
  hosts.open();
  lab.put(Side::core, urgent_from_server(0, 5, "hello"));
  const auto seen = lab.next(Side::radio);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, "hello");
  EXPECT_TRUE(seen->segment().flags.urg());
  EXPECT_EQ(seen->segment().urgent, 5);
  EXPECT_TRUE(seen->checksum_good);
  hosts.ue(Flags::ack_bit, 0, 5);
  lab.forget_output();
  hosts.server(Flags::ack_bit, 5, 0, "ordinary");
  const auto next = lab.next(Side::radio);
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->segment().flags.urg());
}

TEST_F(UrgentPointer, IsForwardedAheadOfDataThatTheWindowHolds) {
  hosts.ue_window = 1;  // 128 bytes
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(128, 'a'));
  lab.forget_output();
  lab.put(Side::core, urgent_from_server(128, 10));
  const auto told = lab.next(Side::radio);
  ASSERT_TRUE(told) << "before there is any data of it";
  EXPECT_TRUE(told->segment().flags.urg());
  EXPECT_EQ(told->segment().seq + told->segment().urgent, hosts.server_isn + 1 + 138);
}

TEST_F(UrgentPointer, IsRetransmittedWithItsData) {
  hosts.open();
  lab.put(Side::core, urgent_from_server(0, 100, std::string(100, 'u')));
  lab.forget_output();
  lab.pass_time(std::chrono::seconds(2));
  const auto again = lab.next(Side::radio);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->payload.size(), 100U);
  EXPECT_EQ(again->segment().urgent, 100);
}

TEST_F(UrgentPointer, StaysWithOurBytesWhenTheFlowIsReleased) {
  hosts.open();
  lab.put(Side::core, urgent_from_server(0, 150, std::string(100, 'u')));
  lab.shard.release(hosts.ue_to_server.src, lab.now);
  lab.forget_output();
  const packet::Packet frame = urgent_from_server(100, 50, std::string(50, 'v'));
  const std::vector<std::uint8_t> bytes(frame.data(), frame.data() + frame.size());
  lab.put(Side::core, bytes);
  EXPECT_EQ(lab.next(Side::radio)->frame, bytes) << "behind the handback point it is the server's own";
  lab.pass_time(std::chrono::seconds(2));
  const auto again = lab.next(Side::radio);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->segment().seq + again->segment().urgent, hosts.server_isn + 1 + 150);
}

// --- keep-alives ---

class KeepAlives : public ScriptedShard {
 protected:
  /// A keep-alive of a host: an empty segment one below the expected number.
  void keep_alive_of_ue(std::uint32_t sent, std::uint32_t acked) {
    lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + sent,
                                                         hosts.server_isn.raw() + 1 + acked)));
  }
  /// The first keep-alive of an open connection that has been silent.
  void ask() {
    hosts.open();
    lab.pass_time(std::chrono::seconds(1));
    keep_alive_of_ue(0, 0);
    lab.forget_output();
  }
};

TEST_F(KeepAlives, AreAnsweredByTheOtherHost) {
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, "data");
  hosts.server(Flags::ack_bit, 0, 4);
  lab.pass_time(std::chrono::seconds(10));
  lab.forget_output();
  keep_alive_of_ue(4, 0);
  EXPECT_TRUE(lab.silent(Side::radio)) << "we do not answer for it";
  const auto probe = lab.next(Side::core);
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->segment().seq, hosts.ue_isn + 4);
  EXPECT_EQ(probe->segment().payload_len, 0);
  EXPECT_TRUE(lab.silent(Side::core)) << "one for one";
  hosts.server(Flags::ack_bit, 0, 4);
  const auto answer = lab.next(Side::radio);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->segment().ack, hosts.ue_isn + 5);
  EXPECT_TRUE(lab.silent(Side::radio));
}

TEST_F(KeepAlives, AreNotAnsweredForADeadHost) {
  hosts.open();
  for (int i = 0; i < 9; ++i) {
    lab.pass_time(std::chrono::seconds(1));
    lab.forget_output();
    keep_alive_of_ue(0, 0);
    lab.pass_time(std::chrono::milliseconds(500));
    EXPECT_TRUE(lab.silent(Side::radio));
    EXPECT_TRUE(lab.next(Side::core)) << "each is passed on";
  }
}

TEST_F(KeepAlives, AResetOfTheOtherHostIsForwarded) {
  ask();
  hosts.server(Flags::rst_bit, 0, 0);
  const auto reset = lab.next(Side::radio);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->segment().flags.rst());
}

TEST_F(KeepAlives, AreAnsweredByTheProxyWhileBytesAreInFlight) {
  hosts.open();
  hosts.ue(Flags::ack_bit, 0, 0, "data");
  lab.pass_time(std::chrono::milliseconds(100));
  lab.forget_output();
  keep_alive_of_ue(4, 0);
  EXPECT_TRUE(lab.next(Side::radio)) << "should the server be gone, its silence ends the connection";
}

TEST_F(KeepAlives, AnUnansweredKeepAliveDelaysNoData) {
  ask();
  hosts.ue(Flags::ack_bit, 0, 0, "data");
  const auto data = lab.next(Side::core);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->payload, "data");
}

// --- marks across the handback point ---

class EcnAtHandback : public ScriptedShard {
 protected:
  void open_with_ecn() {
    hosts.options.ecn = true;
    lab.put(Side::radio,
            hosts.frame(true, hosts.segment(Flags::syn_bit | Flags::ece_bit | Flags::cwr_bit, hosts.ue_isn.raw(), 0)));
    lab.put(Side::core, hosts.frame(false, hosts.segment(Flags::syn_bit | Flags::ack_bit | Flags::ece_bit,
                                                         hosts.server_isn.raw(), hosts.ue_isn.raw() + 1)));
    hosts.ue(Flags::ack_bit, 0, 0);
    lab.forget_output();
  }
};

TEST_F(EcnAtHandback, APendingEcnEchoIsSentWithOurLastAck) {
  open_with_ecn();
  tcp::Segment marked = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1, hosts.ue_isn.raw() + 1);
  marked.ecn = tcp::congestion_experienced;
  lab.put(Side::core, hosts.frame(false, marked, std::string(1000, 'm')));
  lab.shard.release(hosts.ue_to_server.src, lab.now);
  const auto echo = lab.last(Side::core);
  ASSERT_TRUE(echo);
  EXPECT_TRUE(echo->segment().flags.ece());
  EXPECT_EQ(echo->segment().ack, hosts.server_isn + 1001);
  // The server's answer lies behind the handback point and passes untouched; so does an echo of the UE about what came
  // after.
  lab.forget_output();
  hosts.server(Flags::ack_bit | Flags::cwr_bit, 1000, 0, std::string(500, 'n'));
  const auto reduced = lab.next(Side::radio);
  ASSERT_TRUE(reduced);
  EXPECT_TRUE(reduced->segment().flags.cwr());
  hosts.ue(Flags::ack_bit | Flags::ece_bit, 0, 1500);
  const auto passed = lab.next(Side::core);
  ASSERT_TRUE(passed);
  EXPECT_TRUE(passed->segment().flags.ece());
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(EcnAtHandback, AnEcnEchoForOurSegmentsIsNotForwarded) {
  open_with_ecn();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  lab.shard.release(hosts.ue_to_server.src, lab.now);
  lab.forget_output();
  hosts.ue(Flags::ack_bit | Flags::ece_bit, 0, 1000);
  EXPECT_TRUE(lab.silent(Side::core)) << "our segment was marked, the server need not slow down";
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

/// A server that lets routers cut its data, though not its SYN-ACK, as Linux does without path MTU discovery.
class HostHeaders : public ScriptedShard {
 protected:
  [[nodiscard]] packet::Packet from_server(const packet::HeaderTemplate& header, std::uint32_t at,
                                           const std::string& payload = "data") const {
    tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1 + at, hosts.ue_isn.raw() + 1);
    data.payload_len = static_cast<std::uint16_t>(payload.size());
    packet::Packet frame = pool().allocate();
    std::copy(payload.begin(), payload.end(), frame.append(data.payload_len));
    packet::write_headers(frame, header, hosts.ue_to_server.reversed(), data,
                          packet::ones_complement_sum(frame.bytes()), 4711);
    return frame;
  }
  [[nodiscard]] packet::HeaderTemplate servers() const {
    return packet::make_template(ScriptedHosts::server_mac, ScriptedHosts::ue_mac, hosts.ip_version);
  }
};

TEST_F(HostHeaders, DfFollowsTheNewestData) {
  hosts.open();
  packet::HeaderTemplate header = servers();
  header.dont_fragment = false;
  std::vector<std::uint16_t> ids;
  for (std::uint32_t at = 0; at < 12; at += 4) {
    lab.put(Side::core, from_server(header, at));
    const auto seen = lab.next(Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->parsed.dont_fragment);
    ids.push_back(seen->parsed.ip_id);
  }
  EXPECT_NE(ids[0], 0U);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[1], ids[2]);
  hosts.server(Flags::ack_bit, 12, 0);  // an acknowledgement with DF
  lab.put(Side::core, from_server(header, 12));
  EXPECT_FALSE(lab.last(Side::radio)->parsed.dont_fragment);
  header.dont_fragment = true;
  lab.put(Side::core, from_server(header, 16));
  EXPECT_TRUE(lab.last(Side::radio)->parsed.dont_fragment);
}

TEST_F(HostHeaders, APureAckDoesNotChangeDf) {
  hosts.open();
  packet::HeaderTemplate header = servers();
  header.dont_fragment = false;
  lab.put(Side::core, from_server(header, 0, ""));
  hosts.ue(Flags::ack_bit, 0, 0, "asks");
  lab.forget_output();
  lab.pass_time(std::chrono::milliseconds(100));
  const auto ack = lab.last(Side::radio);
  ASSERT_TRUE(ack);
  EXPECT_TRUE(ack->parsed.dont_fragment) << "as in the SYN-ACK";
}

TEST_F(HostHeaders, TheFlowLabelFollowsTheNewestData) {
  hosts.ip_version = 6;
  hosts.ue_to_server = {*IpAddress::parse("2001:db8:1::2"), *IpAddress::parse("2001:db8:2::7"), 40000, 80};
  hosts.open();
  packet::HeaderTemplate header = servers();
  for (const std::uint32_t label : {0x12345U, 0x54321U}) {
    header.flow_label = label;
    lab.put(Side::core, from_server(header, label == 0x12345U ? 0 : 4));
    EXPECT_EQ(lab.last(Side::radio)->parsed.flow_label, label);
  }
  lab.pass_time(std::chrono::seconds(5));
  const auto again = lab.last(Side::radio);
  ASSERT_TRUE(again) << "the UE has acknowledged nothing";
  EXPECT_EQ(again->parsed.flow_label, 0x54321U);
}

TEST_F(IcmpErrors, DfStaysClearedWhileThePathNeedsFragmentation) {
  const Seen data = download();
  lab.put(Side::radio, router_says(data, {3, 4, 296}));
  lab.forget_output();
  hosts.server(Flags::ack_bit, static_cast<std::uint32_t>(data.payload.size()), 0, std::string(600, 'd'));
  while (const auto seen = lab.next(Side::radio)) EXPECT_FALSE(seen->parsed.dont_fragment);
}

}  // namespace
}  // namespace sluice::test
