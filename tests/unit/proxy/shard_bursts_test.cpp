// Tests of the order of packets within a burst: segments of one split connection are processed together, and nothing
// overtakes a packet of its own flow.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dataplane/packet/build_datagram.hpp"
#include "proxy/engine/flow_table/burst_grouping.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using packet::ParseResult;
using proxy::BurstGrouping;
using proxy::ConnectionId;
using proxy::ConnectionTable;
using proxy::Counter;
using proxy::ParsedBurst;
using proxy::Side;
using tcp::Flags;

// --- BurstGrouping by itself

constexpr std::uint32_t most_flows = 1000;

/// A burst without frames: each packet has a connection id and a parse result. The packet's length and its IP
/// identification are its position of arrival plus one.
struct LabelledBurst {
  LabelledBurst(const std::vector<ConnectionId>& ids, const std::vector<ParseResult>& results) {
    known.keys.begin(ids.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      packets.push_back(pool().allocate());
      packets.back().append(static_cast<std::uint16_t>(i + 1));
      known.parsed.at(i).ip_id = static_cast<std::uint16_t>(i + 1);
      known.results.at(i) = results[i];
      if (i == 0 || ids[i] != ids[i - 1]) {
        known.ids.at(count) = ids[i];
        known.keys.set(count++, flow::ShortKey{{ids[i], 1}});
      }
      known.places.at(i) = static_cast<std::uint8_t>(count - 1);
    }
    known.keys.shrink(count);
  }
  /// Returns the positions of arrival in the present order. Checks that all that is known of a packet moved with it.
  std::vector<std::size_t> order(const std::vector<ConnectionId>& ids, const std::vector<ParseResult>& results) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const std::size_t arrival = packets[i].size() - 1U;
      order.push_back(arrival);
      EXPECT_EQ(known.parsed.at(i).ip_id, arrival + 1);
      EXPECT_EQ(known.results.at(i), results[arrival]);
      EXPECT_EQ(known.id(i), ids[arrival]);
    }
    return order;
  }

  std::vector<packet::Packet> packets;
  ParsedBurst known{};
};

std::vector<std::size_t> grouped(
    const std::vector<ConnectionId>& ids, const std::vector<ParseResult>& results,
    BurstGrouping::CrossTrafficHandling cross_traffic = BurstGrouping::CrossTrafficHandling::passed) {
  static const ConnectionTable table(most_flows, {1, 2});
  BurstGrouping grouping;
  LabelledBurst burst(ids, results);
  if (grouping.is_interleaved(burst.known, table)) grouping.group(burst.packets, burst.known, table, cross_traffic);
  return burst.order(ids, results);
}

std::vector<std::size_t> grouped(const std::vector<ConnectionId>& ids) {
  return grouped(ids, std::vector(ids.size(), ParseResult::tcp));
}

using Positions = std::vector<std::size_t>;
constexpr ParseResult tcp_segment = ParseResult::tcp;

TEST(BurstGrouping, PutsSegmentsOfEachFlowTogether) {
  EXPECT_EQ(grouped({7, 8, 7, 9, 8, 7, 8}), Positions({0, 2, 5, 1, 4, 6, 3}));
}

