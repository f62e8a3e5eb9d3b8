// How long things take, of treated UEs and of the control group; and how many connections are in which state.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::GroupTimes;
using tcp::Flags;

/// Microseconds that half of the values did not exceed.
std::uint32_t median(const proxy::TimeHistogram& times) {
  return times.counts().percentile(0.5);
}

/// Both groups: all UEs are in the control group, or none is.
class GroupTimesTest : public testing::TestWithParam<bool> {
 protected:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config();
    config.control_group = GetParam() ? 1 : 0;
    return config;
  }
  [[nodiscard]] const GroupTimes& own() const { return lab.shard.times_taken()[GetParam() ? 1 : 0]; }
  [[nodiscard]] const GroupTimes& other() const { return lab.shard.times_taken()[GetParam() ? 0 : 1]; }

 public:
  ProxyLab lab{config()};
  ScriptedHosts hosts{lab};
  ScriptedReports reports{lab, hosts};
};
INSTANTIATE_TEST_SUITE_P(Group, GroupTimesTest, testing::Bool());

TEST_P(GroupTimesTest, RttsAreSampledWhileDataIsInFlight) {
  hosts.send_syn();
  hosts.send_syn_ack();
  lab.pass_time(40ms);
  hosts.ue(Flags::ack_bit, 0, 0);
  lab.shard.sample_flow_stats(100, lab.now);
  EXPECT_EQ(own().rtt.counts().count(), 0U) << "nothing is in flight";
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'x'));
  lab.shard.sample_flow_stats(100, lab.now);
  EXPECT_EQ(own().rtt.counts().count(), 1U);
  EXPECT_NEAR(median(own().rtt), 40'000, 5'000);
  EXPECT_EQ(median(own().relay_sojourn), 0U) << "nothing waits here";
  EXPECT_EQ(other().rtt.counts().count(), 0U);
}

TEST_P(GroupTimesTest, SojournTimesFollowFromTheQueueAndItsRate) {
  hosts.send_syn();
  hosts.send_syn_ack();
  lab.pass_time(40ms);
  hosts.ue(Flags::ack_bit, 0, 0);
  // The first window has room for half of them: the others wait for a round trip.
  for (std::uint32_t i = 0; i < 28; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 'x'));
  lab.shard.sample_flow_stats(100, lab.now);
  EXPECT_NEAR(median(own().relay_sojourn), 40'000, 5'000);
  EXPECT_EQ(other().relay_sojourn.counts().count(), 0U);
}

TEST_P(GroupTimesTest, AConnectionCompletesWithItsLastAck) {
  hosts.open();
  lab.pass_time(300ms);
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 1);
  hosts.ue(Flags::ack_bit, 1, 1);
  lab.pass_time(10s);
  ASSERT_EQ(lab.count(proxy::Counter::flows_closed), 1U);
  EXPECT_EQ(own().flow_completion.counts().count(), 1U);
  EXPECT_NEAR(median(own().flow_completion), 300'000, 5'000);
  EXPECT_EQ(other().flow_completion.counts().count(), 0U);
}

TEST_P(GroupTimesTest, AResetConnectionIsNotComplete) {
  hosts.open();
  hosts.ue(Flags::ack_bit | Flags::rst_bit, 0, 0);
  lab.pass_time(10s);
  EXPECT_EQ(lab.count(proxy::Counter::flows_reset), 1U);
  EXPECT_EQ(own().flow_completion.counts().count(), 0U);
}

