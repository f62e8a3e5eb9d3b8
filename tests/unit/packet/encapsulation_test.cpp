// Headers in front of the IP header: reading, templates, comparison, and the bytes that do not count against the MTU.
#include "dataplane/packet/encapsulation.hpp"

#include <gtest/gtest.h>

#include "tests/unit/packet/frame.hpp"

namespace sluice::packet::test {
namespace {

const Bytes tag_5{0x81, 0x00, 0x20, 0x05};
const Bytes service_9{0x88, 0xa8, 0x00, 0x09};
const Bytes ipv4_type{0x08, 0x00};

TEST(Encapsulation, ReadsWhatPrecedesTheIpHeader) {
  const Bytes frame = macs() + service_9 + tag_5 + ipv4_type + Bytes(30, 1);
  OuterHeaders outer;
  ASSERT_EQ(read_outer_headers(frame, outer), OuterResult::complete);
  EXPECT_EQ(outer.length, 22);
  EXPECT_EQ(outer.type, ethertype::ipv4);
  EXPECT_EQ(outer.end, frame.size());
  EXPECT_EQ(outer.networks[0].bits, 9 | VlanTag::present | VlanTag::service);
  EXPECT_EQ(outer.networks[1].bits, 5 | VlanTag::present);
}

TEST(Encapsulation, EveryCutFrameIsTruncated) {
  const Bytes frame = macs() + service_9 + tag_5 + ipv4_type;
  for (std::size_t size = 0; size < frame.size(); ++size) {
    const Bytes cut(frame.begin(),
                    frame.begin() + static_cast<std::ptrdiff_t>(size));  // on the heap: no byte behind it
    OuterHeaders outer;
    EXPECT_EQ(read_outer_headers(cut, outer), OuterResult::truncated) << size;
  }
}

TEST(Encapsulation, MoreHeadersThanATemplateHoldsAreTooDeep) {
  OuterHeaders outer;
  EXPECT_EQ(read_outer_headers(macs() + tag_5 + tag_5 + tag_5, outer), OuterResult::too_deep);
  EXPECT_LE(outer.length, max_outer_length);
}

TEST(Encapsulation, ATemplateWritesAndRecognisesItsFrames) {
  for (const Bytes& tags : {Bytes{}, tag_5, service_9 + tag_5}) {
    const Bytes frame = macs() + tags + ipv4_type + Bytes(30, 1);
    const auto length = static_cast<std::uint8_t>(ethernet_length + tags.size());
    const OuterTemplate learned = OuterTemplate::learn(frame, length);
    EXPECT_EQ(learned, OuterTemplate::from_bytes(std::span(frame).first(length)));
    EXPECT_TRUE(same_outer_headers(learned, frame));
    Bytes written(max_outer_length, 0xee);
    write_outer_headers(written.data(), learned, 30);
    EXPECT_TRUE(std::equal(frame.begin(), frame.begin() + length, written.begin()));
    for (std::size_t at = 0; at < length; ++at) {
      Bytes other = frame;
      other[at] ^= 1U;
      EXPECT_FALSE(same_outer_headers(learned, other)) << at;
    }
  }
}

TEST(Encapsulation, ATemplateIsMadeOnlyOfWholeHeaders) {
  const Bytes good = macs() + service_9 + tag_5 + ipv4_type;
  EXPECT_TRUE(OuterTemplate::from_bytes(good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(OuterTemplate::from_bytes(std::span(good).first(size))) << size;
  }
  EXPECT_FALSE(OuterTemplate::from_bytes(good + Bytes{0}));
  EXPECT_FALSE(OuterTemplate::from_bytes(macs() + ipv4_type + Bytes(4, 0))) << "an untagged header of 18 bytes";
  EXPECT_FALSE(OuterTemplate::from_bytes(Bytes(255, 0)));
}

TEST(Encapsulation, APortMakesAllowanceForVlanTagsOnly) {
  EXPECT_EQ(bytes_beyond_mtu(macs() + ipv4_type, false), 0U);
  EXPECT_EQ(bytes_beyond_mtu(macs() + service_9 + tag_5 + ipv4_type, false), 8U);
  EXPECT_EQ(bytes_beyond_mtu(macs() + service_9 + tag_5 + ipv4_type, true), 0U);
  EXPECT_EQ(bytes_beyond_mtu(macs() + tag_5 + service_9 + ipv4_type, true), 4U);
  EXPECT_EQ(bytes_beyond_mtu(macs() + Bytes{0x88, 0x64}, false), 0U);
  EXPECT_EQ(bytes_beyond_mtu(macs(), false), 0U);
}

}  // namespace
}  // namespace sluice::packet::test
