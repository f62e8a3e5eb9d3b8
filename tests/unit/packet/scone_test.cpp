// Tests of SCONE packets: rate signals, datagrams that only look like one, and lowered signals with their checksums.
// The vectors follow the layout of draft-ietf-scone-protocol-07.

#include "dataplane/packet/scone.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

using Data = std::vector<std::uint8_t>;

/// A SCONE packet without advice: destination ID of eight bytes, no source ID.
const Data no_advice = {0xff, 0xef, 0x7d, 0xc0, 0xfd, 8, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0};

Data joined(Data first, const Data& second, std::size_t padding = 40) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), padding, 0xab);
  return first;
}
const Data short_header = {0x40, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8};
const Data initial = {0xc3, 0, 0, 0, 1, 8, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0};

/// Returns a UDP datagram with this payload, whose checksum is right without a pseudo-header.
Data datagram(const Data& payload) {
  Data udp = joined({0x01, 0xbb, 0xc3, 0x50, 0, 0, 0, 0}, payload, 0);
  store_be16(udp.data() + 4, static_cast<std::uint16_t>(udp.size()));
  store16(udp.data() + 6, static_cast<std::uint16_t>(~ones_complement_sum(udp)));
  return udp;
}

TEST(Scone, SignalsStandForRates) {
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(1)), 0);
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(100e3)), 0);
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(502e3)), 14);
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(1e6)), 20);
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(2e6)), 26);
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(10e6)), 40);
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(11.2e6)), 40) << "the advice does not exceed the rate";
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(1e9)), 80);
  EXPECT_EQ(scone_signal_of(Rate::bits_per_second(1e15)), 126);
}

TEST(Scone, FindsThePacketBeforeAShortOrLongHeader) {
  for (const Data& next : {short_header, initial}) {
    const Data payload = joined(no_advice, next);
    EXPECT_EQ(scone_format(payload), SconeFormat::packet);
    EXPECT_EQ(scone_signal(payload), no_scone_advice);
  }
}

TEST(Scone, FindsThePacketOfAConnectionWithoutIds) {
  const Data payload = joined({0xff, 0x6f, 0x7d, 0xc0, 0xfd, 0, 0}, {0x40});
  EXPECT_EQ(scone_format(payload), SconeFormat::packet);
  EXPECT_EQ(scone_signal(payload), 126);
}

/// Returns a SCONE packet with these connection IDs.
Data with_ids(const Data& destination, const Data& source) {
  Data scone = {0xff, 0xef, 0x7d, 0xc0, 0xfd, static_cast<std::uint8_t>(destination.size())};
  scone = joined(scone, destination, 0);
  scone.push_back(static_cast<std::uint8_t>(source.size()));
  return joined(scone, source, 0);
}
const Data eight_bytes = {0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8};

// The draft requires an empty source ID there, but picoquic writes its own one. A receiver may accept the packet.
TEST(Scone, ASourceIdBeforeAShortHeaderIsLeftToTheReceiver) {
  const Data scone = with_ids(eight_bytes, {1, 2, 3, 4, 5});
  EXPECT_EQ(scone_format(joined(scone, short_header)), SconeFormat::packet);
  Data other_connection = short_header;
  other_connection.back() ^= 1U;
  EXPECT_EQ(scone_format(joined(scone, other_connection)), SconeFormat::unmatched);
  EXPECT_EQ(scone_format(joined(scone, short_header, 19)), SconeFormat::unmatched);
}

// Nothing behind such a packet shows that it belongs to QUIC.
TEST(Scone, ASourceIdAloneBeforeAShortHeaderIsUnmatched) {
  EXPECT_EQ(scone_format(joined(with_ids({}, {1, 2, 3, 4, 5}), {0x40})), SconeFormat::unmatched);
  EXPECT_EQ(scone_format(joined(with_ids({}, {1}), {0x40})), SconeFormat::unmatched);
}