TEST(BurstGrouping, LeavesABurstWhoseFlowsHaveTwoSegments) {
  EXPECT_EQ(grouped({7, 8, 9, 7, 8, 9}), Positions({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(grouped({7, 8, 9, 7, 8, 9, 7}), Positions({0, 3, 6, 1, 4, 2, 5}));
}

TEST(BurstGrouping, LeavesPacketsWithoutFlowInTheirOrder) {
  const ConnectionId end_to_end = most_flows + 3;
  EXPECT_EQ(grouped({flow::no_flow, 7, 8, 7, 8, 7, end_to_end, 8, 7, flow::no_flow, 7, end_to_end, 7}),
            Positions({0, 1, 3, 5, 8, 10, 12, 2, 4, 7, 6, 9, 11}));
  EXPECT_EQ(grouped({flow::no_flow, end_to_end, flow::no_flow, end_to_end, flow::no_flow}), Positions({0, 1, 2, 3, 4}));
}

TEST(BurstGrouping, MovesNoSegmentOverAPacketThatMayConcernIt) {
  for (const ParseResult result : {ParseResult::ip_fragment, ParseResult::icmp, ParseResult::ip_options,
                                   ParseResult::not_tcp, ParseResult::bad_tcp_header}) {
    SCOPED_TRACE(to_string(result));
    std::vector results(10, tcp_segment);
    results[4] = result;
    EXPECT_EQ(grouped({7, 8, 7, 8, flow::no_flow, 8, 7, 8, 7, 8}, results), Positions({0, 2, 1, 3, 4, 5, 7, 9, 6, 8}));
  }
}

TEST(BurstGrouping, MovesSegmentsOverCrossTrafficOnlyIfNoControllerLimitsIt) {
  const std::vector<ConnectionId> ids = {7, 8, flow::no_flow, 7, 8, 7, 8};
  for (const ParseResult result : {ParseResult::udp, ParseResult::tcp}) {
    SCOPED_TRACE(to_string(result));
    std::vector results(7, tcp_segment);
    results[2] = result;
    EXPECT_EQ(grouped(ids, results, BurstGrouping::CrossTrafficHandling::passed), Positions({0, 3, 5, 1, 4, 6, 2}));
    EXPECT_EQ(grouped(ids, results, BurstGrouping::CrossTrafficHandling::limited), Positions({0, 1, 2, 3, 5, 4, 6}));
  }
}

TEST(BurstGrouping, ASegmentOfAnEndToEndConnectionIsCrossTraffic) {
  const ConnectionId end_to_end = most_flows + 3;
  const std::vector<ConnectionId> ids = {7, 8, end_to_end, 7, 8, 7, 8};
  const std::vector results(7, tcp_segment);
  EXPECT_EQ(grouped(ids, results, BurstGrouping::CrossTrafficHandling::passed), Positions({0, 3, 5, 1, 4, 6, 2}));
  EXPECT_EQ(grouped(ids, results, BurstGrouping::CrossTrafficHandling::limited), Positions({0, 1, 2, 3, 5, 4, 6}));
}

TEST(BurstGrouping, ADatagramWithTheAddressesAndPortsOfAFlowIsNoSegment) {
  std::vector results(6, tcp_segment);
  results[2] = ParseResult::udp;
  EXPECT_EQ(grouped({7, 8, 7, 8, 7, 8}, results), Positions({0, 4, 1, 3, 5, 2}));
}

/// Flows whose ids have the same low bits, packets without a flow, datagrams and fragments, all at random.
TEST(BurstGrouping, KeepsTheOrderOfEachFlowInRandomBursts) {
  const std::vector<ConnectionId> ids = {5, 261, 5, 6, 262, 7, most_flows + 5, flow::no_flow};
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::minstd_rand random(seed);
    std::vector<ConnectionId> burst;
    std::vector<ParseResult> results;
    const std::size_t size = 1 + random() % ParsedBurst::most;
    const unsigned fragments = random() % 3 == 0 ? 8 : 1000;  // one of so many packets is a fragment
    while (burst.size() < size) {
      burst.push_back(ids[random() % ids.size()]);
      results.push_back(random() % fragments == 0 ? ParseResult::ip_fragment
                        : random() % 10 == 0      ? ParseResult::udp
                                                  : ParseResult::tcp);
    }
    const Positions order = grouped(burst, results);
    Positions sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(sorted[i], i) << "each packet once";
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = i + 1; j < size; ++j) {
        const std::size_t first = order[i];
        const std::size_t second = order[j];
        if (first < second) continue;
        EXPECT_FALSE(burst[first] == burst[second] && results[first] == results[second]) << "packets of one flow";
        EXPECT_NE(results[first], ParseResult::ip_fragment);
        EXPECT_NE(results[second], ParseResult::ip_fragment);
      }
    }
  }
}

// --- a shard

/// Byte of a connection's stream at this offset.
char byte_at(std::size_t offset) {
  return static_cast<char>('a' + offset % 23);
}

std::string stream(std::size_t from, std::size_t length) {
  std::string bytes(length, 0);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = byte_at(from + i);
  return bytes;
}

/// One split connection: what each host has sent, and what has arrived at each.
struct Connection {
  Connection(ProxyLab& lab, std::uint8_t ue, std::uint16_t port) : hosts(lab) {
    hosts.ue_to_server.src = IpAddress::v4(10, 45, 0, ue);
    hosts.ue_to_server.src_port = port;
    hosts.open();
  }
  /// Returns a segment with `length` bytes from offset `from` of the sender's stream.
  [[nodiscard]] packet::Packet data(Side in, std::size_t from, std::size_t length) const {
    const bool from_ue = in == Side::radio;
    const tcp::SeqNum begin = (from_ue ? hosts.ue_isn : hosts.server_isn) + 1;
    const tcp::SeqNum acked = (from_ue ? hosts.server_isn : hosts.ue_isn) + 1;
    const tcp::Segment content =
        hosts.segment(Flags::ack_bit, (begin + static_cast<std::uint32_t>(from)).raw(),
                      (acked + static_cast<std::uint32_t>(arrived.at(static_cast<std::size_t>(in)))).raw());
    return hosts.frame(from_ue, content, stream(from, length));
  }
  packet::Packet next(Side in, std::size_t length) {
    std::size_t& position = sent.at(static_cast<std::size_t>(in));
    position += length;
    return data(in, position - length, length);
  }

