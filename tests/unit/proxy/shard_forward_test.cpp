// What cannot be split passes untouched under its own name; where a split connection may be meant, it is released.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;
using Octets = std::vector<std::uint8_t>;

constexpr std::size_t link = 14;

Octets bytes_of(const packet::Packet& packet) {
  return {packet.data(), packet.data() + packet.size()};
}

void insert(Octets& frame, std::size_t at, const Octets& bytes) {
  frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
}

/// Makes the IPv4 header's length and checksum right again.
void mend_ipv4(Octets& frame) {
  std::uint8_t* const ip = frame.data() + link;
  packet::store_be16(ip + 2, static_cast<std::uint16_t>(frame.size() - link));
  std::memset(ip + 10, 0, 2);
  const std::size_t header = (ip[0] & 15U) * 4U;
  packet::store16(ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({ip, header})));
}

/// A data segment of the server's connection as it would look in one of many guises.
struct Guise {
  const char* name;
  Counter counter;
  bool lets_go;
  Octets (*disguise)(Octets frame);
};

Octets with_flags_and_offset(Octets frame, std::uint16_t bits) {
  packet::store_be16(frame.data() + link + 6, bits);
  mend_ipv4(frame);
  return frame;
}

Octets with_tags(Octets frame, int count) {
  for (int i = 0; i < count; ++i) insert(frame, 12, {0x81, 0x00, 0x00, 0x05});
  return frame;
}

const Guise guises[] = {
    {"a first fragment", proxy::counter_of(packet::ParseResult::ip_fragment), true,
     [](Octets frame) { return with_flags_and_offset(std::move(frame), 0x2000); }},
    {"a later fragment", proxy::counter_of(packet::ParseResult::ip_fragment), false,
     [](Octets frame) { return with_flags_and_offset(std::move(frame), 0x0010); }},
    {"eight bytes of a first fragment", proxy::counter_of(packet::ParseResult::ip_fragment), false,
     [](Octets frame) {
       frame.resize(link + 20 + 8);
       return with_flags_and_offset(std::move(frame), 0x2000);
     }},
    {"a fragment of UDP", proxy::counter_of(packet::ParseResult::ip_fragment), false,
     [](Octets frame) {
       frame[link + 9] = 17;
       return with_flags_and_offset(std::move(frame), 0x2000);
     }},
    {"IPv4 options", proxy::counter_of(packet::ParseResult::ip_options), true,
     [](Octets frame) {
       insert(frame, link + 20, {0x94, 4, 0, 0});  // router alert
       frame[link] = 0x46;
       mend_ipv4(frame);
       return frame;
     }},
    {"three VLAN tags", proxy::counter_of(packet::ParseResult::vlan_depth), false,
     [](Octets frame) { return with_tags(std::move(frame), 3); }},
    {"an MPLS label", proxy::counter_of(packet::ParseResult::mpls), false,
     [](Octets frame) {
       insert(frame, link, {0, 0, 0x11, 0x40});
       packet::store_be16(frame.data() + 12, 0x8847);
       return frame;
     }},
    {"another protocol", proxy::counter_of(packet::ParseResult::not_tcp), false,
     [](Octets frame) {
       frame[link + 9] = 132;  // SCTP
       mend_ipv4(frame);
       return frame;
     }},
};

TEST(ShardForward, UnsplittableSegmentsPassWithTheirOwnReason) {
  for (const Guise& guise : guises) {
    SCOPED_TRACE(guise.name);
    ProxyLab lab(shard_config());
    ScriptedHosts hosts(lab);
    hosts.open();
    const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1, hosts.ue_isn.raw() + 1);
    const Octets frame = guise.disguise(bytes_of(hosts.frame(false, data, std::string(200, 'f'))));
    lab.put(Side::core, frame);
    const auto seen = lab.next(Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->frame, frame);
    EXPECT_EQ(lab.count(guise.counter), 1U);
    EXPECT_EQ(lab.count(Counter::released_unsplittable), guise.lets_go ? 1U : 0U);
    EXPECT_EQ(lab.shard.flow_count(), guise.lets_go ? 0U : 1U);
  }
}

