// Tests of short flows beside long flows of the same UE: their share of the window, and the lower queue reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proxy/engine/rate_control/budget_sharing.hpp"
#include "tests/unit/proxy/shard_acks.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Side;
using tcp::Flags;

proxy::ShardConfig short_flow_config() {
  proxy::ShardConfig config = acks_config();
  config.smvs.short_flow = Bytes(30 * on_wire);
  return config;
}

class ShardAcksShortFlows : public ShardAcks {
 protected:
  ShardAcksShortFlows() : ShardAcks(short_flow_config()) {}
  /// The first flow has sent 14 + 28 segments and is no longer short. The counts are the segments that each flow sends
  /// after the first flow's ACK.
  struct Parts {
    std::int64_t long_flow = 0;
    std::int64_t short_flow = 0;
  };
  Parts share_with(std::uint32_t offered_by_the_other) {
    hosts.open();
    offer(hosts, offered, 60);
    acknowledge(data_sent());
    const std::int64_t in_flight = data_sent();
    offer(hosts, offered, 30);
    other.ue_to_server.src_port = 40001;
    other.open();
    std::uint32_t of_other = 0;
    offer(other, of_other, offered_by_the_other);
    EXPECT_EQ(data_sent(), 0) << "the window is full";
    acknowledge(in_flight);
    Parts parts;
    while (const auto seen = lab.next(Side::radio)) {
      if (!seen->payload.empty()) ++(seen->parsed.dst_port == 40001 ? parts.short_flow : parts.long_flow);
    }
    return parts;
  }
  ScriptedHosts other{lab};

 private:
  void acknowledge(std::int64_t bytes) {
    lab.pass_time(20ms);
    acked_ += static_cast<std::uint32_t>(bytes / on_wire * segment_size);
    hosts.ue(Flags::ack_bit, 0, acked_);
  }
  std::uint32_t acked_ = 0;
};

TEST_F(ShardAcksShortFlows, GetFourFifthsWhileLongFlowsWait) {
  const Parts parts = share_with(60);
  const double all = static_cast<double>(parts.short_flow + parts.long_flow);
  EXPECT_GT(all, 50);
  EXPECT_NEAR(static_cast<double>(parts.short_flow) / all, 0.8, 0.05);
}

TEST_F(ShardAcksShortFlows, LeaveUnusedBudgetToLongFlows) {
  const Parts parts = share_with(3);
  EXPECT_EQ(parts.short_flow, 3);
  EXPECT_GT(parts.long_flow, 30) << "all that it had";
}

/// A download of ten segments per RTT over 20 ms there and back, which is no longer short.
class ShardAcksShortFlowPriority : public ShardAcks {
 protected:
  static constexpr Duration trip = 20ms;
  explicit ShardAcksShortFlowPriority(const proxy::ShardConfig& config = short_flow_config()) : ShardAcks(config) {
    hosts.options.timestamps = false;
    other.options.timestamps = false;
    other.ue_to_server.src_port = 40001;
    hosts.open();
    go_on(60);
  }
  /// Runs `trips` RTTs with two segments always in flight.
  void go_on(int trips) {
    for (int i = 0; i < trips; ++i) {
      lab.pass_time(trip);
      receive();
      if (received_ > 2 * segment_size) hosts.ue(Flags::ack_bit, 0, received_ - 2 * segment_size);
      if (of_other_ > acknowledged_) other.ue(Flags::ack_bit, 0, acknowledged_ = of_other_);
      offer(hosts, offered, 10);
    }
  }
  /// Returns the bytes that may be in flight to the UE.
  std::int64_t window() {
    std::vector<proxy::BearerInfo> bearers;
    lab.shard.describe_bearers(bearers, 1);
    return bearers.at(0).window.value().count();
  }
  /// Half of the reference of 10 ms, at the gain of 1.25 and the rate of the download.
  [[nodiscard]] static std::int64_t half() { return 10 * (segment_size + 40) * 5 / 20 * 5 / 4; }
  /// Opens a connection without dropping the frames of the download.
  void open(ScriptedHosts& newcomer) {
    receive();
    newcomer.open();
  }
  /// Delivers `segments` segments for the other connection.
  void serve_other(std::uint32_t segments) { offer(other, of_other_, segments); }

  ScriptedHosts other{lab};

 private:
  void receive() {
    while (const auto seen = lab.next(Side::radio)) {
      if (seen->payload.empty() || seen->parsed.dst_port != 40000) continue;
      const auto size = static_cast<std::uint32_t>(seen->payload.size());
      received_ = std::max(received_, seen->segment().seq.raw() + size - (hosts.server_isn.raw() + 1));
    }
  }
  std::uint32_t received_ = 0;  ///< data of the server, bytes
  std::uint32_t of_other_ = 0;
  std::uint32_t acknowledged_ = 0;
};

