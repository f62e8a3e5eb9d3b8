// Other policies on a running shard change how a connection is intercepted: frame by frame.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Intercept;
using proxy::Mode;
using proxy::Policies;
using proxy::Side;
using tcp::Flags;

class ShardSwitch : public testing::Test {
 protected:
  /// The policies must outlive their being in force.
  void switch_to(Mode mode, Intercept intercept = Intercept::automatic) {
    proxy::ShardConfig config = shard_config(mode);
    config.intercept = intercept;
    switch_to(config);
  }
  void switch_to(const proxy::ShardConfig& config) {
    lab.shard.apply(policies_.emplace_back(config.policy_set()), lab.now);
  }
  [[nodiscard]] proxy::FlowInfo flow() const {
    std::vector<proxy::FlowInfo> flows;
    lab.shard.describe_flows(flows, 4);
    EXPECT_EQ(flows.size(), 1U);
    return flows.empty() ? proxy::FlowInfo{} : flows[0];
  }
  [[nodiscard]] std::string phase() const { return flow().phase; }
  void data(std::uint32_t offset, std::uint32_t segments) {
    for (std::uint32_t i = 0; i < segments; ++i)
      hosts.server(Flags::ack_bit, offset + i * 1000, 0, std::string(1000, 's'));
  }
  /// A split connection that has carried 3000 bytes and holds none.
  void split_and_rest() {
    hosts.open();
    data(0, 3);
    hosts.ue(Flags::ack_bit, 0, 3000);
    lab.forget_output();
    ASSERT_EQ(phase(), "split");
  }
  /// A connection that passes end to end.
  void open_end_to_end() {
    switch_to(Mode::observe);
    hosts.open();
    ASSERT_EQ(phase(), "observed");
  }
  /// A question and its answer, all acknowledged.
  void speak() {
    hosts.ue(Flags::ack_bit, said, said, std::string(10, 'q'));
    hosts.server(Flags::ack_bit, said, said + 10, std::string(10, 'a'));
    said += 10;
    hosts.ue(Flags::ack_bit, said, said);
  }
  /// The right edge that the last frame towards the server has advertised, from its first byte on.
  std::int64_t edge_told_to_the_server() {
    std::int64_t edge = -1;
    while (const auto seen = lab.next(Side::core)) {
      EXPECT_TRUE(seen->checksum_good);
      const std::uint32_t ack = seen->segment().ack.raw() - hosts.server_isn.raw() - 1;
      edge = ack + (std::int64_t{seen->segment().window} << hosts.options.window_scale);
    }
    return edge;
  }

  ProxyLab lab{shard_config(Mode::i_tcp)};
  ScriptedHosts hosts{lab};
  std::uint32_t said = 0;

 private:
  std::deque<Policies> policies_;
};

TEST_F(ShardSwitch, AnIdleConnectionBecomesEndToEndAtOnce) {
  split_and_rest();
  switch_to(Mode::wrs, Intercept::regulate);
  EXPECT_EQ(phase(), "regulated");
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(lab.count(Counter::released_switch), 1U);
  lab.forget_output();
  data(3000, 1);
  EXPECT_TRUE(lab.silent(Side::core)) << "nothing is acknowledged for the UE any more";
  EXPECT_EQ(lab.next(Side::radio)->payload.size(), 1000U);
  EXPECT_EQ(lab.count(Counter::forward_regulated), 1U);
}

TEST_F(ShardSwitch, OurBytesAreDeliveredFirst) {
  hosts.open();
  data(0, 3);
  switch_to(Mode::bypass);
  EXPECT_EQ(phase(), "handing back");
  EXPECT_EQ(lab.shard.flow_count(), 1U) << "the successor is the same connection";
  lab.forget_output();
  data(3000, 1);
  EXPECT_EQ(lab.next(Side::radio)->payload.size(), 1000U) << "behind the handback point it passes";
  EXPECT_TRUE(lab.silent(Side::core));
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(phase(), "handing back") << "a thousand bytes are ours still";
  hosts.ue(Flags::ack_bit, 0, 4000);
  EXPECT_EQ(phase(), "bypassed");
  EXPECT_EQ(lab.count(Counter::released_switch), 1U);
  hosts.ue(Flags::ack_bit, 0, 4000);
  EXPECT_GT(lab.count(Counter::forward_tracked), 0U);
}

