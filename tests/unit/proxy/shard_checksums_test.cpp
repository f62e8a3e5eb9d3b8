// Checksums that a kernel leaves to an offload: a damaged segment can look like one, so its host must have shown that
// it sends such segments.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Mode;
using proxy::Side;
using tcp::Flags;

/// Leaves the frame's TCP checksum as a kernel does that counts on an offload: the pseudo-header's sum alone.
packet::Packet unfinished(packet::Packet frame) {
  packet::Parsed parsed;
  EXPECT_EQ(packet::parse(frame, parsed), packet::ParseResult::tcp);
  const std::uint8_t* const ip = frame.data() + parsed.ip_offset;
  const auto length = static_cast<std::uint16_t>(parsed.frame_length() - parsed.l4_offset);
  packet::store16(frame.data() + parsed.l4_offset + 16, packet::fold(packet::pseudo_header_v4(ip + 12, 6, length)));
  EXPECT_EQ(packet::verify_tcp_checksum(frame, parsed), packet::ChecksumState::partial);
  return frame;
}

TEST(PartialChecksumPorts, AreAcceptedFromTheConfiguredSideOnly) {
  proxy::ShardConfig config = shard_config();
  config.accept_partial_checksums = {true, false};  // a veth towards the UE, a wire towards the server
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  const std::uint32_t ue = hosts.ue_isn.raw() + 1;
  const std::uint32_t server = hosts.server_isn.raw() + 1;
  lab.put(Side::radio, unfinished(hosts.frame(true, hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0))));
  hosts.send_syn_ack();
  lab.put(Side::radio, unfinished(hosts.frame(true, hosts.segment(Flags::ack_bit, ue, server))));
  lab.forget_output();
  lab.put(Side::radio, unfinished(hosts.frame(true, hosts.segment(Flags::ack_bit, ue, server), "up")));
  lab.put(Side::core, unfinished(hosts.frame(false, hosts.segment(Flags::ack_bit, server, ue), "down")));
  const auto up = lab.next(Side::core);
  ASSERT_TRUE(up);
  EXPECT_EQ(up->payload, "up");
  EXPECT_TRUE(up->checksum_good);
  while (const auto down = lab.next(Side::radio)) EXPECT_EQ(down->payload, "") << "an acknowledgment, not the data";
  EXPECT_EQ(lab.count(Counter::rx_partial_checksum), 1U);
  EXPECT_EQ(lab.count(Counter::drop_partial_checksum), 1U);
}

TEST(PartialChecksumPorts, AConnectionWithRefusedPartialChecksumsIsNotSplit) {
  ProxyLab lab(shard_config());
  ScriptedHosts hosts(lab);
  lab.put(Side::radio, unfinished(hosts.frame(true, hosts.segment(Flags::syn_bit, hosts.ue_isn.raw(), 0))));
  EXPECT_TRUE(lab.next(Side::core)) << "it passes untouched";
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::forward_handshake_damaged), 1U);
}

proxy::ShardConfig on_veths(Mode mode, proxy::Intercept intercept) {
  proxy::ShardConfig config = shard_config(mode);
  config.intercept = intercept;
  config.accept_partial_checksums = {true, true};
  return config;
}

/// Two ports on which unfinished checksums are possible.
class PartialChecksumTest : public ScriptedShard {
 protected:
  enum class Sum { finished, unfinished };

  explicit PartialChecksumTest(const proxy::ShardConfig& config = on_veths(Mode::i_tcp, proxy::Intercept::split))
      : ScriptedShard(config) {}

