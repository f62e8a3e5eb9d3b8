// Tests of UEs in one shared queue of which one sends false feedback. Its gain is bounded by the throughput of the
// mode i-tcp, which does not use that feedback. lies.hpp has the kinds of false feedback.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/hosts/request_client.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/router.hpp"
#include "emulator/runtime/deferred_element.hpp"
#include "emulator/runtime/proxy_node.hpp"
#include "tests/sim/nodeb/lies.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;

/// Leads to what is put in its place later.
class Slot final : public Element {
 public:
  void set_next(std::unique_ptr<Lie> next) { next_ = std::move(next); }
  void receive(packet::Packet packet, Instant now) override { next_->receive(std::move(packet), now); }

 private:
  std::unique_ptr<Lie> next_;
};

struct Outcome {
  double liar_mbps = 0;
  double other_mbps = 0;
  double echo_ms = 0;  ///< median
};

/// Connections of the first UE.
struct FirstUe {
  std::uint32_t connections = 1;
  Duration lifetime{};  ///< time after which a connection is closed and the next one opened; 0: none is closed
};

/// 20 Mb/s that three UEs share, in a queue without end: two download, and the
/// third asks for 100 bytes again and again.
class SharedQueue {
 public:
  SharedQueue(proxy::Mode mode, proxy::Intercept intercept, std::uint64_t seed, const FirstUe& first)
      : config_(shard_config(mode, intercept, seed)), first_(first), seed_(seed) {
    proxy_.connect(sent_, to_server_);
    into_server_.set_next(server_);
    for (std::size_t ue = 0; ue < ues_.size(); ++ue) router_.add(address(ue), *ues_.at(ue));
    server_.listen(80,
                   [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, counters_); });
  }

  template <typename Kind>
  Outcome run() {
    what_the_first_sends_.set_next(std::make_unique<Kind>(Lie::Means{proxy_.radio_port(), sent_}));
    constexpr Duration begin = 20s;  // slow clocks are found by then
    constexpr Duration end = 50s;
    const std::vector<std::unique_ptr<BulkClient>> liars = downloads(end);
    const auto other = download(*ues_[1], some_start(), never);
    RequestConfig requests;
    requests.server = server_.config().address;
    requests.interval = 100ms;
    requests.size = {SizeKind::fixed, Bytes(100), Bytes(100), 1};
    RequestClient echo(loop_, *ues_[2], requests, Random(seed_), log_);
    const auto all = [&liars] {
      std::uint64_t sum = 0;
      for (const auto& liar : liars) sum += liar->transferred();
      return sum;
    };
    loop_.run_until(Instant(begin));
    const std::uint64_t liar_before = all();
    const std::uint64_t other_before = other->transferred();
    loop_.run_until(Instant(end));
    const auto mbps = [&](std::uint64_t bytes) {
      return static_cast<double>(bytes) * 8 / 1e6 / to_seconds(end - begin);
    };
    const Outcome outcome{mbps(all() - liar_before), mbps(other->transferred() - other_before),
                          to_milliseconds(log_.fetch_times.percentile(0.5))};
    for (const auto& ue : ues_) ue->end_run(loop_.now());
    server_.end_run(loop_.now());
    EXPECT_EQ(log_.corrupted, 0U);
    return outcome;
  }

 private:
  static IpAddress address(std::size_t ue) { return IpAddress::v4(10, 45, 0, static_cast<std::uint8_t>(2 + ue)); }
  static HostConfig host(const IpAddress& address) {
    HostConfig config;
    config.address = address;
    return config;
  }
  static proxy::ShardConfig shard_config(proxy::Mode mode, proxy::Intercept intercept, std::uint64_t seed) {
    proxy::ShardConfig config;
    config.mode = mode;
    config.intercept = intercept;
    config.smvs.law = proxy::ControllerLocation::acks;
    config.tcp.boundary_secret = seed;
    config.limits.max_flows = 512;
    config.limits.max_bearers = 8;
    return config;
  }
  std::unique_ptr<Host> ue(std::size_t number, Element& up) {
    return std::make_unique<Host>(loop_, ::sluice::test::pool(), host(address(number)),
                                  Random::stream(number + 2 + seed_ * ues_.size(), "ue"), up);
  }
  [[nodiscard]] Instant some_start() {
    return Instant(std::chrono::microseconds(static_cast<std::int64_t>(starts_.uniform(0, 5e5))));
  }
  std::unique_ptr<BulkClient> download(Host& ue, Instant start, Instant stop) {
    BulkConfig bulk;
    bulk.server = server_.config().address;
    bulk.start = start;
    bulk.stop = stop;
    return std::make_unique<BulkClient>(loop_, ue, bulk, log_);
  }
  /// Returns the downloads of the first UE until `end`.
  std::vector<std::unique_ptr<BulkClient>> downloads(Duration end) {
    std::vector<std::unique_ptr<BulkClient>> result;
    for (std::uint32_t i = 0; i < first_.connections; ++i) {
      Instant start = some_start();
      while (start < Instant(end)) {
        const Instant stop = first_.lifetime > Duration::zero() ? start + first_.lifetime : never;
        result.push_back(download(*ues_[0], start, stop));
        start = stop;
      }
    }
    return result;
  }

  EventLoop loop_;
  proxy::ShardConfig config_;
  FirstUe first_;
  std::uint64_t seed_;
  Random starts_ = Random::stream(seed_, "starts");
  ServerCounters counters_;
  FlowLog log_;
  ProxyNode proxy_{loop_, ::sluice::test::pool(), config_, 1};
  Router router_;
  DeferredElement into_server_;
  Slot what_the_first_sends_;
  DelayLine shared_{loop_, {10ms, Rate::bits_per_second(20e6), Bytes()}, router_};
  SentTap sent_{shared_, address(0)};
  DelayLine to_server_{loop_, {20ms, Rate(), Bytes()}, into_server_};
  DelayLine from_server_{loop_, {20ms, Rate(), Bytes()}, proxy_.core_port()};
  DelayLine first_up_{loop_, {10ms, Rate(), Bytes()}, what_the_first_sends_};
  DelayLine up_{loop_, {10ms, Rate(), Bytes()}, proxy_.radio_port()};
  Host server_{loop_, ::sluice::test::pool(), host(IpAddress::v4(192, 0, 2, 1)), Random::stream(1, "server"),
               from_server_};
  std::array<std::unique_ptr<Host>, 3> ues_{ue(0, first_up_), ue(1, up_), ue(2, up_)};
};

