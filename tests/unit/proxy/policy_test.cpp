// Which settings a connection gets, and what a running shard makes of other settings.

#include "proxy/engine/policy/policy.hpp"

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::ConnectionView;
using proxy::Counter;
using proxy::Mode;
using proxy::Policies;
using proxy::Policy;
using proxy::Side;
using tcp::Flags;

ConnectionView connection() {
  return {IpAddress::v4(10, 45, 0, 2), IpAddress::v4(198, 51, 100, 7), 443, 46};
}

TEST(Policies, AnEmptyPolicyMatchesEverything) {
  EXPECT_TRUE(Policy{}.matches(connection()));
}

TEST(Policies, EveryConditionMustMatch) {
  Policy policy;
  policy.ue = {*IpPrefix::parse("10.45.0.0/16")};
  policy.server = {*IpPrefix::parse("198.51.100.0/24")};
  policy.ports = {{80, 80}, {440, 450}};
  policy.dscp = {0, 46};
  EXPECT_TRUE(policy.matches(connection()));
  ConnectionView other = connection();
  other.ue = IpAddress::v4(10, 46, 0, 2);
  EXPECT_FALSE(policy.matches(other));
  other = connection();
  other.server = IpAddress::v4(198, 51, 101, 7);
  EXPECT_FALSE(policy.matches(other));
  other = connection();
  other.server_port = 451;
  EXPECT_FALSE(policy.matches(other));
  other = connection();
  other.dscp = 10;
  EXPECT_FALSE(policy.matches(other));
}

TEST(Policies, TheFirstMatchingPolicyApplies) {
  Policies policies;
  policies.list.resize(3);
  policies.list[0].ports = {{80, 80}};
  policies.list[1].ports = {{443, 443}};
  EXPECT_EQ(policies.choose(connection()), 1U);
  ConnectionView other = connection();
  other.server_port = 22;
  EXPECT_EQ(policies.choose(other), 2U);
  policies.list.pop_back();
  EXPECT_EQ(policies.choose(other), 2U) << "the default";
  EXPECT_EQ(&policies.settings(2), &policies.otherwise);
}

TEST(Policies, TheControlGroupIsAShareOfTheUes) {
  Policies policies;
  policies.control_group = 0.1;
  int chosen = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const auto low = static_cast<std::uint8_t>(i);
    const auto high = static_cast<std::uint8_t>(i >> 8U);
    chosen += policies.in_control_group(IpAddress::v4(10, 45, high, low)) ? 1 : 0;
  }
  EXPECT_NEAR(chosen, 2000, 200);
  policies.control_group = 0;
  EXPECT_FALSE(policies.in_control_group(connection().ue));
  policies.control_group = 1;
  EXPECT_TRUE(policies.in_control_group(connection().ue));
}

constexpr Duration period = ScriptedReports::period;
constexpr std::int64_t packet = 1052;

class ShardPolicies : public testing::Test {
 protected:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = shard_config(Mode::wrs);
    config.tcp.initial_window_segments = 100;
    Policy web;
    web.ports = {{8080, 8080}};
    web.settings = config;
    web.settings.mode = Mode::bypass;
    Policy bulk;
    bulk.ports = {{9000, 9999}};
    bulk.settings = config;
    bulk.settings.laws.buffer = Bytes(3 * packet);
    config.policies = {web, bulk};
    return config;
  }
  void report(std::int64_t buffer, std::optional<std::int64_t> allowance = std::nullopt) {
    proxy::ReportArrival arrival = reports.next();
    arrival.bearer.buffer = Bytes(buffer);
    if (allowance) arrival.bearer.allowance = Bytes(*allowance);
    reports.send(arrival);
  }
  static int packets(ProxyLab& lab) {
    int count = 0;
    while (const auto seen = lab.next(Side::radio)) count += seen->payload.empty() ? 0 : 1;
    return count;
  }
  static void offer(ScriptedHosts& hosts, std::uint32_t segments) {
    for (std::uint32_t i = 0; i < segments; ++i) hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
  }

  ProxyLab lab{config()};
  ScriptedHosts hosts{lab};
  ScriptedReports reports{lab, hosts};
};

TEST_F(ShardPolicies, ConnectionsOfAUeUnderOnePolicyShareABearer) {
  ScriptedHosts second(lab);
  second.ue_to_server.src_port = 40001;
  ScriptedHosts third(lab);
  third.ue_to_server.src_port = 40002;
  hosts.open();
  second.open();
  third.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 3U);
  EXPECT_EQ(lab.shard.bearer_count(), 1U);
}

TEST_F(ShardPolicies, EachConnectionGetsTheSettingsOfItsPolicy) {
  ScriptedHosts bulk(lab);
  bulk.ue_to_server.dst_port = 9001;
  ScriptedHosts web(lab);
  web.ue_to_server.dst_port = 8080;
  hosts.open();
  bulk.open();
  web.open();
  EXPECT_EQ(lab.count(Counter::flows_split), 2U);
  EXPECT_GE(lab.count(Counter::forward_bypass_mode), 1U);
  EXPECT_EQ(lab.shard.bearer_count(), 2U) << "one for each policy of the UE";
  report(8 * packet);
  offer(hosts, 20);
  EXPECT_EQ(packets(lab), 8);
  offer(bulk, 20);
  EXPECT_EQ(packets(lab), 3);
}

TEST_F(ShardPolicies, AUeWithSeveralPoliciesHasOneStatus) {
  ScriptedHosts bulk(lab);
  bulk.ue_to_server.dst_port = 9001;
  hosts.open();
  bulk.open();
  std::vector<control::feedback::BearerStatus> statuses;
  lab.shard.collect_status(statuses, true);
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].active_flows, 2U);
}

TEST_F(ShardPolicies, ASwitchMovesARunningConnectionToTheNewController) {
  hosts.open();
  report(8 * packet);
  offer(hosts, 30);
  ASSERT_EQ(packets(lab), 8);
  Policies next;
  next.otherwise = config();
  next.otherwise.mode = Mode::smvs;
  lab.shard.apply(next, lab.now);
  EXPECT_EQ(lab.shard.bearer_count(), 1U);
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  packets(lab);
  lab.pass_time(period);
  report(8 * packet, 0);
  packets(lab);
  report(8 * packet, 2 * packet);
  EXPECT_EQ(packets(lab), 2) << "the allowance, and no window";
  Policies last;
  last.otherwise = config();
  last.otherwise.mode = Mode::i_tcp;
  lab.shard.apply(last, lab.now);
  EXPECT_GT(packets(lab), 0) << "congestion control goes on from the measured rate";
  EXPECT_EQ(lab.count(Counter::policies_applied), 2U);
}

TEST_F(ShardPolicies, TheControlGroupIsNotSteered) {
  Policies next = config().policy_set();
  next.control_group = 1;
  lab.shard.apply(next, lab.now);
  hosts.open();
  report(3 * packet);
  offer(hosts, 20);
  EXPECT_EQ(packets(lab), 20);
  EXPECT_EQ(lab.shard.groups()[1].reports, 1U);
  EXPECT_EQ(lab.shard.groups()[0].reports, 0U);
}

}  // namespace
}  // namespace sluice::test
