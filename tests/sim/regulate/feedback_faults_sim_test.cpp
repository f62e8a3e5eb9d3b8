// Reports that are lost, late, out of order, repeated, played back, forged, from a Node-B that has restarted or whose
// clock jumps: real datagrams between the protocol's own sessions. What must not steer does not, and the rest does
// little.

#include <map>
#include <string>
#include <vector>

#include "control/feedback/session.hpp"
#include "tests/sim/regulate/regulated_network.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using control::feedback::BearerReport;
using control::feedback::Failure;
using proxy::Counter;
using proxy::Intercept;
using proxy::Mode;

struct Faults {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;   ///< share that takes 12 ms longer: two later ones overtake
  Duration late{};      ///< additional delay of every datagram
  double forged = 0;    ///< share after which a forgery follows: the same, its last byte another
  double replayed = 0;  ///< share after which one of a second ago follows
  Instant restart_at = never;
  Instant jump_at = never;  ///< time at which the sender's clock jumps
  Duration jump{};
};

/// The path of a datagram from the reporter to the shard: it is signed, damaged, judged and handed over.
class FaultyFeedback final : public control::feedback::DatagramSink, public emulator::EventTarget {
 public:
  FaultyFeedback(RegulatedNetwork& network, const Faults& faults)
      : network_(network), faults_(faults), random_(emulator::Random::stream(11, "faults")) {
    network.take_reports = [this](std::span<const BearerReport> reports, Instant now) { report(reports, now); };
  }

  void send(std::span<const std::uint8_t> datagram) override {
    const std::vector<std::uint8_t> bytes(datagram.begin(), datagram.end());
    past_.push_back(bytes);
    if (!random_.chance(faults_.loss)) {
      deliver_later(bytes, random_.chance(faults_.reorder) ? Duration(12ms) : Duration{});
      if (random_.chance(faults_.duplicate)) deliver_later(bytes, 1ms);
    }
    if (random_.chance(faults_.forged)) {
      std::vector<std::uint8_t> forged = bytes;
      forged.back() ^= 1U;
      deliver_later(forged, 0ms);
    }
    constexpr std::size_t second = 200;
    if (past_.size() > second && random_.chance(faults_.replayed)) deliver_later(past_[past_.size() - second], 0ms);
  }
  void on_event(std::uint64_t tag, Instant now) override {
    class Handler final : public control::feedback::RecordHandler {
     public:
      std::vector<proxy::ReportArrival> reports;
      void on_report(const control::feedback::Header& header, const BearerReport& report) override {
        reports.push_back({.bearer = report,
                           .sender = header.sender,
                           .epoch = header.epoch,
                           .sequence = header.sequence,
                           .sender_time = header.sender_time,
                           .period = header.period});
      }
      void on_status(const control::feedback::Header&, const control::feedback::BearerStatus&) override {}
    } handler;
    const Failure failure = proxy_.receive(in_flight_.at(tag), handler, {now});
    ++outcomes[failure];
    in_flight_.erase(tag);
    for (const proxy::ReportArrival& arrival : handler.reports) network_.node.shard.on_report(arrival, now);
    network_.node.arm();
  }

  std::map<Failure, std::uint64_t> outcomes;

 private:
  static control::feedback::SessionConfig session(control::feedback::Role role, std::uint64_t epoch) {
    control::feedback::SessionConfig config;
    config.role = role;
    config.sender = role == control::feedback::Role::node_b ? 1 : 2;
    config.epoch = epoch;
    config.keys = {{1, std::vector<std::uint8_t>(32, 0x5c)}};
    config.send_key = 1;
    return config;
  }
  void report(std::span<const BearerReport> reports, Instant now) {
    if (now >= faults_.restart_at) {
      faults_.restart_at = never;
      nodeb_ = control::feedback::Session(session(control::feedback::Role::node_b, 2));
      base_ = reports[0];
    }
    // Counters restart with the epoch.
    BearerReport report = reports[0];
    report.arrived -= base_.arrived;
    report.transmitted -= std::min(base_.transmitted, report.transmitted);
    report.delivered -= base_.delivered;
    report.dropped -= base_.dropped;
    const Duration clock = now.time_since_epoch() + 2h + (now >= faults_.jump_at ? faults_.jump : Duration{});
    nodeb_.send_reports({&report, 1}, clock, 5ms, false, *this);
  }
  void deliver_later(const std::vector<std::uint8_t>& bytes, Duration extra) {
    in_flight_[++next_] = bytes;
    network_.loop.at(network_.loop.now() + 5ms + faults_.late + extra, *this, next_);
  }

  RegulatedNetwork& network_;
  Faults faults_;
  emulator::Random random_;
  control::feedback::Session nodeb_{session(control::feedback::Role::node_b, 1)};
  control::feedback::Session proxy_{session(control::feedback::Role::proxy, 1)};
  BearerReport base_;
  std::vector<std::vector<std::uint8_t>> past_;
  std::map<std::uint64_t, std::vector<std::uint8_t>> in_flight_;
  std::uint64_t next_ = 0;
};

