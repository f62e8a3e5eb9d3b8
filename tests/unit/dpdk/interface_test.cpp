// Ports on Linux interfaces: needs root and the right to make interfaces; skipped by name otherwise.
#include <gmock/gmock.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/interface_check.hpp"
#include "dataplane/dpdk/port.hpp"
#include "tests/unit/dpdk/frames.hpp"
#include "tests/unit/dpdk/veth_pair.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace sluice::dpdk {
namespace {

#ifdef __SANITIZE_ADDRESS__
/// net_af_xdp loses memory of its own when it is closed.
using IgnoreDriversLeaks = __lsan::ScopedDisabler;
#else
struct IgnoreDriversLeaks {
  ~IgnoreDriversLeaks() {}  // an object that does nothing, but is not unused
};
#endif

using namespace test;

bool anything(const packet::Packet&) {
  return true;
}
/// Returns whether datagram() made the frame: a kernel with IPv6 sends multicasts on every new interface.
bool a_datagram(const packet::Packet& frame) {
  return !text_of(frame).empty();
}

bool tagged(const packet::Packet& frame) {
  return packet::load_be16(frame.data() + 12) == 0x8100;
}

/// Polls until `count` matching packets have arrived or two seconds have passed.
std::vector<packet::Packet> collect(Port& port, std::size_t count, bool (*wanted)(const packet::Packet&) = anything) {
  std::vector<packet::Packet> got;
  std::array<packet::Packet, 32> burst;
  for (int tries = 0; tries < 2000 && got.size() < count; ++tries) {
    const std::size_t received = port.receive(0, burst);
    for (std::size_t i = 0; i < received; ++i) {
      if (wanted(burst[i])) got.push_back(std::move(burst[i]));
    }
    if (received == 0) usleep(1000);
  }
  return got;
}

TEST_F(Interfaces, AreDescribedFromSysfs) {
  const auto state = interface_state(a_);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->driver, "veth");
  EXPECT_TRUE(state->up);
  EXPECT_FALSE(state->gro);
  EXPECT_EQ(state->link_type, unsigned{ARPHRD_ETHER});
  EXPECT_EQ(state->master, "");
  EXPECT_EQ(state->device, "");
  EXPECT_EQ(state->mtu, 1500U);
  EXPECT_EQ(interface_state("nonesuch"), std::nullopt);
  EXPECT_EQ(interface_state("a-name-that-is-far-too-long"), std::nullopt);
  EXPECT_THAT(interface_problems(a_, 1500), testing::IsEmpty());
}

TEST_F(Interfaces, ReceiveMergingIsRefusedWithTheCommandThatEndsIt) {
  if (!shell("ethtool -K " + a_ + " gro on") || !interface_state(a_)->gro)
    GTEST_SKIP() << "this kernel's veth has no GRO";
  EXPECT_THAT(refusal(on("net_af_packet0", a_)), testing::HasSubstr("ethtool -K " + a_ + " gro off"));
  PortConfig config = on("net_af_packet0", a_);
  config.fix_offloads = true;
  EXPECT_NO_THROW(Port(config, sluice::test::pool()));
  EXPECT_FALSE(interface_state(a_)->gro);
}

TEST_F(Interfaces, TheVethPeerSegmentsInSoftwareWhileThePortIsOpen) {
  const auto leaves_it_to_a_device = [&] {
    return shell("ethtool -k " + b_ + " | grep 'tcp-segmentation-offload: on'");
  };
  if (!shell("ethtool -K " + b_ + " tso on gso on") || !leaves_it_to_a_device())
    GTEST_SKIP() << "this kernel's veth has no TSO";
  PortConfig config = on("net_af_packet0", a_);
  {
    const Port as_it_is(config, sluice::test::pool());
    EXPECT_TRUE(leaves_it_to_a_device());
  }
  config.fix_offloads = true;
  {
    const Port repaired(config, sluice::test::pool());
    EXPECT_EQ(repaired.warning(), "");
    EXPECT_FALSE(leaves_it_to_a_device());
    EXPECT_FALSE(interface_state(a_)->gro) << "an XDP program brings merging, which is not wanted";
  }
  EXPECT_TRUE(leaves_it_to_a_device());
}