TEST(ShardForward, AFragmentDoesNotAffectConnectionsOfOtherHosts) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  ScriptedHosts elsewhere(lab);
  elsewhere.ue_to_server.dst = IpAddress::v4(198, 51, 100, 8);
  elsewhere.open();
  const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1);
  lab.put(Side::radio, with_flags_and_offset(bytes_of(hosts.frame(true, data, std::string(200, 'f'))), 0x2000));
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(lab.count(Counter::released_unsplittable), 1U);
}

TEST(ShardForward, AFragmentDoesNotAffectOtherConnectionsOfItsHosts) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  ScriptedHosts beside(lab);
  beside.ue_to_server.src_port = 40'001;
  beside.open();
  const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1);
  lab.put(Side::radio, with_flags_and_offset(bytes_of(hosts.frame(true, data, std::string(200, 'f'))), 0x2000));
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(lab.count(Counter::released_unsplittable), 1U);
}

/// An attacker that does not see the connection does not know its numbers.
TEST(ShardForward, AFragmentWithOtherNumbersChangesNothing) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  const std::uint32_t seq = hosts.ue_isn.raw() + 1;
  const std::uint32_t ack = hosts.server_isn.raw() + 1;
  for (const tcp::Segment& forged :
       {hosts.segment(Flags::ack_bit, seq + 0x20000000U, ack), hosts.segment(Flags::ack_bit, seq - 0x20000000U, ack),
        hosts.segment(Flags::ack_bit, seq, ack + 1), hosts.segment(Flags::ack_bit, seq, ack - 1),
        hosts.segment(0, seq, ack), hosts.segment(Flags::syn_bit, seq, ack),
        hosts.segment(Flags::rst_bit, seq + 1, ack)}) {
    for (const Guise& guise : guises) {
      lab.put(Side::radio, guise.disguise(bytes_of(hosts.frame(true, forged, std::string(200, 'f')))));
    }
  }
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(lab.count(Counter::released_unsplittable), 0U);
}

TEST(ShardForward, AFragmentAfterOurBytesIsAcknowledgedEndToEnd) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1001, hosts.ue_isn.raw() + 1);
  lab.put(Side::core, with_flags_and_offset(bytes_of(hosts.frame(false, data, std::string(200, 'f'))), 0x2000));
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "what is ours is not delivered yet";
  lab.forget_output();
  hosts.ue(Flags::ack_bit, 0, 1200);  // all of it: ours, and the fragments' that we have not seen
  const auto seen = lab.next(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->segment().ack, hosts.server_isn + 1201);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST(ShardForward, AFragmentThatFillsAHoleDoesNotStallOutOfOrderData) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 200, 0, std::string(300, 'b'));  // held; the hole is what the fragments bring
  const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1, hosts.ue_isn.raw() + 1);
  lab.put(Side::core, with_flags_and_offset(bytes_of(hosts.frame(false, data, std::string(200, 'a'))), 0x2000));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  lab.forget_output();
  hosts.ue(Flags::ack_bit, 0, 200);
  EXPECT_TRUE(lab.next(Side::core)) << "the server learns what the UE has, and sends the rest again";
  hosts.server(Flags::ack_bit, 200, 0, std::string(300, 'b'));
  EXPECT_EQ(lab.next(Side::radio)->payload, std::string(300, 'b'));
}

