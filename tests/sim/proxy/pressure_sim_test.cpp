// Tests of random events that use up packet memory, against a shard with little of it. Uninvolved connections
// continue, forwarded traffic passes, and memory is freed. In the end every connection is complete or its hosts know
// that it is not.

#include "tests/sim/proxy/network.hpp"
#include "tests/sim/proxy/pressure.hpp"

namespace sluice::test::pressure {
namespace {

/// What the connections of a UE do to the proxy's memory while it lasts.
enum class Trouble : std::uint8_t {
  outage,         ///< the radio is away
  stops_reading,  ///< the window closes
  tiny_segments,  ///< an MSS of 88 and no reader
  dribbles,       ///< segments of one byte, and the radio is away
  holes,          ///< a segment that does not come however often it is sent
  window_of_one,  ///< one byte at a time is taken
  resets,         ///< connections break off
  count
};

/// When the troubles begin, and the latest they end.
constexpr Instant begin{seconds(1)};
constexpr Duration longest = seconds(15);

UeConfig troubled_ue(Trouble trouble, Period when, Random& random) {
  UeConfig ue;
  ue.host.receive_buffer = Bytes(random.chance(0.5) ? 16'384 + random.below(50'000) : 1'000'000);
  ue.host.sack = random.chance(0.9);
  ue.host.timestamps = random.chance(0.7);
  if (trouble == Trouble::outage || trouble == Trouble::dribbles) {
    ue.outage = when;
    ue.kept = random.chance(0.5) ? random.below(60) : 0;
  }
  if (trouble == Trouble::tiny_segments) ue.host.mtu = 128;
  if (trouble == Trouble::holes) ue.holes = when;
  if (trouble == Trouble::window_of_one) {
    ue.window_of_one = when;
    ue.host.window_scale = random.chance(0.7) ? 0 : 4;
    ue.host.receive_buffer = Bytes(60'000);
  }
  return ue;
}

ClientConfig troubled_client(Trouble trouble, Period when, Random& random) {
  ClientConfig client;
  client.size = 20'000 + random.below(400'000);
  client.upload = random.chance(0.3);
  // The hosts' own buffers, one for each segment they have written, are not to run out.
  if (trouble == Trouble::tiny_segments) client.size = 20'000 + random.below(10'000);
  client.start = Instant(milliseconds(random.below(2000)));
  client.asks_from = when.until + seconds(60);
  if (trouble == Trouble::stops_reading || trouble == Trouble::tiny_segments) client.does_not_read = when;
  if (trouble == Trouble::resets) client.abort_at = begin + milliseconds(random.below(5000));
  if (trouble == Trouble::dribbles || (trouble != Trouble::tiny_segments && random.chance(0.15))) {
    client.dribbles = true;
    client.size = dribble_size;
  }
  return client;
}

/// One run: who takes part, and what must hold while it goes on.
class Mix {
 public:
  explicit Mix(std::uint64_t seed)
      : random_(Random::stream(seed, "mix")),
        network_(seed, small_shard(), static_cast<std::uint32_t>(300 + random_.below(500))) {
    cast_well_behaved();
    cast_troubled();
  }

  void live() {
    suffer();
    if (testing::Test::HasFailure()) return;
    recover();
    if (testing::Test::HasFailure()) return;
    end();
  }