TEST_F(Interfaces, AnInterfaceThatIsDownIsRefusedOrBroughtUp) {
  shell("ip link set dev " + a_ + " down");
  EXPECT_THAT(refusal(on("net_af_packet0", a_)), testing::HasSubstr("ip link set dev " + a_ + " up"));
  EXPECT_THAT(repair_interface(a_, 1500), testing::IsEmpty());
  EXPECT_TRUE(interface_state(a_)->up);
}

TEST_F(Interfaces, AnInterfaceWithoutEthernetFramesIsRefused) {
  const std::string tun = "slu" + std::to_string(getpid() % 100000);
  if (!shell("ip tuntap add dev " + tun + " mode tun")) GTEST_SKIP() << "no TUN devices here";
  shell("ip link set dev " + tun + " up");
  PortConfig config = on("net_af_packet0", tun);
  config.fix_offloads = true;
  EXPECT_THAT(refusal(config), testing::HasSubstr(tun + " has no Ethernet frames"));
  shell("ip link del " + tun);
}

TEST_F(Interfaces, AMemberOfABridgeIsRefusedUnlessTheBridgeIsStandby) {
  const std::string bridge = "slm" + std::to_string(getpid() % 100000);
  if (!shell("ip link add " + bridge + " type bridge")) GTEST_SKIP() << "no bridges here";
  ASSERT_TRUE(shell("ip link set dev " + a_ + " master " + bridge));
  PortConfig config = on("net_af_packet0", a_);
  EXPECT_THAT(refusal(config), testing::AllOf(testing::HasSubstr(a_ + " is a member of " + bridge + " (bridge)"),
                                              testing::HasSubstr("ip link set dev " + a_ + " nomaster")));
  config.standby = true;
  EXPECT_NO_THROW(Port(config, sluice::test::pool()));
  shell("ip link del " + bridge);
  config.standby = false;
  EXPECT_NO_THROW(Port(config, sluice::test::pool()));
}

TEST_F(Interfaces, AMemberOfABondIsAlwaysRefused) {
  const std::string bond = "slo" + std::to_string(getpid() % 100000);
  if (!shell("ip link add " + bond + " type bond")) GTEST_SKIP() << "no bonds here";
  shell("ip link set dev " + a_ + " down");
  const bool joined = shell("ip link set dev " + a_ + " master " + bond);
  shell("ip link set dev " + a_ + " up");
  PortConfig config = on("net_af_packet0", a_);
  config.standby = true;
  const std::string why = refusal(config);
  shell("ip link del " + bond);
  ASSERT_TRUE(joined);
  EXPECT_THAT(why, testing::HasSubstr(a_ + " is a member of " + bond + " (bond)"));
}

TEST_F(Interfaces, AMemberOfAVrfIsAccepted) {
  const std::string vrf = "slv" + std::to_string(getpid() % 100000);
  if (!shell("ip link add " + vrf + " type vrf table 4711")) GTEST_SKIP() << "no VRFs here";
  shell("ip link set dev " + a_ + " master " + vrf);
  shell("ip link set dev " + a_ + " up");
  EXPECT_EQ(interface_state(a_)->master, vrf);
  EXPECT_THAT(interface_obstacles(*interface_state(a_), false), testing::IsEmpty());
  shell("ip link del " + vrf);
}