TEST_P(GroupTimesTest, TheFeedbackAgeIsTakenWhenTheNextReportArrives) {
  hosts.open();
  reports.queue(100'000);
  EXPECT_EQ(own().feedback_age.counts().count(), 0U);
  lab.pass_time(20ms);
  reports.queue(100'000);
  EXPECT_EQ(own().feedback_age.counts().count(), 1U);
  EXPECT_NEAR(median(own().feedback_age), 20'000, 2'000);
  EXPECT_EQ(other().feedback_age.counts().count(), 0U);
}

TEST(FlowStats, CountsStatesAfterAWholePass) {
  ProxyLab lab(shard_config());
  std::vector<std::unique_ptr<ScriptedHosts>> all;
  for (std::uint16_t port = 40000; port < 40003; ++port) {
    all.push_back(std::make_unique<ScriptedHosts>(lab));
    all.back()->ue_to_server.src_port = port;
    all.back()->open();
  }
  all.push_back(std::make_unique<ScriptedHosts>(lab));
  all.back()->ue_to_server.src_port = 40003;
  all.back()->send_syn();
  all.back()->send_syn_ack();
  lab.shard.sample_flow_stats(3, lab.now);
  EXPECT_EQ(lab.shard.flow_state_counts().split, 0U) << "not all were seen";
  lab.shard.sample_flow_stats(3, lab.now);
  EXPECT_EQ(lab.shard.flow_state_counts().split, 3U);
  EXPECT_EQ(lab.shard.flow_state_counts().handshakes, 1U);
  EXPECT_EQ(lab.shard.flow_state_counts().ungoverned, 1U);
  EXPECT_EQ(lab.shard.flow_state_counts().governed, 0U);
}

TEST(FlowStats, ACallThatVisitsOneFlowAndOneBearerComesToAllOfThem) {
  ProxyLab lab(shard_config());
  ScriptedHosts first(lab);
  ScriptedHosts second(lab);
  second.ue_to_server.src_port = 40001;
  first.open();
  second.open();
  lab.shard.sample_flow_stats(1, lab.now);
  EXPECT_EQ(lab.shard.flow_state_counts().split, 0U) << "one of two was seen";
  lab.shard.sample_flow_stats(1, lab.now);
  EXPECT_EQ(lab.shard.flow_state_counts().split, 2U);
  EXPECT_EQ(lab.shard.flow_state_counts().ungoverned, 1U);
  for (int i = 0; i < 4; ++i) lab.shard.sample_flow_stats(1, lab.now);
  EXPECT_EQ(lab.shard.flow_state_counts().split, 2U) << "each pass counts anew";
  EXPECT_EQ(lab.shard.flow_state_counts().ungoverned, 1U);
}

// Each bearer of a UE records the bytes of all of them, because they share a radio queue.
TEST(FlowStats, TheBytesOfAUeWithTwoPoliciesCountOnce) {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = proxy::ControllerLocation::acks;
  proxy::Policy web;
  web.ports = {{8080, 8080}};
  web.settings = config;
  config.policies = {web};
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  ScriptedHosts other(lab);
  other.ue_to_server.src_port = 40001;
  other.ue_to_server.dst_port = 8080;
  hosts.open();
  other.open();
  for (ScriptedHosts* each : {&hosts, &other}) each->server(Flags::ack_bit, 0, 0, std::string(1000, 's'));
  lab.shard.sample_flow_stats(100, lab.now);
  for (std::uint32_t i = 1; i < 21; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
  lab.pass_time(20ms);
  hosts.ue(Flags::ack_bit, 0, 10'000);
  lab.pass_time(20ms);
  hosts.ue(Flags::ack_bit, 0, 21'000);
  lab.shard.sample_flow_stats(100, lab.now);
  EXPECT_NEAR(static_cast<double>(lab.shard.groups()[0].transmitted), 21.0 * (1000 + 52), 21.0 * 52);
}

TEST(FlowStats, SamplesTheQueuesThatAcknowledgementsKnow) {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = proxy::ControllerLocation::acks;
  ProxyLab lab(config);
  ScriptedHosts hosts(lab);
  hosts.open();
  lab.shard.sample_flow_stats(100, lab.now);
  EXPECT_EQ(lab.shard.groups()[0].samples, 0U) << "nothing is in flight";
  for (std::uint32_t i = 0; i < 60; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
  lab.shard.sample_flow_stats(100, lab.now);
  lab.pass_time(20ms);
  hosts.ue(Flags::ack_bit, 0, 10'000);
  lab.pass_time(20ms);
  hosts.ue(Flags::ack_bit, 0, 20'000);
  lab.shard.sample_flow_stats(100, lab.now);
  const proxy::GroupTotals totals = lab.shard.groups()[0];
  EXPECT_EQ(totals.samples, 2U);
  EXPECT_EQ(totals.reports, 0U);
  EXPECT_NEAR(static_cast<double>(totals.transmitted), 20.0 * (1000 + 52), 20.0 * 52)
      << "IP bytes of what the UE has acknowledged; what is in flight has the headers of full segments";
  EXPECT_EQ(lab.shard.groups()[1].samples, 0U);
  std::vector<proxy::BearerInfo> bearers;
  lab.shard.describe_bearers(bearers, 1);
  ASSERT_EQ(bearers.size(), 1U);
  const proxy::RadioQueueView view = radio_queue_of(bearers[0], lab.now);
  EXPECT_STREQ(view.source, "acknowledgements");
  EXPECT_EQ(view.queue, bearers[0].queue_by_acks);
  EXPECT_TRUE(view.delay.has_value());
}

TEST(RadioQueue, AFreshReportComesBeforeAcknowledgementsAndNothingIsKnownWithoutEither) {
  const Instant now{100s};
  proxy::BearerInfo bearer;
  EXPECT_EQ(radio_queue_of(bearer, now).source, nullptr);
  bearer.queue = Bytes(5000);
  bearer.reported_at = now - 10ms;
  bearer.queue_by_acks = Bytes(1000);
  bearer.measured_by_acks = true;
  EXPECT_STREQ(radio_queue_of(bearer, now).source, "reports");
  EXPECT_EQ(radio_queue_of(bearer, now).delay, std::nullopt) << "no rate is known";
  bearer.mean_rate = Rate::bits_per_second(8e6);
  EXPECT_EQ(radio_queue_of(bearer, now).delay, 5ms);
  EXPECT_STREQ(radio_queue_of(bearer, now + 1s).source, "acknowledgements");
  EXPECT_EQ(radio_queue_of(bearer, now + 1s).delay, 1ms);
  bearer.measured_by_acks = false;
  EXPECT_EQ(radio_queue_of(bearer, now + 1s).source, nullptr) << "the report is too old";
}

TEST(FlowStats, CountsBearersThatAControllerGoverns) {
  proxy::ShardConfig config = shard_config(proxy::Mode::smvs);
  config.smvs.law = proxy::ControllerLocation::acks;
  ProxyLab lab(config);
  ScriptedHosts(lab).open();
  lab.shard.sample_flow_stats(100, lab.now);
  EXPECT_EQ(lab.shard.flow_state_counts().governed, 1U);
  EXPECT_EQ(lab.shard.flow_state_counts().ungoverned, 0U);
}

TEST(TimeHistogram, BoundsTimesThatAreTooLong) {
  proxy::TimeHistogram times;
  times.record(3h);
  times.record(-1s);
  EXPECT_EQ(times.counts().count(), 2U);
  EXPECT_EQ(times.counts().largest(), UINT32_MAX);
  EXPECT_EQ(times.sum(), Duration(3h));
}

}  // namespace
}  // namespace sluice::test
