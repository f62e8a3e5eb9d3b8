// Tests of a radio that stalls without losses: the retransmission timer expires, and no window should be reduced for
// it.
#include <gtest/gtest.h>

#include <tuple>

#include "tests/sim/tcp/connection.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

constexpr Duration round_trip = milliseconds(100);

struct Kind {
  milliseconds stall;
  bool timestamps;
  bool sack;
  tcp::CongestionAlgorithm algorithm;
  bool allowance;
};

std::string name(const testing::TestParamInfo<Kind>& info) {
  const Kind& kind = info.param;
  return std::to_string(kind.stall.count()) + "ms" + (kind.timestamps ? "Timestamps" : "") + (kind.sack ? "Sack" : "") +
         (kind.algorithm == tcp::CongestionAlgorithm::cubic ? "Cubic" : "NewReno") +
         (kind.allowance ? "Allowance" : "");
}

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const int stall : {300, 700, 1500}) {
    for (int i = 0; i < 16; ++i) {
      const auto algorithm = (i & 4) != 0 ? tcp::CongestionAlgorithm::cubic : tcp::CongestionAlgorithm::newreno;
      all.push_back({milliseconds(stall), (i & 1) != 0, (i & 2) != 0, algorithm, (i & 8) != 0});
    }
  }
  return all;
}

Scenario download(const Kind& kind) {
  Scenario scenario;
  scenario.seed = 1;
  scenario.options_a = {.mss = 1460,
                        .window_scale = 7,
                        .has_window_scale = true,
                        .sack_permitted = kind.sack,
                        .timestamps = kind.timestamps};
  scenario.options_b = scenario.options_a;
  scenario.config.congestion = kind.algorithm;
  scenario.config.time_wait = std::chrono::minutes(5);
  scenario.a.to_send = 600'000;
  scenario.allowance = kind.allowance;
  scenario.a_to_b.delay = scenario.b_to_a.delay = round_trip / 2;
  scenario.a_to_b.spacing = std::chrono::microseconds(500);
  return scenario;
}

/// What a stall did to the sender.
struct Outcome {
  Bytes cwnd_before, ssthresh_before;  ///< the timeout, or all that was ever reached without one
  std::uint32_t timeouts = 0;
  Instant first_ack = never;  ///< after the timeout
  Instant restored = never;   ///< both windows are no smaller than before
  Duration rto_then{};        ///< when they were
};

Outcome watch(Connection& connection) {
  Outcome outcome;
  tcp::SeqNum una;
  while (connection.advance()) {
    const tcp::Endpoint& a = connection.a();
    if (a.counters().timeouts == 0) {
      outcome.cwnd_before = a.cwnd();
      outcome.ssthresh_before = a.ssthresh();
      una = a.snd_una();
      continue;
    }
    if (outcome.first_ack == never && a.snd_una() != una) outcome.first_ack = connection.now();
    if (outcome.first_ack == never || outcome.restored != never) continue;
    if (a.cwnd() < outcome.cwnd_before || a.ssthresh() < outcome.ssthresh_before || a.in_recovery()) continue;
    outcome.restored = connection.now();
    outcome.rto_then = a.rto();
  }
  outcome.timeouts = connection.a().counters().timeouts;
  return outcome;
}

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.stall.count() << " ms";
}

class Stall : public testing::TestWithParam<Kind> {};

TEST_P(Stall, CostsAtMostTwoRetransmissionsAndNoWindow) {
  Scenario scenario = download(GetParam());
  scenario.a_to_b.stall_at = milliseconds(360);
  scenario.a_to_b.stall_for = GetParam().stall;
  if (GetParam().stall < milliseconds(400)) scenario.config.min_rto = milliseconds(100);  // else it passes unnoticed
  Connection connection(scenario);
  const Outcome outcome = watch(connection);
  EXPECT_EQ(connection.received_by_b(), scenario.a.to_send);
  EXPECT_GE(outcome.timeouts + connection.a().counters().tail_probes, 1U) << "else nothing is tested";
  const std::uint32_t repeated = connection.a().counters().retransmitted;
  EXPECT_LE(repeated, 2U);
  if (outcome.timeouts != 0) {
    ASSERT_NE(outcome.restored, never);
    EXPECT_LE(outcome.restored - outcome.first_ack, round_trip);
  }
  EXPECT_EQ(connection.a().counters().fast_recoveries, 0) << "the copies' acknowledgements are no loss";
  RecordProperty("repeated", std::to_string(repeated));
  RecordProperty("restored_us", std::to_string((outcome.restored - outcome.first_ack).count() / 1000));
}
INSTANTIATE_TEST_SUITE_P(Kinds, Stall, testing::ValuesIn(kinds()), name);

class LostWindow : public testing::TestWithParam<Kind> {};

TEST_P(LostWindow, ALostWindowIsRetransmittedAndNothingIsUndone) {
  Scenario scenario = download(GetParam());
  scenario.a_to_b.spacing = {};
  scenario.a_to_b.drop_first_data = 0x3ffffULL << 10;  // nearly all of the second round
  Connection connection(scenario);
  const Outcome outcome = watch(connection);
  EXPECT_EQ(connection.received_by_b(), scenario.a.to_send);
  EXPECT_EQ(outcome.timeouts, GetParam().sack ? 0U : 1U) << "a tail loss probe tells with SACK";
  EXPECT_GE(connection.a().counters().retransmitted, 18U);
  EXPECT_LE(connection.a().counters().retransmitted, 22U) << "the round had no more";
  if (GetParam().allowance) return;
  EXPECT_LT(connection.a().ssthresh(), Bytes(UINT32_MAX));
}
INSTANTIATE_TEST_SUITE_P(Kinds, LostWindow, testing::ValuesIn([] {
                           std::vector<Kind> all = kinds();
                           all.resize(8);  // one stall's, under congestion control
                           return all;
                         }()),
                         name);

}  // namespace
}  // namespace sluice::test