TEST_F(Interfaces, AnInterfaceIsOpenedOnce) {
  {
    const Port first(on("net_af_packet0", a_), sluice::test::pool());
    EXPECT_THAT(refusal(on("net_af_packet1", a_)), testing::HasSubstr(a_ + " is already in use"));
    EXPECT_NO_THROW(Port(on("net_af_packet1", b_), sluice::test::pool()));
    if (shell("ip link property add dev " + a_ + " altname other" + a_)) {
      EXPECT_THAT(refusal(on("net_af_packet1", "other" + a_)), testing::HasSubstr(a_ + " is already in use"));
    }
  }
  EXPECT_NO_THROW(Port(on("net_af_packet1", a_), sluice::test::pool())) << "whoever served it is gone";
}

TEST(InterfaceState, AWireNeverHasPartialChecksums) {
  const auto carries = [](const std::string& driver, const std::string& device) {
    InterfaceState state;
    state.driver = driver;
    state.device = device;
    return carries_partial_checksums(state);
  };
  EXPECT_TRUE(carries("veth", ""));
  EXPECT_TRUE(carries("tun", ""));
  EXPECT_TRUE(carries("virtio_net", "virtio0"));
  EXPECT_FALSE(carries("ixgbe", "0000:03:00.0"));
  EXPECT_FALSE(carries("cdc_ether", "2-1:2.0"));
}

TEST_F(Interfaces, TooSmallAnMtuIsRefusedOrRaised) {
  EXPECT_THAT(interface_problems(a_, 9000), testing::ElementsAre(testing::HasSubstr("mtu 9000")));
  EXPECT_THAT(repair_interface(a_, 9000), testing::IsEmpty());
  EXPECT_EQ(interface_state(a_)->mtu, 9000U);
}

/// Sends datagrams on the loopback interface for as long as it lives.
class LoopbackTraffic {
 public:
  LoopbackTraffic() : socket_(socket(AF_INET, SOCK_DGRAM, 0)), thread_([this] { run(); }) {}
  ~LoopbackTraffic() {
    stop_ = true;
    thread_.join();
    close(socket_);
  }
  LoopbackTraffic(const LoopbackTraffic&) = delete;
  LoopbackTraffic& operator=(const LoopbackTraffic&) = delete;