TEST(Scone, ASourceIdBeforeALongHeaderMustMatch) {
  const Data ids = {0xe3, 0, 0, 0, 1, 0, 3, 7, 8, 9};
  EXPECT_EQ(scone_format(joined(with_ids({}, {7, 8, 9}), ids)), SconeFormat::packet);
  EXPECT_EQ(scone_format(joined(with_ids({}, {7, 8, 8}), ids)), SconeFormat::unmatched);
  EXPECT_EQ(scone_format(joined(with_ids({}, {}), ids)), SconeFormat::unmatched);
  EXPECT_EQ(scone_format(joined(with_ids(eight_bytes, {7, 8, 9}), ids)), SconeFormat::unmatched);
}

TEST(Scone, OtherVersionsAreNoScone) {
  Data payload = joined(no_advice, short_header);
  payload[4] = 0xfe;
  EXPECT_EQ(scone_format(payload), SconeFormat::none);
  EXPECT_EQ(scone_format(joined(initial, {})), SconeFormat::none);
  EXPECT_EQ(scone_format(joined(short_header, {})), SconeFormat::none);
  EXPECT_EQ(scone_format(Data{}), SconeFormat::none);
}

TEST(Scone, ADatagramWithoutAPacketOfTheSameConnectionIsUnmatched) {
  EXPECT_EQ(scone_format(no_advice), SconeFormat::unmatched) << "SCONE packets are never alone";
  EXPECT_EQ(scone_format(joined(no_advice, short_header, 19)), SconeFormat::unmatched) << "too short for QUIC";
  Data other_connection = short_header;
  other_connection[3] ^= 1U;
  EXPECT_EQ(scone_format(joined(no_advice, other_connection)), SconeFormat::unmatched);
  Data other_source = initial;
  other_source.back() = 1;
  EXPECT_EQ(scone_format(joined(no_advice, other_source)), SconeFormat::unmatched);
  Data long_id = joined(no_advice, short_header);
  long_id[5] = 21;
  EXPECT_EQ(scone_format(long_id), SconeFormat::unmatched);
}

TEST(Scone, LowersTheSignalInPlace) {
  Data udp = datagram(joined(no_advice, short_header));
  set_scone_signal(udp, 40);
  EXPECT_EQ(udp[8], 0xd4);
  EXPECT_EQ(udp[9], 0x6f);
  EXPECT_EQ(fold(ones_complement_sum(udp)), 0xffff);
  set_scone_signal(udp, 41);
  EXPECT_EQ(udp[8], 0xd4);
  EXPECT_EQ(udp[9], 0xef);
  EXPECT_EQ(scone_signal(std::span(udp).subspan(8)), 41);
}

TEST(Scone, TheReservedBitStays) {
  Data payload = joined(no_advice, short_header);
  payload[0] = 0xbf;
  Data udp = datagram(payload);
  set_scone_signal(udp, 40);
  EXPECT_EQ(udp[8], 0x94);
}

TEST(Scone, ADatagramWithoutAChecksumStaysWithout) {
  Data udp = datagram(joined(no_advice, short_header));
  store16(udp.data() + 6, 0);
  set_scone_signal(udp, 40);
  EXPECT_EQ(load16(udp.data() + 6), 0);
}

TEST(Scone, EverySignalKeepsTheChecksumRightAndNotZero) {
  std::mt19937 random(7);
  for (int i = 0; i < 100'000; ++i) {
    Data payload = joined(no_advice, short_header);
    for (std::size_t at = payload.size() - 4; at < payload.size(); ++at)
      payload[at] = static_cast<std::uint8_t>(random());
    Data udp = datagram(payload);
    if (load16(udp.data() + 6) == 0) store16(udp.data() + 6, 0xffff);
    set_scone_signal(udp, static_cast<std::uint8_t>(random() % 127));
    ASSERT_EQ(ones_complement_sum(udp), 0xffff);
    ASSERT_NE(load16(udp.data() + 6), 0);
  }
}

TEST(Scone, ACutPayloadIsNoPacket) {
  const Data whole = joined(no_advice, initial);
  constexpr std::size_t fewest_bytes = 20;  // of a QUIC packet behind its connection IDs
  const std::size_t whole_size = no_advice.size() + initial.size() + fewest_bytes;
  ASSERT_LT(whole_size, whole.size());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Data cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const bool is_whole = size >= whole_size;
    EXPECT_EQ(scone_format(cut) == SconeFormat::packet, is_whole) << size << " bytes";
  }
}

}  // namespace
}  // namespace sluice::packet