TEST_F(ShardAcksShortFlowPriority, ASynHalvesTheReferenceForASecond) {
  const std::int64_t before = window();
  other.send_syn();
  go_on(1);
  EXPECT_NEAR(static_cast<double>(before - window()), static_cast<double>(half()), 200);
  go_on(40);
  EXPECT_NEAR(static_cast<double>(before - window()), static_cast<double>(half()), 200);
  go_on(12);
  EXPECT_EQ(window(), before) << "nobody has answered";
}

TEST_F(ShardAcksShortFlowPriority, ASynFromTheServerSideChangesNothing) {
  const std::int64_t before = window();
  lab.put(Side::core, other.frame(false, other.segment(Flags::syn_bit, 1, 0)));
  go_on(1);
  EXPECT_EQ(window(), before);
}

TEST_F(ShardAcksShortFlowPriority, LastsWhileAShortFlowIsActive) {
  const std::int64_t before = window();
  open(other);
  for (int i = 0; i < 4; ++i) {
    go_on(25);
    serve_other(1);
    EXPECT_NEAR(static_cast<double>(before - window()), static_cast<double>(half()), 400) << i;
  }
  go_on(52);
  EXPECT_GE(window(), before) << "it has rested for a second";
}

TEST_F(ShardAcksShortFlowPriority, EndsWhenTheFlowIsNoLongerShort) {
  const std::int64_t before = window();
  open(other);
  go_on(1);
  EXPECT_LT(window(), before - half() / 2);
  for (int i = 0; i < 10; ++i) {
    serve_other(3);
    go_on(1);
  }
  go_on(1);
  EXPECT_GT(window(), before - half() / 2) << "at once";
}

TEST_F(ShardAcksShortFlowPriority, EndsWithTheFlow) {
  const std::int64_t before = window();
  open(other);
  go_on(1);
  EXPECT_LT(window(), before - half() / 2);
  other.ue(Flags::rst_bit, 0, 0);
  other.server(Flags::rst_bit, 0, 0);
  go_on(1);
  constexpr double reset = 52;  // the server's reset, which is cross traffic after the flow has ended
  EXPECT_NEAR(static_cast<double>(window()), static_cast<double>(before), reset) << "at once";
}

TEST_F(ShardAcksShortFlowPriority, EndsWithTheLastOfSeveralFlows) {
  const std::int64_t before = window();
  open(other);
  ScriptedHosts third{lab};
  third.ue_to_server.src_port = 40002;
  open(third);
  third.ue(Flags::rst_bit, 0, 0);
  third.server(Flags::rst_bit, 0, 0);
  go_on(1);
  EXPECT_LT(window(), before - half() / 2);
}

/// Flows are short up to half a megabyte, and the download has sent less.
class ShardAcksOnlyShortFlows : public ShardAcksShortFlowPriority {
 protected:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = acks_config();
    config.smvs.short_flow = Bytes(1'000'000);
    return config;
  }
  ShardAcksOnlyShortFlows() : ShardAcksShortFlowPriority(config()) {}
};

TEST_F(ShardAcksOnlyShortFlows, DoNotReduceTheReference) {
  const std::int64_t before = window();
  open(other);
  go_on(1);
  EXPECT_EQ(window(), before);
}

class ShardAcksFullReference : public ShardAcksShortFlowPriority {
 protected:
  static proxy::ShardConfig config() {
    proxy::ShardConfig config = short_flow_config();
    config.smvs.short_flow_reference = 1;
    return config;
  }
  ShardAcksFullReference() : ShardAcksShortFlowPriority(config()) {}
};

TEST_F(ShardAcksFullReference, AShortFlowDoesNotReduceIt) {
  const std::int64_t before = window();
  open(other);
  go_on(1);
  EXPECT_EQ(window(), before);
}

TEST(WindowShare, IsEqualForFlowsOfOneKind) {
  const Bytes window(100'000);
  EXPECT_EQ(proxy::part_of(window, 4, 0, false), Bytes(25'000));
  EXPECT_EQ(proxy::part_of(window, 4, 4, true), Bytes(25'000));
  EXPECT_EQ(proxy::part_of(window, 1, 0, false), window);
}

TEST(WindowShare, IsLargerForShortFlowsAndSumsToTheWindow) {
  const Bytes window(100'000);
  for (std::uint32_t waiting = 2; waiting <= 50; ++waiting) {
    for (std::uint32_t short_flows = 1; short_flows < waiting; ++short_flows) {
      const Bytes theirs = proxy::part_of(window, waiting, short_flows, true);
      const Bytes others = proxy::part_of(window, waiting, short_flows, false);
      EXPECT_GE(theirs + Bytes(1), others);
      EXPECT_GT(others, Bytes{});
      EXPECT_NEAR(static_cast<double>((theirs * short_flows + others * (waiting - short_flows)).count()), 100'000,
                  waiting);
    }
  }
  EXPECT_EQ(proxy::part_of(window, 2, 1, true), Bytes(80'000));
  EXPECT_EQ(proxy::part_of(window, 16, 15, true), Bytes(6'250)) << "an even part is more than four fifths";
}

}  // namespace
}  // namespace sluice::test