 private:
  void run() const {
    // EAL has tied this process to one processor, where the driver opening its socket would never be interrupted.
    cpu_set_t every;
    CPU_ZERO(&every);
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &every);
    sched_setaffinity(0, sizeof every, &every);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(9);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (!stop_) sendto(socket_, "stray", 5, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  int socket_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// The socket of the driver receives from every interface until it is bound to its own.
TEST_F(Interfaces, FramesOfOtherInterfacesAreNotReceived) {
  const LoopbackTraffic elsewhere;
  for (int i = 0; i < 25; ++i) {
    Port port(on("net_af_packet" + std::to_string(i), a_), sluice::test::pool());
    std::array<packet::Packet, 32> burst;
    for (int tries = 0; tries < 20; ++tries) {
      const std::size_t received = port.receive(0, burst);
      for (std::size_t k = 0; k < received; ++k) EXPECT_NE(text_of(burst[k]), "stray");
      if (received == 0) break;
    }
  }
}

/// Drivers on kernel interfaces. With a pool of their own: net_af_xdp does not give its buffers back.
class InterfacePorts : public Interfaces, public testing::WithParamInterface<const char*> {
 protected:
  packet::PacketPool own_pool_{"interfaces", 16384};

  std::unique_ptr<Port> open(int number, const std::string& interface) {
    IgnoreDriversLeaks ignore;
    try {
      return std::make_unique<Port>(on(GetParam() + std::to_string(number), interface), own_pool_);
    } catch (const std::runtime_error& error) {
      reason_ = error.what();
      return nullptr;
    }
  }
  std::string reason_;
};

TEST_P(InterfacePorts, CarryFramesBothWays) {
  if (IsSkipped()) return;
  const auto left = open(0, a_);
  const auto right = left ? open(1, b_) : nullptr;
  if (!right) {
    if (std::string(GetParam()) == "net_af_xdp") GTEST_SKIP() << "this kernel has no AF_XDP for us: " << reason_;
    FAIL() << reason_;
  }
  for (const auto& [from, to] : {std::pair(left.get(), right.get()), std::pair(right.get(), left.get())}) {
    std::vector<packet::Packet> burst;
    for (int i = 0; i < 20; ++i) burst.push_back(datagram(ue(1), server(), "frame " + std::to_string(i)));
    from->transmit(0, burst);
    const std::vector<packet::Packet> got = collect(*to, 20, a_datagram);
    ASSERT_EQ(got.size(), 20U);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(text_of(got[i]), "frame " + std::to_string(i));
  }
  EXPECT_TRUE(left->partial_checksums());
}

TEST_P(InterfacePorts, ReceiveIntoEveryBufferOfThePool) {
  if (IsSkipped()) return;
  const auto left = open(0, a_);
  const auto right = left ? open(1, b_) : nullptr;
  if (!right) GTEST_SKIP() << reason_;
  // All but what both devices hold themselves, and what is on its way.
  const std::size_t all = own_pool_.capacity() - 5000;
  std::vector<packet::Packet> held;
  while (held.size() < all) {
    std::vector<packet::Packet> burst;
    for (std::size_t i = 0; i < 32; ++i) burst.push_back(datagram(ue(1), server(), "fill"));
    left->transmit(0, burst);
    std::vector<packet::Packet> got = collect(*right, 32, a_datagram);
    if (got.empty()) break;
    std::ranges::move(got, std::back_inserter(held));
  }
  EXPECT_GE(held.size(), all);
}

TEST_P(InterfacePorts, KeepVlanTags) {
  if (IsSkipped()) return;
  const auto left = open(0, a_);
  const auto right = left ? open(1, b_) : nullptr;
  if (!right) GTEST_SKIP() << reason_;
  packet::Packet frame = sluice::test::pool().allocate();
  packet::HeaderTemplate header = packet::make_template(mac_a, mac_b, 4);
  packet::add_vlan_tag(header, 0x8100, 0x6064);
  packet::write_udp_headers(frame, header, {ue(1), server(), 1, 2}, 0);
  const std::vector<std::uint8_t> sent(frame.bytes().begin(), frame.bytes().end());
  left->transmit(0, {&frame, 1});
  const std::vector<packet::Packet> got = collect(*right, 1, tagged);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_THAT(got[0].bytes(), testing::ElementsAreArray(sent));
}

TEST_P(InterfacePorts, SignalWhenAFrameHasArrived) {
  if (IsSkipped()) return;
  const auto left = open(0, a_);
  const auto right = left ? open(1, b_) : nullptr;
  if (!right) GTEST_SKIP() << reason_;
  pollfd readiness = {.fd = right->readiness_descriptor(0), .events = POLLIN, .revents = 0};
  ASSERT_GE(readiness.fd, 0);
  EXPECT_EQ(poll(&readiness, 1, 0), 0);
  packet::Packet frame = datagram(ue(1), server(), "knock");
  left->transmit(0, {&frame, 1});
  EXPECT_EQ(poll(&readiness, 1, 10000), 1);
  EXPECT_EQ(collect(*right, 1).size(), 1U);
  EXPECT_EQ(poll(&readiness, 1, 0), 0);
}

INSTANTIATE_TEST_SUITE_P(Drivers, InterfacePorts, testing::Values("net_af_packet", "net_af_xdp"));

/// The datagram to port 2000, among whatever else the kernel sends by itself; empty when it does not come.
packet::Packet receive_datagram(Port& port) {
  for (int tries = 0; tries < 100; ++tries) {
    for (packet::Packet& packet : collect(port, 1)) {
      packet::Parsed parsed;
      if (packet::parse(packet, parsed) == packet::ParseResult::udp && parsed.dst_port == 2000) {
        return std::move(packet);
      }
    }
  }
  return {};
}

TEST_F(Interfaces, FramesOfTheKernelHavePartialChecksumsThatCanBeCompleted) {
  if (IsSkipped()) return;
  Port port(on("net_af_packet0", b_), sluice::test::pool());
  send_from_kernel(a_, "from the kernel");
  packet::Packet packet = receive_datagram(port);
  ASSERT_TRUE(packet);
  packet::Parsed parsed;
  const packet::ParseResult result = packet::parse(packet, parsed);
  EXPECT_TRUE(packet::complete_partial_checksum(packet, parsed, result));
  EXPECT_FALSE(packet::complete_partial_checksum(packet, parsed, result)) << "complete now";
  EXPECT_EQ(text_of(packet), "from the kernel");
}

TEST_F(Interfaces, FramesLongerThanTheMtuAreCountedAndTheWarningNamesTheRemedy) {
  ASSERT_TRUE(shell("ip link set dev " + a_ + " mtu 2000") && shell("ip link set dev " + b_ + " mtu 2000"));
  Port port(on("net_af_packet0", b_), sluice::test::pool());
  send_from_kernel(a_, std::string(1600, 'l'));
  ASSERT_TRUE(receive_datagram(port));
  EXPECT_EQ(port.counters().oversized, 1U);
  EXPECT_THAT(port.oversized_remedy(), testing::HasSubstr("the other end of " + b_));
}

TEST_F(Interfaces, FragmentsArriveUnchanged) {
  if (IsSkipped()) return;
  Port port(on("net_af_packet0", b_), sluice::test::pool());
  send_from_kernel(a_, std::string(2500, 'f'));
  std::vector<packet::Parsed> fragments;
  for (int tries = 0; tries < 100 && fragments.size() < 2; ++tries) {
    for (const packet::Packet& packet : collect(port, 1)) {
      packet::Parsed parsed;
      if (packet::parse(packet, parsed) == packet::ParseResult::ip_fragment) fragments.push_back(parsed);
    }
  }
  ASSERT_EQ(fragments.size(), 2U);
  EXPECT_EQ(fragments[0].ip_length, 1500);
  EXPECT_EQ(fragments[0].ip_length + fragments[1].ip_length, 2500 + 8 + 20 + 20);
}

TEST_F(Interfaces, TapPortsReceiveFromTheKernel) {
  if (IsSkipped()) return;
  const std::string tap = "slt" + std::to_string(getpid() % 100000);
  std::unique_ptr<Port> port;
  try {
    port = std::make_unique<Port>(on("net_tap0", tap), sluice::test::pool());
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << "no TAP devices here: " << error.what();
  }
  pollfd readiness = {.fd = port->readiness_descriptor(0), .events = POLLIN, .revents = 0};
  ASSERT_GE(readiness.fd, 0);
  shell("sysctl -qw net.ipv6.conf." + tap + ".disable_ipv6=1");
  send_from_kernel(tap, "through the tap");
  EXPECT_EQ(poll(&readiness, 1, 10000), 1);
  const packet::Packet packet = receive_datagram(*port);
  ASSERT_TRUE(packet);
  EXPECT_EQ(text_of(packet), "through the tap");
}

TEST_F(Interfaces, JumboFramesFit) {
  if (IsSkipped()) return;
  ASSERT_THAT(repair_interface(a_, 9000), testing::IsEmpty());
  ASSERT_THAT(repair_interface(b_, 9000), testing::IsEmpty());
  packet::PacketPool pool("jumbo", 2048, buffer_room(9000));
  PortConfig left = on("net_af_packet0", a_);
  PortConfig right = on("net_af_packet1", b_);
  left.mtu = right.mtu = 9000;
  Port sender(left, pool);
  Port receiver(right, pool);
  packet::Packet frame = datagram(pool, ue(1), server(), std::string(8972, 'j'));
  sender.transmit(0, {&frame, 1});
  const std::vector<packet::Packet> got = collect(receiver, 1);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(text_of(got[0]), std::string(8972, 'j'));
}

}  // namespace
}  // namespace sluice::dpdk
