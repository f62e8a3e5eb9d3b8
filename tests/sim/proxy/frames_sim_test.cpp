// Whatever MSS hosts announce, the shard sends no frame that its ports do not carry, and every byte arrives. All that
// is drawn comes from the seed, which a failure prints.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/packet/headers.hpp"
#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t type_at = 12;

/// What a host sends gets VLAN tags, and its SYN another MSS than its MTU suggests.
class Disguise final : public Element {
 public:
  explicit Disguise(Element& next) : next_(next) {}

  std::optional<std::uint16_t> mss;
  std::vector<std::uint16_t> tags;  ///< TPIDs, outer first

  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (packet::parse(packet, parsed) == packet::ParseResult::tcp && parsed.segment.flags.syn() && mss)
      announce(packet, parsed);
    if (parsed.ip_offset == packet::ethernet_length) {
      for (auto tpid = tags.rbegin(); tpid != tags.rend(); ++tpid) tag(packet, *tpid);
    }
    next_.receive(std::move(packet), now);
  }

 private:
  void announce(packet::Packet& packet, const packet::Parsed& parsed) const {
    std::uint8_t* const tcp = packet.data() + parsed.l4_offset;
    std::uint8_t* const value = tcp + packet::tcp_length + 2;
    ASSERT_EQ(packet::load_be16(tcp + packet::tcp_length), 0x0204U) << "the MSS is the first option";
    const std::uint32_t before = packet::load_be16(value);
    packet::store_be16(value, *mss);
    // RFC 1624, equation 3.
    std::uint32_t sum = (~packet::load_be16(tcp + 16) & 0xffffU) + (~before & 0xffffU) + *mss;
    while (sum > 0xffffU) sum = (sum >> 16U) + (sum & 0xffffU);
    packet::store_be16(tcp + 16, static_cast<std::uint16_t>(~sum));
  }
  static void tag(packet::Packet& packet, std::uint16_t tpid) {
    std::uint8_t* const front = packet.prepend(packet::vlan_tag_length);
    std::copy_n(front + packet::vlan_tag_length, type_at, front);
    packet::store_be16(front + type_at, tpid);
    packet::store_be16(front + type_at + 2, 7);
  }

  Element& next_;
};

/// The wire behind a port: each frame is looked at.
class PortCheck final : public Element {
 public:
  PortCheck(Element& next, const packet::LinkLimit& limit) : next_(next), limit_(limit) {}

  void receive(packet::Packet packet, Instant now) override {
    const auto type = [&](std::size_t tag) { return packet::load_be16(packet.data() + type_at + 4 * tag); };
    const auto is_tag = [](std::uint16_t value) { return value == 0x8100 || value == 0x88a8 || value == 0x9100; };
    std::size_t free = 0;
    if (limit_.tags_count) {
      free = type(0) == 0x8100 ? 4 : 0;
    } else if (is_tag(type(0))) {
      free = is_tag(type(1)) ? 8 : 4;
    }
    EXPECT_LE(packet.size(), packet::ethernet_length + limit_.mtu + free) << "the port does not carry this frame";
    next_.receive(std::move(packet), now);
  }

 private:
  Element& next_;
  const packet::LinkLimit& limit_;
};

std::uint16_t random_mtu(Random& random) {
  constexpr std::array<std::uint16_t, 5> usual = {1500, 1492, 1400, 1280, 576};
  if (random.chance(0.5)) return usual.at(random.below(usual.size()));
  return static_cast<std::uint16_t>(200 + random.below(1700));
}

std::optional<std::uint16_t> random_mss(Random& random) {
  constexpr std::array<std::uint16_t, 6> odd = {0, 1, 64, 1460, 8960, 65535};
  if (random.chance(0.2)) return std::nullopt;
  if (random.chance(0.6)) return odd.at(random.below(odd.size()));
  return static_cast<std::uint16_t>(random.below(65536));
}

