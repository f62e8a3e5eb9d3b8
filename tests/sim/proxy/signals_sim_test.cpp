// Urgent data, narrow paths and connections that come and go, over wires on which everything goes wrong that can. Every
// byte that arrives is checked against what was sent.

#include <gtest/gtest.h>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/checksum.hpp"
#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

/// Where urgent data ends in the server's stream.
constexpr std::uint32_t urgent_end = 150'001;

/// Makes the server's segments as a kernel would send them whose program has written one urgent byte.
class UrgentWriter final : public Element {
 public:
  explicit UrgentWriter(Element& next) : next_(next) {}
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (packet::parse(packet, parsed) == packet::ParseResult::tcp) {
      if (parsed.segment.flags.syn()) {
        first_ = parsed.segment.seq + 1;
      } else {
        announce(packet, parsed);
      }
    }
    next_.receive(std::move(packet), now);
  }
  [[nodiscard]] tcp::SeqNum end() const { return first_ + urgent_end; }

 private:
  void announce(packet::Packet& packet, const packet::Parsed& parsed) const {
    const std::int32_t distance = end() - parsed.segment.seq;
    if (parsed.segment.seq < first_ || distance <= 0 || distance > 60'000) return;
    std::uint8_t* const tcp = packet.data() + parsed.l4_offset;
    for (const std::size_t at : {std::size_t{12}, std::size_t{18}}) {
      const std::uint16_t before = packet::load16(tcp + at);
      if (at == 12) tcp[13] |= tcp::Flags::urg_bit;
      if (at == 18) packet::store_be16(tcp + at, static_cast<std::uint16_t>(distance));
      packet::store16(tcp + 16, packet::update_checksum(packet::load16(tcp + 16), before, packet::load16(tcp + at)));
    }
  }
  Element& next_;
  tcp::SeqNum first_;
};

/// Looks at what the UE gets.
class UrgentReader final : public Element {
 public:
  UrgentReader(Element& next, const UrgentWriter& writer) : next_(next), writer_(writer) {}
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    const bool tcp = packet::parse(packet, parsed) == packet::ParseResult::tcp &&
                     packet::verify_tcp_checksum(packet, parsed) == packet::ChecksumState::good;
    const tcp::Segment& segment = parsed.segment;
    if (tcp && segment.flags.urg()) {
      // Farther than 16 bits reach it is approached.
      const bool far = segment.urgent == 65535 && segment.seq + segment.urgent < writer_.end();
      EXPECT_TRUE(far || segment.seq + segment.urgent == writer_.end());
      exact_ += far ? 0 : 1;
    } else if (tcp && segment.payload_len != 0 && segment.seq < writer_.end() &&
               segment.seq + segment.payload_len >= writer_.end()) {
      ADD_FAILURE() << "the urgent byte came without a word";
    }
    next_.receive(std::move(packet), now);
  }
  [[nodiscard]] int exact() const { return exact_; }

 private:
  Element& next_;
  const UrgentWriter& writer_;
  int exact_ = 0;
};

TEST(UrgentSim, ThePointerArrivesOverImpairedLinks) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random = Random::stream(seed, "urgent");
    Wires wires = random_wires(random);
    // What is changed behind the damage would hide it.
    wires.core_down.corrupt = wires.radio_down.corrupt = 0;
    Network network(seed, small_shard(), wires, random_host(random), random_host(random));
    UrgentWriter writer(network.core_port);
    UrgentReader reader(network.ue, writer);
    network.precede_core(writer);
    network.precede_ue(reader);
    network.transfer(300'000, false);
    network.loop.run_until(Instant(std::chrono::milliseconds(500 + random.below(1500))));
    if (random.chance(0.5)) network.node.order([&](proxy::Shard& shard) { shard.release({}, network.loop.now()); });
    expect_complete(network, std::chrono::seconds(600));
    EXPECT_GT(reader.exact(), 0);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

/// A router in front of the UE whose next link carries no more than `mtu` bytes of IP packet.
class NarrowRouter final : public Element {
 public:
  NarrowRouter(Element& next, Element& back, std::size_t most) : mtu(most), next_(next), back_(back) {}
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    static_cast<void>(packet::parse(packet, parsed));
    if (parsed.ip_length <= mtu) {
      largest = std::max<std::size_t>(largest, parsed.ip_length);
      next_.receive(std::move(packet), now);
      return;
    }
    ++refused;
    if (silent) return;
    packet::Packet error = pool().allocate();
    std::copy_n(packet.data() + parsed.ip_offset, 28, error.append(28));
    const std::span<const std::uint8_t, 6> to(packet.data() + 6, 6), from(packet.data(), 6);
    packet::write_icmp_headers(error, packet::make_template(from, to, 4),
                               {IpAddress::v4(192, 0, 2, 9), parsed.src, 0, 0}, {3, 4, static_cast<std::uint32_t>(mtu)},
                               1);
    back_.receive(std::move(error), now);
  }
  std::size_t mtu;
  std::size_t largest = 0;
  int refused = 0;
  bool silent = false;

 private:
  Element& next_;
  Element& back_;
};

TEST(NarrowPathSim, AnIcmpErrorReducesTheMtuForTenMinutes) {
  Wires wires;
  wires.radio_delay = std::chrono::milliseconds(200);
  HostConfig ue;
  ue.receive_buffer = Bytes(40'000);  // so that it lasts
  Network network(3, small_shard(), wires, ue);
  NarrowRouter router(network.ue, network.radio_port, 1100);
  network.precede_ue(router);
  // A program that sends for longer than ten minutes: the server's line is slowed down by loss, the size is found
  // often.
  network.transfer(1'500'000'000, false);
  network.loop.run_until(Instant(std::chrono::seconds(20)));
  const proxy::Counters& counters = network.node.shard().counters();
  EXPECT_EQ(counters[Counter::paths_smaller_radio], 1U);
  EXPECT_EQ(counters[Counter::timeouts_radio], 0U);
  EXPECT_EQ(router.largest, 1100U);
  const int refused = router.refused;
  network.loop.run_until(Instant(std::chrono::seconds(600)));
  EXPECT_EQ(router.refused, refused) << "nothing larger was tried";
  router.mtu = 1500;
  network.loop.run_until(Instant(std::chrono::seconds(900)));
  EXPECT_EQ(router.largest, 1500U);
  EXPECT_EQ(counters[Counter::timeouts_radio], 0U);
}

/// Random connections that are released and split again at random.
void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "taking up");
  const proxy::ShardConfig config = random_shard(random);
  const Wires wires = random_wires_sound_in_the_core(random);
  Network network(seed, config, wires, random_host(random), random_host(random));
  transfer_at_random(network, random, 600'000);
  for (int i = 0; i < 12; ++i) {
    network.loop.run_until(network.loop.now() + std::chrono::milliseconds(random.below(700)));
    const double what = random.uniform(0, 1);
    network.node.order([&](proxy::Shard& shard) {
      if (what < 0.3) shard.release({}, network.loop.now());
      if (what >= 0.3 && what < 0.4) shard.drain(true);
      if (what >= 0.4 && what < 0.6) shard.drain(false);
      if (what >= 0.6) shard.split_again({});
    });
  }
  network.node.order([](proxy::Shard& shard) { shard.drain(false); });
  expect_end(network);
}

TEST(SplitAgainSim, RandomConnectionsSurviveReleaseAndSplit) {
  for_each_seed(live);
}

}  // namespace
}  // namespace sluice::test