/// Mean outcome over `seeds` seeds. A seed determines when downloads begin, and which boundaries of segments are moved.
template <typename Kind>
Outcome outcome_of(proxy::Mode mode, proxy::Intercept intercept = proxy::Intercept::split, const FirstUe& first = {},
                   std::uint64_t seeds = 3) {
  Outcome mean;
  const auto part = 1 / static_cast<double>(seeds);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SharedQueue network(mode, intercept, seed, first);
    const Outcome outcome = network.run<Kind>();
    mean.liar_mbps += outcome.liar_mbps * part;
    mean.other_mbps += outcome.other_mbps * part;
    mean.echo_ms += outcome.echo_ms * part;
  }
  return mean;
}

/// Throughput of each of two downloads in the mode i-tcp, in Mb/s: half of the link.
constexpr double part_by_congestion_control = 9.7;
/// Most that false feedback may gain, in Mb/s, with an allowance for the noise of means over few seeds.
constexpr double most = 1.1 * part_by_congestion_control;
constexpr proxy::Intercept regulate = proxy::Intercept::regulate;

TEST(DishonestUes, HonestUesHaveSimilarShares) {
  for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
    const Outcome outcome = outcome_of<Honest>(proxy::Mode::smvs, intercept);
    EXPECT_NEAR(outcome.liar_mbps, outcome.other_mbps, 2);
    EXPECT_GT(outcome.liar_mbps + outcome.other_mbps, 19);
  }
  EXPECT_NEAR(outcome_of<Honest>(proxy::Mode::i_tcp).liar_mbps, part_by_congestion_control, 0.2);
}