  ScriptedHosts hosts;
  std::array<std::size_t, 2> sent{};     ///< bytes by the host on each side
  std::array<std::size_t, 2> arrived{};  ///< bytes at the host on each side
};

class ShardBursts : public ScriptedShard {
 protected:
  void put(Side in, std::vector<packet::Packet> burst) {
    lab.shard.receive(in, burst, lab.now);
    for (const packet::Packet& packet : burst) EXPECT_FALSE(packet) << "it was neither kept nor dropped";
  }
  /// Takes what came out on `out`, and returns the UE's ports of the frames in order.
  std::vector<std::uint16_t> ports(Side out) {
    std::vector<std::uint16_t> ports;
    while (const auto seen = lab.next(out)) {
      ports.push_back(out == Side::radio ? seen->parsed.dst_port : seen->parsed.src_port);
    }
    return ports;
  }
  /// Returns a datagram from the server to the UE's port 9000.
  packet::Packet datagram(std::uint8_t serial) {
    packet::Packet packet = pool().allocate();
    std::fill_n(packet.append(100), 100, std::uint8_t{0x40});
    packet.data()[99] = serial;
    packet::Addresses addresses = hosts.ue_to_server.reversed();
    addresses.dst_port = 9000;
    packet::write_udp_headers(packet, packet::make_template(ScriptedHosts::server_mac, ScriptedHosts::ue_mac, 4),
                              addresses, 7);
    return packet;
  }
  /// Returns a later fragment of a datagram, whose last byte is `serial`.
  packet::Packet fragment(std::uint8_t serial) {
    packet::Packet packet = datagram(serial);
    std::uint8_t* const ip = packet.data() + packet::ethernet_length;
    packet::store_be16(ip + 6, 0x0010);
    std::fill_n(ip + 10, 2, std::uint8_t{0});
    packet::store16(ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({ip, 20})));
    return packet;
  }
};

TEST_F(ShardBursts, InterleavedSegmentsLeaveGroupedByConnection) {
  Connection a(lab, 2, 40000);
  Connection b(lab, 2, 40001);
  std::vector<packet::Packet> burst;
  for (int i = 0; i < 3; ++i) {
    burst.push_back(a.next(Side::core, 1000));
    burst.push_back(b.next(Side::core, 1000));
  }
  put(Side::core, std::move(burst));
  EXPECT_EQ(ports(Side::radio), std::vector<std::uint16_t>({40000, 40000, 40000, 40001, 40001, 40001}));
  EXPECT_EQ(lab.count(Counter::segments_cut_through), 6U);
}

TEST_F(ShardBursts, AFragmentKeepsItsPlaceBetweenSegments) {
  Connection a(lab, 2, 40000);
  Connection b(lab, 2, 40001);
  std::vector<packet::Packet> burst;
  for (int i = 0; i < 4; ++i) {
    burst.push_back(a.next(Side::core, 1000));
    burst.push_back(b.next(Side::core, 1000));
    if (i == 1) burst.push_back(fragment(1));
  }
  put(Side::core, std::move(burst));
  EXPECT_EQ(ports(Side::radio),
            std::vector<std::uint16_t>({40000, 40000, 40001, 40001, 0, 40000, 40000, 40001, 40001}));
}

/// A flow that is not split: its number so far, and that of the last packet that passed.
struct Unsplit {
  std::uint8_t sent = 0;
  std::uint8_t passed = 0;
};

/// Five connections of two UEs, data in both directions, repeated segments, and other packets between them.
class RandomBursts : public ShardBursts {
 protected:
  RandomBursts() {
    connections.reserve(5);
    for (std::uint8_t i = 0; i < 5; ++i) {
      connections.emplace_back(lab, std::uint8_t(2 + i % 2), std::uint16_t(40000 + i));
    }
    untracked.ue_to_server.src_port = 50000;
  }