TEST_F(ShardSwitch, TheRightEdgeStaysAndTheWindowOpensGradually) {
  hosts.window = 4000;  // half a megabyte
  hosts.open();
  data(0, 8);
  hosts.ue(Flags::ack_bit, 0, 8000);
  const std::int64_t before = edge_told_to_the_server();
  ASSERT_GT(before, 8000);
  switch_to(Mode::bypass);
  const std::int64_t at_the_switch = std::max(before, edge_told_to_the_server());
  ASSERT_EQ(phase(), "bypassed");
  std::int64_t edge = at_the_switch;
  for (std::uint32_t at = 8000; at < 40'000; at += 1000) {
    data(at, 1);
    hosts.ue(Flags::ack_bit, 0, at + 1000);
    const std::int64_t now = edge_told_to_the_server();
    EXPECT_GE(now, edge) << at;
    EXPECT_LE(now, std::max(edge, at + 1000 + std::int64_t{hosts.window} * 128));
    edge = now;
  }
}

TEST_F(ShardSwitch, ARetransmissionOfTheProxyKeepsTheWindowThatHasPassed) {
  split_and_rest();
  hosts.ue(Flags::ack_bit, 0, 3000, std::string(1000, 'u'));  // the proxy has to deliver it to the server
  switch_to(Mode::observe);
  lab.forget_output();
  hosts.window = 5000;
  hosts.ue(Flags::ack_bit, 1000, 3000);
  const std::int64_t passed = edge_told_to_the_server();
  EXPECT_EQ(passed, 3000 + 5000 * 128);
  lab.pass_time(std::chrono::seconds(3));
  EXPECT_EQ(edge_told_to_the_server(), passed);
}

TEST_F(ShardSwitch, AHandshakeContinuesUnderTheNewInterception) {
  hosts.send_syn();
  hosts.send_syn_ack();
  switch_to(Mode::wrs, Intercept::regulate);
  hosts.ue(Flags::ack_bit, 0, 0);
  EXPECT_EQ(phase(), "regulated");
  EXPECT_EQ(lab.count(Counter::flows_split), 0U);
  EXPECT_EQ(lab.count(Counter::flows_regulated), 1U);
  EXPECT_EQ(lab.shard.bearer_count(), 1U);
}

TEST_F(ShardSwitch, SwitchingBackBeforeTheHandbackChangesNothing) {
  hosts.open();
  data(1000, 1);  // out of order: must not be dropped
  switch_to(Mode::bypass);
  EXPECT_EQ(phase(), "split");
  EXPECT_STREQ(flow().blocker, "reordering");
  switch_to(Mode::i_tcp);
  data(0, 1);
  hosts.ue(Flags::ack_bit, 0, 2000);
  EXPECT_EQ(phase(), "split");
  EXPECT_EQ(lab.count(Counter::released_switch), 0U);
}

TEST_F(ShardSwitch, EndToEndConnectionsNameTheirPhaseAndObstacle) {
  split_and_rest();
  switch_to(Mode::observe);
  EXPECT_EQ(phase(), "observed");
  EXPECT_STREQ(flow().blocker, "");
  switch_to(Mode::i_tcp);
  EXPECT_EQ(phase(), "bypassed");
  EXPECT_STREQ(flow().blocker, "end to end");
  switch_to(Mode::wrs);
  EXPECT_EQ(phase(), "regulated") << "until it can be split its law regulates it";
  EXPECT_STREQ(flow().blocker, "end to end");
}

