// Tests of DPDK device arguments: names, driver traits, and the arguments that the proxy adds.
#include "dataplane/dpdk/device_arguments.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sluice::dpdk {
namespace {

unsigned long number(const std::string& device, std::string_view key) {
  return std::stoul(device_argument(device, key).value_or("0"));
}

TEST(DeviceArguments, NamesAndValuesAreFound) {
  EXPECT_EQ(device_name("net_af_packet0,iface=eth0"), "net_af_packet0");
  EXPECT_EQ(device_name("0000:03:00.0"), "0000:03:00.0");
  EXPECT_EQ(device_argument("net_memif0,role=server,id=3", "id"), "3");
  EXPECT_EQ(device_argument("net_memif0,role=server,id=3", "role"), "server");
  EXPECT_EQ(device_argument("net_x,flag,a=b=c", "flag"), "");
  EXPECT_EQ(device_argument("net_x,flag,a=b=c", "a"), "b=c");
  EXPECT_EQ(device_argument("net_x,iface=eth0", "face"), std::nullopt);
  EXPECT_EQ(device_argument("net_x", "iface"), std::nullopt);
}

TEST(DeviceArguments, DriversAreKnownByTheirNames) {
  EXPECT_TRUE(driver_traits("net_af_packet0,iface=x").kernel_interface);
  EXPECT_TRUE(driver_traits("net_af_xdp3,iface=x").kernel_interface);
  EXPECT_TRUE(driver_traits("net_ring0").hands_over_buffers);
  EXPECT_TRUE(driver_traits("net_memif1").peer_may_disconnect);
  EXPECT_TRUE(driver_traits("net_tap0").software_offloads);
  EXPECT_FALSE(driver_traits("0000:03:00.0").kernel_interface);
  EXPECT_EQ(driver_traits("0000:03:00.0").prefix, "");
}

TEST(DeviceArguments, OnlyKernelInterfacesHavePartialChecksums) {
  for (const char* device : {"net_af_packet0,iface=x", "net_af_xdp0,iface=x", "net_tap0", "net_pcap0,iface=x",
                             "net_pcap1,rx_iface=x,tx_pcap=out.pcap", "net_virtio_user0,path=/dev/vhost-net"}) {
    EXPECT_TRUE(carries_partial_checksums(device)) << device;
  }
  for (const char* device : {"net_memif0,role=server", "net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap", "net_ring0",
                             "net_null0", "0000:03:00.0", "net_pcap0,rx_pcap=in.pcap,tx_iface=x"}) {
    EXPECT_FALSE(carries_partial_checksums(device)) << device;
  }
}

TEST(DeviceArguments, OnlyVirtioUserAndMemifWithoutCopiesLetAPeerMapThePacketMemory) {
  EXPECT_TRUE(peer_maps_memory("net_virtio_user0,path=/tmp/vhost.sock"));
  EXPECT_TRUE(peer_maps_memory("net_memif0,role=client,zero-copy=yes"));
  for (const char* device : {"net_memif0,role=client", "net_memif0,zero-copy=no", "net_af_packet0,iface=x", "net_ring0",
                             "0000:03:00.0", ""}) {
    EXPECT_FALSE(peer_maps_memory(device)) << device;
  }
}

TEST(DeviceArguments, AfPacketRingsSuitDriverAndKernel) {
  for (const std::uint16_t mtu : {std::uint16_t{576}, std::uint16_t{1500}, std::uint16_t{4000}, std::uint16_t{9000}}) {
    const std::string device = complete_device_arguments("net_af_packet0,iface=eth0", mtu);
    const unsigned long block = number(device, "blocksz");
    const unsigned long frame = number(device, "framesz");
    const unsigned long frames = number(device, "framecnt");
    EXPECT_EQ(device_argument(device, "qdisc_bypass"), "1");
    EXPECT_EQ(block % 4096, 0U) << "whole pages";
    EXPECT_EQ(block % frame, 0U) << "whole frames";
    EXPECT_EQ(frame % 16, 0U);
    EXPECT_EQ(frames % (block / frame), 0U) << "whole blocks";
    EXPECT_GE(frame, mtu + 22U + 32U);
    EXPECT_LE(frame, buffer_room(mtu)) << "the driver copies a frame into one buffer";
  }
}

TEST(DeviceArguments, AfXdpHoldsTheBuffersOfItsFillRing) {
  EXPECT_EQ(buffers_held("net_af_xdp0,iface=veth0", 1024), 2048U);
  EXPECT_EQ(buffers_held("net_af_xdp0,iface=veth0", 4096), 4096U);
  EXPECT_EQ(buffers_held("0000:03:00.0", 1024), 1024U);
}

TEST(DeviceArguments, ExplicitArgumentsAreKept) {
  const std::string given = "net_af_packet0,iface=x,qdisc_bypass=0,blocksz=4096,framesz=2048,framecnt=64";
  EXPECT_EQ(complete_device_arguments(given, 1500), given);
  EXPECT_EQ(complete_device_arguments("net_null0", 1500), "net_null0");
  EXPECT_EQ(complete_device_arguments("0000:03:00.0", 1500), "0000:03:00.0");
}

TEST(DeviceArguments, AfPacketGetsTheWantedQueuesUpToItsLimit) {
  const auto queues = [](const std::string& device, std::uint16_t wanted) {
    return device_argument(complete_device_arguments(device, 1500, wanted), "qpairs").value_or("");
  };
  EXPECT_EQ(queues("net_af_packet0,iface=x", 1), "");
  EXPECT_EQ(queues("net_af_packet0,iface=x", 2), "2");
  EXPECT_EQ(queues("net_af_packet0,iface=x", 64), "16");
  EXPECT_EQ(queues("net_af_packet0,iface=x,qpairs=1", 2), "1");
  EXPECT_EQ(queues("net_memif0", 2), "");
}

TEST(DeviceArguments, MemifSocketsAreFiles) {
  EXPECT_EQ(complete_device_arguments("net_memif0,role=server,socket=/run/x", 1500),
            "net_memif0,role=server,socket=/run/x,socket-abstract=no");
  EXPECT_EQ(complete_device_arguments("net_memif0,socket=x,socket-abstract=yes", 1500),
            "net_memif0,socket=x,socket-abstract=yes");
}

class StaleSocket : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "sluice-stale-" + std::to_string(getpid()); }
  void TearDown() override { unlink(path_.c_str()); }
  /// A listening socket at path_.
  [[nodiscard]] int listen_there() const {
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener, 4), 0);
    return listener;
  }
  std::string path_;
};

TEST_F(StaleSocket, ASocketWithoutAListenerIsRemoved) {
  close(listen_there());
  ASSERT_TRUE(std::filesystem::exists(path_));
  remove_stale_socket(path_);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(StaleSocket, ASocketInUseIsKept) {
  const int listener = listen_there();
  remove_stale_socket(path_);
  EXPECT_TRUE(std::filesystem::exists(path_));
  close(listener);
}

TEST_F(StaleSocket, AnOrdinaryFileIsKept) {
  std::ofstream(path_) << "precious";
  remove_stale_socket(path_);
  EXPECT_TRUE(std::filesystem::exists(path_));
  remove_stale_socket("/nowhere/at/all");
}

}  // namespace
}  // namespace sluice::dpdk
