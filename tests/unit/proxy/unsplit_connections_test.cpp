// Connections that are refused at their handshake: each of their segments is counted under the reason for that.

#include "proxy/engine/shard/unsplit_connections.hpp"

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

constexpr Duration keep = std::chrono::seconds(10);
constexpr flow::KeyTag any_tag{7};

flow::FlowKey key(std::uint16_t ue_port) {
  return {IpAddress::v4(10, 45, 0, 2), IpAddress::v4(198, 51, 100, 7), ue_port, 80};
}

TEST(UnsplitConnections, AreFoundUntilRemovedOrIdle) {
  proxy::UnsplitConnections unsplit(16, keep);
  Instant now{};
  EXPECT_FALSE(unsplit.find(key(1), any_tag, now));
  unsplit.record(key(1), any_tag, Counter::forward_syn_data, now);
  unsplit.record(key(2), any_tag, Counter::forward_draining, now);
  unsplit.record(key(2), any_tag, Counter::forward_memory, now);
  for (int i = 0; i < 5; ++i) {
    now += keep / 2;
    EXPECT_EQ(unsplit.find(key(1), any_tag, now), Counter::forward_syn_data) << "each use keeps it";
  }
  EXPECT_FALSE(unsplit.find(key(2), any_tag, now)) << "it was silent for too long";
  unsplit.forget(key(1), any_tag);
  unsplit.forget(key(1), any_tag);
  EXPECT_FALSE(unsplit.find(key(1), any_tag, now));
}

TEST(UnsplitConnections, TheLeastRecentlyUsedOneIsEvicted) {
  proxy::UnsplitConnections unsplit(1, keep);  // one set
  Instant now{};
  for (std::uint16_t port = 1; port <= 4; ++port) {
    now += std::chrono::milliseconds(1);
    unsplit.record(key(port), any_tag, Counter::forward_syn_data, now);
  }
  EXPECT_TRUE(unsplit.find(key(1), any_tag, now + std::chrono::milliseconds(1)));
  unsplit.record(key(5), any_tag, Counter::forward_syn_data, now + std::chrono::milliseconds(2));
  EXPECT_TRUE(unsplit.find(key(1), any_tag, now));
  EXPECT_FALSE(unsplit.find(key(2), any_tag, now));
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{3, 4, 5})
    EXPECT_TRUE(unsplit.find(key(port), any_tag, now)) << port;
}

TEST(UnsplitConnections, AFloodTakesBoundedMemory) {
  proxy::UnsplitConnections unsplit(64, keep);
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    unsplit.record(key(static_cast<std::uint16_t>(i)), flow::KeyTag{i * 2654435761U}, Counter::forward_syn_data,
                   Instant{});
  for (std::uint32_t i = 0; i < 10'000; ++i)
    found += unsplit.find(key(static_cast<std::uint16_t>(i)), flow::KeyTag{i * 2654435761U}, Instant{}) ? 1U : 0U;
  EXPECT_EQ(found, 64U);
}

/// Each frame that came in is counted under one reason.
void expect_accounted(const ProxyLab& lab) {
  const proxy::Counters& counters = lab.shard.counters();
  EXPECT_EQ(counters.received(), counters[Counter::optimised] + counters.forwarded() + counters.dropped());
}

/// Segments of a connection after its handshake, in both directions.
void speak(ScriptedHosts& hosts) {
  hosts.server(Flags::ack_bit, 0, 0, "data");
  hosts.ue(Flags::ack_bit, 0, 4, "answer");
  hosts.server(Flags::ack_bit | Flags::fin_bit, 4, 6);
}

class UnsplitReason : public ScriptedShard {
 protected:
  /// All that the connection has sent is counted so.
  void expect_all(Counter reason, std::uint64_t segments) {
    EXPECT_EQ(lab.count(reason), segments);
    EXPECT_EQ(lab.count(Counter::forward_mid_flow), 0U);
    EXPECT_EQ(lab.count(Counter::flows_split), 0U);
    expect_accounted(lab);
  }
  /// Puts an option of MPTCP (RFC 8684) in front of the options of a SYN, which keeps its checksum.
  [[nodiscard]] packet::Packet multipath_syn() const {
    tcp::Segment syn = hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0);
    packet::Packet frame = hosts.frame(true, syn);
    std::uint8_t* const tcp = frame.data() + 14 + 20;
    tcp[20] = 30;  // the kind of MSS, whose length and value stay: MP_CAPABLE in an old form
    return frame;
  }
};

TEST_F(UnsplitReason, ASynWithDataIsTheReasonOfItsWholeConnection) {
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0), "early"));
  hosts.send_syn_ack();
  hosts.ue(Flags::ack_bit, 5, 0);
  speak(hosts);
  expect_all(Counter::forward_syn_data, 6);
}

TEST_F(UnsplitReason, MultipathTcpIsTheReasonOfItsWholeConnection) {
  packet::Packet syn = multipath_syn();
  lab.put(Side::radio, std::move(syn));
  hosts.send_syn_ack();
  hosts.ue(Flags::ack_bit, 0, 0);
  speak(hosts);
  expect_all(Counter::forward_multipath, 6);
}

TEST_F(UnsplitReason, ADrainIsTheReasonOfTheWholeConnection) {
  lab.shard.drain(true);
  hosts.open();
  lab.shard.drain(false);
  speak(hosts);
  expect_all(Counter::forward_draining, 6);
}

TEST_F(UnsplitReason, ALaterSplitConnectionOfTheSameAddressesHasNoReason) {
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0), "early"));
  hosts.server(Flags::rst_bit | Flags::ack_bit, 0, 5);
  hosts.ue_isn = tcp::SeqNum(77'000);
  hosts.server_isn = tcp::SeqNum(88'000);
  hosts.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
  hosts.server(Flags::rst_bit | Flags::ack_bit, 0, 0);
  ASSERT_EQ(lab.shard.flow_count(), 0U);
  const std::uint64_t before = lab.count(Counter::forward_syn_data);
  hosts.ue(Flags::ack_bit, 0, 0, "late");
  EXPECT_EQ(lab.count(Counter::forward_syn_data), before);
  EXPECT_EQ(lab.count(Counter::forward_mid_flow), 1U);
  expect_accounted(lab);
}

TEST_F(UnsplitReason, AnUnansweredSynDoesNotChangeTheReason) {
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0), "early"));
  hosts.send_syn_ack();
  lab.put(Side::radio, hosts.frame(true, hosts.segment(Flags::syn_bit, 4'000'000, 0)));  // forged
  hosts.ue(Flags::ack_bit, 5, 0);
  speak(hosts);
  EXPECT_EQ(lab.count(Counter::forward_syn_data), 6U);
  EXPECT_EQ(lab.count(Counter::forward_mid_flow), 0U);
  expect_accounted(lab);
}

TEST(OutsideUePrefixes, IsTheReasonInTheMiddleOfAConnectionToo) {
  proxy::ShardConfig config = shard_config();
  config.ue_prefixes = {*IpPrefix::parse("192.0.2.0/24")};
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  speak(hosts);
  EXPECT_EQ(lab.count(Counter::forward_not_ue), 6U);
  expect_accounted(lab);
}

}  // namespace
}  // namespace sluice::test
