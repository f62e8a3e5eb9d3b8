// Records of connections that end, for export: what they contain, and which ends have one.

#include "proxy/engine/flow_table/connection_records.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::ConnectionRecord;
using proxy::Mode;
using proxy::Side;
using tcp::Flags;

class Sink final : public proxy::ConnectionSink {
 public:
  void on_end(const ConnectionRecord& record) override { records.push_back(record); }
  std::vector<ConnectionRecord> records;
};

constexpr std::size_t radio = 0;
constexpr std::size_t core = 1;
constexpr std::uint64_t headers = 20 + 32;

struct Recorded {
  explicit Recorded(Mode mode) : lab(config_of(mode)) { lab.shard.record_connections(sink); }
  static proxy::ShardConfig config_of(Mode mode) {
    proxy::ShardConfig config = shard_config(mode);
    config.smvs.law = proxy::ControllerLocation::acks;
    return config;
  }
  /// A request of 100 bytes and an answer of 3000, all acknowledged.
  void talk() {
    hosts.open();
    lab.pass_time(10ms);
    hosts.ue(Flags::ack_bit, 0, 0, std::string(100, 'q'));
    for (std::uint32_t at = 0; at < 3000; at += 1000) hosts.server(Flags::ack_bit, at, 100, std::string(1000, 's'));
    lab.pass_time(10ms);
    hosts.ue(Flags::ack_bit, 100, 3000);
  }

  Sink sink;
  ProxyLab lab;
  ScriptedHosts hosts{lab};
};

TEST(ConnectionRecords, ASplitConnectionThatAHostResetsHasOneRecord) {
  Recorded run(Mode::i_tcp);
  const Instant before = run.lab.now;
  run.talk();
  EXPECT_TRUE(run.sink.records.empty());
  run.hosts.ue(Flags::rst_bit, 100, 0);
  ASSERT_EQ(run.sink.records.size(), 1U);
  const ConnectionRecord& record = run.sink.records[0];
  EXPECT_STREQ(record.handling, "split");
  EXPECT_STREQ(record.reason, "reset_relayed");
  EXPECT_EQ(record.initiator, Side::radio);
  EXPECT_EQ(record.key.ue, run.hosts.ue_to_server.src);
  EXPECT_EQ(record.key.server_port, run.hosts.ue_to_server.dst_port);
  EXPECT_EQ(record.packets[core], 3U);
  EXPECT_EQ(record.bytes[core], 3 * (headers + 1000));
  EXPECT_GE(record.bytes[radio], 100 + 3 * headers);
  EXPECT_EQ(record.first, before);
  EXPECT_EQ(record.last, before + 20ms);
}

TEST(ConnectionRecords, AConnectionThatPassesEndToEndHasOneAndCountsRepeats) {
  Recorded run(Mode::observe);
  run.talk();
  run.hosts.server(Flags::ack_bit, 2000, 100, std::string(1000, 's'));
  run.hosts.ue(Flags::rst_bit, 100, 0);
  ASSERT_EQ(run.sink.records.size(), 1U);
  const ConnectionRecord& record = run.sink.records[0];
  EXPECT_STREQ(record.handling, "end to end");
  EXPECT_STREQ(record.reason, "reset");
  EXPECT_EQ(record.packets[core], 5U) << "the SYN-ACK and four with data";
  EXPECT_EQ(record.retransmissions[radio], 1U);
  EXPECT_EQ(record.retransmissions[core], 0U);
}

TEST(ConnectionRecords, RoundTripsOfBothLegsAreThoseOfTheHandshakeIfNothingElseIsKnown) {
  Recorded run(Mode::wrs);
  run.hosts.send_syn();
  run.lab.pass_time(20ms);
  run.hosts.send_syn_ack();
  run.lab.pass_time(30ms);
  run.hosts.ue(Flags::ack_bit, 0, 0);
  run.hosts.ue(Flags::rst_bit, 0, 0);
  ASSERT_EQ(run.sink.records.size(), 1U);
  EXPECT_NEAR(to_seconds(run.sink.records[0].rtt[core]), 0.02, 1e-5);
  EXPECT_NEAR(to_seconds(run.sink.records[0].rtt[radio]), 0.03, 1e-5);
  EXPECT_EQ(run.sink.records[0].queueing_delay, Duration::zero()) << "unknown";
}

TEST(ConnectionRecords, UnderTheAckBasedControllerTheQueueingDelayIsThatOfItsRoundTrips) {
  for (const Mode mode : {Mode::observe, Mode::smvs}) {
    SCOPED_TRACE(std::string(to_string(mode)));
    Recorded run(mode);
    run.hosts.open();
    for (std::uint32_t i = 0; i < 60; ++i) {
      run.hosts.server(Flags::ack_bit, i * 1000, 0, std::string(1000, 's'));
      run.lab.pass_time(i == 0 ? 20ms : 50ms);
      run.hosts.ue(Flags::ack_bit, 0, (i + 1) * 1000);
    }
    run.hosts.ue(Flags::rst_bit, 0, 60'000);
    ASSERT_EQ(run.sink.records.size(), 1U);
    EXPECT_NEAR(to_seconds(run.sink.records[0].rtt[radio]), 0.05, 0.005);
    EXPECT_NEAR(to_seconds(run.sink.records[0].queueing_delay), 0.03, 0.005);
  }
}

TEST(ConnectionRecords, AReleaseEndsTheRecordAndAHandshakeHasNone) {
  Recorded run(Mode::i_tcp);
  run.hosts.send_syn();
  run.hosts.send_syn_ack();
  run.lab.pass_time(80s);
  EXPECT_TRUE(run.sink.records.empty()) << "the handshake led nowhere";
  run.talk();
  run.lab.shard.release({}, run.lab.now);
  run.lab.pass_time(1s);
  ASSERT_EQ(run.sink.records.size(), 1U);
  EXPECT_STREQ(run.sink.records[0].reason, "released_command");
}

TEST(ConnectionRecords, NothingIsCountedWithoutASink) {
  ProxyLab lab(shard_config(Mode::i_tcp));
  ScriptedHosts hosts(lab);
  hosts.open();
  hosts.ue(Flags::rst_bit, 0, 0);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
}

}  // namespace
}  // namespace sluice::test