std::vector<std::uint16_t> random_tags(Random& random) {
  constexpr std::array<std::uint16_t, 3> types = {0x8100, 0x88a8, 0x9100};
  std::vector<std::uint16_t> tags;
  if (random.chance(0.5)) tags.push_back(types.at(random.below(types.size())));
  if (!tags.empty() && random.chance(0.5)) tags.push_back(0x8100);
  return tags;
}

/// A clean path or one on which everything goes wrong but damage, which would keep some handshake from being split.
Wires random_paths(Random& random) {
  Wires wires = random.chance(0.3) ? Wires{} : random_wires(random);
  for (ImpairmentConfig* config : {&wires.radio_down, &wires.radio_up, &wires.core_down, &wires.core_up})
    config->corrupt = 0;
  return wires;
}

void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "frames");
  proxy::ShardConfig config = random_shard(random);
  config.cut_through = random.chance(0.8);
  for (packet::LinkLimit& port : config.ports) port = {random_mtu(random), random.chance(0.5)};
  std::array<HostConfig, 2> hosts = {random_host(random), random_host(random)};
  const bool ipv6 = random.chance(0.5);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    // What comes in was carried by the wire.
    hosts.at(i).mtu = static_cast<std::uint16_t>(config.ports.at(i).mtu - 2 * packet::vlan_tag_length);
    if (ipv6) hosts.at(i).address = *IpAddress::parse(i == 0 ? "2001:db8:1::2" : "2001:db8:2::7");
  }
  std::array<packet::LinkLimit, 2> limits = config.ports;
  Network network(seed, config, random_paths(random), hosts[0], hosts[1]);
  Disguise ue(network.up_radio), server(network.down_core);
  PortCheck radio(network.down_radio, limits[0]), core(network.up_core, limits[1]);
  network.follow_ue(ue);
  network.follow_server(server);
  network.node.connect(radio, core);
  ue.mss = random_mss(random);
  server.mss = random_mss(random);
  ue.tags = random_tags(random);
  transfer_at_random(network, random, 150'000);
  for (std::uint64_t changes = random.below(4); changes > 0; --changes) {
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(random.below(1500)));
    const std::size_t side = random.below(2);
    limits.at(side).mtu = std::max(random_mtu(random), std::uint16_t{300});
    network.node.order(
        [&](proxy::Shard& shard) { shard.set_port(static_cast<Side>(side), limits.at(side), network.loop.now()); });
  }
  const bool complete = network.run(std::chrono::hours(1));
  const proxy::Counters& counters = network.node.shard().counters();
  // A handshake that was reordered is not split, and its hosts send what no port in the middle carries.
  const bool all_split = counters[Counter::flows_split] == network.clients.size();
  EXPECT_TRUE(complete || (!all_split && counters[Counter::drop_too_long] != 0)) << "stuck";
  EXPECT_EQ(network.log.corrupted + network.server_counters.corrupted, 0U);
  EXPECT_EQ(counters[Counter::segments_too_long], 0U) << "the endpoints themselves know what fits";
  expect_accounted(counters);
}

TEST(FramesSim, FramesFitThePortForAnyAnnouncedMss) {
  for_each_seed(live);
}

/// The UE's route has `advmss 1460` over IPv6, which exceeds the 1500 bytes of its link.
TEST(FramesSim, ADownloadOverIpv6WithAnMssOfIpv4IsComplete) {
  proxy::ShardConfig config = small_shard();
  config.ports.fill({1500, false});
  HostConfig ue, server;
  ue.address = *IpAddress::parse("2001:db8:1::2");
  server.address = *IpAddress::parse("2001:db8:2::7");
  Network network(1, config, {}, ue, server);
  Disguise disguise(network.up_radio);
  PortCheck radio(network.down_radio, config.ports[0]);
  disguise.mss = std::uint16_t{1460};
  network.follow_ue(disguise);
  network.node.connect(radio, network.up_core);
  network.transfer(300'000, false);
  expect_complete(network, std::chrono::seconds(20));
  EXPECT_EQ(network.node.shard().counters()[Counter::retransmitted_radio], 0U);
}

}  // namespace
}  // namespace sluice::test
