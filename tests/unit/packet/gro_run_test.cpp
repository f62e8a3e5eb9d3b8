// Tests of which segments of a burst form one run, because a run is processed like one segment.
#include <gtest/gtest.h>

#include <array>

#include "dataplane/packet/parse.hpp"

namespace sluice::packet {
namespace {

Parsed segment(std::uint32_t seq) {
  Parsed parsed;
  parsed.ttl = 64;
  parsed.segment.seq = tcp::SeqNum(seq);
  parsed.segment.ack = tcp::SeqNum(77);
  parsed.segment.flags.bits = tcp::Flags::ack_bit;
  parsed.segment.window = 500;
  parsed.segment.payload_len = 1000;
  parsed.segment.has_timestamps = true;
  parsed.segment.ts_value = 10;
  return parsed;
}

TEST(SegmentRun, ContiguousDataFollows) {
  EXPECT_TRUE(is_contiguous(segment(5000), segment(6000)));
  EXPECT_TRUE(is_contiguous(segment(0xffffff00), segment(0xffffff00 + 1000))) << "numbers wrap";
  Parsed pushed = segment(6000);
  pushed.segment.flags.bits |= tcp::Flags::psh_bit;
  EXPECT_TRUE(is_contiguous(segment(5000), pushed));
  EXPECT_TRUE(is_contiguous(pushed, segment(7000)));
  Parsed later = segment(6000);
  later.segment.ts_value = 11;
  EXPECT_TRUE(is_contiguous(segment(5000), later));
  EXPECT_FALSE(is_contiguous(later, segment(7000))) << "an older timestamp";
  EXPECT_FALSE(is_contiguous(segment(5000), segment(7000))) << "a hole";
  EXPECT_FALSE(is_contiguous(segment(5000), segment(5000))) << "a repetition";
}

TEST(SegmentRun, SegmentsOfOneSizeAndFormAreAlike) {
  Parsed next = segment(6000);
  next.segment.ts_value = 11;
  next.segment.ts_echo = 12;
  next.segment.flags.bits |= tcp::Flags::psh_bit;
  next.ip_id = 5;
  EXPECT_TRUE(have_same_headers(segment(5000), next));
  Parsed smaller = segment(6000);
  smaller.segment.payload_len = 999;
  EXPECT_FALSE(have_same_headers(segment(5000), smaller));
  EXPECT_TRUE(is_contiguous(segment(5000), smaller)) << "and is of the GRO run";
  Parsed marked = segment(6000);
  marked.segment.ecn = tcp::congestion_experienced;
  EXPECT_FALSE(have_same_headers(segment(5000), marked));
  Parsed urgent = segment(6000);
  urgent.segment.urgent = 1;
  EXPECT_FALSE(have_same_headers(segment(5000), urgent));
  Parsed fragmentable = segment(6000);
  fragmentable.dont_fragment = true;
  EXPECT_FALSE(have_same_headers(segment(5000), fragmentable));
}

TEST(SegmentRun, AnyOtherChangeEndsIt) {
  using Change = void (*)(Parsed&);
  constexpr std::array changes{
      Change{[](Parsed& p) { p.segment.ack += 1; }},
      Change{[](Parsed& p) { p.segment.window = 400; }},
      Change{[](Parsed& p) { p.segment.payload_len = 0; }},
      Change{[](Parsed& p) { p.segment.has_timestamps = false; }},
      Change{[](Parsed& p) { p.segment.sack_count = 1; }},
      Change{[](Parsed& p) { p.segment.flags.bits |= tcp::Flags::fin_bit; }},
      Change{[](Parsed& p) { p.segment.flags.bits |= tcp::Flags::urg_bit; }},
      Change{[](Parsed& p) { p.segment.flags.bits |= tcp::Flags::ece_bit; }},
      Change{[](Parsed& p) { p.segment.flags.bits |= tcp::Flags::ae_bit; }},
      Change{[](Parsed& p) { p.tos = 3; }},
      Change{[](Parsed& p) { p.ttl = 63; }},
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Parsed changed = segment(6000);
    changes.at(i)(changed);
    EXPECT_FALSE(is_contiguous(segment(5000), changed)) << "change " << i;
  }
}

}  // namespace
}  // namespace sluice::packet
