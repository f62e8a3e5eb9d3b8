// Tests of ports over virtual devices: errors at opening, transmission, drops and statistics.
#include "dataplane/dpdk/port.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/dpdk/frames.hpp"
#include "tests/unit/dpdk/ring_pair.hpp"

namespace sluice::dpdk {
namespace {

using namespace test;

PortConfig device(const std::string& arguments) {
  PortConfig config;
  config.device = arguments;
  return config;
}

/// Everything that has arrived at a port.
std::vector<packet::Packet> drain(Port& port) {
  std::vector<packet::Packet> all;
  std::array<packet::Packet, 32> burst;
  while (const std::size_t count = port.receive(0, burst)) {
    for (std::size_t i = 0; i < count; ++i) all.push_back(std::move(burst[i]));
  }
  return all;
}

/// The message of the exception that opening the device throws.
std::string refusal(const PortConfig& config) {
  try {
    const Port port(config, sluice::test::pool());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no exception";
}

TEST(Port, RefusalsNameTheError) {
  EXPECT_THAT(refusal(device("eth0")), testing::HasSubstr("neither a PCI address"));
  EXPECT_THAT(refusal(device("net_nosuchdriver0")), testing::HasSubstr("cannot be added"));
  EXPECT_THAT(refusal(device("net_af_packet0")), testing::HasSubstr("iface= is missing"));
  EXPECT_THAT(refusal(device("net_af_packet0,iface=nonesuch")), testing::HasSubstr("there is no interface 'nonesuch'"));
  EXPECT_THAT(refusal(device("ffff:ff:1f.7")), testing::HasSubstr("vfio-pci"));
  PortConfig config = device("net_null0");
  config.mtu = 9000;
  EXPECT_THAT(refusal(config), testing::HasSubstr("needs packet buffers of"));
  config.mtu = 9001;
  EXPECT_THAT(refusal(config), testing::HasSubstr("68 to 9000"));
  config.mtu = 67;
  EXPECT_THAT(refusal(config), testing::HasSubstr("68 to 9000"));
  config.mtu = 68;
  EXPECT_EQ(refusal(config), "no exception");
  config = device("net_null0");
  config.queues = 0;
  EXPECT_THAT(refusal(config), testing::HasSubstr("at least one queue"));
}

TEST(Port, ARefusedDeviceCanBeOpenedLater) {
  PortConfig config = device("net_null0");
  config.mtu = 9000;
  EXPECT_THROW(Port(config, sluice::test::pool()), std::runtime_error);
  config.mtu = 1500;
  EXPECT_NO_THROW(Port(config, sluice::test::pool()));
  EXPECT_NO_THROW(Port(config, sluice::test::pool())) << "and once more";
}

TEST(Port, ANullDeviceDropsAndProducesPackets) {
  Port port(device("net_null0,size=100"), sluice::test::pool());
  std::array<packet::Packet, 32> burst;
  ASSERT_EQ(port.receive(0, burst), 32U);
  EXPECT_EQ(burst[0].size(), 100);
  EXPECT_EQ(burst[0].note().payload_len, 0);
  port.transmit(0, burst);
  for (const packet::Packet& packet : burst) EXPECT_FALSE(packet);
  const PortCounters counters = port.counters();
  EXPECT_EQ(counters.received, 32U);
  EXPECT_EQ(counters.received_bytes, 3200U);
  EXPECT_EQ(counters.transmitted, 32U);
  EXPECT_EQ(counters.transmitted_bytes, 3200U);
  EXPECT_EQ(counters.transmit_dropped, 0U);
}

TEST(Port, LongBurstsAreSentWhole) {
  Port port(device("net_null0,size=64"), sluice::test::pool());
  std::vector<packet::Packet> many;
  for (int i = 0; i < 200; ++i) many.push_back(datagram(ue(1), server(), "x"));
  port.transmit(0, many);
  EXPECT_EQ(port.counters().transmitted, 200U);
  port.transmit(0, {});
}

TEST(Port, RingsCarryPacketsInOrder) {
  const RingPair rings("order");
  Port left(device(rings.a()), sluice::test::pool());
  Port right(device(rings.b()), sluice::test::pool());
  std::vector<packet::Packet> burst;
  for (int i = 0; i < 100; ++i) burst.push_back(datagram(ue(1), server(), std::to_string(i)));
  left.transmit(0, burst);
  const std::vector<packet::Packet> got = drain(right);
  ASSERT_EQ(got.size(), 100U);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(text_of(got[i]), std::to_string(i));
  EXPECT_TRUE(drain(left).empty());
}

TEST(Port, ReceivedPacketsHaveEmptyMetadata) {
  const RingPair rings("notes");
  Port left(device(rings.a()), sluice::test::pool());
  Port right(device(rings.b()), sluice::test::pool());
  std::array<packet::Packet, 1> burst = {datagram(ue(1), server(), "x")};
  burst[0].note().seq = 77;
  burst[0].note().flags = 3;
  left.transmit(0, burst);
  const std::vector<packet::Packet> got = drain(right);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].note().seq, 0U);
  EXPECT_EQ(got[0].note().flags, 0);
}

TEST(Port, ASharedPacketReachesThePeerAsACopy) {
  const RingPair rings("share");
  Port left(device(rings.a()), sluice::test::pool());
  Port right(device(rings.b()), sluice::test::pool());
  packet::Packet original = datagram(ue(1), server(), "kept for retransmission");
  std::array<packet::Packet, 2> burst = {original.share(), datagram(ue(1), server(), "sent and forgotten")};
  const rte_mbuf* const alone = burst[1].buffer();
  left.transmit(0, burst);
  const std::vector<packet::Packet> got = drain(right);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_NE(got[0].buffer(), original.buffer());
  EXPECT_EQ(got[1].buffer(), alone) << "nobody else holds it: handed over as it is";
  EXPECT_EQ(text_of(got[0]), "kept for retransmission");
  EXPECT_FALSE(original.shared());
  std::fill_n(got[0].data(), got[0].size(), std::uint8_t{0});
  EXPECT_EQ(text_of(original), "kept for retransmission");
}

TEST(Port, PacketsThatTheDeviceRefusesAreDroppedAndCounted) {
  const RingPair rings("full", 64);  // holds 63
  Port left(device(rings.a()), sluice::test::pool());
  std::vector<packet::Packet> burst;
  for (int i = 0; i < 100; ++i) burst.push_back(datagram(ue(1), server(), "x"));
  left.transmit(0, burst);
  EXPECT_EQ(left.counters().transmitted, 63U);
  EXPECT_EQ(left.counters().transmit_dropped, 37U);
}

TEST(Port, FramesThatSpanBuffersAreDropped) {
  const RingPair rings("chain");
  Port left(device(rings.a()), sluice::test::pool());
  Port right(device(rings.b()), sluice::test::pool());
  std::array<packet::Packet, 2> burst = {datagram(ue(1), server(), "first"), datagram(ue(1), server(), "second")};
  packet::Packet tail = sluice::test::pool().allocate();
  tail.append(10);
  ASSERT_EQ(rte_pktmbuf_chain(burst[0].buffer(), tail.release()), 0);
  left.transmit(0, burst);
  const std::vector<packet::Packet> got = drain(right);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(text_of(got[0]), "second");
  EXPECT_EQ(right.counters().oversized, 1U);
}

TEST(Port, FilesAreWrittenAndReadBack) {
  const std::string file = testing::TempDir() + "sluice-port-" + std::to_string(getpid()) + ".pcap";
  {
    Port writer(device("net_pcap0,tx_pcap=" + file), sluice::test::pool());
    std::array<packet::Packet, 2> burst = {datagram(ue(1), server(), "one"), datagram(ue(2), server(), "two")};
    writer.transmit(0, burst);
    EXPECT_EQ(writer.counters().transmitted, 2U);
  }
  {
    Port reader(device("net_pcap0,rx_pcap=" + file), sluice::test::pool());
    const std::vector<packet::Packet> got = drain(reader);
    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(text_of(got[0]), "one");
    EXPECT_EQ(text_of(got[1]), "two");
  }
  std::filesystem::remove(file);
}

TEST(Port, MoreQueuesThanTheDeviceSupportsBecomeOne) {
  PortConfig config = device("net_null0");
  config.queues = 4;
  const Port port(config, sluice::test::pool());
  EXPECT_EQ(port.receive_queues(), 1);
  EXPECT_FALSE(port.receive_by_address());
}

TEST(Port, StatisticsHaveNames) {
  Port port(device("net_null0,size=64"), sluice::test::pool());
  std::array<packet::Packet, 32> burst;
  ASSERT_EQ(port.receive(0, burst), 32U);
  EXPECT_THAT(port.extended_statistics(), testing::Contains(testing::Pair("rx_good_packets", 32U)));
  EXPECT_TRUE(port.link_up());
}

}  // namespace
}  // namespace sluice::dpdk