  packet::Packet any(Side in, std::minstd_rand& random) {
    const auto kind = random() % 10;
    if (in == Side::core && kind == 0) return datagram(++datagrams.sent);
    if (in == Side::core && kind == 1) return fragment(++fragments.sent);
    if (kind == 2) return segment_of_untracked(in);
    Connection& connection = connections[random() % connections.size()];
    const std::size_t length = 1 + random() % 200;
    const std::size_t sent = connection.sent.at(static_cast<std::size_t>(in));
    if (kind == 3 && sent >= length) return connection.data(in, sent - length, length);
    return connection.next(in, length);
  }
  packet::Packet segment_of_untracked(Side in) {
    const std::uint8_t serial = ++segments.at(static_cast<std::size_t>(in)).sent;
    return untracked.frame(in == Side::radio, untracked.segment(Flags::ack_bit, 1, 1),
                           std::string(10, static_cast<char>(serial)));
  }
  /// Takes what came out on `out`, and checks the order of each flow.
  void check(Side out) {
    while (const auto seen = lab.next(out)) {
      const std::uint16_t port = out == Side::radio ? seen->parsed.dst_port : seen->parsed.src_port;
      if (seen->result == ParseResult::udp) {
        check_next(datagrams, seen->frame.back());
      } else if (seen->result == ParseResult::ip_fragment) {
        check_next(fragments, seen->frame.back());
      } else if (port == 50000) {
        check_next(segments.at(1U - static_cast<std::size_t>(out)), seen->frame.back());
      } else {
        check_data(connections[port - 40000U], out, *seen);
      }
    }
  }
  static void check_next(Unsplit& flow, std::uint8_t serial) { EXPECT_EQ(serial, ++flow.passed); }
  static void check_data(Connection& connection, Side out, const Seen& seen) {
    if (seen.payload.empty()) return;
    std::size_t& arrived = connection.arrived.at(static_cast<std::size_t>(out));
    const tcp::SeqNum begin = (out == Side::radio ? connection.hosts.server_isn : connection.hosts.ue_isn) + 1;
    EXPECT_EQ(seen.segment().seq, begin + static_cast<std::uint32_t>(arrived));
    EXPECT_EQ(seen.payload, stream(arrived, seen.payload.size()));
    EXPECT_TRUE(seen.checksum_good);
    arrived += seen.payload.size();
  }
  /// Returns an ACK of each host on `in` for what has arrived there.
  std::vector<packet::Packet> acks(Side in) {
    std::vector<packet::Packet> burst;
    for (const Connection& each : connections) {
      burst.push_back(each.data(in, each.sent.at(static_cast<std::size_t>(in)), 0));
    }
    return burst;
  }

  std::vector<Connection> connections;
  ScriptedHosts untracked{lab};
  Unsplit datagrams;
  Unsplit fragments;
  std::array<Unsplit, 2> segments;
};

TEST_F(RandomBursts, KeepTheOrderOfEachFlow) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::minstd_rand random(seed);
    const Side in = random() % 2 == 0 ? Side::core : Side::radio;
    std::vector<packet::Packet> burst;
    const std::size_t size = 1 + random() % 96;
    while (burst.size() < size) burst.push_back(any(in, random));
    put(in, std::move(burst));
    check(Side::radio);
    check(Side::core);
    put(Side::radio, acks(Side::radio));
    put(Side::core, acks(Side::core));
    lab.pass_time(std::chrono::milliseconds(5));
    check(Side::radio);
    check(Side::core);
    for (const Connection& each : connections) {
      EXPECT_EQ(each.arrived, (std::array{each.sent[1], each.sent[0]}));
    }
    EXPECT_EQ(datagrams.passed, datagrams.sent);
    EXPECT_EQ(fragments.passed, fragments.sent);
  }
}

// --- a reset and the next SYN in one burst

class ResetAndSyn : public ScriptedShard {};

TEST_F(ResetAndSyn, ASynDirectlyBehindAResetOpensTheNextConnection) {
  hosts.open();
  tcp::Segment reset = hosts.segment(Flags::rst_bit, hosts.ue_isn.raw() + 1, 0);
  reset.has_timestamps = false;
  hosts.ue_isn = tcp::SeqNum(900'000);
  std::array burst{hosts.frame(true, reset), hosts.frame(true, hosts.segment(Flags::syn_bit, 900'000, 0))};
  lab.shard.receive(Side::radio, burst, lab.now);
  const auto first = lab.next(Side::core);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->segment().flags.rst());
  const auto second = lab.next(Side::core);
  ASSERT_TRUE(second) << "the SYN passes at once";
  EXPECT_TRUE(second->segment().flags.syn());
  EXPECT_EQ(second->segment().seq, hosts.ue_isn);
  hosts.send_syn_ack();
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
}

}  // namespace
}  // namespace sluice::test