TEST(DishonestUes, SettingBackItsClockGainsAUeNothing) {
  for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
    const Outcome outcome = outcome_of<ClockSetBack>(proxy::Mode::smvs, intercept);
    EXPECT_LE(outcome.liar_mbps, most);
    EXPECT_LE(outcome.echo_ms, outcome_of<Honest>(proxy::Mode::smvs, intercept).echo_ms * 1.1);
  }
}

/// Outcome of a clock that loses time. The mean is over many seeds, because outcomes depend on when a step occurs.
template <int Gain, std::uint32_t Period>
Outcome outcome_of_clock(proxy::Intercept intercept) {
  return outcome_of<WrongClock<Gain, Period>>(proxy::Mode::smvs, intercept, {}, 10);
}

/// A delay that is longer than the round trip, or that grows for 15 s, shows that the clock loses time. Until then a
/// third UE may wait for 219 ms, the longest mean of 30 starts of each clock, where honest UEs make it wait for 122 ms.
TEST(DishonestUes, AClockThatLosesTimeGainsAUeNothing) {
  const double echo_ms = outcome_of<Honest>(proxy::Mode::smvs, regulate).echo_ms;
  for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
    for (const Outcome& outcome : {outcome_of_clock<-30, 2000>(intercept), outcome_of_clock<-1, 300>(intercept),
                                   outcome_of_clock<-1, 67>(intercept), outcome_of_clock<-1, 20>(intercept),
                                   outcome_of_clock<-100, 2000>(intercept)}) {
      EXPECT_LE(outcome.liar_mbps, most);
      EXPECT_GE(outcome.other_mbps, 0.8 * part_by_congestion_control);
      EXPECT_LE(outcome.echo_ms, echo_ms * 1.85);
    }
  }
}

TEST(DishonestUes, AClockThatGainsTimeGainsAUeNothing) {
  for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
    const double echo_ms = outcome_of<Honest>(proxy::Mode::smvs, intercept).echo_ms;
    for (const Outcome& outcome : {outcome_of<WrongClock<30, 2000>>(proxy::Mode::smvs, intercept),
                                   outcome_of<WrongClock<1, 20>>(proxy::Mode::smvs, intercept),
                                   outcome_of<WrongClock<100, 2000>>(proxy::Mode::smvs, intercept)}) {
      EXPECT_LE(outcome.liar_mbps, most);
      EXPECT_LE(outcome.echo_ms, echo_ms * 1.1);
    }
  }
}

/// Boundaries of segments that the UE cannot know show that it acknowledges ahead. It then has an initial window.
TEST(DishonestUes, OptimisticAcksGainAUeNothing) {
  for (const proxy::Mode mode : {proxy::Mode::smvs, proxy::Mode::i_tcp}) {
    const double echo_ms = outcome_of<Honest>(mode).echo_ms;
    for (const Outcome& outcome : {outcome_of<Optimist<100>>(mode), outcome_of<Optimist<80>>(mode),
                                   outcome_of<Optimist<50>>(mode), outcome_of<Optimist<20>>(mode)}) {
      EXPECT_LE(outcome.liar_mbps, part_by_congestion_control);
      EXPECT_GE(outcome.other_mbps, 0.8 * part_by_congestion_control);
      EXPECT_LE(outcome.echo_ms, echo_ms);
    }
  }
}

