// Tests of the decision log: every controller's decisions are recorded and replayed with equal results.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <random>
#include <type_traits>

#include "control/decision_log/decision_log.hpp"
#include "control/decision_log/read_fields.hpp"
#include "tests/unit/law_trace/recorded.hpp"

namespace sluice::control {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// Chance, the same in each run.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  bool once_in(std::int64_t times) { return between(1, times) == 1; }
  Instant next(Duration longest) { return now_ += Duration(between(0, longest.count())); }
  [[nodiscard]] Instant now() const { return now_; }

 private:
  std::mt19937 engine_;
  Instant now_{1h};
};

/// Calls of each kind, by chance, as hosts and radio might bring them about.
template <typename Law>
struct Driver;

template <>
struct Driver<DelayBasedController> {
  using Laws = RecordedController<DelayBasedController>;
  static DelayBasedParameters origin() { return {}; }
  Bytes in_flight;
  Duration trip = 30ms;

  void step(DecisionLog* trace, DelayBasedController& law, const auto& identify, Dice& dice) {
    if (dice.once_in(300)) trip = milliseconds(dice.between(10, 400));
    if (dice.once_in(200)) traced<Laws::TakeOver>(trace, law, identify, Bytes(dice.between(0, 200'000)));
    if (dice.once_in(100)) traced<Laws::OnReport>(trace, law, identify, dice.now(), Bytes(dice.between(0, 100'000)));
    if (dice.once_in(50)) traced<Laws::OnResumed>(trace, law, identify, dice.next(dice.once_in(10) ? 12s : 100ms));
    if (dice.once_in(500)) {
      const Rate rate = Rate::bytes_per_second(static_cast<double>(dice.between(0, 5'000'000)));
      traced<Laws::Seed>(trace, law, identify, dice.now(), rate);
    }
    AckSample ack_sample;
    ack_sample.now = dice.next(dice.once_in(200) ? 3s : 8ms);
    ack_sample.delivered = Bytes(dice.between(1, 9000));
    ack_sample.round_trip = dice.once_in(10) ? Duration{} : trip + milliseconds(dice.between(0, 60));
    ack_sample.in_flight = dice.once_in(40) ? Bytes{} : Bytes(dice.between(0, law.window().count()));
    ack_sample.flows = static_cast<std::uint32_t>(dice.between(1, 3));
    ack_sample.window_limited = !dice.once_in(5);
    ack_sample.ack_delay = dice.once_in(3) ? Duration(-1) : milliseconds(dice.between(0, 30));
    ack_sample.cross_traffic = dice.once_in(4) ? Bytes(dice.between(0, 20'000)) : Bytes{};
    ack_sample.control_loop_delay = dice.once_in(2) ? 40ms : 0ms;
    ack_sample.reference_factor = ack_sample.delivered.count() % 3 == 0 ? 0.5 : 1;
    ack_sample.ack_stretch = dice.once_in(4) ? Bytes(dice.between(1, 9000)) : Bytes{};
    ack_sample.uploaded = dice.once_in(3) ? Bytes(dice.between(0, 3000)) : Bytes{};
    ack_sample.lost = dice.once_in(20) ? Bytes(dice.between(0, 9000)) : Bytes{};
    traced<Laws::OnAcknowledged>(trace, law, identify, ack_sample);
  }
};

template <Prediction prediction>
struct SmvsDriver {
  using Laws = RecordedController<Smvs>;
  static SmvsParameters origin() {
    SmvsParameters parameters;
    parameters.prediction = prediction;
    return parameters;
  }
  std::uint64_t arrived = 0;
  std::uint64_t served = 0;

  void step(DecisionLog* trace, Smvs& law, const auto& identify, Dice& dice) {
    if (dice.once_in(300)) traced<Laws::Restart>(trace, law, identify);
    if (dice.once_in(300)) traced<Laws::Seed>(trace, law, identify, Rate::bytes_per_second(2.5e5));
    SmvsObservation seen;
    seen.now = dice.next(10ms);
    arrived += static_cast<std::uint64_t>(dice.between(0, 9000));
    served += static_cast<std::uint64_t>(dice.between(0, static_cast<std::int64_t>(arrived - served)));
    seen.arrived = arrived;
    if (!dice.once_in(10)) seen.served = served;
    seen.queue = Bytes(arrived - served);
    seen.in_flight = Bytes(dice.between(0, 30'000));
    if (dice.once_in(2)) seen.round_trip = milliseconds(dice.between(0, 200));
    seen.reference_factor = dice.once_in(3) ? 0.5 : 1;
    traced<Laws::Step>(trace, law, identify, seen);
  }
};
template <>
struct Driver<Smvs> : SmvsDriver<Prediction::measured> {};

template <>
struct Driver<ReceiveWindowLoop> {
  using Laws = RecordedController<ReceiveWindowLoop>;
  static ReceiveWindowParameters origin() { return {}; }

  void step(DecisionLog* trace, ReceiveWindowLoop& law, const auto& identify, Dice& dice) {
    ReceiveWindowObservation seen;
    seen.buffered = Bytes(dice.between(0, 100'000));
    seen.advertised = Bytes(dice.between(0, 65'535));
    seen.radio_error = OnWire(Bytes(dice.between(-50'000, 50'000)));
    seen.drain = OnWire(Rate::bytes_per_second(static_cast<double>(dice.between(0, 2'000'000))));
    seen.best = OnWire(Rate::bytes_per_second(static_cast<double>(dice.between(0, 8'000'000))));
    seen.server_rtt = milliseconds(dice.between(0, 200));
    seen.framing.sent(Bytes(dice.between(1, 1448)), OnWire(Bytes(1500)));
    traced<Laws::Advance>(trace, law, identify, seen);
  }
};

template <>
struct Driver<NodeBAllowance> {
  using Laws = RecordedController<NodeBAllowance>;
  static Laws::Origin origin() { return {}; }

  void step(DecisionLog* trace, NodeBAllowance& law, const auto& identify, Dice& dice) {
    AllowanceReport report;
    if (dice.once_in(2)) report.allowance = Bytes(dice.between(0, 100'000));
    report.mean_rate = Rate::bytes_per_second(static_cast<double>(dice.between(0, 2'000'000)) / 3);
    report.period = 5ms;
    traced<Laws::OnReport>(trace, law, identify, report);
  }
};

template <>
struct Driver<FlowController> {
  using Laws = RecordedController<FlowController>;
  Bytes sent;
  Bytes left;
  Bytes acked;

  QueueView queue(Dice& dice) const {
    QueueView view;
    view.queue = Bytes(dice.between(0, 60'000));
    view.buffer = Bytes(dice.between(10'000, 60'000));
    view.mean_rate = Rate::bytes_per_second(static_cast<double>(dice.between(1, 1'000'000)) / 7);
    view.best_rate = view.mean_rate * 2;
    view.flows = static_cast<double>(dice.between(10, 40)) / 10;
    view.price = milliseconds(dice.between(0, 60));
    if (dice.once_in(3)) view.advertised = Bytes(dice.between(0, 30'000));
    view.dropped = dice.once_in(20);
    view.counted_share = 1448.0 / 1500;
    return view;
  }
  FlowView flow() const { return {left, left + (sent - left) / 2, sent, 40ms}; }

  void step(DecisionLog* trace, FlowController& law, const auto& identify, Dice& dice) {
    if (dice.once_in(400)) traced<Laws::Seed>(trace, law, identify, Bytes(dice.between(0, 90'000)), queue(dice));
    sent += Bytes(dice.between(0, 3000));
    traced<Laws::OnData>(trace, law, identify, sent);
    left += Bytes(dice.between(0, (sent - left).count()));
    traced<Laws::OnQueue>(trace, law, identify, queue(dice), flow());
    AckView ack;
    ack.now = dice.next(20ms);
    ack.newly = Bytes(dice.between(0, (left - acked).count()));
    acked += ack.newly;
    ack.ack = acked;
    ack.offered = Bytes(200'000);
    ack.limited = !dice.once_in(4);
    ack.in_loss = dice.once_in(60);
    traced<Laws::OnAck>(trace, law, identify, ack, queue(dice), flow());
    const Bytes window = traced<Laws::Window>(trace, law, identify, acked, queue(dice), flow());
    traced<Laws::OnReleased>(trace, law, identify, acked, std::min(window, ack.offered));
  }
};

DecisionLog::Selection all_of_ue() {
  return {ue, {}};
}

/// Lets a law run for a while before anybody looks at it, and then traces it.
template <typename Law>
std::vector<std::string> traced_run(const typename RecordedController<Law>::Origin& origin, unsigned seed,
                                    auto driver) {
  Law law = RecordedController<Law>::make(origin);
  const auto identify = [&] { return ControllerIdentity<typename RecordedController<Law>::Origin>{{ue}, origin}; };
  Dice dice(seed);
  for (std::int64_t i = dice.between(0, 2000); i > 0; --i) driver.step(nullptr, law, identify, dice);
  Recorded recorded;
  DecisionLog trace(recorded, all_of_ue());
  for (int i = 0; i < 200; ++i) driver.step(&trace, law, identify, dice);
  return recorded.lines;
}

constexpr unsigned runs = 20;

template <typename Law>
void expect_the_same_again(const typename RecordedController<Law>::Origin& origin, auto driver) {
  for (unsigned seed = 0; seed < runs; ++seed) {
    const std::vector<std::string> lines = traced_run<Law>(origin, seed, driver);
    const ReplayTotals totals = replayed(lines);
    EXPECT_EQ(totals.differing, 0U) << "seed " << seed;
    EXPECT_EQ(totals.unknown, 0U) << "seed " << seed;
    EXPECT_EQ(totals.decisions, lines.size() - 1) << "seed " << seed;
    EXPECT_EQ(totals.laws, 1U);
  }
}

template <typename Law>
std::uint64_t decided_otherwise(const typename RecordedController<Law>::Origin& origin, auto driver, const char* name,
                                const char* value) {
  return replayed(traced_run<Law>(origin, 1, driver), {{name, value}}).differing;
}

#if __has_builtin(__builtin_clear_padding)
/// Reads into `other` what is written of `one`. Returns true if all their members are equal then.
template <typename T>
bool is_read_back(std::type_identity_t<T> one, T other) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::array<char, DecisionLog::longest_line> room{};
  LineWriter line(room);
  write_value(line, one);
  EXPECT_TRUE(line.fits());
  read_value(nlohmann::json::parse(line.text()), other, FieldPlace{nullptr, "value"});
  __builtin_clear_padding(&one);
  __builtin_clear_padding(&other);
  return std::memcmp(&one, &other, sizeof one) == 0;
}

TEST(DecisionLog, EveryMemberOfAnAckBasedControllerIsReadBack) {
  const DelayBasedParameters origin;
  const auto identify = [&] { return ControllerIdentity<DelayBasedParameters>{{ue}, origin}; };
  const auto driven = [&](unsigned seed) {
    DelayBasedController law(origin);
    Driver<DelayBasedController> driver;
    Dice dice(seed);
    for (std::int64_t i = dice.between(0, 2000); i > 0; --i) driver.step(nullptr, law, identify, dice);
    return law;
  };
  for (unsigned seed = 0; seed < 2 * runs; seed += 2) EXPECT_TRUE(is_read_back(driven(seed), driven(seed + 1))) << seed;
}

TEST(DecisionLog, EveryMemberOfAnArgumentIsReadBack) {
  EXPECT_TRUE(is_read_back({.now = Instant(1s),
                            .delivered = 1_B,
                            .ack_stretch = 2_B,
                            .round_trip = 3ns,
                            .in_flight = 4_B,
                            .flows = 5,
                            .window_limited = true,
                            .ack_delay = 6ns,
                            .cross_traffic = 7_B,
                            .uploaded = 8_B,
                            .control_loop_delay = 9ns,
                            .lost = 10_B,
                            .reference_factor = 0.5},
                           AckSample{}));
  EXPECT_TRUE(is_read_back({.now = Instant(1s),
                            .queue = 1_B,
                            .arrived = 2,
                            .served = 3,
                            .in_flight = 4_B,
                            .round_trip = 5ns,
                            .reference_factor = 0.5},
                           SmvsObservation{}));
  EXPECT_TRUE(is_read_back({.queue = 1_B,
                            .buffer = 2_B,
                            .mean_rate = Rate::bytes_per_second(3),
                            .best_rate = Rate::bytes_per_second(4),
                            .flows = 5,
                            .price = 6ns,
                            .advertised = 7_B,
                            .dropped = true,
                            .counted_share = 0.5},
                           QueueView{}));
  EXPECT_TRUE(is_read_back({.left = 1_B, .arrived = 2_B, .sent = 3_B, .round_trip = 4ns}, FlowView{}));
  EXPECT_TRUE(is_read_back(
      {.now = Instant(1s), .ack = 1_B, .newly = 2_B, .offered = 3_B, .limited = false, .in_loss = true}, AckView{}));
  EXPECT_TRUE(
      is_read_back({.allowance = 1_B, .mean_rate = Rate::bytes_per_second(2), .period = 3ns}, AllowanceReport{}));
}

TEST(DecisionLog, EveryParameterIsReadBack) {
  EXPECT_TRUE(is_read_back({.reference = 1ns,
                            .reference_share = 2,
                            .gain = 3,
                            .memory = 4ns,
                            .ack_aggregation_share = 5,
                            .segment = 6_B,
                            .initial = 7_B,
                            .restart_after_idle = 8ns},
                           DelayBasedParameters{}));
  EXPECT_TRUE(is_read_back({.step = 1ns,
                            .alpha = 2,
                            .delta = 3,
                            .epsilon = 4,
                            .reference = Reference::bytes(5_B),
                            .frame = 6_B,
                            .buffer = 7_B,
                            .one_way_delay = 8ns,
                            .eta_window = 9ns,
                            .boundary_layer = Reference::bytes(10_B),
                            .prediction = Prediction::commanded,
                            .empty_queue = EmptyQueue::follow,
                            .minimum_reference = 11_B,
                            .initial_allowance = 12_B,
                            .restart_after_idle = 13ns},
                           SmvsParameters{}));
  EXPECT_TRUE(is_read_back(
      {.reference = Reference::bytes(1_B), .minimum_reference = 2_B, .frame = 3_B, .initial = 4_B, .maximum = 5_B},
      ReceiveWindowParameters{}));
}
#endif

TEST(DecisionLog, AnAckBasedControllerIsReplayedFromItsFirstState) {
  using Law = DelayBasedController;
  expect_the_same_again<Law>({}, Driver<Law>());
  EXPECT_GT(decided_otherwise<Law>({}, Driver<Law>(), "gain", "1.4"), 0U);
  EXPECT_GT(decided_otherwise<Law>({}, Driver<Law>(), "reference", "\"300ms\""), 0U);
  EXPECT_EQ(decided_otherwise<Law>({}, Driver<Law>(), "gain", "1.25"), 0U);
}

TEST(DecisionLog, SmvsIsReplayedWithEitherPrediction) {
  using Measured = SmvsDriver<Prediction::measured>;
  using Commanded = SmvsDriver<Prediction::commanded>;
  expect_the_same_again<Smvs>(Measured::origin(), Measured());
  expect_the_same_again<Smvs>(Commanded::origin(), Commanded());
  EXPECT_GT(decided_otherwise<Smvs>(Measured::origin(), Measured(), "alpha", "0.8"), 0U);
  EXPECT_GT(decided_otherwise<Smvs>(Measured::origin(), Measured(), "reference", "30ms"), 0U);
}

TEST(DecisionLog, AllowancesOfANodeBAreReplayed) {
  expect_the_same_again<NodeBAllowance>({}, Driver<NodeBAllowance>());
}

TEST(DecisionLog, TheWindowForTheServerIsReplayed) {
  expect_the_same_again<ReceiveWindowLoop>({}, Driver<ReceiveWindowLoop>());
  EXPECT_GT(decided_otherwise<ReceiveWindowLoop>({}, Driver<ReceiveWindowLoop>(), "reference", "90ms"), 0U);
}

TEST(DecisionLog, EveryPerFlowWindowControllerIsReplayed) {
  for (std::size_t i = 0; i < flow_controller_table.size(); ++i) {
    SCOPED_TRACE(flow_controller_table.at(i).word);
    FlowControllerOrigin origin;
    origin.law = static_cast<FlowControllerKind>(i);
    expect_the_same_again<FlowController>(origin, Driver<FlowController>());
  }
}

TEST(DecisionLog, AParameterOfAPerFlowWindowControllerCanBeChanged) {
  FlowControllerOrigin origin;
  origin.law = FlowControllerKind::clamp;
  EXPECT_GT(decided_otherwise<FlowController>(origin, Driver<FlowController>(), "clamp.gain", "2000"), 0U);
  origin.law = FlowControllerKind::fair_share;
  EXPECT_GT(decided_otherwise<FlowController>(origin, Driver<FlowController>(), "fair_share.packet", "700"), 0U);
}

TEST(DecisionLog, TracingDoesNotChangeDecisions) {
  DelayBasedController plain;
  DelayBasedController followed;
  Recorded recorded;
  DecisionLog trace(recorded, all_of_ue());
  const auto identify = [] { return ControllerIdentity<DelayBasedParameters>{{ue}, {}}; };
  Dice for_plain(7);
  Dice for_followed(7);
  Driver<DelayBasedController> one;
  Driver<DelayBasedController> other;
  for (int i = 0; i < 1000; ++i) {
    one.step(nullptr, plain, identify, for_plain);
    other.step(&trace, followed, identify, for_followed);
    ASSERT_EQ(plain.window(), followed.window());
  }
}

TEST(DecisionLog, ResumesFromANewStateAfterLostLines) {
  DelayBasedController law;
  Recorded recorded;
  Dice rooms(3);
  recorded.takes = [&] { return !rooms.once_in(20); };
  DecisionLog trace(recorded, all_of_ue());
  const auto identify = [] { return ControllerIdentity<DelayBasedParameters>{{ue}, {}}; };
  Dice dice(4);
  Driver<DelayBasedController> driver;
  for (int i = 0; i < 2000; ++i) driver.step(&trace, law, identify, dice);

  const ReplayTotals totals = replayed(recorded.lines);
  EXPECT_EQ(totals.differing, 0U);
  EXPECT_EQ(totals.unknown, 0U);
  EXPECT_GT(totals.decisions, 1000U);
  EXPECT_GT(totals.lost, 20U);
  EXPECT_LE(totals.lost, trace.lost());
}

TEST(DecisionLog, TracesConnectionsOfOnePortAndTheControllersOfTheUe) {
  Recorded recorded;
  DecisionLog trace(recorded, {ue, 4000});
  NodeBAllowance of_ue;
  NodeBAllowance wanted;
  NodeBAllowance of_another_port;
  NodeBAllowance of_another_ue;
  const IpAddress server = IpAddress::v4(192, 0, 2, 1);
  const auto notify = [&](NodeBAllowance& law, const ControllerOwner& owner) {
    using Laws = RecordedController<NodeBAllowance>;
    traced<Laws::OnReport>(
        &trace, law,
        [&] {
          return ControllerIdentity<Laws::Origin>{owner, {}};
        },
        AllowanceReport{Bytes(1), Rate(), 5ms});
  };
  notify(of_ue, {ue});
  notify(wanted, {ue, 4000, server, 80});
  notify(of_another_port, {ue, 4001, server, 80});
  notify(of_another_ue, {IpAddress::v4(10, 0, 0, 3)});

  ASSERT_EQ(recorded.lines.size(), 4U);
  EXPECT_EQ(recorded.lines[0],
            R"({"at":0,"of":1,"law":"node-b","event":"state","ue":"10.0.0.2","made_of":{},"state":{}})");
  EXPECT_EQ(recorded.lines[1],
            R"({"at":0,"of":1,"law":"node-b","event":"report",)"
            R"("in":{"report":{"allowance":1,"mean_rate":0,"period":5000000}},"out":{"allowance":1}})");
  EXPECT_THAT(recorded.lines[2], HasSubstr(R"("ue_port":4000,"server":"192.0.2.1","server_port":80)"));
  EXPECT_EQ(replayed(recorded.lines).laws, 2U);
}

TEST(DecisionLog, AControllerThatReplacesAnotherGetsANewNumber) {
  Recorded recorded;
  DecisionLog trace(recorded, all_of_ue());
  const auto identify = [] { return ControllerIdentity<DelayBasedParameters>{{ue}, {}}; };
  using Laws = RecordedController<DelayBasedController>;
  DelayBasedController law;
  traced<Laws::TakeOver>(&trace, law, identify, Bytes(100'000));
  trace.left(&law);
  law = DelayBasedController();
  traced<Laws::TakeOver>(&trace, law, identify, Bytes(50'000));

  const ReplayTotals totals = replayed(recorded.lines);
  EXPECT_EQ(totals.laws, 2U);
  EXPECT_EQ(totals.decisions, 2U);
  EXPECT_EQ(totals.differing, 0U);
}

TEST(DecisionLog, TracesABoundedNumberOfControllers) {
  Recorded recorded;
  DecisionLog trace(recorded, all_of_ue());
  using Laws = RecordedController<NodeBAllowance>;
  std::vector<NodeBAllowance> laws(DecisionLog::max_controllers + 5);
  const auto identify = [] { return ControllerIdentity<Laws::Origin>{{ue}, {}}; };
  for (NodeBAllowance& law : laws) traced<Laws::OnReport>(&trace, law, identify, AllowanceReport{});
  EXPECT_EQ(recorded.lines.size(), 2 * DecisionLog::max_controllers);
  trace.left(&laws.front());
  traced<Laws::OnReport>(&trace, laws.back(), identify, AllowanceReport{});
  EXPECT_EQ(recorded.lines.size(), 2 * DecisionLog::max_controllers + 3);
}

TEST(DecisionLog, ReportsATooLongStateOnce) {
  SmvsParameters parameters = SmvsDriver<Prediction::commanded>::origin();
  parameters.one_way_delay = 4s;  // of which the ring of commands holds four times as many steps
  Smvs law(parameters);
  Recorded recorded;
  DecisionLog trace(recorded, all_of_ue());
  using Laws = RecordedController<Smvs>;
  const auto identify = [&] { return ControllerIdentity<SmvsParameters>{{ue}, parameters}; };
  for (int i = 0; i < 3; ++i) traced<Laws::Restart>(&trace, law, identify);
  ASSERT_EQ(recorded.lines.size(), 1U);
  EXPECT_EQ(recorded.lines.front(), R"({"at":0,"of":1,"law":"smvs","event":"state_too_long"})");
  EXPECT_EQ(replayed(recorded.lines).decisions, 0U);
}

}  // namespace
}  // namespace sluice::control
