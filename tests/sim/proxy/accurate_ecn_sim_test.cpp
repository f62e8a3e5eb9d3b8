// Accurate ECN (RFC 9768) across a handback: no host counts a mark that no queue has set.

#include <gtest/gtest.h>

#include "dataplane/packet/ecn_field.hpp"
#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

/// A queue that marks a share of the ECN-capable packets.
class Marker final : public Element {
 public:
  Marker(Random random, Element& next) : random_(random), next_(next) {}

  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (share > 0 && packet::parse(packet, parsed) == packet::ParseResult::tcp && random_.chance(share) &&
        packet::mark_congestion_experienced(packet.data() + parsed.ip_offset))
      ++marks;
    next_.receive(std::move(packet), now);
  }

  double share = 0;
  std::uint64_t marks = 0;

 private:
  Random random_;
  Element& next_;
};

/// Adds up what the ACE fields report to a host.
class AceWatch final : public Element {
 public:
  explicit AceWatch(Element& next) : next_(next) {}

  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (packet::parse(packet, parsed) == packet::ParseResult::tcp && !parsed.segment.flags.syn() &&
        !parsed.segment.flags.rst())
      count(tcp::ace_of(parsed.segment.flags), parsed.segment.payload_len == 0);
    next_.receive(std::move(packet), now);
  }
  /// The last ACK of the handshake reports a field instead of a count.
  void expect_report() { report_due_ = true; }

  std::uint64_t marks = 0;

 private:
  void count(unsigned ace, bool bare) {
    if (std::exchange(report_due_, false) && bare) return;
    marks += (8 + ace - before_) % 8;
    before_ = ace;
  }

  Element& next_;
  unsigned before_ = 5;
  bool report_due_ = false;
};

HostConfig accurate_host(tcp::CongestionAlgorithm congestion) {
  HostConfig config;
  config.accurate_ecn = true;
  config.tcp.congestion = congestion;
  return config;
}

/// A connection between queues that mark on all four wires.
class MarkedNetwork {
 public:
  MarkedNetwork(std::uint64_t seed, const proxy::ShardConfig& config, tcp::CongestionAlgorithm congestion,
                const Wires& wires)
      : network(seed, config, wires, accurate_host(congestion), accurate_host(congestion)),
        to_server(network.server),
        to_ue(network.ue),
        core_in(Random::stream(seed, "core in"), network.core_port),
        radio_in(Random::stream(seed, "radio in"), network.up_radio),
        core_out(Random::stream(seed, "core out"), to_server),
        radio_out(Random::stream(seed, "radio out"), to_ue) {
    network.precede_core(core_in);
    network.follow_ue(radio_in);
    network.precede_server(core_out);
    network.precede_ue(radio_out);
    to_server.expect_report();
  }
  void run(Duration duration) { network.loop.run_until(network.loop.now() + duration); }
  /// From now on only the wires before the proxy mark.
  void stop_marking_behind() { core_out.share = radio_out.share = 0; }
  /// Returns how many marks a host was shown beyond those that the wires before the proxy have set; of the two hosts,
  /// the larger number.
  [[nodiscard]] std::uint64_t phantoms() const {
    const auto beyond = [](std::uint64_t shown, std::uint64_t set) { return shown > set ? shown - set : 0; };
    return std::max(beyond(to_server.marks, core_in.marks), beyond(to_ue.marks, radio_in.marks));
  }

  Network network;
  AceWatch to_server, to_ue;
  Marker core_in, radio_in, core_out, radio_out;
};

double share_of_marks(Random& random) {
  constexpr std::array shares = {0.0, 0.002, 0.02, 0.2, 0.6};
  return shares.at(random.below(shares.size()));
}

