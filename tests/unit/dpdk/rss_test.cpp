// Tests of the distribution of packets to shards by the UE's address, within one thread and across threads.
#include "dataplane/dpdk/rss.hpp"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "dataplane/dpdk/clock.hpp"
#include "tests/unit/dpdk/frames.hpp"
#include "tests/unit/dpdk/ring_pair.hpp"

namespace sluice::dpdk {
namespace {

using namespace test;

/// Two ports with the outside world at the other end of each.
struct TwoPorts {
  explicit TwoPorts(const std::string& name) : radio_rings(name + "r"), core_rings(name + "c") {
    const auto open = [](const std::string& device, Facing facing) {
      PortConfig config;
      config.device = device;
      config.facing = facing;
      config.queues = 4;
      return std::make_unique<Port>(config, sluice::test::pool());
    };
    radio = open(radio_rings.a(), Facing::radio);
    core = open(core_rings.a(), Facing::core);
    ues = open(radio_rings.b(), Facing::radio);
    servers = open(core_rings.b(), Facing::core);
  }
  std::array<Port*, 2> ports() const { return {radio.get(), core.get()}; }

  RingPair radio_rings, core_rings;
  std::unique_ptr<Port> radio, core, ues, servers;
};

void send(Port& port, packet::Packet packet) {
  port.transmit(0, {&packet, 1});
}

/// Returns the packets that a shard receives on one side in this round.
std::vector<packet::Packet> poll(ShardPorts& shard, Facing side) {
  std::array<packet::Packet, 32> burst;
  std::vector<packet::Packet> got;
  const std::size_t count = shard.receive(side, burst);
  for (std::size_t i = 0; i < count; ++i) got.push_back(std::move(burst[i]));
  return got;
}

TEST(RssSteering, OneShardSeesEverything) {
  TwoPorts net("one");
  RssSteering steering(net.ports(), 1);
  send(*net.ues, datagram(ue(1), server(), "up"));
  send(*net.servers, datagram(server(), ue(1), "down"));
  const auto up = poll(steering.shard(0), Facing::radio);
  const auto down = poll(steering.shard(0), Facing::core);
  ASSERT_EQ(up.size(), 1U);
  ASSERT_EQ(down.size(), 1U);
  EXPECT_EQ(text_of(up[0]), "up");
  EXPECT_EQ(text_of(down[0]), "down");
}

TEST(RssSteering, EveryPacketReachesTheOwnerOfItsUe) {
  TwoPorts net("own");
  constexpr unsigned shards = 3;
  RssSteering steering(net.ports(), shards);
  std::set<unsigned> owners;
  for (unsigned number = 0; number < 60; ++number) {
    send(*net.ues, datagram(ue(number), server(), std::to_string(number)));
    send(*net.servers, datagram(server(), ue(number), std::to_string(number)));
    owners.insert(steering.owner(ue(number)));
  }
  EXPECT_EQ(owners.size(), shards) << "sixty UEs are spread";
  std::map<std::string, int> seen;
  for (int round = 0; round < 10; ++round) {
    for (unsigned shard = 0; shard < shards; ++shard) {
      for (const Facing side : {Facing::radio, Facing::core}) {
        for (const packet::Packet& packet : poll(steering.shard(shard), side)) {
          const std::string text(text_of(packet));
          ++seen[text];
          EXPECT_EQ(steering.owner(ue(static_cast<unsigned>(std::stoul(text)))), shard);
        }
      }
    }
  }
  ASSERT_EQ(seen.size(), 60U);
  for (const auto& [text, times] : seen) EXPECT_EQ(times, 2) << text;
}

TEST(RssSteering, PacketsWithoutAUeAreReceivedOnce) {
  TwoPorts net("arp");
  RssSteering steering(net.ports(), 2);
  packet::Packet arp = sluice::test::pool().allocate();
  std::fill_n(arp.append(60), 60, std::uint8_t{0});
  packet::store_be16(arp.data() + 12, 0x0806);
  send(*net.ues, std::move(arp));
  std::size_t seen = 0;
  for (int round = 0; round < 3; ++round) {
    for (unsigned shard = 0; shard < 2; ++shard) seen += poll(steering.shard(shard), Facing::radio).size();
  }
  EXPECT_EQ(seen, 1U);
}

TEST(RssSteering, EveryShardCanSendBothWays) {
  TwoPorts net("send");
  constexpr unsigned shards = 3;
  RssSteering steering(net.ports(), shards);
  for (unsigned shard = 0; shard < shards; ++shard) {
    std::array<packet::Packet, 2> up = {datagram(ue(shard), server(), "a"), datagram(ue(shard), server(), "b")};
    std::array<packet::Packet, 1> down = {datagram(server(), ue(shard), "c")};
    steering.shard(shard).transmit(Facing::core, up);
    steering.shard(shard).transmit(Facing::radio, down);
    EXPECT_FALSE(up[0]);
  }
  for (unsigned shard = 0; shard < shards; ++shard) {
    for (const Facing side : {Facing::radio, Facing::core}) EXPECT_TRUE(poll(steering.shard(shard), side).empty());
  }
  std::array<packet::Packet, 32> burst;
  EXPECT_EQ(net.servers->receive(0, burst), 6U);
  EXPECT_EQ(net.ues->receive(0, burst), 3U);
}

TEST(RssSteering, OrderWithinAUeIsKept) {
  TwoPorts net("fifo");
  RssSteering steering(net.ports(), 2);
  for (int i = 0; i < 50; ++i) send(*net.ues, datagram(ue(9), server(), std::to_string(i)));
  const unsigned owner = steering.owner(ue(9));
  int expected = 0;
  for (int round = 0; round < 6; ++round) {
    for (unsigned shard = 0; shard < 2; ++shard) {
      for (const packet::Packet& packet : poll(steering.shard(shard), Facing::radio)) {
        EXPECT_EQ(shard, owner);
        EXPECT_EQ(text_of(packet), std::to_string(expected++));
      }
    }
  }
  EXPECT_EQ(expected, 50);
}

TEST(RssSteering, AShardThatFallsBehindLosesItsOwnPacketsOnly) {
  TwoPorts net("slow");
  RssSteering steering(net.ports(), 2, 16);
  // Shard 0 polls the radio port; shard 1 does not come to take what is its own.
  unsigned theirs = 0;
  while (steering.owner(ue(theirs)) != 1) ++theirs;
  unsigned ours = 0;
  while (steering.owner(ue(ours)) != 0) ++ours;
  for (int i = 0; i < 40; ++i) send(*net.ues, datagram(ue(theirs), server(), "late"));
  send(*net.ues, datagram(ue(ours), server(), "on time"));
  std::size_t got = 0;
  for (int round = 0; round < 4; ++round) got += poll(steering.shard(0), Facing::radio).size();
  EXPECT_EQ(got, 1U);
  EXPECT_EQ(steering.shard(0).handed_over(), 40U);
  EXPECT_EQ(steering.shard(0).dropped(), 25U);
}

TEST(RssSteering, ShardsInTheirOwnThreadsLoseNothing) {
  TwoPorts net("thr");
  RssSteering steering(net.ports(), 2);
  constexpr unsigned total = 20000;
  std::atomic<unsigned> arrived{0};
  std::atomic<bool> stop{false};
  const auto run = [&](unsigned index) {
    ShardPorts& shard = steering.shard(index);
    std::array<packet::Packet, 32> burst;
    while (!stop) {
      for (const Facing side : {Facing::radio, Facing::core}) {
        const std::size_t count = shard.receive(side, burst);
        shard.transmit(side == Facing::radio ? Facing::core : Facing::radio, std::span(burst).first(count));
      }
    }
  };
  std::thread first(run, 0);
  std::thread second(run, 1);
  std::array<packet::Packet, 32> burst;
  for (unsigned sent = 0; sent < total || arrived < total;) {
    if (sent < total && sent - arrived < 500) send(*net.ues, datagram(ue(sent % 50), server(), "x")), ++sent;
    const std::size_t count = net.servers->receive(0, burst);
    for (std::size_t i = 0; i < count; ++i) burst[i].reset();
    arrived += static_cast<unsigned>(count);
  }
  stop = true;
  first.join();
  second.join();
  EXPECT_EQ(arrived, total);
  EXPECT_EQ(steering.shard(0).dropped() + steering.shard(1).dropped(), 0U);
}

TEST(RssSteering, ASleepingShardIsWokenForItsPackets) {
  TwoPorts net("wake");
  // Each port has one queue: shard 0 polls the radio port, shard 1 the core port, shard 2 lives on what it is handed.
  RssSteering steering(net.ports(), 3);
  PollPolicy policy(PollMode::adaptive);
  steering.shard(2).watch_with(policy);
  unsigned theirs = 0;
  while (steering.owner(ue(theirs)) != 2) ++theirs;
  std::atomic<bool> stop{false};
  std::atomic<unsigned> arrived{0};
  std::thread sleeper([&] {
    while (!stop) {
      const std::size_t count = poll(steering.shard(2), Facing::radio).size();
      arrived += static_cast<unsigned>(count);
      policy.rest(count > 0, now(), never);
    }
  });
  constexpr unsigned packets = 100;
  Duration waited{};
  for (unsigned i = 1; i <= packets; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const Instant before = now();
    send(*net.ues, datagram(ue(theirs), server(), "wake up"));
    EXPECT_TRUE(poll(steering.shard(0), Facing::radio).empty());
    EXPECT_TRUE(steering.shard(0).exchanged_packets());
    EXPECT_FALSE(steering.shard(0).exchanged_packets());
    while (arrived < i) std::this_thread::yield();
    waited += now() - before;
  }
  stop = true;
  policy.wake();
  sleeper.join();
  EXPECT_GT(policy.sleeps(), packets / 2);
  EXPECT_LT(waited / packets, std::chrono::milliseconds(3)) << "not left to the end of its sleep of 10 ms";
}

TEST(RssSteering, ImpossibleNumbersOfShardsAreRefused) {
  TwoPorts net("bad");
  EXPECT_THROW(RssSteering(net.ports(), 0), std::invalid_argument);
  EXPECT_THROW(RssSteering(net.ports(), 129), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::dpdk
