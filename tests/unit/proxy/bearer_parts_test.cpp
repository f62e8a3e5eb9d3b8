// Tests of the parts of a bearer: the ring of a UE's bearers, the accepted reports, the controller by its location,
// and the grant. The radio queue is tested as per-flow window controllers see it.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "proxy/engine/base/circular_list_hook.hpp"
#include "proxy/engine/bearer/allowance_controller.hpp"
#include "proxy/engine/bearer/bearer.hpp"
#include "proxy/engine/bearer/radio_queue.hpp"
#include "proxy/engine/bearer/report_sequencer.hpp"
#include "proxy/engine/bearer/send_grant.hpp"
#include "proxy/engine/bearer/short_flow_timer.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using control::feedback::RadioState;

struct Bead : CircularListHook<Bead> {};

std::size_t ring_size(const Bead& entry) {
  std::size_t size = 1;
  for (const Bead* other = &entry.sibling(); other != &entry; other = &other->sibling()) ++size;
  return size;
}

TEST(CircularListHook, JoiningAndLeavingKeepsTheOtherMembers) {
  Bead a;
  Bead b;
  Bead c;
  EXPECT_EQ(&a.sibling(), &a) << "alone at first";
  b.join_ring(a);
  c.join_ring(a);
  EXPECT_EQ(ring_size(a), 3U);
  EXPECT_EQ(ring_size(b), 3U);
  b.leave_ring();
  EXPECT_EQ(ring_size(b), 1U);
  EXPECT_EQ(&a.sibling(), &c);
  EXPECT_EQ(&c.sibling(), &a);
  c.leave_ring();
  EXPECT_EQ(ring_size(a), 1U);
}

TEST(CircularListHook, VisitsEveryOtherMemberOnce) {
  Bead a;
  std::vector<const Bead*> seen;
  const auto see = [&seen](const Bead& other) { seen.push_back(&other); };
  a.for_each_sibling(see);
  EXPECT_TRUE(seen.empty()) << "alone";
  Bead b;
  Bead c;
  b.join_ring(a);
  c.join_ring(a);
  a.for_each_sibling(see);
  EXPECT_EQ(seen, (std::vector<const Bead*>{&c, &b}));
}

