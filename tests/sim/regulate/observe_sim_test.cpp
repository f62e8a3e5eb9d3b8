// Mode observe over an emulated radio link: no frame is changed, and what the observed law computes is near what it
// does when it acts.

#include <deque>
#include <string>
#include <vector>

#include "tests/sim/regulate/regulated_network.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::ControllerLocation;
using proxy::Counter;
using proxy::Intercept;
using proxy::Mode;
using proxy::Side;

proxy::ShardConfig observing(Mode law, ControllerLocation place = ControllerLocation::acks) {
  proxy::ShardConfig config;
  config.mode = Mode::observe;
  config.observed = law;
  config.smvs.law = place;
  config.limits.max_flows = 256;
  config.limits.max_bearers = 16;
  config.smvs.parameters.one_way_delay = 20ms;
  return config;
}

/// A queue of a second, which CUBIC fills. Without reports unless `reported`.
RegulatedWires deep(bool reported = false) {
  RegulatedWires wires;
  wires.queue.limit = 1'000'000;
  if (!reported) wires.silent_from = Instant{};
  return wires;
}

proxy::BearerInfo bearer_of(const RegulatedNetwork& network) {
  std::vector<proxy::BearerInfo> bearers;
  network.node.shard.describe_bearers(bearers, 1);
  EXPECT_EQ(bearers.size(), 1U);
  return bearers.empty() ? proxy::BearerInfo{} : bearers[0];
}

/// Means of the samples that are taken each 100 ms from `from` on.
struct Means {
  double in_flight = 0;
  double window = 0;
  double queue = 0;          ///< bytes in the radio queue itself
  double queue_by_acks = 0;  ///< bytes in the radio queue by the law's estimate
  double decided_delay = 0;  ///< s
};

Means run_and_sample(RegulatedNetwork& network, Duration from, Duration until) {
  Means sum;
  double count = 0;
  network.loop.run_until(Instant(from));
  for (; network.loop.now() < Instant(until); ++count) {
    network.loop.run_until(network.loop.now() + 100ms);
    const proxy::BearerInfo bearer = bearer_of(network);
    sum.in_flight += static_cast<double>(bearer.in_flight.count());
    sum.window += static_cast<double>(bearer.observed_window.value_or(bearer.window.value_or(Bytes{})).count());
    sum.queue += static_cast<double>(network.cell.queue(0).bytes().count());
    sum.queue_by_acks += static_cast<double>(bearer.queue_by_acks.count());
    sum.decided_delay += bearer.observed_delay ? to_seconds(*bearer.observed_delay) : 0;
  }
  for (double Means::*const value :
       {&Means::in_flight, &Means::window, &Means::queue, &Means::queue_by_acks, &Means::decided_delay})
    sum.*value /= count;
  return sum;
}

TEST(Observe, NoLawChangesOrDelaysAFrame) {
  struct Case {
    Mode law;
    ControllerLocation place;
  };
  std::vector<Case> cases = {{Mode::smvs, ControllerLocation::acks},
                             {Mode::smvs, ControllerLocation::nodeb},
                             {Mode::smvs, ControllerLocation::proxy}};
  for (const proxy::ModeText& text : proxy::mode_table) {
    if (flow_controller_of(text.mode)) cases.push_back({text.mode, ControllerLocation::acks});
  }
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(to_string(each.law)) + " " + std::to_string(static_cast<int>(each.place)));
    const std::uint32_t free = pool().available();
    {
      RegulatedWires wires = deep(true);
      wires.radio_down.loss = 0.003;
      wires.radio_up.loss = 0.003;
      wires.core_down.reorder = 0.01;
      wires.radio_up.duplicate = 0.005;
      RegulatedNetwork network(6, observing(each.law, each.place), wires);
      network.transfer(3'000'000, false);
      network.transfer(500'000, true);
      network.transfer(1'000'000, false, 500ms, false);
      ASSERT_TRUE(network.run(120s));
      const proxy::Counters& counters = network.node.shard.counters();
      for (const Side side : {Side::radio, Side::core}) {
        EXPECT_EQ(network.node.oracle(side).changed(), 0U);
        EXPECT_EQ(network.node.oracle(side).overtaken(), 0U);
        EXPECT_EQ(network.node.oracle(side).waiting(), 0U);
        EXPECT_GT(network.node.oracle(side).frames(), 1000U);
      }
      EXPECT_EQ(counters[Counter::windows_rewritten], 0U);
      EXPECT_EQ(counters[Counter::acks_held], 0U);
      EXPECT_EQ(counters[Counter::flows_split], 0U);
      EXPECT_EQ(counters.bytes(proxy::Handling::controlled), 0U);
      EXPECT_GT(network.node.shard.groups()[0].observed.decisions, 100U);
      EXPECT_EQ(network.log.corrupted, 0U);
      network.loop.run_until(network.loop.now() + 400s);
      EXPECT_EQ(network.node.shard.flow_count(), 0U);
    }
    EXPECT_EQ(pool().available(), free) << "packet buffers were lost";
  }
}