TEST_F(ShardSwitch, AQuietEndToEndConnectionIsSplitWithItsNextData) {
  open_end_to_end();
  switch_to(Mode::i_tcp);
  data(0, 1);
  hosts.ue(Flags::ack_bit, 0, 0, "asked while an answer is under way");
  EXPECT_EQ(phase(), "bypassed");
  hosts.ue(Flags::ack_bit, 34, 1000);
  hosts.server(Flags::ack_bit, 1000, 34);
  EXPECT_EQ(phase(), "bypassed") << "an acknowledgement is no data";
  lab.forget_output();
  hosts.ue(Flags::ack_bit, 34, 1000, "next");
  EXPECT_EQ(phase(), "split");
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  EXPECT_EQ(lab.count(Counter::flows_split_by_switch), 1U);
  const auto request = lab.next(Side::core);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->payload, "next");
  EXPECT_EQ(request->segment().seq, hosts.ue_isn + 35);
  EXPECT_EQ(request->segment().ack, hosts.server_isn + 1001);
  EXPECT_TRUE(request->checksum_good);
  hosts.server(Flags::ack_bit, 1000, 38, std::string(1000, 's'));
  hosts.server(Flags::ack_bit, 2000, 38, std::string(1000, 's'));
  EXPECT_EQ(lab.next(Side::radio)->segment().ack, hosts.ue_isn + 39);
  const auto ack = lab.next(Side::core);
  ASSERT_TRUE(ack) << "acknowledged here";
  EXPECT_EQ(ack->segment().ack, hosts.server_isn + 3001);
  EXPECT_EQ(lab.shard.counters().received(),
            lab.count(Counter::optimised) + lab.shard.counters().forwarded() + lab.shard.counters().dropped());
}

