// Tests of the end of the program: split connections end at once, and no host waits for bytes that are lost.

#include <gtest/gtest.h>

#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using proxy::Counter;
using proxy::Side;
using tcp::Flags;

class ShardStop : public ScriptedShard {
 protected:
  void stop() {
    lab.shard.abort_all();
    lab.shard.advance(lab.now);
  }
  /// The next frame on that side is a reset with this number, counted from the first byte of data.
  void expect_reset(Side out, std::uint32_t offset) {
    const std::uint32_t first = (out == Side::radio ? hosts.server_isn : hosts.ue_isn).raw() + 1;
    const auto seen = lab.next(out);
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->segment().flags.rst());
    EXPECT_TRUE(seen->checksum_good);
    EXPECT_EQ(seen->segment().seq.raw(), first + offset);
  }
  void expect_passes(bool from_ue, std::uint8_t flags, std::uint32_t seq, std::uint32_t ack) {
    const std::uint64_t before = lab.shard.counters().forwarded();
    if (from_ue) {
      hosts.ue(flags, seq, ack);
    } else {
      hosts.server(flags, seq, ack);
    }
    EXPECT_EQ(lab.shard.counters().forwarded(), before + 1);
    EXPECT_FALSE(lab.silent(from_ue ? Side::core : Side::radio));
    EXPECT_TRUE(lab.silent(from_ue ? Side::radio : Side::core));
    lab.forget_output();
  }
};

TEST_F(ShardStop, AConnectionWithAcknowledgedBytesIsResetOnBothSides) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));  // the second one is acknowledged at once
  lab.forget_output();
  stop();
  expect_reset(Side::core, 0);
  expect_reset(Side::radio, 2000);  // what the UE expects behind all that is on its way to it
  EXPECT_TRUE(lab.silent(Side::core) && lab.silent(Side::radio));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_reset_by_stop), 1U);
  expect_passes(false, Flags::ack_bit, 2000, 0);
  expect_passes(true, Flags::ack_bit, 0, 500);
}

TEST_F(ShardStop, AConnectionWithBytesForAClosedWindowIsReset) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue_window = 0;
  hosts.ue(Flags::ack_bit, 0, 1000);
  hosts.server(Flags::ack_bit, 1000, 0, std::string(1000, 'b'));
  hosts.server(Flags::ack_bit, 2000, 0, std::string(1000, 'c'));
  lab.forget_output();
  stop();
  expect_reset(Side::core, 0);
  expect_reset(Side::radio, 1000);
  EXPECT_TRUE(lab.silent(Side::radio)) << "nothing has left that might have arrived";
  EXPECT_EQ(lab.count(Counter::flows_reset_by_stop), 1U);
}

TEST_F(ShardStop, AConnectionWithAFinThatOnlyWeAcknowledgedIsReset) {
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  lab.forget_output();
  stop();
  expect_reset(Side::core, 0);
  EXPECT_EQ(lab.count(Counter::flows_reset_by_stop), 1U);
}

TEST_F(ShardStop, AConnectionWithoutBytesContinues) {
  hosts.open();
  hosts.server(Flags::ack_bit, 0, 0, std::string(1000, 'a'));
  hosts.ue(Flags::ack_bit, 0, 1000);
  lab.pass_time(std::chrono::seconds(1));
  hosts.server(Flags::ack_bit, 1000, 0, "not acknowledged by anybody: its sender repeats it");
  lab.forget_output();
  stop();
  EXPECT_TRUE(lab.silent(Side::core) && lab.silent(Side::radio));
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_reset_by_stop), 0U);
  EXPECT_EQ(lab.count(Counter::released_drain), 1U);
  expect_passes(false, Flags::ack_bit, 1000, 0);
}

TEST_F(ShardStop, HandshakesAndLaterConnectionsPass) {
  hosts.send_syn();
  lab.forget_output();
  stop();
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  hosts.send_syn();
  EXPECT_EQ(lab.count(Counter::forward_draining), 1U);
}

TEST_F(ShardStop, ResetsWaitForABuffer) {
  hosts.open();
  hosts.server(Flags::ack_bit | Flags::fin_bit, 0, 0);
  lab.forget_output();
  std::vector<packet::Packet> taken;
  while (packet::Packet packet = pool().allocate()) taken.push_back(std::move(packet));
  stop();
  EXPECT_TRUE(lab.shard.scan_in_progress());
  EXPECT_EQ(lab.shard.flow_count(), 1U);
  taken.clear();
  lab.shard.advance(lab.now);
  EXPECT_FALSE(lab.shard.scan_in_progress());
  expect_reset(Side::core, 0);
  EXPECT_EQ(lab.shard.flow_count(), 0U);
  EXPECT_EQ(lab.count(Counter::flows_reset_by_stop), 1U);
}

}  // namespace
}  // namespace sluice::test