TEST(ShardForward, AFragmentDuringAReleaseLeavesNothingUnacknowledged) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.server(Flags::ack_bit, 2000, 0, std::string(1000, 'c'));  // a hole: it cannot go yet
  lab.shard.drain(true);
  lab.pass_time(std::chrono::milliseconds(1));
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));  // its acknowledgement waits for the UE's
  const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.server_isn.raw() + 1001, hosts.ue_isn.raw() + 1);
  lab.put(Side::core, with_flags_and_offset(bytes_of(hosts.frame(false, data, std::string(1000, 'b'))), 0x2000));
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "what is ours is not delivered yet";
  EXPECT_EQ(lab.shard.staying().broken_by_a_stop, 0U);
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::released_unsplittable), 1U);
}

/// A connection between whose hosts a fragment passes from time to time.
struct Fragmented {
  Fragmented() { hosts.open(); }

  /// A full segment of the UE's that is cut; all of it arrives and is acknowledged.
  void fragment() {
    constexpr std::uint32_t length = 1448;
    const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1 + sent, hosts.server_isn.raw() + 1);
    lab.put(Side::radio, with_flags_and_offset(bytes_of(hosts.frame(true, data, std::string(length, 'f'))), 0x2000));
    sent += length;
    hosts.server(Flags::ack_bit, 0, sent);
  }
  void whole() {
    hosts.ue(Flags::ack_bit, sent, 0, std::string(100, 'w'));
    sent += 100;
    hosts.server(Flags::ack_bit, 0, sent);
  }
  [[nodiscard]] std::uint64_t split_again() const { return lab.count(Counter::flows_split_again); }

  ProxyLab lab{shard_config()};
  ScriptedHosts hosts{lab};
  std::uint32_t sent = 0;
};

TEST(ShardForward, AConnectionReleasedForAFragmentIsSplitAgain) {
  Fragmented f;
  f.fragment();
  ASSERT_EQ(f.lab.count(Counter::released_unsplittable), 1U);
  f.whole();
  EXPECT_EQ(f.split_again(), 0U) << "more fragments may follow";
  f.lab.pass_time(std::chrono::milliseconds(1100));
  f.whole();
  EXPECT_EQ(f.split_again(), 1U);
}

TEST(ShardForward, RepeatedFragmentsDoubleTheTimeBeforeSplittingAgain) {
  Fragmented f;
  for (std::uint64_t i = 0; i < 5; ++i) {
    f.fragment();
    ASSERT_EQ(f.lab.count(Counter::released_unsplittable), i + 1);
    f.whole();
    f.lab.pass_time(std::chrono::milliseconds(900) * (1 << i));
    f.whole();
    EXPECT_EQ(f.split_again(), i);
    f.lab.pass_time(std::chrono::milliseconds(200) * (1 << i));
    f.whole();
    EXPECT_EQ(f.split_again(), i + 1);
  }
}

TEST(ShardForward, AConnectionStaysReleasedWhileFragmentsArrive) {
  Fragmented f;
  for (int i = 0; i < 20; ++i) {
    f.fragment();
    f.lab.pass_time(std::chrono::milliseconds(500));
    f.whole();
  }
  EXPECT_EQ(f.split_again(), 0U);
  EXPECT_EQ(f.lab.count(Counter::released_unsplittable), 1U);
}

TEST(ShardForward, AFragmentDuringTheHandshakeLeavesItUnsplit) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  hosts.send_syn_ack();
  const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1);
  lab.put(Side::radio, with_flags_and_offset(bytes_of(hosts.frame(true, data, std::string(200, 'f'))), 0x2000));
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
}

TEST(ShardForward, AForgedFragmentDuringTheHandshakeChangesNothing) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  hosts.send_syn();
  hosts.send_syn_ack();
  const tcp::Segment data = hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 100'000, hosts.server_isn.raw() + 1);
  lab.put(Side::radio, with_flags_and_offset(bytes_of(hosts.frame(true, data, std::string(200, 'f'))), 0x2000));
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