 private:
  void cast_well_behaved() {
    const std::uint64_t ues = 1 + random_.below(2);
    for (std::uint64_t i = 0; i < ues; ++i) {
      Host& ue = network_.add_ue({});
      ClientConfig client;
      client.asks_from = begin + longest + seconds(60);
      const std::uint64_t connections = 1 + random_.below(2);
      for (std::uint64_t j = 0; j < connections; ++j) {
        client.size = 500'000 + random_.below(2'000'000);
        client.upload = random_.chance(0.3);
        client.start = Instant(milliseconds(random_.below(4000)));
        well_behaved_.push_back({&network_.add_client(ue, client), 0});
      }
    }
  }
  void cast_troubled() {
    const std::uint64_t ues = 1 + random_.below(4);
    for (std::uint64_t i = 0; i < ues; ++i) {
      const auto trouble = static_cast<Trouble>(random_.below(static_cast<std::uint64_t>(Trouble::count)));
      const Period when{begin + milliseconds(random_.below(2000)), begin + seconds(4 + random_.below(11))};
      Host& ue = network_.add_ue(troubled_ue(trouble, when, random_));
      const std::uint64_t connections = 1 + random_.below(8);
      for (std::uint64_t j = 0; j < connections; ++j) {
        ClientConfig client = troubled_client(trouble, when, random_);
        // The servers have buffers of their own for all they write, and these are not to run out.
        if (client.dribbles && ++dribbling_ > max_dribbling) client.dribbles = false;
        network_.add_client(ue, client);
      }
    }
  }

  void pass(Duration time) {
    network_.loop.run_until(network_.loop.now() + time);
    ASSERT_FALSE(network_.device.spun()) << "called again and again at " << seconds_now();
  }
  [[nodiscard]] double seconds_now() const { return to_seconds(network_.loop.now().time_since_epoch()); }

  /// While the troubles last.
  void suffer() {
    while (network_.loop.now() < begin + longest) {
      pass(seconds(5));
      expect_progress();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GE(static_cast<double>(network_.datagrams_arrived()), 0.9 * static_cast<double>(network_.datagrams_sent()))
        << "of what is only forwarded; " << network_.device.missed() << " frames found no buffer";
  }
  void expect_progress() {
    for (auto& [client, before] : well_behaved_) {
      if (client->complete()) continue;
      EXPECT_FALSE(client->closed()) << "a connection that did no harm was ended";
      EXPECT_GT(client->progress(), before)
          << "no progress in the 5 s before " << seconds_now() << ", " << network_.device.memory.in_use()
          << " buffers in use, " << network_.device.missed() << " frames missed";
      before = client->progress();
    }
  }

  /// Runs until every connection has ended, within the timers of the hosts.
  void recover() {
    const Instant limit = network_.loop.now() + seconds(300);
    while (network_.loop.now() < limit && !all_over()) pass(seconds(1));
    for (std::size_t i = 0; i < network_.clients.size(); ++i) {
      const Client& client = *network_.clients[i];
      EXPECT_TRUE(client.complete() || client.closed())
          << "client " << i << (client.config().upload ? ", an upload, " : ", a download, ") << "is stuck at "
          << client.progress() << " of " << client.config().size << ", " << network_.device.memory.in_use()
          << " buffers in use";
      EXPECT_EQ(client.corrupted(), 0U);
    }
    for (const auto& [client, before] : well_behaved_) EXPECT_TRUE(client->complete());
    EXPECT_EQ(network_.server_counters.corrupted, 0U);
  }
  [[nodiscard]] bool all_over() const {
    return std::all_of(network_.clients.begin(), network_.clients.end(),
                       [](const auto& client) { return client->complete() || client->closed(); });
  }

  void end() {
    pass(seconds(30));
    EXPECT_LE(network_.device.memory.in_use(), network_.device.memory.capacity() / 10) << "held for nobody";
    pass(seconds(700));
    EXPECT_EQ(network_.device.memory.in_use(), 0U);
    EXPECT_EQ(network_.device.shard.flow_count(), 0U) << "flows outlived their connections";
    expect_accounted(network_.device.shard.counters());
  }

  static constexpr int max_dribbling = 2;

  int dribbling_ = 0;
  Random random_;
  Network network_;
  std::vector<std::pair<Client*, std::uint64_t>> well_behaved_;  ///< clients and the progress of each at the last check
};

TEST(MemoryPressure, StalledReadersDoNotDelayOthers) {
  for_each_seed([](std::uint64_t seed) { Mix(seed).live(); }, 3);
}

}  // namespace
}  // namespace sluice::test::pressure
