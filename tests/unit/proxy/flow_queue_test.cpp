// Tests of the queue of a UE's cross traffic: fairness among flows, priority of flows that send little, drops and marks
// of CoDel, and the ledger of bytes in flight.

#include "proxy/engine/bearer/flow_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/parse.hpp"
#include "proxy/engine/bearer/delivery_ledger.hpp"
#include "tests/support/eal.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

constexpr CodelParameters codel{50ms, 200ms};

/// A queue, and the time of a test.
class FlowQueueTest : public testing::Test {
 protected:
  /// Pushes a datagram of `bytes` IP bytes, whose IP header has these ECN bits.
  void push(std::uint32_t slot, std::uint16_t bytes, std::uint8_t ecn = 0, bool keep = false) {
    constexpr std::uint16_t headers = 28;
    constexpr std::array<std::uint8_t, 6> from{2, 0, 0, 0, 0, 2};
    constexpr std::array<std::uint8_t, 6> to{2, 0, 0, 0, 0, 1};
    packet::Packet packet = test::pool().allocate();
    packet.append(static_cast<std::uint16_t>(bytes - headers));
    packet::HeaderTemplate header = packet::make_template(from, to, 4);
    header.tos = ecn;
    packet::write_udp_headers(packet, header, {IpAddress::v4(198, 51, 100, 7), IpAddress::v4(10, 45, 0, 2), 443, 50000},
                              1);
    queue.push(std::move(packet), {slot, bytes, 14, keep, ++serial}, now);
  }
  /// Pops the next packet as CoDel decides.
  FlowQueue::Popped pop() { return queue.pop(codel, now); }

  FlowQueue queue;
  Instant now{10s};
  std::uint16_t serial = 0;
};

TEST_F(FlowQueueTest, PacketsOfOneFlowKeepTheirOrder) {
  for (int i = 0; i < 5; ++i) push(7, 1000);
  for (std::uint16_t i = 1; i <= 5; ++i) EXPECT_EQ(pop().about.reason, i);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), Bytes{});
  EXPECT_EQ(queue.flows(), 0U);
}

TEST_F(FlowQueueTest, AHeldFlowWaitsWhileTheOthersGoOn) {
  for (int i = 0; i < 5; ++i) push(7, 1000);
  queue.hold(7);
  EXPECT_FALSE(queue.any_ready());
  for (int i = 0; i < 5; ++i) push(8, 1000);
  push(7, 1000);
  EXPECT_EQ(queue.ready_flows(), 1U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pop().about.slot, 8U);
  EXPECT_FALSE(queue.any_ready());
  EXPECT_EQ(queue.packets(), 6U);
}

TEST_F(FlowQueueTest, AReleasedFlowGoesOnInOrder) {
  for (int i = 0; i < 3; ++i) push(7, 1000);
  queue.hold(7);
  push(7, 1000);
  queue.release();
  for (std::uint16_t i = 1; i <= 4; ++i) EXPECT_EQ(pop().about.reason, i);
  EXPECT_TRUE(queue.empty());
}

TEST_F(FlowQueueTest, AHoldOfAnotherFlowReleasesTheFirstOne) {
  push(7, 1000);
  push(8, 1000);
  queue.hold(7);
  queue.hold(8);
  EXPECT_EQ(pop().about.slot, 7U);
  EXPECT_FALSE(queue.any_ready());
}

TEST_F(FlowQueueTest, AFlowThatIsHeldBeforeItSendsIsHeld) {
  queue.hold(7);
  EXPECT_FALSE(queue.any_ready());
  push(7, 1000);
  EXPECT_FALSE(queue.any_ready());
  queue.release();
  EXPECT_EQ(pop().about.slot, 7U);
}

TEST_F(FlowQueueTest, FlowsGetEqualBytesWhateverTheirPacketsHave) {
  for (int i = 0; i < 100; ++i) push(1, 1500);
  for (int i = 0; i < 600; ++i) push(2, 250);
  std::map<std::uint32_t, std::int64_t> bytes;
  for (int i = 0; i < 200; ++i) {
    const FlowQueue::Popped popped = pop();
    bytes[popped.about.slot] += popped.about.bytes;
  }
  EXPECT_NEAR(static_cast<double>(bytes[1]), static_cast<double>(bytes[2]), 1500);
  while (!queue.empty()) pop();
}