/// A segment of the UE's of the connection of open_ipv6(), behind these extension headers.
Octets ipv6_frame(const Octets& extensions, std::uint8_t first) {
  Octets frame(link, 0);
  packet::store_be16(frame.data() + 12, 0x86dd);
  Octets ip(40, 0);
  ip[0] = 0x60;
  ip[6] = first;
  ip[7] = 64;
  const IpAddress ue = *IpAddress::parse("fd00:45::2");
  const IpAddress server = *IpAddress::parse("fd00:99::2");
  std::copy(ue.octets.begin(), ue.octets.end(), ip.begin() + 8);
  std::copy(server.octets.begin(), server.octets.end(), ip.begin() + 24);
  Octets tcp(20, 0);
  packet::store_be16(tcp.data(), 40'000);
  packet::store_be16(tcp.data() + 2, 80);
  packet::store_be32(tcp.data() + 4, 1001);
  packet::store_be32(tcp.data() + 8, 5001);
  tcp[12] = 0x50;
  tcp[13] = Flags::ack_bit;
  packet::store_be16(ip.data() + 4, static_cast<std::uint16_t>(extensions.size() + tcp.size()));
  for (const Octets& part : {ip, extensions, tcp}) insert(frame, frame.size(), part);
  return frame;
}

/// Opens a connection between the hosts of ipv6_frame().
void open_ipv6(ProxyLab& lab, ScriptedHosts& hosts) {
  hosts.ue_to_server.src = *IpAddress::parse("fd00:45::2");
  hosts.ue_to_server.dst = *IpAddress::parse("fd00:99::2");
  hosts.ip_version = 6;
  hosts.open();
  ASSERT_EQ(lab.shard.flow_count(), 1U);
}

TEST(ShardForward, Ipv6ExtensionHeadersAreSkippedToTheProtocol) {
  const Octets hop_by_hop_then_tcp{6, 0, 5, 2, 0, 0, 1, 0};
  const Octets hop_by_hop_then_icmp{58, 0, 5, 2, 0, 0, 1, 0};
  const Octets two_then_tcp{60, 0, 5, 2, 0, 0, 1, 0, 6, 0, 1, 4, 0, 0, 0, 0};
  const Octets fragment_of_tcp{6, 0, 0, 1, 0, 0, 0, 9};
  const Octets later_fragment_of_tcp{6, 0, 0, 9, 0, 0, 0, 9};
  const Octets fragment_of_udp{17, 0, 0, 1, 0, 0, 0, 9};
  const Octets beyond_the_packet{60, 255, 0, 0, 0, 0, 0, 0};
  struct Case {
    const Octets& extensions;
    std::uint8_t first;
    packet::ParseResult result;
    bool lets_go;
  };
  using packet::ParseResult;
  for (const Case& one : {Case{hop_by_hop_then_tcp, 0, ParseResult::ipv6_extension, true},
                          Case{hop_by_hop_then_icmp, 0, ParseResult::ipv6_extension, false},
                          Case{two_then_tcp, 0, ParseResult::ipv6_extension, true},
                          Case{fragment_of_tcp, 44, ParseResult::ip_fragment, true},
                          Case{later_fragment_of_tcp, 44, ParseResult::ip_fragment, false},
                          Case{fragment_of_udp, 44, ParseResult::ip_fragment, false},
                          Case{beyond_the_packet, 60, ParseResult::ipv6_extension, false}}) {
    ProxyLab lab(shard_config());
    ScriptedHosts hosts(lab);
    open_ipv6(lab, hosts);
    const Octets frame = ipv6_frame(one.extensions, one.first);
    lab.put(Side::radio, frame);
    const auto seen = lab.next(Side::core);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->frame, frame);
    EXPECT_EQ(lab.count(proxy::counter_of(one.result)), 1U);
    EXPECT_EQ(lab.count(Counter::released_unsplittable), one.lets_go ? 1U : 0U) << int{one.first};
  }
}

