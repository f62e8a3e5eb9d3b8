// Frames that an interface never accepts: on a ring in memory, and on a veth whose peer has a smaller MTU. The tests on
// a veth need root and the right to make interfaces; they are skipped by name otherwise.
#include "dataplane/dpdk/transmit_ring.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "dataplane/dpdk/port.hpp"
#include "dataplane/dpdk/veth_peer.hpp"
#include "tests/unit/dpdk/frames.hpp"
#include "tests/unit/dpdk/veth_pair.hpp"

namespace sluice::dpdk {
namespace {

using namespace test;
using std::chrono::milliseconds;

constexpr Instant start{std::chrono::seconds(100)};

/// A transmit ring of eight slots without a kernel.
class Ring : public testing::Test {
 protected:
  static constexpr std::size_t slot_size = 128, slots = 8;

  [[nodiscard]] tpacket2_hdr& slot(std::size_t number) {
    return *reinterpret_cast<tpacket2_hdr*>(memory_.data() + number * slot_size);
  }
  void wait_in(std::size_t number, std::uint32_t length) {
    slot(number).tp_len = slot(number).tp_snaplen = length;
    slot(number).tp_status = TP_STATUS_SEND_REQUEST;
  }
  void kernel_sends(std::size_t number) { slot(number).tp_status = TP_STATUS_AVAILABLE; }
  /// Does what the kernel does with a frame that is too short for an Ethernet header. Returns true if it was one.
  [[nodiscard]] bool kernel_discards(std::size_t number) {
    if (slot(number).tp_len >= 14) return false;
    kernel_sends(number);
    return true;
  }

