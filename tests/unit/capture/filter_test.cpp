// Tests of the capture filter: UE, port, leg, decision and BPF program, and the bytes of a frame that it shows.
#include "proxy/ops/capture/filter.hpp"

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::capture {
namespace {

using proxy::Side;
using Octets = std::vector<std::uint8_t>;

/// A frame as a shard would see it on a wire.
class Seen {
 public:
  Seen(packet::Packet packet, Wire wire) : packet_(std::move(packet)), result_(packet::parse(packet_, parsed_)) {
    wire_ = wire;
  }
  [[nodiscard]] Frame frame() const { return {wire_, Instant{}, packet_.bytes(), result_, parsed_}; }

 private:
  packet::Packet packet_;
  packet::Parsed parsed_;
  packet::ParseResult result_;
  Wire wire_;
};

packet::Packet packet_of(const Octets& octets) {
  packet::Packet packet = test::pool().allocate();
  std::copy(octets.begin(), octets.end(), packet.append(static_cast<std::uint16_t>(octets.size())));
  return packet;
}

class CaptureFilter : public testing::Test {
 protected:
  static constexpr std::size_t tcp_headers = 14 + 20 + 32;  // with timestamps

  [[nodiscard]] packet::Packet data(bool from_ue) const {
    return hosts.frame(from_ue, hosts.segment(tcp::Flags::ack_bit, 1, 1), std::string(1000, 'p'));
  }

  test::ProxyLab lab{test::shard_config()};
  test::ScriptedHosts hosts{lab};
  Filter filter;
};

TEST_F(CaptureFilter, TheUeIsTheSourceTowardsTheCore) {
  filter.ue = hosts.ue_to_server.src;
  EXPECT_TRUE(filter.takes(Seen(data(true), {Side::radio, false}).frame()));
  EXPECT_TRUE(filter.takes(Seen(data(true), {Side::core, true}).frame()));
  EXPECT_TRUE(filter.takes(Seen(data(false), {Side::core, false}).frame()));
  EXPECT_TRUE(filter.takes(Seen(data(false), {Side::radio, true}).frame()));
  filter.ue = hosts.ue_to_server.dst;
  EXPECT_FALSE(filter.takes(Seen(data(true), {Side::radio, false}).frame())) << "that is the server";
}

TEST_F(CaptureFilter, APortMatchesEitherEnd) {
  for (const auto& [port, taken] : {std::pair{80, true}, {40000, true}, {443, false}}) {
    filter.port = static_cast<std::uint16_t>(port);
    EXPECT_EQ(filter.takes(Seen(data(true), {Side::radio, false}).frame()), taken) << port;
  }
}

TEST_F(CaptureFilter, ALegMatchesBothDirections) {
  filter.leg = Side::core;
  EXPECT_TRUE(filter.takes(Seen(data(true), {Side::core, true}).frame()));
  EXPECT_TRUE(filter.takes(Seen(data(false), {Side::core, false}).frame()));
  EXPECT_FALSE(filter.takes(Seen(data(false), {Side::radio, true}).frame()));
}

TEST_F(CaptureFilter, ShowsHeadersOnlyUnlessASnapLengthIsSet) {
  const Seen seen(data(false), {Side::core, false});
  EXPECT_EQ(filter.shown_bytes(seen.frame()), tcp_headers);
  filter.snap_length = 100;
  EXPECT_EQ(filter.shown_bytes(seen.frame()), 100U);
  filter.snap_length = 65535;
  EXPECT_EQ(filter.shown_bytes(seen.frame()), tcp_headers + 1000);
}

/// A client that may see no payload must not learn of it by filtering on its content, so a program sees the shown
/// bytes only.
TEST_F(CaptureFilter, ABpfProgramSeesOnlyTheShownBytes) {
  const auto at = [](std::uint32_t offset) {
    return *Program::checked({{BPF_LD | BPF_B | BPF_ABS, 0, 0, offset},
                              {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 'p'},
                              {BPF_RET | BPF_K, 0, 0, 1},
                              {BPF_RET | BPF_K, 0, 0, 0}});
  };
  const Seen seen(data(false), {Side::core, false});
  filter.program = at(tcp_headers + 5);
  EXPECT_FALSE(filter.takes(seen.frame()));
  filter.snap_length = tcp_headers + 6;
  EXPECT_TRUE(filter.takes(seen.frame()));
}

TEST_F(CaptureFilter, FramesWithoutTcpAreCutAfterTheirHeaders) {
  Octets udp(14 + 20 + 8 + 100, 0);
  udp[12] = 0x08;
  udp[14] = 0x45;
  packet::store_be16(&udp[16], 20 + 8 + 100);
  udp[22] = 64;
  udp[23] = 17;
  packet::store16(&udp[24], static_cast<std::uint16_t>(~packet::ones_complement_sum({&udp[14], 20})));
  const Seen datagram(packet_of(udp), {Side::core, false});
  ASSERT_EQ(datagram.frame().result, packet::ParseResult::udp);
  EXPECT_EQ(header_bytes(datagram.frame()), 14U + 20 + 8);

  packet::store_be16(&udp[20], 0x0010);  // not the first fragment: what follows is payload
  udp[24] = udp[25] = 0;
  packet::store16(&udp[24], static_cast<std::uint16_t>(~packet::ones_complement_sum({&udp[14], 20})));
  const Seen fragment(packet_of(udp), {Side::core, false});
  ASSERT_EQ(fragment.frame().result, packet::ParseResult::ip_fragment);
  EXPECT_EQ(header_bytes(fragment.frame()), 14U + 20);

  Octets unknown(200, 0);
  unknown[12] = 0x12;
  EXPECT_EQ(header_bytes(Seen(packet_of(unknown), {Side::core, false}).frame()), 14U);
  EXPECT_EQ(header_bytes(Seen(packet_of({1, 2, 3}), {Side::core, false}).frame()), 3U) << "a runt";
}

TEST_F(CaptureFilter, FramesWithoutAddressesBelongToNoUe) {
  Octets arp(60, 0);
  arp[12] = 0x08;
  arp[13] = 0x06;
  const Seen seen(packet_of(arp), {Side::radio, false});
  EXPECT_TRUE(filter.takes(seen.frame()));
  EXPECT_EQ(header_bytes(seen.frame()), 14U + 28);
  filter.port = 80;
  EXPECT_FALSE(filter.takes(seen.frame()));
  filter = {};
  filter.ue = IpAddress{};
  EXPECT_FALSE(filter.takes(seen.frame()));
}

}  // namespace
}  // namespace sluice::capture