/// The UE offers a megabyte, of which the law has allowed a tenth. The second loop must not begin with the whole
/// megabyte.
TEST_F(ShardSwitch, SplittingAdvertisesNoMoreThanTheControllerAllowed) {
  switch_to(Mode::wrs, Intercept::regulate);
  hosts.ue_window = 100;
  hosts.open();
  ScriptedReports reports(lab, hosts);
  reports.queue(100'000);
  hosts.ue_window = 8000;
  data(0, 10);
  hosts.ue(Flags::ack_bit, 0, 10'000);
  switch_to(Mode::smvs);
  data(10'000, 1);
  hosts.ue(Flags::ack_bit, 0, 11'000);
  const std::int64_t before = edge_told_to_the_server();
  ASSERT_LT(before, 120'000);
  data(11'000, 2);
  ASSERT_EQ(phase(), "split");
  const std::int64_t after = edge_told_to_the_server();
  EXPECT_GT(after + 128, before) << "the right edge does not move back, but for the rounding of the field";
  EXPECT_LT(after, 120'000);
}

TEST_F(ShardSwitch, AConnectionWithAnUnsplittableOptionStaysEndToEnd) {
  switch_to(Mode::observe);
  hosts.send_syn();
  tcp::Segment answer = hosts.segment(Flags::syn_bit | Flags::ack_bit, hosts.server_isn.raw(), hosts.ue_isn.raw() + 1);
  lab.put(Side::core, hosts.frame(false, answer, "data before its time"));
  hosts.ue(Flags::ack_bit, 0, 20);
  switch_to(Mode::i_tcp);
  for (std::uint32_t at = 20; at < 2000; at += 10) {
    hosts.server(Flags::ack_bit, at, 0, std::string(10, 's'));
    hosts.ue(Flags::ack_bit, 0, at + 10);
  }
  EXPECT_EQ(phase(), "bypassed");
  EXPECT_EQ(lab.count(Counter::flows_split_by_switch), 0U);
}

TEST_F(ShardSwitch, AClosingConnectionIsNotSplit) {
  open_end_to_end();
  switch_to(Mode::i_tcp);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  for (std::uint32_t at = 0; at < 50; at += 10) {
    hosts.ue(Flags::ack_bit, at, 1, std::string(10, 'u'));
    hosts.server(Flags::ack_bit, 1, at + 10);
  }
  EXPECT_EQ(phase(), "bypassed");
}

TEST_F(ShardSwitch, SwitchingBackBeforeTheSplitChangesNothing) {
  open_end_to_end();
  switch_to(Mode::i_tcp);
  speak();
  switch_to(Mode::observe);
  speak();
  speak();
  EXPECT_EQ(phase(), "observed");
  switch_to(Mode::i_tcp);
  speak();
  EXPECT_EQ(phase(), "bypassed") << "both hosts have to be heard first";
  speak();
  EXPECT_EQ(phase(), "split");
}

TEST_F(ShardSwitch, AResetDuringTheHandbackEndsTheConnection) {
  hosts.open();
  data(0, 1);
  switch_to(Mode::bypass);
  ASSERT_EQ(phase(), "handing back");
  hosts.ue(Flags::rst_bit | Flags::ack_bit, 0, 1000);
  lab.pass_time(std::chrono::seconds(1));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.shard.counters().received(),
            lab.count(Counter::optimised) + lab.shard.counters().forwarded() + lab.shard.counters().dropped());
}

/// The UE does not answer for longer than a connection that is closed both ways is remembered.
TEST_F(ShardSwitch, TheTrackedConnectionOutlivesALongHandback) {
  hosts.open();
  data(0, 1);
  switch_to(Mode::bypass);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 1000, 0);
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 0);
  lab.pass_time(std::chrono::seconds(15));
  ASSERT_EQ(phase(), "handing back");
  hosts.ue(Flags::ack_bit, 1, 1001);
  EXPECT_EQ(phase(), "bypassed");
  lab.pass_time(std::chrono::seconds(11));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardSwitch, ANewSynDuringTheHandbackPasses) {
  hosts.open();
  data(0, 1);
  switch_to(Mode::bypass);
  ASSERT_EQ(phase(), "handing back");
  lab.forget_output();
  hosts.ue_isn = tcp::SeqNum(900'000);
  hosts.send_syn();
  EXPECT_TRUE(lab.next(Side::core)->segment().flags.syn()) << "the server judges it";
  EXPECT_EQ(phase(), "handing back");
}

TEST_F(ShardSwitch, AClosedEndToEndConnectionIsForgotten) {
  split_and_rest();
  switch_to(Mode::bypass);
  hosts.ue(Flags::ack_bit | Flags::fin_bit, 0, 3000);
  hosts.server(Flags::ack_bit | Flags::fin_bit, 3000, 1);
  hosts.ue(Flags::ack_bit, 1, 3001);
  lab.pass_time(std::chrono::seconds(11));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

TEST_F(ShardSwitch, ANewConnectionOfTheSameAddressesUsesTheNewMode) {
  split_and_rest();
  switch_to(Mode::bypass);
  ASSERT_EQ(phase(), "bypassed");
  switch_to(Mode::i_tcp);
  hosts.ue_isn = tcp::SeqNum(900'000);
  hosts.server_isn = tcp::SeqNum(77);
  hosts.open();
  EXPECT_EQ(phase(), "split");
}

TEST_F(ShardSwitch, OnlyNewConnectionsUseAChangedTcpConfiguration) {
  constexpr Duration longer = std::chrono::milliseconds(200);
  ScriptedHosts later(lab);
  later.ue_to_server.src_port = 40001;
  proxy::ShardConfig config = shard_config();
  const Duration before = config.tcp.delayed_ack;
  ASSERT_LT(before, longer);
  hosts.open();
  config.tcp.delayed_ack = longer;
  switch_to(config);
  later.open();
  const auto acknowledged_by = [&](const ScriptedHosts& hosts_of) {
    const auto seen = lab.next(Side::core);
    return seen && seen->parsed.src_port == hosts_of.ue_to_server.src_port;
  };
  hosts.server(Flags::ack_bit, 0, 0, "one segment waits for company");
  later.server(Flags::ack_bit, 0, 0, "one segment waits for company");
  lab.forget_output();
  lab.pass_time(before + std::chrono::milliseconds(5));
  EXPECT_TRUE(acknowledged_by(hosts));
  EXPECT_TRUE(lab.silent(Side::core));
  lab.pass_time(longer);
  EXPECT_TRUE(acknowledged_by(later));
}

TEST_F(ShardSwitch, OnlyNewConnectionsUseChangedPacing) {
  hosts.open();
  proxy::ShardConfig config = shard_config();
  config.tcp.congestion = tcp::CongestionAlgorithm::bbr;
  switch_to(config);
  ScriptedHosts later(lab);
  later.ue_to_server.src_port = 40001;
  later.open();
  for (ScriptedHosts* each : {&hosts, &later}) {
    each->server(Flags::ack_bit, 0, 0, std::string(1000, 's'));
    const auto seen = lab.last(Side::radio);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->payload, std::string(1000, 's'));
    each->ue(Flags::ack_bit, 0, 1000);
  }
}

}  // namespace
}  // namespace sluice::test