struct Case {
  Mode mode;
  Intercept intercept;
};
const std::vector<Case> cases = {{Mode::smvs, Intercept::split},   {Mode::clamp, Intercept::split},
                                 {Mode::wrd, Intercept::split},    {Mode::gwa_fcfs, Intercept::split},
                                 {Mode::wrb, Intercept::regulate}, {Mode::ack_regulator, Intercept::regulate}};

struct Outcome {
  double goodput = 0;  ///< payload bytes per second
  std::uint64_t transmitted = 0;
  std::uint64_t fallbacks = 0;
  std::uint64_t recoveries = 0;
  std::uint64_t reports = 0;
  std::uint64_t dropped = 0;
  std::map<Failure, std::uint64_t> outcomes;
};

Outcome run(const Case& which, const Faults& faults) {
  proxy::ShardConfig config;
  config.mode = which.mode;
  config.intercept = which.intercept;
  config.smvs.law = proxy::ControllerLocation::proxy;
  config.smvs.parameters.one_way_delay = 20ms;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 8;
  RegulatedWires wires;
  wires.slowest = Rate::bits_per_second(6e6);
  wires.fastest = Rate::bits_per_second(10e6);
  wires.queue.limit = 90'000;
  RegulatedNetwork network(6, config, wires);
  network.node.watched = false;
  FaultyFeedback feedback(network, faults);
  const emulator::BulkClient& download = network.transfer(1'000'000'000, false);
  network.loop.run_until(Instant(20s));
  EXPECT_EQ(download.corrupted(), 0U);
  const proxy::Counters& counters = network.node.shard.counters();
  return {static_cast<double>(download.transferred()) / 20,
          network.cell.queue(0).counters().transmitted_bytes,
          counters[Counter::fallbacks],
          counters[Counter::recoveries],
          counters[Counter::reports],
          network.cell.queue(0).counters().dropped_packets,
          feedback.outcomes};
}

class FeedbackFaults : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const Case& which() const { return cases[GetParam()]; }
  Outcome sound = run(which(), {});
};

TEST_P(FeedbackFaults, ALossOfThirtyPercentIsTolerated) {
  Faults faults;
  faults.loss = 0.3;
  const Outcome outcome = run(which(), faults);
  EXPECT_LT(outcome.reports, 0.75 * static_cast<double>(sound.reports));
  EXPECT_GT(outcome.goodput, 0.95 * sound.goodput);
}

TEST_P(FeedbackFaults, LateReportsAreTolerated) {
  Faults faults;
  faults.late = 25ms;
  EXPECT_GT(run(which(), faults).goodput, 0.85 * sound.goodput);
}

TEST_P(FeedbackFaults, ReorderedReportsAreTolerated) {
  Faults faults;
  faults.reorder = 0.2;
  const Outcome outcome = run(which(), faults);
  EXPECT_GT(outcome.goodput, 0.95 * sound.goodput);
}

TEST_P(FeedbackFaults, DuplicatesAreRefusedAndChangeNothing) {
  Faults faults;
  faults.duplicate = 0.5;
  const Outcome outcome = run(which(), faults);
  EXPECT_GT(outcome.outcomes.at(Failure::replayed), 1000U);
  EXPECT_EQ(outcome.transmitted, sound.transmitted) << "not a byte is sent otherwise";
  EXPECT_EQ(outcome.goodput, sound.goodput);
}

TEST_P(FeedbackFaults, ReplayedReportsAreRefusedAndChangeNothing) {
  Faults faults;
  faults.replayed = 0.5;
  const Outcome outcome = run(which(), faults);
  EXPECT_GT(outcome.outcomes.at(Failure::replayed), 1000U);
  EXPECT_EQ(outcome.transmitted, sound.transmitted);
  EXPECT_EQ(outcome.goodput, sound.goodput);
}

TEST_P(FeedbackFaults, ForgeriesAreRefusedAndChangeNothing) {
  Faults faults;
  faults.forged = 0.5;
  const Outcome outcome = run(which(), faults);
  EXPECT_GT(outcome.outcomes.at(Failure::bad_tag), 1000U);
  EXPECT_EQ(outcome.transmitted, sound.transmitted);
  EXPECT_EQ(outcome.goodput, sound.goodput);
}

TEST_P(FeedbackFaults, ARestartOfTheNodeBIsTolerated) {
  Faults faults;
  faults.restart_at = Instant(8s);
  const Outcome outcome = run(which(), faults);
  EXPECT_EQ(outcome.outcomes.size(), 1U) << "every datagram is believed";
  EXPECT_GT(outcome.goodput, 0.95 * sound.goodput);
}

TEST_P(FeedbackFaults, AJumpOfTheClockIsTolerated) {
  for (const Duration jump : {Duration(1h), Duration(-1h)}) {
    Faults faults;
    faults.jump_at = Instant(8s);
    faults.jump = jump;
    const Outcome outcome = run(which(), faults);
    EXPECT_EQ(outcome.outcomes.size(), 1U);
    EXPECT_GT(outcome.goodput, 0.95 * sound.goodput);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, FeedbackFaults, testing::Range(std::size_t{0}, cases.size()),
                         [](const testing::TestParamInfo<std::size_t>& chosen) {
                           std::string name(to_string(cases[chosen.param].mode));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sluice::test
