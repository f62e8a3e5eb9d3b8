// Several queues on one Linux interface: needs root and the right to make interfaces; skipped by name otherwise.
#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataplane/dpdk/address_hash.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/packet/parse.hpp"
#include "tests/unit/dpdk/frames.hpp"
#include "tests/unit/dpdk/veth_pair.hpp"

namespace sluice::dpdk {
namespace {

using namespace test;

/// Returns a frame from `src` to `dst` with `tags` VLAN tags (802.1Q), as the driver can receive them.
packet::Packet tagged_datagram(const IpAddress& src, const IpAddress& dst, int tags, std::string_view text) {
  packet::Packet frame = sluice::test::pool().allocate();
  text.copy(reinterpret_cast<char*>(frame.append(static_cast<std::uint16_t>(text.size()))), text.size());
  packet::HeaderTemplate header = packet::make_template(mac_a, mac_b, src.is_v4() ? 4 : 6);
  for (int i = 0; i < tags; ++i) packet::add_vlan_tag(header, 0x8100, static_cast<std::uint16_t>(0x64 + i));
  packet::write_udp_headers(frame, header, {src, dst, 1, 2}, 0);
  return frame;
}

IpAddress ue_v6(unsigned number) {
  std::array<std::uint8_t, 16> octets = {0xfd, 0x45};
  for (std::size_t i = 2; i < octets.size(); ++i)
    octets[i] = static_cast<std::uint8_t>(number * (2 * i + 1) >> (i % 4));
  return {octets};
}

/// Returns the packets of the test that this queue receives within a moment.
std::vector<packet::Packet> poll_queue(Port& port, std::uint16_t queue) {
  std::vector<packet::Packet> got;
  std::array<packet::Packet, 32> burst;
  for (int tries = 0; tries < 3;) {
    const std::size_t received = port.receive(queue, burst);
    for (std::size_t i = 0; i < received; ++i) {
      if (text_of(burst[i]) == "mine") got.push_back(std::move(burst[i]));
    }
    if (received == 0) ++tries, usleep(1000);
  }
  return got;
}

TEST_F(Interfaces, SeveralQueuesAreHashedByTheUeAddress) {
  if (IsSkipped()) return;
  constexpr std::uint16_t queues = 3;
  constexpr unsigned ues = 40;
  const IpAddress server_v6 = ue_v6(9999);
  for (const Facing facing : {Facing::radio, Facing::core}) {
    Port sender(on("net_af_packet0", a_), sluice::test::pool());
    PortConfig config = on("net_af_packet1", b_);
    config.queues = queues;
    config.facing = facing;
    Port port(config, sluice::test::pool());
    ASSERT_EQ(port.receive_queues(), queues);
    EXPECT_EQ(port.transmit_queues(), queues);
    EXPECT_TRUE(port.receive_by_address());
    const auto send = [&](const IpAddress& one, const IpAddress& far, int tags) {
      const bool up = facing == Facing::radio;
      packet::Packet frame = tagged_datagram(up ? one : far, up ? far : one, tags, "mine");
      sender.transmit(0, {&frame, 1});
    };
    for (unsigned number = 0; number < ues; ++number) {
      for (int tags = 0; tags <= 2; ++tags) {
        send(ue(number * 37), server(), tags);
        send(ue_v6(number), server_v6, tags);
      }
    }
    unsigned seen = 0;
    for (std::uint16_t queue = 0; queue < queues; ++queue) {
      const std::vector<packet::Packet> got = poll_queue(port, queue);
      EXPECT_GT(got.size(), 10U);
      seen += static_cast<unsigned>(got.size());
      for (const packet::Packet& frame : got)
        EXPECT_EQ(ue_address_hash(frame, facing) % rss_table_size % queues, queue);
    }
    EXPECT_EQ(seen, ues * 3 * 2);
  }
}

TEST_F(Interfaces, EachOfSeveralQueuesSignalsWhenAFrameHasArrived) {
  if (IsSkipped()) return;
  Port sender(on("net_af_packet0", a_), sluice::test::pool());
  PortConfig config = on("net_af_packet1", b_);
  config.queues = 2;
  Port port(config, sluice::test::pool());
  for (unsigned number = 0; number < 8; ++number) {
    const auto queue = static_cast<std::uint16_t>(address_hash(ue(number)) % rss_table_size % 2);
    for (std::uint16_t each : {std::uint16_t{0}, std::uint16_t{1}}) poll_queue(port, each);
    packet::Packet frame = datagram(ue(number), server(), "mine");
    sender.transmit(0, {&frame, 1});
    std::array<pollfd, 2> readiness = {pollfd{port.readiness_descriptor(0), POLLIN, 0},
                                       pollfd{port.readiness_descriptor(1), POLLIN, 0}};
    ASSERT_EQ(poll(readiness.data(), readiness.size(), 10000), 1);
    EXPECT_NE(readiness.at(queue).revents, 0);
  }
}

TEST_F(Interfaces, SeveralQueuesReceiveFragmentsUnchanged) {
  if (IsSkipped()) return;
  PortConfig config = on("net_af_packet0", b_);
  config.queues = 2;
  config.facing = Facing::core;  // the kernel's datagrams go to the UE 192.0.2.2
  Port port(config, sluice::test::pool());
  send_from_kernel(a_, std::string(2500, 'f'));
  const auto queue = static_cast<std::uint16_t>(address_hash(IpAddress::v4(192, 0, 2, 2)) % rss_table_size % 2);
  unsigned fragments = 0;
  std::array<packet::Packet, 32> burst;
  for (int tries = 0; tries < 500 && fragments < 2; ++tries, usleep(1000)) {
    const std::size_t count = port.receive(queue, burst);
    for (std::size_t i = 0; i < count; ++i) {
      packet::Parsed parsed;
      if (packet::parse(burst[i], parsed) == packet::ParseResult::ip_fragment) ++fragments;
    }
  }
  EXPECT_EQ(fragments, 2U);
  try {
    port.rebind_interface();
    ADD_FAILURE() << "a group of sockets was bound again";
  } catch (const std::runtime_error& refusal) {
    EXPECT_THAT(refusal.what(), testing::HasSubstr("qpairs=1"));
  }
}

TEST_F(Interfaces, AnExplicitQueueArgumentLimitsTheQueues) {
  if (IsSkipped()) return;
  PortConfig config = on("net_af_packet0", b_);
  config.device += ",qpairs=1";
  config.queues = 2;
  const Port port(config, sluice::test::pool());
  EXPECT_EQ(port.receive_queues(), 1);
  EXPECT_FALSE(port.receive_by_address());
}

}  // namespace
}  // namespace sluice::dpdk