/// End to end the servers choose the boundaries, and it is they who accept such an acknowledgement. No field of it
/// shows the proxy whether the data has arrived. The bound is what the UE gets without the proxy's control.
TEST(DishonestUes, OptimisticAcksEndToEndGainNoMoreThanBesidesTheProxy) {
  const auto compare = [](const Outcome& regulated, const Outcome& passing) {
    EXPECT_LE(regulated.liar_mbps, 1.05 * passing.liar_mbps);
    EXPECT_LE(regulated.echo_ms, 0.5 * passing.echo_ms);
  };
  constexpr proxy::Intercept automatic = proxy::Intercept::automatic;
  compare(outcome_of<Optimist<100>>(proxy::Mode::smvs, regulate),
          outcome_of<Optimist<100>>(proxy::Mode::bypass, automatic));
  compare(outcome_of<Optimist<80>>(proxy::Mode::smvs, regulate),
          outcome_of<Optimist<80>>(proxy::Mode::bypass, automatic));
  compare(outcome_of<Optimist<50>>(proxy::Mode::smvs, regulate),
          outcome_of<Optimist<50>>(proxy::Mode::bypass, automatic));
  compare(outcome_of<Optimist<20>>(proxy::Mode::smvs, regulate),
          outcome_of<Optimist<20>>(proxy::Mode::bypass, automatic));
}

/// SACK blocks that end inside a segment show that the UE reports segments before they arrive.
TEST(DishonestUes, OptimisticSackBlocksGainAUeNothing) {
  for (const proxy::Mode mode : {proxy::Mode::smvs, proxy::Mode::i_tcp}) {
    const double echo_ms = outcome_of<Honest>(mode).echo_ms;
    for (const Outcome& outcome :
         {outcome_of<SackOptimist<1>>(mode), outcome_of<SackOptimist<4>>(mode), outcome_of<SackOptimist<10>>(mode)}) {
      EXPECT_LE(outcome.liar_mbps, part_by_congestion_control);
      EXPECT_LE(outcome.echo_ms, echo_ms);
    }
  }
  const Outcome outcome = outcome_of<SackOptimist<1>>(proxy::Mode::smvs, regulate);
  EXPECT_LE(outcome.liar_mbps, most);
  EXPECT_LE(outcome.echo_ms, outcome_of<Honest>(proxy::Mode::smvs, regulate).echo_ms * 1.1);
}

/// Bytes are counted, not acknowledgements (RFC 3465).
TEST(DishonestUes, MoreAcknowledgementsGainAUeNothing) {
  for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
    const double echo_ms = outcome_of<Honest>(proxy::Mode::smvs, intercept).echo_ms;
    for (const Outcome& outcome :
         {outcome_of<Divider>(proxy::Mode::smvs, intercept), outcome_of<Repeater<4>>(proxy::Mode::smvs, intercept)}) {
      EXPECT_LE(outcome.liar_mbps, most);
      EXPECT_LE(outcome.echo_ms, echo_ms * 1.1);
    }
  }
  EXPECT_LE(outcome_of<Divider>(proxy::Mode::i_tcp).liar_mbps, most);
  EXPECT_LE(outcome_of<Repeater<4>>(proxy::Mode::i_tcp).liar_mbps, most);
}

TEST(DishonestUes, AWindowThatSwingsGainsAUeNothing) {
  for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
    EXPECT_LE(outcome_of<WindowSwinger>(proxy::Mode::smvs, intercept).liar_mbps, most);
  }
}

/// The window belongs to a UE and not to a connection. Congestion control divides the link by connections.
TEST(DishonestUes, ManyConnectionsGainAUeLessThanByCongestionControl) {
  for (const std::uint32_t connections : {8U, 32U}) {
    const FirstUe first{.connections = connections};
    const double by_congestion_control =
        outcome_of<Honest>(proxy::Mode::i_tcp, proxy::Intercept::split, first).liar_mbps;
    for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
      EXPECT_LE(outcome_of<Honest>(proxy::Mode::smvs, intercept, first).liar_mbps, by_congestion_control);
    }
  }
}

TEST(DishonestUes, NewConnectionsAgainAndAgainGainAUeNothing) {
  for (const Duration lifetime : {400ms, 2000ms}) {
    const FirstUe first{.lifetime = lifetime};
    for (const proxy::Intercept intercept : {proxy::Intercept::split, regulate}) {
      EXPECT_LE(outcome_of<Honest>(proxy::Mode::smvs, intercept, first).liar_mbps, part_by_congestion_control);
    }
  }
}

}  // namespace
}  // namespace sluice::emulator
