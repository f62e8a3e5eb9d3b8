// What connections that pass end to end are made of: what a handshake teaches a flow, and where its segments lie.

#include <gtest/gtest.h>

#include "proxy/engine/end_to_end/segment_numbers.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using tcp::Flags;
using tcp::SeqNum;

constexpr std::uint32_t ue_isn = 1000;
constexpr std::uint32_t server_isn = 5000;

tcp::Segment segment(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, std::uint16_t payload = 0) {
  tcp::Segment segment;
  segment.flags.bits = flags;
  segment.seq = SeqNum(seq);
  segment.ack = SeqNum(ack);
  segment.payload_len = payload;
  segment.window = 10'000;
  return segment;
}

/// A connection that the UE has opened and whose hosts have both sent their window scale.
struct Opened {
  EndToEndFlow flow;
  Opened() {
    flow.initiator = Side::radio;
    flow.syn_of(Side::radio).isn = SeqNum(ue_isn);
    flow.learn_syn(Side::radio, segment(Flags::syn_bit, ue_isn, 0), Instant(1s));
    flow.learn_syn(Side::core, segment(Flags::syn_bit | Flags::ack_bit, server_isn, ue_isn + 1), Instant(1030ms));
  }
};

TEST(EndToEndFlow, AHandshakeGivesNumbersWindowsAndTheRtt) {
  Opened opened;
  EndToEndFlow& flow = opened.flow;
  EXPECT_EQ(flow.phase, EndToEndPhase::syn_ack);
  EXPECT_EQ(flow.round_trip, 30ms);
  EXPECT_EQ(flow.syn_of(Side::core).isn, SeqNum(server_isn));
  EXPECT_EQ(flow.towards(Side::core).window.edge(), Bytes(10'000)) << "what the SYN-ACK grants the UE";
}

TEST(EndToEndFlow, ASynAckOfAnotherConnectionIsIgnored) {
  EndToEndFlow flow;
  flow.initiator = Side::radio;
  flow.syn_of(Side::radio).isn = SeqNum(ue_isn);
  flow.learn_syn(Side::radio, segment(Flags::syn_bit, ue_isn, 0), Instant(1s));
  const tcp::Segment forged = segment(Flags::syn_bit | Flags::ack_bit, server_isn, ue_isn + 2);
  EXPECT_FALSE(flow.is_own_syn(Side::core, forged));
  flow.learn_syn(Side::core, forged, Instant(2s));
  EXPECT_EQ(flow.phase, EndToEndPhase::syn);
  EXPECT_TRUE(flow.is_own_syn(Side::core, segment(Flags::syn_bit | Flags::ack_bit, 7, ue_isn + 1)));
}

TEST(EndToEndFlow, OnlyAnExactResetEndsAHandshake) {
  const Opened opened;
  const EndToEndFlow& flow = opened.flow;
  EXPECT_TRUE(flow.is_refused_by(Side::core, segment(Flags::rst_bit, server_isn + 1, 0)));
  EXPECT_FALSE(flow.is_refused_by(Side::core, segment(Flags::rst_bit, server_isn + 2, 0)));
  EXPECT_TRUE(flow.is_refused_by(Side::radio, segment(Flags::rst_bit, ue_isn + 1, 0)));
  EXPECT_FALSE(flow.is_refused_by(Side::radio, segment(Flags::rst_bit, ue_isn, 0)));
}

TEST(SegmentNumbers, NumbersInTheWindowWithAnAckOfSeenDataArePlausible) {
  const Opened opened;
  const EndToEndFlow& flow = opened.flow;
  const auto plausible = [&](Side in, const tcp::Segment& segment) {
    return is_plausible(flow, in, segment, numbers_of(flow, in, segment));
  };
  EXPECT_TRUE(plausible(Side::radio, segment(Flags::ack_bit, ue_isn + 1, server_isn + 1, 1000)));
  EXPECT_TRUE(plausible(Side::radio, segment(Flags::ack_bit, ue_isn + 1 + 60'000, server_isn + 1, 1000)))
      << "a window may be taken back";
  EXPECT_FALSE(plausible(Side::radio, segment(Flags::ack_bit, ue_isn + 1 + 80'000, server_isn + 1, 1000)));
  EXPECT_FALSE(plausible(Side::radio, segment(Flags::ack_bit, ue_isn + 1, server_isn + 100))) << "never passed";
  EXPECT_FALSE(plausible(Side::radio, segment(0, ue_isn + 1, server_isn + 1, 1000))) << "no ACK";
  EXPECT_TRUE(plausible(Side::core, segment(Flags::rst_bit, server_isn + 1, 0)));
  EXPECT_FALSE(plausible(Side::core, segment(Flags::rst_bit, server_isn + 2, 0)));
}

}  // namespace
}  // namespace sluice::proxy
