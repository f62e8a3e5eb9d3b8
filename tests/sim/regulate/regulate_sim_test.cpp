// Connections that pass end to end under each law, over wires on which everything goes wrong that can; each run is
// replayed exactly by its seed. An oracle compares every frame behind the proxy with the one before it.

#include <cstdlib>
#include <string>

#include "tests/sim/regulate/regulated_network.hpp"

namespace sluice::test {
namespace {

using namespace emulator;  // NOLINT(google-build-using-namespace): the whole test plays inside it
using namespace std::chrono_literals;
using proxy::Counter;
using proxy::Mode;
using proxy::Side;

const std::vector<Mode> modes = {Mode::clamp,  Mode::wrs,      Mode::wrd, Mode::wrb,        Mode::ack_regulator,
                                 Mode::gwa_rr, Mode::gwa_fcfs, Mode::ba,  Mode::fair_share, Mode::smvs};

proxy::ShardConfig regulating(Mode mode) {
  proxy::ShardConfig config;
  config.mode = mode;
  config.intercept = proxy::Intercept::regulate;
  config.smvs.law = proxy::ControllerLocation::acks;
  config.limits.max_flows = 256;
  config.limits.max_bearers = 16;
  config.smvs.parameters.one_way_delay = 20ms;
  return config;
}

void expect_honest(RegulatedNetwork& network) {
  for (const Side side : {Side::radio, Side::core}) {
    SCOPED_TRACE(side == Side::radio ? "from the UE" : "from the server");
    const PassOracle& oracle = network.node.oracle(side);
    EXPECT_EQ(oracle.overtaken(), 0U) << "frames of one connection changed places";
    EXPECT_EQ(oracle.retracted(), 0U) << "a right edge moved left by a unit or more";
    EXPECT_EQ(oracle.widened(), 0U) << "more than the host offered";
    EXPECT_EQ(oracle.damaged(), 0U) << "a checksum is wrong that was right";
  }
  EXPECT_EQ(network.log.corrupted, 0U);
  EXPECT_EQ(network.server_counters.corrupted, 0U);
  const proxy::Counters& counters = network.node.shard.counters();
  EXPECT_EQ(network.node.oracle(Side::radio).waiting() + network.node.oracle(Side::core).waiting(), counters.dropped())
      << "all came out but those whose headers were damaged";
  EXPECT_EQ(counters.received(), counters[Counter::optimised] + counters.forwarded() + counters.dropped());
  EXPECT_EQ(counters[Counter::flows_split], 0U);
}

void finish(RegulatedNetwork& network) {
  network.loop.run_until(network.loop.now() + 400s);
  EXPECT_EQ(network.node.shard.flow_count(), 0U) << "connections are remembered for ever";
  expect_honest(network);
}

TEST(Regulate, EveryControllerKeepsTheRadioQueueWithinItsBuffer) {
  for (const Mode mode : modes) {
    SCOPED_TRACE(std::string(to_string(mode)));
    const std::uint32_t free = pool().available();
    {
      RegulatedWires wires;
      wires.queue.limit = 90'000;
      RegulatedNetwork network(3, regulating(mode), wires);
      network.transfer(8'000'000, false);
      ASSERT_TRUE(network.run(60s));
      EXPECT_LT(network.loop.now(), Instant(12s)) << "8 MB take 8 s at 8 Mb/s";
      EXPECT_EQ(network.node.shard.counters()[Counter::flows_regulated], 1U);
      // CLAMP's slow start may overshoot once; the Ack Regulator means to drop.
      if (mode != Mode::ack_regulator) {
        EXPECT_LE(network.cell.queue(0).counters().dropped_packets, mode == Mode::clamp ? 30U : 0U);
        EXPECT_GT(network.node.shard.counters()[Counter::windows_rewritten], 100U);
      }
      finish(network);
    }
    EXPECT_EQ(pool().available(), free) << "packet buffers were lost";
  }
}

/// Without a law the same download overflows the same buffer again and again.
TEST(Regulate, OrdinaryTcpOverflowsThatBuffer) {
  RegulatedWires wires;
  wires.queue.limit = 90'000;
  proxy::ShardConfig config = regulating(Mode::wrs);
  config.mode = Mode::bypass;
  RegulatedNetwork network(3, config, wires);
  network.transfer(8'000'000, false);
  ASSERT_TRUE(network.run(60s));
  EXPECT_GT(network.cell.queue(0).counters().dropped_packets, 10U);
}

TEST(Regulate, TheAckBufferHoldsAcksInsteadOfShrinkingTheWindow) {
  RegulatedWires wires;
  wires.slowest = Rate::bits_per_second(1e6);
  wires.fastest = Rate::bits_per_second(12e6);
  RegulatedNetwork network(5, regulating(Mode::wrb), wires);
  network.transfer(6'000'000, false);
  ASSERT_TRUE(network.run(60s));
  EXPECT_GT(network.node.shard.counters()[Counter::acks_held], 50U);
  EXPECT_EQ(network.cell.queue(0).counters().dropped_packets, 0U);
  finish(network);
}

TEST(Regulate, TheAckRegulatorTimesAcksAndRewritesNone) {
  RegulatedWires wires;
  wires.slowest = Rate::bits_per_second(1e6);
  wires.fastest = Rate::bits_per_second(12e6);
  RegulatedNetwork network(5, regulating(Mode::ack_regulator), wires);
  network.transfer(6'000'000, false);
  ASSERT_TRUE(network.run(60s));
  EXPECT_GT(network.node.shard.counters()[Counter::acks_held], 50U);
  EXPECT_EQ(network.node.shard.counters()[Counter::windows_rewritten], 0U);
  finish(network);
}

TEST(Regulate, MissingReportsLeaveTheConnectionUnchanged) {
  for (const Mode mode : {Mode::wrb, Mode::ack_regulator, Mode::clamp}) {
    SCOPED_TRACE(std::string(to_string(mode)));
    RegulatedWires wires;
    wires.slowest = Rate::bits_per_second(2e6);
    wires.silent_from = Instant(2s);
    wires.silent_until = Instant(5s);
    RegulatedNetwork network(8, regulating(mode), wires);
    network.transfer(6'000'000, false);
    ASSERT_TRUE(network.run(60s));
    EXPECT_EQ(network.node.shard.counters()[Counter::fallbacks], 1U);
    EXPECT_EQ(network.node.shard.counters()[Counter::recoveries], 2U) << "the first report is one";
    finish(network);
  }
}

TEST(Regulate, ConnectionsOfEitherSideAndDirectionAreRegulated) {
  for (const Mode mode : {Mode::wrb, Mode::fair_share}) {
    SCOPED_TRACE(std::string(to_string(mode)));
    RegulatedNetwork network(9, regulating(mode), {});
    network.transfer(1'000'000, false);
    network.transfer(1'000'000, true);
    network.transfer(1'000'000, false, 100ms, false);
    network.transfer(1'000'000, true, 100ms, false);
    ASSERT_TRUE(network.run(60s));
    EXPECT_EQ(network.node.shard.counters()[Counter::flows_regulated], 4U);
    const bool both = mode == Mode::fair_share;
    EXPECT_EQ(network.node.oracle(Side::core).narrowed() > 0, both) << "only the fair share looks at uploads";
    EXPECT_GT(network.node.oracle(Side::radio).narrowed(), 0U);
    finish(network);
  }
}

/// Windows of a connection whose SYN was not seen cannot be read.
TEST(Regulate, AConnectionOlderThanTheProxyPassesUnchanged) {
  RegulatedNetwork network(2, regulating(Mode::wrs), {});
  EXPECT_EQ(network.node.shard.counters()[Counter::forward_regulated], 0U);
  packet::Packet frame = pool().allocate();
  tcp::Segment segment;
  segment.flags.bits = tcp::Flags::ack_bit;
  segment.window = 4711;
  const std::array<std::uint8_t, 6> here = {2, 0, 0, 0, 0, 1};
  const std::array<std::uint8_t, 6> there = {2, 0, 0, 0, 0, 2};
  const auto header = packet::make_template(here, there, 4);
  packet::write_headers(frame, header,
                        packet::Addresses{RegulatedNetwork::ue_address(), RegulatedNetwork::server_address(), 5000, 80},
                        segment, 0, 1);
  network.node.oracle(Side::radio).entered(frame);
  network.node.shard.receive(Side::radio, {&frame, 1}, network.loop.now());
  EXPECT_EQ(network.node.shard.counters()[Counter::forward_mid_flow], 1U);
  EXPECT_EQ(network.node.oracle(Side::radio).waiting(), 0U);
}

ImpairmentConfig random_impairment(Random& random) {
  ImpairmentConfig config;
  config.loss = random.chance(0.7) ? random.uniform(0, 0.04) : 0;
  config.duplicate = random.chance(0.5) ? random.uniform(0, 0.03) : 0;
  config.reorder = random.chance(0.5) ? random.uniform(0, 0.05) : 0;
  config.reorder_delay = Duration(1'000'000 + random.below(20'000'000));
  config.corrupt = random.chance(0.5) ? random.uniform(0, 0.01) : 0;
  config.corrupt_bits = 1;
  return config;
}

HostConfig random_host(Random& random) {
  HostConfig config;
  config.timestamps = random.chance(0.7);
  config.sack = random.chance(0.8);
  config.receive_buffer = Bytes(random.chance(0.3) ? 20'000 + random.below(40'000) : 1'000'000);
  return config;
}

/// Some connections over bad wires. Everything that is decided comes from `seed`.
void live(std::uint64_t seed) {
  Random random = Random::stream(seed, "scenario");
  const Mode mode = modes[seed % modes.size()];
  SCOPED_TRACE(std::string(to_string(mode)));
  RegulatedWires wires;
  for (ImpairmentConfig* config : {&wires.radio_down, &wires.radio_up, &wires.core_down, &wires.core_up}) {
    *config = random_impairment(random);
  }
  wires.radio_delay = Duration(1'000'000 + random.below(60'000'000));
  wires.core_delay = Duration(1'000'000 + random.below(60'000'000));
  wires.slowest = Rate::bits_per_second(random.uniform(0.5e6, 5e6));
  wires.queue.limit = 20'000 + random.below(100'000);
  const std::uint32_t free = pool().available();
  {
    const HostConfig ue = random_host(random);
    RegulatedNetwork network(seed, regulating(mode), wires, ue, random_host(random));
    const std::uint64_t count = 1 + random.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      network.transfer(1 + random.below(200'000), random.chance(0.4), std::chrono::milliseconds(random.below(2000)),
                       random.chance(0.7));
    }
    ASSERT_TRUE(network.run(900s)) << "stuck";
    finish(network);
  }
  EXPECT_EQ(pool().available(), free) << "packet buffers were lost";
}

TEST(Regulate, RandomConnectionsDeliverEveryByte) {
  if (const char* const one = std::getenv("SLUICE_SIM_SEED")) {
    live(std::strtoull(one, nullptr, 10));
    return;
  }
  const char* const text = std::getenv("SLUICE_SIM_SEEDS");
  const std::uint64_t seeds = text != nullptr ? std::strtoull(text, nullptr, 10) : 200;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    live(seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "replay with SLUICE_SIM_SEED=" << seed;
  }
}

}  // namespace
}  // namespace sluice::test