  void put(bool from_ue, Sum sum, std::uint8_t flags, std::uint32_t seq, std::uint32_t ack,
           const std::string& payload = {}) {
    packet::Packet frame = hosts.frame(from_ue, hosts.segment(flags, seq, ack), payload);
    lab.put(from_ue ? Side::radio : Side::core,
            sum == Sum::unfinished ? unfinished(std::move(frame)) : std::move(frame));
  }
  void syn(Sum sum) { put(true, sum, Flags::syn_bit, hosts.ue_isn.raw(), 0); }
  void syn_ack(Sum sum) {
    put(false, sum, Flags::syn_bit | Flags::ack_bit, hosts.server_isn.raw(), hosts.ue_isn.raw() + 1);
  }
  void ack(Sum sum) { put(true, sum, Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1); }
  void open(Sum ue, Sum server) {
    syn(ue);
    syn_ack(server);
    ack(ue);
    lab.forget_output();
  }
  void data(bool from_ue, Sum sum, const std::string& payload) {
    const std::uint32_t ue = hosts.ue_isn.raw() + 1;
    const std::uint32_t server = hosts.server_isn.raw() + 1;
    put(from_ue, sum, Flags::ack_bit, from_ue ? ue : server, from_ue ? server : ue, payload);
  }
  /// What reaches the other host of the payload of the next frames, each of which must be right.
  std::string arrived(Side out) {
    std::string all;
    while (const auto seen = lab.next(out)) {
      EXPECT_TRUE(seen->checksum_good);
      all += seen->payload;
    }
    return all;
  }
};

TEST_F(PartialChecksumTest, AreAcceptedFromAHostWhoseHandshakeHadThem) {
  open(Sum::unfinished, Sum::unfinished);
  data(true, Sum::unfinished, "up");
  data(false, Sum::unfinished, "down");
  EXPECT_EQ(arrived(Side::core), "up");
  EXPECT_EQ(arrived(Side::radio), "down");
  EXPECT_EQ(lab.count(Counter::rx_partial_checksum), 2U);
  EXPECT_EQ(lab.count(Counter::drop_partial_checksum), 0U);
}

TEST_F(PartialChecksumTest, AreCompletedInTheHandshake) {
  syn(Sum::unfinished);
  EXPECT_TRUE(lab.next(Side::core)->checksum_good);
  syn_ack(Sum::unfinished);
  EXPECT_TRUE(lab.next(Side::radio)->checksum_good);
  ack(Sum::unfinished);
  EXPECT_TRUE(lab.next(Side::core)->checksum_good);
  EXPECT_EQ(lab.count(Counter::flows_split), 1U);
}

TEST_F(PartialChecksumTest, ADamagedSegmentThatLooksPartialIsDropped) {
  open(Sum::finished, Sum::finished);
  data(true, Sum::unfinished, "damaged");
  data(false, Sum::unfinished, "damaged");
  EXPECT_EQ(arrived(Side::core), "");
  EXPECT_EQ(arrived(Side::radio), "");
  EXPECT_EQ(lab.count(Counter::drop_partial_checksum), 2U);
  EXPECT_EQ(lab.count(Counter::rx_partial_checksum), 0U);
}

TEST_F(PartialChecksumTest, EachHostIsJudgedByItsOwnHandshake) {
  open(Sum::unfinished, Sum::finished);
  data(true, Sum::unfinished, "up");
  data(false, Sum::unfinished, "damaged");
  EXPECT_EQ(arrived(Side::core), "up");
  EXPECT_EQ(arrived(Side::radio), "");
  EXPECT_EQ(lab.count(Counter::drop_partial_checksum), 1U);
}

TEST_F(PartialChecksumTest, APartialSynWithACompleteAckDoesNotAllowPartialData) {
  syn(Sum::unfinished);
  syn_ack(Sum::finished);
  ack(Sum::finished);
  lab.forget_output();
  ASSERT_EQ(lab.count(Counter::flows_split), 1U);
  data(true, Sum::unfinished, "damaged");
  EXPECT_EQ(arrived(Side::core), "");
}

