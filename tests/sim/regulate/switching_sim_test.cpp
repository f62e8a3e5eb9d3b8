// A running proxy is switched through all its modes while data passes, split and regulated, over clean and bad wires:
// every connection lives on, every byte arrives.

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/regulate/regulated_network.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Counter;
using proxy::Intercept;
using proxy::Mode;
using proxy::Policies;

proxy::ShardConfig first_config() {
  proxy::ShardConfig config;
  config.mode = Mode::i_tcp;
  config.limits.max_flows = 256;
  config.limits.max_bearers = 16;
  config.smvs.law = proxy::LawPlace::proxy;
  config.smvs.parameters.one_way_delay = 20ms;
  return config;
}

/// Every mode in each of its interceptions, in the order of the table.
std::vector<std::unique_ptr<Policies>> all_treatments() {
  std::vector<std::unique_ptr<Policies>> all;
  for (const proxy::ModeText& text : proxy::mode_table) {
    for (const Intercept intercept : {Intercept::automatic, Intercept::regulate}) {
      if (intercept == Intercept::regulate && !proxy::can_regulate(text.mode)) continue;
      auto policies = std::make_unique<Policies>();
      policies->otherwise = first_config();
      policies->otherwise.mode = text.mode;
      policies->otherwise.intercept = intercept;
      all.push_back(std::move(policies));
    }
  }
  return all;
}

/// Switches every `interval`, opening a connection each way under each, until all have ended.
void switch_through(std::uint64_t seed, const RegulatedWires& wires, Duration interval, std::uint64_t long_size) {
  const auto treatments = all_treatments();
  const std::uint32_t free = pool().available();
  {
    RegulatedNetwork network(seed, first_config(), wires);
    network.node.watched = false;
    network.transfer(long_size, false);
    network.transfer(long_size / 4, true);
    for (std::size_t i = 0; i < treatments.size(); ++i) {
      const Duration when = interval * static_cast<std::int64_t>(i);
      network.transfer(100'000, i % 3 == 0, when + 1ms, i % 2 == 0);
    }
    for (std::size_t round = 0; round < 2 * treatments.size(); ++round) {
      network.loop.run_until(network.loop.now() + interval);
      network.node.shard.apply(*treatments[(round * 7) % treatments.size()], network.loop.now());
      network.node.arm();
    }
    ASSERT_TRUE(network.run(900s)) << "a connection broke";
    EXPECT_EQ(network.log.corrupted, 0U);
    EXPECT_EQ(network.server_counters.corrupted, 0U);
    EXPECT_EQ(network.log.failures, 0U);
    const proxy::Counters& counters = network.node.shard.counters();
    EXPECT_EQ(counters.received(), counters[Counter::optimised] + counters.forwarded() + counters.dropped());
    EXPECT_GT(counters[Counter::flows_split], 2U);
    EXPECT_GT(counters[Counter::flows_regulated], 2U);
    network.loop.run_until(network.loop.now() + 400s);
    EXPECT_EQ(network.node.shard.flow_count(), 0U);
  }
  EXPECT_EQ(pool().available(), free) << "packet buffers were lost";
}

TEST(Switching, ThroughAllModesUnderTraffic) {
  RegulatedWires wires;
  wires.slowest = Rate::bits_per_second(3e6);
  wires.fastest = Rate::bits_per_second(12e6);
  switch_through(1, wires, 400ms, 12'000'000);
}

TEST(Switching, EveryFewRoundTripsOverBadWires) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RegulatedWires wires;
    wires.slowest = Rate::bits_per_second(1e6);
    wires.fastest = Rate::bits_per_second(10e6);
    wires.radio_down.loss = 0.01;
    wires.radio_up.loss = 0.01;
    wires.core_down.loss = 0.005;
    wires.core_down.reorder = 0.02;
    wires.radio_up.duplicate = 0.01;
    switch_through(seed, wires, 150ms, 3'000'000);
  }
}

/// From a law that fills the link to another: the link stays filled over the switch.
TEST(Switching, TheNewLawGoesOnFromTheMeasuredState) {
  RegulatedNetwork network(4, first_config(), {});
  network.node.watched = false;
  network.transfer(20'000'000, false);
  const auto treatments = all_treatments();
  network.loop.run_until(Instant(3s));
  for (const auto& treatment : treatments) {
    const Mode mode = treatment->otherwise.mode;
    // ba leaves the queue empty, and with it a little of the link. CLAMP's mean queue remembers half a second of the
    // old law's longer one and closes the windows for it, which then grow by 500 bytes per round trip, as its paper
    // has it: for many seconds.
    if (mode == Mode::bypass || mode == Mode::ba || mode == Mode::clamp) continue;
    SCOPED_TRACE(std::string(to_string(mode)));
    network.node.shard.apply(*treatment, network.loop.now());
    network.node.arm();
    const std::uint64_t before = network.cell.queue(0).counters().transmitted_bytes;
    network.loop.run_until(network.loop.now() + 500ms);
    const std::uint64_t carried = network.cell.queue(0).counters().transmitted_bytes - before;
    EXPECT_GT(carried, 0.8 * 0.5 * 1e6) << "of half a second at 8 Mb/s";
  }
}

}  // namespace
}  // namespace sluice::test