TEST_F(FlowQueueTest, AFlowThatSendsLittleGoesFirst) {
  for (int i = 0; i < 20; ++i) push(1, 1500);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pop().about.slot, 1U);
  push(2, 100);
  EXPECT_TRUE(queue.next_is_sparse());
  EXPECT_EQ(pop().about.slot, 2U);
  EXPECT_FALSE(queue.next_is_sparse());
  while (!queue.empty()) pop();
}

TEST_F(FlowQueueTest, AFlowThatComesBackWithinARoundIsNotNew) {
  for (int i = 0; i < 20; ++i) push(1, 1500);
  pop();
  push(2, 1400);
  EXPECT_EQ(pop().about.slot, 2U);
  pop();  // the empty flow is moved behind the others
  push(2, 1400);
  EXPECT_FALSE(queue.next_is_sparse());
  while (!queue.empty()) pop();
}

TEST_F(FlowQueueTest, AFlowThatAlwaysSendsLittleStaysSparse) {
  for (int i = 0; i < 100; ++i, now += 100ms) {
    push(2, 60);
    EXPECT_TRUE(queue.next_is_sparse()) << i;
    EXPECT_EQ(pop().about.slot, 2U);
  }
}

// Nothing is popped while the window is full, so the round does not end.
TEST_F(FlowQueueTest, AFlowThatSendsLittleDoesNotWaitForTheRoundOfAFullWindow) {
  for (int i = 0; i < 20; ++i) push(1, 1500);
  pop();
  push(2, 60);
  EXPECT_EQ(pop().about.slot, 2U);
  EXPECT_FALSE(queue.next_is_sparse());  // the empty flow is moved behind the other one
  now += 100ms;
  push(2, 60);
  EXPECT_TRUE(queue.next_is_sparse());
  EXPECT_EQ(pop().about.slot, 2U);
  while (!queue.empty()) pop();
}

// Otherwise many flows that send little could leave nothing of a slow link to the others.
TEST_F(FlowQueueTest, FewFlowsBecomeSparseAgainInTheSameTime) {
  for (int i = 0; i < 60; ++i) push(1, 1500);
  pop();
  for (std::uint32_t slot = 2; slot < 22; ++slot) push(slot, 60);
  while (queue.next_is_sparse()) pop();
  now += 100ms;
  for (std::uint32_t slot = 2; slot < 22; ++slot) push(slot, 60);
  int sparse = 0;
  for (; queue.next_is_sparse(); ++sparse) pop();
  EXPECT_EQ(sparse, 2);
  while (!queue.empty()) pop();
}

TEST_F(FlowQueueTest, AStandingQueueLosesPacketsMoreAndMoreOften) {
  std::array<int, 2> halves{};
  for (int i = 0; i < 40; ++i) push(1, 1500);
  for (int i = 0; i < 400; ++i) {
    now += 10ms;
    push(1, 1500);
    const FlowQueue::Popped popped = pop();
    if (!popped.dropped) continue;
    ++halves.at(i < 200 ? 0 : 1);
    push(1, 1500);
  }
  EXPECT_GT(halves[0], 2);
  EXPECT_GT(halves[1], halves[0]);
  while (!queue.empty()) pop();
}

TEST_F(FlowQueueTest, AShortQueueLosesNothing) {
  for (int i = 0; i < 400; ++i) {
    push(1, 1500);
    now += 49ms;
    EXPECT_FALSE(pop().dropped);
  }
}

TEST_F(FlowQueueTest, TheLastPacketIsNeverDropped) {
  for (int i = 0; i < 20; ++i) {
    push(1, 1500);
    now += 2s;
    EXPECT_FALSE(pop().dropped);
  }
}

TEST_F(FlowQueueTest, APacketToBeKeptIsNotDropped) {
  for (int i = 0; i < 200; ++i) push(1, 1500, 0, true);
  while (!queue.empty()) {
    now += 20ms;
    EXPECT_FALSE(pop().dropped);
  }
}