TEST_F(PartialChecksumTest, EverySynOfTheHostMustBePartial) {
  for (const bool first : {true, false}) {
    hosts.ue_to_server.src_port = first ? 40'001 : 40'002;
    syn(first ? Sum::unfinished : Sum::finished);
    syn(first ? Sum::finished : Sum::unfinished);
    syn_ack(first ? Sum::unfinished : Sum::finished);
    syn_ack(first ? Sum::finished : Sum::unfinished);
    ack(Sum::finished);
    lab.forget_output();
    data(true, Sum::unfinished, "damaged");
    data(false, Sum::unfinished, "damaged");
    EXPECT_EQ(arrived(Side::core), "") << first;
    EXPECT_EQ(arrived(Side::radio), "") << first;
  }
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
  EXPECT_EQ(lab.count(Counter::drop_partial_checksum), 4U);
}

TEST_F(PartialChecksumTest, ADamagedAckOfTheHandshakeIsNotRepaired) {
  syn(Sum::finished);
  syn_ack(Sum::finished);
  lab.forget_output();
  ack(Sum::unfinished);
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
  EXPECT_EQ(lab.count(Counter::forward_handshake_damaged), 1U);
  EXPECT_FALSE(lab.next(Side::core)->checksum_good);
}

TEST_F(PartialChecksumTest, AMarkOfTheDeviceSufficesWithoutAPartialHandshake) {
  open(Sum::finished, Sum::finished);
  packet::Packet frame = unfinished(hosts.frame(
      true, hosts.segment(Flags::ack_bit, hosts.ue_isn.raw() + 1, hosts.server_isn.raw() + 1), "vouched for"));
  frame.buffer()->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
  lab.put(Side::radio, std::move(frame));
  EXPECT_EQ(arrived(Side::core), "vouched for");
}

TEST_F(PartialChecksumTest, AReleasedConnectionIsForwardedByTheSameRule) {
  for (const Sum sum : {Sum::finished, Sum::unfinished}) {
    hosts.ue_to_server.src_port = sum == Sum::finished ? 40'001 : 40'002;
    open(sum, sum);
    lab.shard.release(hosts.ue_to_server.src, lab.now);
    lab.pass_time(std::chrono::milliseconds(1));
    lab.forget_output();
    data(false, Sum::unfinished, "passes");
    const auto seen = lab.next(Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->payload, "passes");
    EXPECT_EQ(seen->checksum_good, sum == Sum::unfinished);
  }
  EXPECT_EQ(lab.count(Counter::forward_released_command), 2U);
}

TEST_F(PartialChecksumTest, SegmentsWithoutAConnectionAreCompletedPerPort) {
  data(false, Sum::unfinished, "older than the proxy");
  EXPECT_EQ(arrived(Side::radio), "older than the proxy");
}

class RegulatedPartialChecksumTest : public PartialChecksumTest {
 protected:
  RegulatedPartialChecksumTest() : PartialChecksumTest(on_veths(Mode::fair_share, proxy::Intercept::regulate)) {}
};

TEST_F(RegulatedPartialChecksumTest, ADamagedSegmentIsNotRepaired) {
  open(Sum::finished, Sum::finished);
  for (const bool from_ue : {true, false}) {
    data(from_ue, Sum::unfinished, "damaged");
    const auto seen = lab.next(from_ue ? Side::core : Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->checksum_good);
  }
  EXPECT_EQ(lab.count(Counter::forward_regulated_unread), 2U);
}

TEST_F(RegulatedPartialChecksumTest, AreCompletedForAHostThatLeavesThemPartial) {
  open(Sum::unfinished, Sum::unfinished);
  data(true, Sum::unfinished, "up");
  data(false, Sum::unfinished, "down");
  EXPECT_EQ(arrived(Side::core), "up");
  EXPECT_EQ(arrived(Side::radio), "down");
  EXPECT_EQ(lab.count(Counter::forward_regulated_unread), 0U);
}

TEST_F(RegulatedPartialChecksumTest, ASynAckThatIsRepeatedCompleteDoesNotAllowPartialData) {
  syn(Sum::finished);
  syn_ack(Sum::unfinished);
  syn_ack(Sum::finished);
  ack(Sum::finished);
  lab.forget_output();
  data(false, Sum::unfinished, "damaged");
  EXPECT_FALSE(lab.next(Side::radio)->checksum_good);
}

}  // namespace
}  // namespace sluice::test