TEST(SendGrant, CarriesOverAFractionOfAPacketWhileDataWaits) {
  SendGrant grant;
  grant.give(Bytes(10'000), true);
  grant.spend(Bytes(9'500));
  EXPECT_EQ(grant.left(), Bytes(500));
  grant.give(Bytes(1'000), true);
  EXPECT_EQ(grant.left(), Bytes(1'500));
  EXPECT_EQ(grant.given(), Bytes(1'000));
  grant.give(Bytes(1'000), false);
  EXPECT_EQ(grant.left(), Bytes(1'000)) << "nobody waited for it";
}

TEST(SendGrant, DoesNotCarryOverDebtAndIsNotNegative) {
  SendGrant grant;
  grant.give(Bytes(1'000), true);
  grant.spend(Bytes(1'500));
  grant.give(Bytes(2'000), true);
  EXPECT_EQ(grant.left(), Bytes(2'000));
  grant.give(Bytes(-300), false);
  EXPECT_EQ(grant.given(), Bytes(0));
}

TEST(MissingReportExtrapolator, StepsForLostReportsAreNotTakenTwice) {
  MissingReportExtrapolator extrapolator;
  extrapolator.expect(Instant(100ms));
  extrapolator.extrapolate(25ms);
  extrapolator.extrapolate(25ms);
  extrapolator.extrapolate(25ms);
  EXPECT_EQ(extrapolator.at(), Instant(175ms));
  EXPECT_EQ(extrapolator.take_late(2), 1U) << "two were lost, one was only late";
  EXPECT_EQ(extrapolator.take_late(0), 0U) << "each is told once";
  extrapolator.extrapolate(25ms);
  extrapolator.restart();
  EXPECT_EQ(extrapolator.take_late(0), 0U);
}

/// Reports of a Node-B every 25 ms.
ReportArrival report(std::uint64_t sender, std::uint64_t sequence, RadioState state = RadioState::normal) {
  ReportArrival report;
  report.sender = sender;
  report.epoch = 1;
  report.sequence = sequence;
  report.period = 25ms;
  report.bearer.state = state;
  return report;
}

TEST(ReportSequencer, AnotherNodeBIsAcceptedAfterTheLastReleasedTheUe) {
  ReportSequencer reports(1s);
  EXPECT_TRUE(reports.accepts(report(1, 5), Instant(0s)));
  reports.record(report(1, 5), Instant(0s));
  EXPECT_FALSE(reports.accepts(report(2, 1), Instant(10ms)));
  reports.record(report(1, 6, RadioState::handover), Instant(20ms));
  EXPECT_FALSE(reports.accepts(report(2, 1, RadioState::handover), Instant(21ms))) << "it has not got the UE either";
  EXPECT_TRUE(reports.accepts(report(2, 1), Instant(21ms)));
  EXPECT_TRUE(reports.changes_reporter(report(2, 1)));
  reports.record(report(2, 1), Instant(21ms));
  EXPECT_FALSE(reports.accepts(report(1, 7), Instant(22ms))) << "what the old one sends late";
}

TEST(ReportSequencer, AnotherNodeBIsAcceptedWhenTheLastIsSilent) {
  ReportSequencer reports(1s);
  reports.record(report(1, 5), Instant(0s));
  EXPECT_FALSE(reports.accepts(report(2, 1), Instant(50ms) - Duration(1)));
  EXPECT_TRUE(reports.accepts(report(2, 1), Instant(50ms)));
}

TEST(ReportSequencer, AnOlderReportIsStaleUntilTheSenderRestarts) {
  ReportSequencer reports(20ms);
  EXPECT_FALSE(reports.is_stale(report(1, 5))) << "there was none";
  reports.record(report(1, 5), Instant(0s));
  EXPECT_EQ(reports.last().period, 20ms) << "longer silence is not borne";
  EXPECT_TRUE(reports.is_stale(report(1, 5)));
  EXPECT_TRUE(reports.is_stale(report(1, 4)));
  EXPECT_FALSE(reports.is_stale(report(1, 6)));
  EXPECT_EQ(reports.lost_before(report(1, 9)), 3U);
  ReportArrival restarted = report(1, 1);
  restarted.epoch = 2;
  EXPECT_FALSE(reports.is_stale(restarted));
  EXPECT_TRUE(reports.changes_run(restarted));
  EXPECT_FALSE(reports.changes_reporter(restarted));
  EXPECT_FALSE(reports.changes_run(report(1, 6)));
}

PolicySettings smvs_at(ControllerLocation place) {
  PolicySettings settings;
  settings.mode = Mode::smvs;
  settings.smvs.law = place;
  return settings;
}

TEST(AllowanceController, AtTheNodeBTheAllowanceIsThatOfTheReport) {
  const PolicySettings settings = smvs_at(ControllerLocation::nodeb);
  AllowanceController law(settings);
  ReportArrival brings = report(1, 7);
  brings.bearer.allowance = Bytes(12'345);
  EXPECT_EQ(law.on_report(brings, {}, 25ms), Bytes(12'345));
  EXPECT_EQ(law.applied_sequence(), 7U);
  ReportArrival without = report(1, 8);
  without.bearer.mean_service_rate = Rate::bytes_per_second(1e6);
  EXPECT_EQ(law.on_report(without, {}, 25ms), Bytes(25'000)) << "what the link carries meanwhile";
  EXPECT_EQ(law.applied_sequence(), 7U);
  law.restart();
  EXPECT_EQ(law.applied_sequence(), 0U) << "another Node-B counts anew";
}

TEST(AllowanceController, AtTheProxyTheControllerComputesTheAllowanceAndTheRate) {
  const PolicySettings settings = smvs_at(ControllerLocation::proxy);
  AllowanceController law(settings);
  const Rate reported = Rate::bytes_per_second(3e6);
  EXPECT_EQ(law.mean_rate(reported), reported) << "before its first step";
  ReportArrival measured = report(1, 1);
  measured.bearer.allowance = Bytes(12'345);
  const Bytes granted = law.on_report(measured, {}, 25ms);
  EXPECT_NE(granted, Bytes(12'345)) << "it computes its own";
  EXPECT_EQ(law.applied_sequence(), 0U);
  EXPECT_NE(law.mean_rate(reported), reported);
}

TEST(AllowanceController, WithAckBasedControlEachReportIsAStep) {
  const PolicySettings settings = smvs_at(ControllerLocation::acks);
  AllowanceController law(settings);
  ReportArrival brings = report(1, 7);
  brings.bearer.allowance = Bytes(12'345);
  brings.bearer.queue = Bytes(1);
  Bytes granted;
  for (std::uint64_t i = 0; i < 20; ++i) {
    brings.sender_time += 50ms;
    brings.bearer.arrived += 50'000;
    brings.bearer.transmitted += 50'000;
    granted = law.on_report(brings, {}, 50ms);
  }
  EXPECT_EQ(law.applied_sequence(), 0U) << "the Node-B's allowance is not taken";
  // A megabyte each second, of which 50 ms pass until the next report, and 20 + 50 ms are to wait.
  EXPECT_NEAR(law.mean_rate(Rate()).bytes_per_second(), 1e6, 5e4);
  EXPECT_GE(granted, Bytes(50'000));
}

TEST(AllowanceController, WithAckBasedControlAnyAnnouncedPeriodIsHandled) {
  const PolicySettings settings = smvs_at(ControllerLocation::acks);
  AllowanceController law(settings);
  ReportArrival told = report(1, 1);
  told.bearer.queue = Bytes(1);
  const Duration usual = 5ms;
  for (const Duration period : {Duration(0), Duration(1), Duration(1ms), Duration(60s), Duration(3ms), usual}) {
    for (int i = 0; i < 3; ++i) {
      told.sender_time += 5ms;
      told.bearer.arrived += 5'000;
      told.bearer.transmitted += 5'000;
      EXPECT_GE(law.on_report(told, {}, period), Bytes(0)) << period.count() << " ns";
    }
  }
  EXPECT_GT(law.mean_rate(Rate()), Rate()) << "what was known is kept";
}

TEST(RadioQueue, ReportsShowWhichBytesHaveLeftTheQueue) {
  PolicySettings settings;
  settings.mode = Mode::wrd;
  RadioQueue queue(settings);
  control::feedback::BearerReport told;
  told.arrived = 9'002;
  told.transmitted = 6'000;
  told.buffer = Bytes(40'000);
  told.dropped = 2;
  queue.on_report(told, 10'000, Bytes(1'000), Instant(1s));
  EXPECT_EQ(queue.reports(), 1U);
  EXPECT_EQ(queue.arrived_total(), 9'000U);
  EXPECT_EQ(queue.left_total(), 6'000U);
  EXPECT_EQ(queue.view(Instant(1s)).buffer, Bytes(40'000)) << "the configuration names none";
  EXPECT_FALSE(queue.view(Instant(1s)).dropped) << "before the first report is not now";
  told.arrived = 15'003;
  told.dropped = 3;
  queue.on_report(told, 10'000, Bytes(0), Instant(2s));
  EXPECT_EQ(queue.left_total(), 6'000U) << "what has left does not come back";
  EXPECT_TRUE(queue.view(Instant(2s)).dropped);
  queue.restart(50);
  told.dropped = 50;
  queue.on_report(told, 10'000, Bytes(0), Instant(3s));
  EXPECT_FALSE(queue.view(Instant(3s)).dropped) << "another Node-B's count";
}

TEST(ShortFlowWait, LastsForASecondOrUntilItEnds) {
  ShortFlowTimer wait;
  wait.begin(Instant(10s));
  EXPECT_TRUE(wait.lasts(Instant(10s)));
  EXPECT_TRUE(wait.lasts(Instant(10s + 999ms)));
  EXPECT_FALSE(wait.lasts(Instant(11s + 1ms)));
  wait.begin(Instant(20s));
  wait.end(Instant(20s + 5ms));
  EXPECT_FALSE(wait.lasts(Instant(20s + 5ms)));
}

/// A UE's bearer, and the pools that its parts come from.
struct SmallBearer {
  explicit SmallBearer(ControllerLocation law) {
    settings.mode = Mode::smvs;
    settings.smvs.law = law;
    bearer.emplace(settings, IpAddress::v4(10, 45, 0, 2), pools);
    bearer->id = 0;
  }
  ReportArrival report(Instant now) {
    ReportArrival arrival;
    arrival.bearer.ue = bearer->ue();
    arrival.bearer.queue = Bytes(3'000);
    arrival.bearer.arrived = arrived += 20'000;
    arrival.bearer.transmitted = arrived - 3'000;
    arrival.epoch = 1;
    arrival.sequence = ++sequence;
    arrival.sender_time = now.time_since_epoch();
    arrival.period = 5ms;
    return arrival;
  }

  PolicySettings settings;
  BearerPools pools{4};
  std::optional<Bearer> bearer;
  std::uint64_t arrived = 0;
  std::uint64_t sequence = 0;
};

TEST(BearerPools, AUeThatOnlyOpensConnectionsTakesNoPooledState) {
  for (const ControllerLocation law :
       {ControllerLocation::nodeb, ControllerLocation::proxy, ControllerLocation::acks}) {
    SmallBearer small(law);
    Instant now(100s);
    for (int i = 0; i < 5; ++i) {
      small.bearer->on_sent(now, Bytes(60), Bearer::Traffic::cross);
      now += 1s;
      EXPECT_EQ(small.bearer->on_deadline(now), false);
      static_cast<void>(small.bearer->deadline(now));
      static_cast<void>(small.bearer->allowance(now));
      static_cast<void>(small.bearer->mean_rate());
      EXPECT_EQ(small.bearer->sent().total(), 60U * static_cast<unsigned>(i + 1));
    }
    EXPECT_EQ(small.pools.recent_sends.size(), 0U);
    EXPECT_EQ(small.pools.ack_controllers.size(), 0U);
    EXPECT_EQ(small.pools.report_states.size(), 0U);
    EXPECT_EQ(small.pools.queues.size(), 0U);
  }
}

TEST(BearerPools, ReturnToThePoolWithTheBearer) {
  SmallBearer small(ControllerLocation::acks);
  const Instant now(100s);
  small.bearer->on_sent(now, Bytes(1500));
  small.bearer->on_sent(now + 1ms, Bytes(1500));
  small.bearer->ack_controller().add_flight(Bytes(1500));
  EXPECT_EQ(small.bearer->on_report(small.report(now), now + 2ms), Bearer::Verdict::applied);
  static_cast<void>(small.bearer->queue());
  EXPECT_EQ(small.pools.recent_sends.size() + small.pools.ack_controllers.size(), 2U);
  EXPECT_EQ(small.pools.report_states.size() + small.pools.queues.size(), 2U);
  small.bearer.reset();
  EXPECT_EQ(small.pools.recent_sends.size() + small.pools.ack_controllers.size(), 0U);
  EXPECT_EQ(small.pools.report_states.size() + small.pools.queues.size(), 0U);
}

TEST(BearerPools, TheSendHistoryIsPausedWithoutLosingBytes) {
  SmallBearer rests(ControllerLocation::proxy);
  SmallBearer keeps(ControllerLocation::proxy);
  Instant now(100s);
  const auto send = [&](Bytes bytes) {
    for (SmallBearer* const one : {&rests, &keeps}) one->bearer->on_sent(now, bytes);
  };
  for (int pause = 0; pause < 3; ++pause) {
    for (int i = 0; i < 20; ++i) {
      send(Bytes(1500));
      now += 1ms;
      rests.bearer->sent().release_idle(now, rests.pools.recent_sends);
      EXPECT_EQ(rests.pools.recent_sends.size(), i == 0 ? 0U : 1U) << "needed, as more than one packet is in flight";
    }
    now += 1s;
    rests.bearer->sent().release_idle(now, rests.pools.recent_sends);
    EXPECT_EQ(rests.pools.recent_sends.size(), 0U);
  }
  EXPECT_EQ(keeps.pools.recent_sends.size(), 1U);
  for (int i = 0; i < 50; ++i) {
    send(Bytes(1500));
    now += 5ms;
    EXPECT_EQ(rests.bearer->on_report(rests.report(now), now), Bearer::Verdict::applied);
    EXPECT_EQ(keeps.bearer->on_report(keeps.report(now), now), Bearer::Verdict::applied);
    EXPECT_EQ(rests.bearer->allowance(now), keeps.bearer->allowance(now)) << i;
    EXPECT_EQ(rests.bearer->sent().total(), keeps.bearer->sent().total());
  }
}

}  // namespace
}  // namespace sluice::proxy