TEST(Observe, ByAcknowledgementsItShowsTheQueueOfOrdinaryTcpBesideTheReference) {
  RegulatedNetwork network(3, observing(Mode::smvs), deep());
  network.transfer(1'000'000'000, false);
  const Means observed = run_and_sample(network, 4s, 30s);
  RecordProperty("queue", static_cast<int>(observed.queue));
  RecordProperty("queue_by_acks", static_cast<int>(observed.queue_by_acks));
  RecordProperty("window", static_cast<int>(observed.window));
  RecordProperty("in_flight", static_cast<int>(observed.in_flight));
  RecordProperty("decided_delay_ms", static_cast<int>(1000 * observed.decided_delay));
  EXPECT_GT(observed.queue, 300'000) << "CUBIC fills the buffer";
  EXPECT_NEAR(observed.queue_by_acks, observed.queue, 0.15 * observed.queue);
  const proxy::Observed sums = network.node.shard.groups()[0].observed;
  const auto delays = static_cast<double>(sums.delays);
  EXPECT_NEAR(sums.actual_delay_s / delays, observed.queue / 1e6, 0.15 * observed.queue / 1e6) << "8 Mb/s";
  EXPECT_LT(sums.decided_delay_s / delays, 0.1);
  EXPECT_LT(observed.window, observed.in_flight / 2);
  EXPECT_EQ(bearer_of(network).controller, proxy::Controller::observed_acks);
}

TEST(Observe, TheObservedWindowIsNearThatOfTheActingLaw) {
  for (const Intercept intercept : {Intercept::automatic, Intercept::regulate}) {
    SCOPED_TRACE(static_cast<int>(intercept));
    proxy::ShardConfig config = observing(Mode::smvs);
    config.intercept = intercept;
    RegulatedNetwork network(3, config, deep());
    network.transfer(1'000'000'000, false);
    const Means observed = run_and_sample(network, 4s, 20s);
    config.mode = Mode::smvs;
    RegulatedNetwork steered(3, config, deep());
    steered.node.watched = false;
    steered.transfer(1'000'000'000, false);
    const Means acting = run_and_sample(steered, 4s, 20s);
    RecordProperty(intercept == Intercept::regulate ? "e2e_observed" : "observed", static_cast<int>(observed.window));
    RecordProperty(intercept == Intercept::regulate ? "e2e_acting" : "acting", static_cast<int>(acting.window));
    RecordProperty(intercept == Intercept::regulate ? "e2e_flight" : "flight", static_cast<int>(acting.in_flight));
    // The acting law needs less on a link of constant rate. An observed one has no queue of its own.
    EXPECT_NEAR(observed.window, acting.window, 0.6 * acting.window);
  }
}

/// The law that begins to act knows the base delay, which nothing shows in the standing queue of ordinary TCP.
TEST(Observe, ALiveSwitchToTheObservedLawEndsTheStandingQueue) {
  std::deque<proxy::Policies> policies;  // the network uses them until its end
  RegulatedNetwork network(3, observing(Mode::smvs), deep());
  network.node.watched = false;
  network.transfer(1'000'000'000, false);
  const Means before = run_and_sample(network, 4s, 14s);
  proxy::ShardConfig acting = observing(Mode::smvs);
  for (const Intercept intercept : {Intercept::regulate, Intercept::split}) {
    SCOPED_TRACE(static_cast<int>(intercept));
    acting.mode = Mode::smvs;
    acting.intercept = intercept;
    network.node.shard.apply(policies.emplace_back(acting.policy_set()), network.loop.now());
    network.node.arm();
    const Duration start = network.loop.now().time_since_epoch();
    const Means after = run_and_sample(network, start + 10s, start + 20s);
    EXPECT_LT(after.queue, before.queue / 4);
    EXPECT_EQ(bearer_of(network).controller, proxy::Controller::acks);
    acting.mode = Mode::observe;
    acting.intercept = Intercept::automatic;
    network.node.shard.apply(policies.emplace_back(acting.policy_set()), network.loop.now());
    network.node.arm();
    network.loop.run_until(network.loop.now() + 10s);
    EXPECT_EQ(bearer_of(network).controller, proxy::Controller::observed_acks);
    EXPECT_TRUE(bearer_of(network).observed_window.has_value());
  }
}

}  // namespace
}  // namespace sluice::test