TEST(ShardForward, AConnectionInVlansIsSplitAndKeepsItsTags) {
  for (const int tags : {1, 2}) {
    ProxyLab lab(shard_config());
    ScriptedHosts hosts(lab);
    const auto tagged = [&](bool from_ue, std::uint8_t flags, std::uint32_t seq, std::uint32_t ack,
                            const std::string& payload = {}) {
      lab.put(from_ue ? Side::radio : Side::core,
              with_tags(bytes_of(hosts.frame(from_ue, hosts.segment(flags, seq, ack), payload)), tags));
    };
    tagged(true, Flags::syn_bit, 1000, 0);
    tagged(false, Flags::syn_bit | Flags::ack_bit, 5000, 1001);
    tagged(true, Flags::ack_bit, 1001, 5001);
    ASSERT_EQ(lab.count(Counter::flows_split), 1U);
    lab.forget_output();
    tagged(false, Flags::ack_bit, 5001, 1001, "in the VLAN");
    const auto seen = lab.next(Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->payload, "in the VLAN");
    EXPECT_EQ(seen->parsed.ip_offset, link + 4U * static_cast<unsigned>(tags));
    EXPECT_EQ(packet::VlanTag::id(seen->parsed.networks[0]), 5);
  }
}

class NarrowPorts : public ScriptedShard {
 protected:
  NarrowPorts() : ScriptedShard(config()) {}
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config();
    config.ports = {packet::LinkLimit{1500, true}, packet::LinkLimit{9000, false}};
    return config;
  }
  /// Returns a datagram of a server with `ip_bytes` in its IP packet, behind the VLAN tags.
  [[nodiscard]] static Octets datagram(std::size_t ip_bytes, const Octets& tags = {}) {
    Octets frame = {2, 0, 0, 0,    0, 1,  2,  0, 0, 0,   0,  2,   0x08, 0x00, 0x45, 0, 0,
                    0, 0, 0, 0x40, 0, 64, 17, 0, 0, 198, 51, 100, 7,    10,   45,   0, 2};
    frame.resize(link + ip_bytes);
    mend_ipv4(frame);
    insert(frame, 12, tags);
    return frame;
  }
};

TEST_F(NarrowPorts, FramesLongerThanTheOtherPortAreDroppedAndCounted) {
  lab.put(Side::core, datagram(1500));
  EXPECT_TRUE(lab.next(Side::radio));
  EXPECT_EQ(lab.count(Counter::drop_too_long), 0U);
  lab.put(Side::core, datagram(1501));
  EXPECT_TRUE(lab.silent(Side::radio));
  EXPECT_EQ(lab.count(Counter::drop_too_long), 1U);
  EXPECT_EQ(lab.shard.counters().received(),
            lab.count(Counter::optimised) + lab.shard.counters().forwarded() + lab.shard.counters().dropped());
}

TEST_F(NarrowPorts, OneDot1qTagDoesNotCountAgainstTheMtu) {
  const Octets ordinary = {0x81, 0x00, 0, 5}, service = {0x88, 0xa8, 0, 5};
  Octets two = service;
  insert(two, 4, ordinary);
  lab.put(Side::core, datagram(1500, ordinary));
  lab.put(Side::core, datagram(1496, service));
  lab.put(Side::core, datagram(1492, two));
  EXPECT_EQ(lab.count(Counter::drop_too_long), 0U);
  lab.put(Side::core, datagram(1501, ordinary));
  lab.put(Side::core, datagram(1497, service));
  lab.put(Side::core, datagram(1493, two));
  EXPECT_EQ(lab.count(Counter::drop_too_long), 3U);
}

TEST_F(NarrowPorts, AChangedMtuAppliesAtOnce) {
  lab.shard.set_port(Side::radio, {1400, false}, lab.now);
  lab.put(Side::core, datagram(1401));
  EXPECT_EQ(lab.count(Counter::drop_too_long), 1U);
  lab.shard.set_port(Side::radio, {1500, false}, lab.now);
  lab.put(Side::core, datagram(1401));
  EXPECT_EQ(lab.count(Counter::drop_too_long), 1U);
}

}  // namespace
}  // namespace sluice::test
