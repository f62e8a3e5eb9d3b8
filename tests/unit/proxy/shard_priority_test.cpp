// Priority tags (IEEE 802.1Q, VLAN id 0) are no VLAN: with one or without, it is the same connection.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;
using Octets = std::vector<std::uint8_t>;

constexpr std::size_t type_at = 12;
const Octets untagged;
const Octets priority_6{0x81, 0x00, 0xc0, 0x00};
const Octets priority_3{0x81, 0x00, 0x60, 0x00};
const Octets in_a_vlan{0x81, 0x00, 0x20, 0x05};
const Octets in_a_vlan_later{0x81, 0x00, 0xe0, 0x05};

Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class VlanPriority : public ScriptedShard {
 protected:
  Octets frame(bool from_ue, const Octets& tags, std::uint8_t flags, std::uint32_t seq, std::uint32_t ack,
               const std::string& payload = {}) const {
    const packet::Packet plain = hosts.frame(from_ue, hosts.segment(flags, seq, ack), payload);
    Octets frame(plain.data(), plain.data() + plain.size());
    frame.insert(frame.begin() + type_at, tags.begin(), tags.end());
    return frame;
  }
  void put(bool from_ue, const Octets& tags, std::uint8_t flags, std::uint32_t seq, std::uint32_t ack,
           const std::string& payload = {}) {
    lab.put(from_ue ? Side::radio : Side::core, frame(from_ue, tags, flags, seq, ack, payload));
  }
  void open(const Octets& ue, const Octets& server) {
    put(true, ue, Flags::syn_bit, 1000, 0);
    put(false, server, Flags::syn_bit | Flags::ack_bit, 5000, 1001);
    put(true, ue, Flags::ack_bit, 1001, 5001);
    lab.forget_output();
    ASSERT_EQ(lab.count(Counter::flows_split), 1U);
  }
  /// The tags of the next frame on that side.
  Octets tags_of_next(Side out) {
    const auto seen = lab.next(out);
    if (!seen) return {0xff};
    EXPECT_TRUE(seen->checksum_good);
    const auto begin = seen->frame.begin() + type_at;
    return {begin, begin + (seen->parsed.ip_offset - static_cast<int>(packet::ethernet_length))};
  }
};

TEST_F(VlanPriority, AHostThatBeginsToTagGetsAndIsSentForWithItsTag) {
  open(untagged, untagged);
  std::uint32_t seq = 1001;
  for (const Octets& tags : {priority_6, priority_3, untagged, priority_6}) {
    put(true, tags, Flags::ack_bit, seq, 5001, "from the UE");
    seq += 11;
    lab.pass_time(std::chrono::milliseconds(300));
    EXPECT_EQ(tags_of_next(Side::core), tags) << "the segment that goes on";
    const auto answer = lab.last(Side::radio);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->segment().ack.raw(), seq);
    EXPECT_EQ(answer->parsed.ip_offset, packet::ethernet_length) << "the server's, who does not tag";
    put(false, untagged, Flags::ack_bit, 5001, seq);
    lab.forget_output();
  }
  EXPECT_EQ(lab.shard.flow_count(), 1U);
}

TEST_F(VlanPriority, SegmentsSentForAHostHaveItsNewestTag) {
  open(untagged, untagged);
  put(true, priority_6, Flags::ack_bit, 1001, 5001);
  put(false, untagged, Flags::ack_bit, 5001, 1001, std::string(1000, 'd'));
  lab.pass_time(std::chrono::milliseconds(300));
  EXPECT_EQ(tags_of_next(Side::core), priority_6) << "an acknowledgement in the UE's name";
}

TEST_F(VlanPriority, APriorityThatChangesWithinAVlanIsFollowed) {
  open(in_a_vlan, in_a_vlan);
  put(true, in_a_vlan_later, Flags::ack_bit, 1001, 5001, "up");
  EXPECT_EQ(tags_of_next(Side::core), in_a_vlan_later);
  put(false, in_a_vlan, Flags::ack_bit, 5001, 1003, "down");
  EXPECT_EQ(tags_of_next(Side::radio), in_a_vlan);
}

TEST_F(VlanPriority, TheTagOfAForgedSegmentIsNotLearned) {
  open(untagged, untagged);
  put(true, priority_6, Flags::ack_bit, 900'000'000, 5001, "forged");
  lab.forget_output();
  put(false, untagged, Flags::ack_bit, 5001, 1001, std::string(1000, 'd'));
  lab.pass_time(std::chrono::milliseconds(300));
  EXPECT_EQ(tags_of_next(Side::core), untagged);
}

TEST_F(VlanPriority, OneOfTwoTagsMayBeAPriorityTag) {
  open(in_a_vlan, in_a_vlan);
  std::uint32_t seq = 1001;
  for (const Octets& tags : {in_a_vlan + priority_6, priority_3 + in_a_vlan, in_a_vlan}) {
    put(true, tags, Flags::ack_bit, seq, 5001, "up");
    seq += 2;
    EXPECT_EQ(tags_of_next(Side::core), tags);
    lab.forget_output();
  }
  EXPECT_EQ(lab.shard.flow_count(), 1U);
}

TEST_F(VlanPriority, AnotherVlanIsAnotherConnection) {
  open(in_a_vlan, in_a_vlan);
  const Octets stranger = frame(true, priority_6, Flags::ack_bit, 1001, 5001, "no VLAN");
  lab.put(Side::radio, stranger);
  const auto seen = lab.next(Side::core);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->frame, stranger);
  EXPECT_EQ(lab.count(Counter::forward_mid_flow), 1U);
}

}  // namespace
}  // namespace sluice::test