  alignas(16) std::array<std::byte, slot_size * slots> memory_{};
  TransmitRing ring_{memory_.data(), slot_size, slots};
};

TEST_F(Ring, AFrameThatIsAcceptedWithinThePatienceIsNotDropped) {
  wait_in(0, 1500);
  EXPECT_FALSE(ring_.drop_refused(start));
  EXPECT_FALSE(ring_.drop_refused(start + TransmitRing::patience - milliseconds(1)));
  kernel_sends(0);
  wait_in(1, 1500);
  EXPECT_FALSE(ring_.drop_refused(start + TransmitRing::patience)) << "the first refusal of another frame";
  EXPECT_EQ(ring_.dropped(), 0U);
}

TEST_F(Ring, AFrameThatIsRefusedForLongerIsDroppedAndNoOther) {
  wait_in(0, 1500);
  wait_in(1, 100);
  EXPECT_FALSE(ring_.drop_refused(start));
  EXPECT_TRUE(ring_.drop_refused(start + TransmitRing::patience));
  EXPECT_TRUE(kernel_discards(0));
  EXPECT_FALSE(kernel_discards(1));
  EXPECT_EQ(ring_.dropped(), 1U);
}

TEST_F(Ring, FramesAsLongAsOneThatWasDroppedAreDroppedAtOnceForAWhile) {
  wait_in(0, 1300);
  EXPECT_FALSE(ring_.drop_refused(start));
  const Instant dropped = start + TransmitRing::patience;
  ASSERT_TRUE(ring_.drop_refused(dropped));
  ASSERT_TRUE(kernel_discards(0));
  wait_in(1, 1299);
  EXPECT_FALSE(ring_.drop_refused(dropped)) << "shorter";
  kernel_sends(1);
  wait_in(2, 1300);
  EXPECT_TRUE(ring_.drop_refused(dropped + TransmitRing::memory));
  ASSERT_TRUE(kernel_discards(2));
  wait_in(3, 1500);
  EXPECT_FALSE(ring_.drop_refused(dropped + 3 * TransmitRing::memory)) << "the peer's MTU may have changed";
}

TEST_F(Ring, AQueueThatIsFullAtTimesDoesNotRenewTheMemory) {
  wait_in(0, 66);
  EXPECT_FALSE(ring_.drop_refused(start));
  const Instant dropped = start + TransmitRing::patience;
  ASSERT_TRUE(ring_.drop_refused(dropped));
  ASSERT_TRUE(kernel_discards(0));
  wait_in(1, 1500);
  EXPECT_TRUE(ring_.drop_refused(dropped + TransmitRing::memory));
  ASSERT_TRUE(kernel_discards(1));
  wait_in(2, 1500);
  EXPECT_FALSE(ring_.drop_refused(dropped + TransmitRing::memory + milliseconds(1)));
}

TEST_F(Ring, TheRefusedFrameIsKnownWhenAllSlotsWait) {
  for (std::size_t i = 0; i < slots; ++i) kernel_sends(i);
  wait_in(5, 1500);
  EXPECT_FALSE(ring_.drop_refused(start));
  for (std::size_t i = 6; i < slots + 5; ++i) wait_in(i % slots, 100);
  EXPECT_TRUE(ring_.drop_refused(start + TransmitRing::patience));
  EXPECT_TRUE(kernel_discards(5));
}

TEST_F(Ring, NoFrameIsDroppedIfTheNextOneIsUnknown) {
  EXPECT_FALSE(ring_.drop_refused(start)) << "no frame waits";
  for (std::size_t i = 0; i < slots; ++i) wait_in(i, 100);
  EXPECT_FALSE(ring_.drop_refused(start));
  EXPECT_FALSE(ring_.drop_refused(start + std::chrono::seconds(1)));
  EXPECT_EQ(ring_.dropped(), 0U);
}

TEST_F(Ring, ANewFrameInTheSlotOfARefusedOneHasItsOwnPatience) {
  wait_in(0, 1500);
  EXPECT_FALSE(ring_.drop_refused(start));
  kernel_sends(0);
  for (std::size_t i = 1; i < slots; ++i) wait_in(i, 100), kernel_sends(i);
  wait_in(0, 1500);
  EXPECT_FALSE(ring_.drop_refused(start + TransmitRing::patience));
  EXPECT_TRUE(ring_.drop_refused(start + 2 * TransmitRing::patience));
}

/// Receives on `port` for a moment and returns the texts that arrived.
std::vector<std::string> texts(Port& port, std::size_t count) {
  std::vector<std::string> got;
  std::array<packet::Packet, 32> burst;
  for (int tries = 0; tries < 500 && got.size() < count; ++tries) {
    const std::size_t received = port.receive(0, burst);
    for (std::size_t i = 0; i < received; ++i) {
      if (!text_of(burst[i]).empty()) got.emplace_back(text_of(burst[i]));
      burst[i] = packet::Packet();
    }
    if (received == 0) usleep(1000);
  }
  return got;
}

TEST_F(Interfaces, FramesBeyondThePeersMtuDoNotStopTheFramesBehindThem) {
  if (IsSkipped()) return;
  ASSERT_TRUE(shell("ip link set dev " + b_ + " mtu 1280"));
  Port sender(on("net_af_packet0", a_), sluice::test::pool());
  PortConfig config = on("net_af_packet1", b_);
  config.mtu = 1280;
  Port receiver(config, sluice::test::pool());
  const auto send = [&](const std::string& text) {
    packet::Packet frame = datagram(ue(1), server(), text);
    sender.transmit(0, {&frame, 1});
  };
  send("before");
  send(std::string(1400, 'l'));
  send("behind");
  usleep(10000);
  // A second time with several in one burst, when the length is known already.
  std::vector<packet::Packet> burst;
  for (int i = 0; i < 20; ++i) {
    burst.push_back(datagram(ue(1), server(), std::string(1400, 'l')));
    burst.push_back(datagram(ue(1), server(), "between"));
  }
  sender.transmit(0, burst);
  send("after");
  const std::vector<std::string> got = texts(receiver, 23);
  ASSERT_EQ(got.size(), 23U);
  EXPECT_EQ(got.front(), "before");
  EXPECT_EQ(got.at(1), "behind");
  EXPECT_EQ(got.back(), "after");
  EXPECT_EQ(sender.counters().transmit_dropped, 21U);
}

TEST_F(Interfaces, TheLimitFollowsThePeerOfAVeth) {
  if (IsSkipped()) return;
  const Port port(on("net_af_packet0", a_), sluice::test::pool());
  EXPECT_EQ(port.limit().mtu, 1500);
  ASSERT_TRUE(shell("ip link set dev " + b_ + " mtu 1280"));
  EXPECT_EQ(port.limit().mtu, 1280);
  ASSERT_TRUE(shell("ip link set dev " + b_ + " mtu 9000"));
  EXPECT_EQ(port.limit().mtu, 1500) << "never above the port's own";
  EXPECT_EQ(port.warning(), "");
}

TEST_F(Interfaces, APeerWithASmallerMtuIsAWarning) {
  if (IsSkipped()) return;
  ASSERT_TRUE(shell("ip link set dev " + b_ + " mtu 1280"));
  const Port port(on("net_af_packet0", a_), sluice::test::pool());
  EXPECT_THAT(port.warning(), testing::HasSubstr("the other end of " + a_ + " has an MTU of 1280"));
}

TEST_F(Interfaces, ThePeerMayBeInAnotherNetworkNamespace) {
  if (IsSkipped()) return;
  const std::string other = "sln" + std::to_string(getpid());
  if (!shell("ip netns add " + other)) GTEST_SKIP() << "no network namespaces here";
  EXPECT_TRUE(shell("ip link set dev " + b_ + " netns " + other));
  EXPECT_TRUE(shell("ip -n " + other + " link set dev " + b_ + " mtu 1300 up"));
  EXPECT_EQ(veth_peer_mtu(a_), 1300);
  shell("ip netns del " + other);
}

TEST(VethPeer, AnInterfaceThatIsNoVethHasNone) {
  EXPECT_EQ(veth_peer_mtu("lo"), std::nullopt);
  EXPECT_EQ(veth_peer_mtu("absent"), std::nullopt);
}

}  // namespace
}  // namespace sluice::dpdk