/// Begins a random transfer over a network with random marks. Returns after a random time.
std::unique_ptr<MarkedNetwork> live_until_handback(std::uint64_t seed, Random& random, const Wires& wires = {}) {
  proxy::ShardConfig config = small_shard();
  const bool prague = random.chance(0.5);
  const auto algorithm = prague ? tcp::CongestionAlgorithm::prague : tcp::CongestionAlgorithm::cubic;
  config.tcp.congestion = algorithm;
  auto marked = std::make_unique<MarkedNetwork>(seed, config, algorithm, wires);
  for (Marker* const each : {&marked->core_in, &marked->radio_in, &marked->core_out, &marked->radio_out})
    each->share = share_of_marks(random);
  marked->network.transfer(20'000'000, random.chance(0.3));
  marked->run(std::chrono::milliseconds(200 + random.below(1500)));
  return marked;
}

/// Runs `live` for seeds 1 to `last`, or for the one in SLUICE_SIM_SEED, until one fails.
void for_seeds_to(std::uint64_t last, const std::function<void(std::uint64_t)>& live) {
  const char* const one = std::getenv("SLUICE_SIM_SEED");
  const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
  for (std::uint64_t seed = first; seed <= (one != nullptr ? first : last); ++seed) {
    SCOPED_TRACE(seed);
    live(seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "replay with SLUICE_SIM_SEED=" << seed;
  }
}

TEST(AccurateEcnSim, AHandbackShowsNoMarkThatNoQueueHasSet) {
  std::uint64_t handbacks = 0, waits = 0;
  for_seeds_to(1000, [&](std::uint64_t seed) {
    Random random = Random::stream(seed, "handback");
    const auto marked = live_until_handback(seed, random);
    EXPECT_EQ(marked->network.node.shard().counters()[Counter::flows_split], 1U);
    EXPECT_EQ(marked->phantoms(), 0U) << "before";
    marked->stop_marking_behind();
    proxy::Shard& shard = marked->network.node.shard();
    marked->network.node.order([&](proxy::Shard& it) { it.release(ue_address, marked->network.loop.now()); });
    marked->run(std::chrono::milliseconds(100));
    waits += shard.flow_count();
    marked->run(std::chrono::seconds(4));
    EXPECT_EQ(shard.flow_count(), 0U);
    handbacks += shard.counters()[Counter::released_command];
    EXPECT_EQ(marked->phantoms(), 0U);
    EXPECT_EQ(marked->network.log.corrupted, 0U);
  });
  if (std::getenv("SLUICE_SIM_SEED") != nullptr) return;
  EXPECT_EQ(handbacks, 1000U);
  EXPECT_GT(waits, 100U) << "counts that were not equal at once";
}

TEST(AccurateEcnSim, MarksDelayNoHandbackForLongWhateverThePathLoses) {
  for_seeds_to(200, [](std::uint64_t seed) {
    Random random = Random::stream(seed, "lossy handback");
    const Wires wires = random_wires_sound_in_the_core(random);
    const auto marked = live_until_handback(seed, random, wires);
    proxy::Shard& shard = marked->network.node.shard();
    marked->network.node.order([&](proxy::Shard& it) { it.release(ue_address, marked->network.loop.now()); });
    marked->run(std::chrono::seconds(60));
    // Out-of-order data alone may keep a connection split for longer.
    EXPECT_EQ(shard.staying().by_blocker[static_cast<std::size_t>(proxy::HandbackBlocker::marks)], 0U);
    EXPECT_EQ(marked->network.log.corrupted, 0U);
    expect_accounted(shard.counters());
  });
}

TEST(AccurateEcnSim, AKilledProxyShowsEachHostSevenMarksAtMost) {
  for_seeds_to(200, [&](std::uint64_t seed) {
    Random random = Random::stream(seed, "kill");
    const auto marked = live_until_handback(seed, random);
    marked->stop_marking_behind();
    marked->run(std::chrono::milliseconds(300));
    marked->network.node.stop();
    marked->network.node.start();
    marked->run(std::chrono::seconds(4));
    EXPECT_LE(marked->phantoms(), 7U);
  });
}

}  // namespace
}  // namespace sluice::test