TEST_F(FlowQueueTest, EcnCapablePacketsAreMarkedInsteadOfDropped) {
  constexpr std::uint8_t ect0 = 2;
  for (int i = 0; i < 200; ++i) push(1, 1500, ect0);
  int marked = 0;
  while (!queue.empty()) {
    now += 20ms;
    const FlowQueue::Popped popped = pop();
    EXPECT_FALSE(popped.dropped);
    packet::Parsed parsed;
    EXPECT_EQ(packet::parse(popped.packet, parsed), packet::ParseResult::udp) << "the header checksum is wrong";
    EXPECT_EQ(parsed.tos & 3, popped.marked ? 3 : 2);
    marked += popped.marked ? 1 : 0;
  }
  EXPECT_GT(marked, 3);
  EXPECT_LT(marked, 150);
}

TEST_F(FlowQueueTest, PacketsOfScalableSendersAreMarkedAfterFiveMilliseconds) {
  constexpr std::uint8_t ect1 = 1;
  for (int i = 0; i < 2; ++i) push(1, 1500, ect1);
  now += 4ms;
  EXPECT_FALSE(pop().marked);
  now += 2ms;
  EXPECT_TRUE(pop().marked);
}

TEST_F(FlowQueueTest, SumsAndOrderHoldWhateverIsDrawn) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::map<std::uint32_t, std::deque<std::uint16_t>> expected;
    std::int64_t bytes = 0;
    const auto check = [&](const FlowQueue::Popped& popped) {
      auto& flow = expected[popped.about.slot];
      ASSERT_FALSE(flow.empty());
      EXPECT_EQ(popped.about.reason, flow.front());
      flow.pop_front();
      bytes -= popped.about.bytes;
    };
    for (int step = 0; step < 3000; ++step) {
      now += Duration(std::chrono::microseconds(random() % 3000));
      if (random() % 2 == 0) {
        const auto size = static_cast<std::uint16_t>(28 + random() % 1473);
        const auto slot = static_cast<std::uint32_t>(random() % 5 * 9);
        push(slot, size, static_cast<std::uint8_t>(random() % 4), random() % 8 == 0);
        expected[slot % FlowQueue::slots].push_back(serial);
        bytes += size;
      } else if (!queue.empty()) {
        const Bytes next = queue.next_bytes();
        const FlowQueue::Popped popped = random() % 9 == 0 ? queue.pop_untested() : pop();
        EXPECT_EQ(next, Bytes(popped.about.bytes));
        check(popped);
      }
      EXPECT_EQ(queue.bytes(), Bytes(bytes));
    }
    while (!queue.empty()) check(pop());
    EXPECT_EQ(queue.flows(), 0U);
  }
}

TEST(DeliveryLedger, ReturnsWhatWasSentUpToAnInstant) {
  DeliveryLedger ledger;
  ledger.add(Instant{10ms}, Bytes(100));
  ledger.add(Instant{20ms}, Bytes(200));
  ledger.add(Instant{30ms}, Bytes(300));
  EXPECT_EQ(ledger.take_until(Instant{9ms}), Bytes(0));
  EXPECT_EQ(ledger.take_until(Instant{20ms}), Bytes(300));
  EXPECT_EQ(ledger.total(), Bytes(300));
  EXPECT_EQ(ledger.oldest(), Instant{30ms});
  EXPECT_EQ(ledger.clear(), Bytes(300));
  EXPECT_EQ(ledger.total(), Bytes(0));
}

TEST(DeliveryLedger, NothingCountsAsDeliveredBeforeItWasSent) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    DeliveryLedger ledger;
    std::vector<std::pair<Instant, std::int64_t>> sent;
    std::int64_t taken = 0;
    Instant now{};
    Instant until{};
    for (int step = 0; step < 5000; ++step) {
      now += Duration(std::chrono::microseconds(random() % 2000));
      sent.emplace_back(now, 1 + random() % 1500);
      ledger.add(now, Bytes(sent.back().second));
      if (random() % 20 != 0) continue;
      until = std::max(until, now - Duration(std::chrono::milliseconds(random() % 600)));
      taken += ledger.take_until(until).count();
      std::int64_t before = 0;
      std::int64_t long_before = 0;
      for (const auto& [at, bytes] : sent) {
        if (at <= until) before += bytes;
        if (at <= until - 100ms) long_before += bytes;
      }
      EXPECT_LE(taken, before) << "bytes count that were sent later";
      EXPECT_GE(taken, long_before) << "bytes are kept for much longer than an entry covers";
    }
  }
}

}  // namespace
}  // namespace sluice::proxy
