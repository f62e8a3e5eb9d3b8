// Tests of the budget of packet buffers and of each connection's demand, which together limit advertised windows.
#include "proxy/engine/flow/buffer_pool_budget.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "proxy/engine/flow/flow.hpp"
#include "proxy/engine/flow/receive_buffer_demand.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {
namespace {

using proxy::BufferPoolBudget;
using proxy::ReceiveBufferDemand;
using proxy::Reservation;
using proxy::ShardLimits;

constexpr Instant start{std::chrono::seconds(10)};

/// A budget over the tests' pool.
struct Budget {
  explicit Budget(const ShardLimits& limits = {})
      : whole(BufferPoolBudget::whole(limits, pool().capacity())), budget(limits, pool()) {
    static_cast<void>(budget.look(start));
  }
  /// The reservation grows as far as it may.
  void grow(Reservation& reservation) {
    budget.reserve(reservation, static_cast<std::uint32_t>(budget.max_quota(Bytes(reservation.bytes)).count()));
  }
  Bytes whole;
  BufferPoolBudget budget;
};

double share(std::uint32_t bytes, Bytes whole) {
  return static_cast<double>(bytes) / static_cast<double>(whole.count());
}

TEST(BufferPoolBudget, ASingleConnectionGetsTwoThirds) {
  Budget b;
  Reservation reservation;
  for (int i = 0; i < 10; ++i) b.grow(reservation);
  EXPECT_NEAR(share(reservation.bytes, b.whole), 2.0 / 3, 0.01);
}

TEST(BufferPoolBudget, ConnectionsThatAllGrowGetEqualShares) {
  Budget b;
  std::vector<Reservation> reservations(20);
  for (int round = 0; round < 200; ++round) {
    for (Reservation& reservation : reservations) b.grow(reservation);
  }
  for (const Reservation& reservation : reservations) EXPECT_NEAR(share(reservation.bytes, b.whole), 1 / 20.5, 0.002);
  EXPECT_GT(b.budget.max_quota({}), b.whole / 100) << "something is left for the next";
}

TEST(BufferPoolBudget, BuffersOfAnEndedConnectionAreFreed) {
  Budget b;
  Reservation reservation;
  const Bytes before = b.budget.max_quota({});
  b.grow(reservation);
  EXPECT_LT(b.budget.max_quota({}), before);
  b.budget.forget(reservation);
  EXPECT_EQ(b.budget.max_quota({}), before);
}

TEST(BufferPoolBudget, IsUpdatedMoreOftenWhenBuffersAreShort) {
  Budget b;
  EXPECT_FALSE(b.budget.is_due(start + std::chrono::microseconds(999)));
  EXPECT_TRUE(b.budget.is_due(start + std::chrono::milliseconds(1)));
  while (!b.budget.is_low()) b.budget.on_taken();
  EXPECT_FALSE(b.budget.is_due(start + std::chrono::microseconds(99)));
  EXPECT_TRUE(b.budget.is_due(start + std::chrono::microseconds(100)));
  b.budget.on_taken();
  EXPECT_TRUE(b.budget.is_due(start + std::chrono::microseconds(100)));
  ASSERT_TRUE(b.budget.look(start + std::chrono::microseconds(100)));
  EXPECT_FALSE(b.budget.is_low()) << "the pool has them all the same";
  EXPECT_FALSE(b.budget.is_due(start + std::chrono::microseconds(1099)));
}

TEST(BufferPoolBudget, ReservationsOfIdleConnectionsExpire) {
  Budget b;
  const Bytes before = b.budget.max_quota({});
  std::vector<Reservation> idle(100'000);
  for (Reservation& reservation : idle) b.budget.reserve(reservation, 64'000);
  EXPECT_LT(b.budget.max_quota({}), Bytes());
  static_cast<void>(b.budget.look(start + std::chrono::seconds(1)));
  EXPECT_LT(b.budget.max_quota({}), Bytes());
  static_cast<void>(b.budget.look(start + std::chrono::milliseconds(2500)));
  EXPECT_EQ(b.budget.max_quota({}), before);
  // One that comes back is counted again, once.
  b.budget.reserve(idle[0], 64'000);
  EXPECT_EQ(b.budget.max_quota({}), before - Bytes(64'000) * 2 / 3 - Bytes(1));
  for (Reservation& reservation : idle) b.budget.forget(reservation);
  EXPECT_EQ(b.budget.max_quota({}), before);
}

TEST(BufferPoolBudget, AWrappedReservationTimeFreesNothingTwice) {
  Budget b;
  const Bytes before = b.budget.max_quota({});
  Reservation old;
  b.budget.reserve(old, 1'000'000);
  static_cast<void>(b.budget.look(start + Duration(std::int64_t{65'536} << 28)));
  b.budget.reserve(old, 0);
  EXPECT_EQ(b.budget.max_quota({}), before);
}

TEST(BufferPoolBudget, AllocatedBuffersReduceTheBudget) {
  ShardLimits limits;
  limits.reserve = 0.25;
  Budget b(limits);
  std::vector<packet::Packet> taken;
  const auto take_until = [&](double used) {
    while (pool().in_use() < used * pool().capacity()) taken.push_back(pool().allocate());
    static Instant at = start;
    static_cast<void>(b.budget.look(at += std::chrono::milliseconds(2)));
  };
  take_until(0.5);
  EXPECT_FALSE(b.budget.is_low());
  take_until(0.70);
  EXPECT_TRUE(b.budget.is_low());
  EXPECT_FALSE(b.budget.is_exhausted());
  take_until(0.76);
  EXPECT_TRUE(b.budget.is_exhausted());
  EXPECT_FALSE(b.budget.reserve_touched());
  take_until(0.90);
  EXPECT_TRUE(b.budget.reserve_touched());
}

TEST(BufferPoolBudget, ShardsThatShareAPoolHaveEqualShares) {
  ShardLimits limits;
  const Bytes alone = BufferPoolBudget::whole(limits, 32'768);
  limits.pool_sharers = 4;
  EXPECT_EQ(BufferPoolBudget::whole(limits, 32'768), alone / 4);
}

TEST(BufferPoolBudget, BuffersOfPortsAreNotReservedForConnections) {
  ShardLimits limits;
  const std::uint32_t kept = pool().capacity() / 2;
  const Bytes without_ports = BufferPoolBudget::whole(limits, pool().capacity());
  limits.port_buffers = kept;
  EXPECT_EQ(BufferPoolBudget::whole(limits, pool().capacity()), BufferPoolBudget::whole({}, pool().capacity() - kept));
  EXPECT_LT(BufferPoolBudget::largest(limits, pool().capacity()), without_ports * 2 / 3 / 2);
  std::vector<packet::Packet> of_ports;
  for (std::uint32_t i = 0; i < kept; ++i) of_ports.push_back(pool().allocate());
  Budget b(limits);
  EXPECT_NEAR(b.budget.used(), 0, 0.01) << "what ports keep is not used by traffic";
  EXPECT_FALSE(b.budget.is_low());
  EXPECT_LE(b.budget.max_quota({}), b.whole * 2 / 3);
  EXPECT_LE(b.budget.max_quota_of_ue({}, {}), b.whole * 2 / 3);
}

TEST(BufferPoolBudget, PortsThatHoldAllBuffersLeaveNoBudget) {
  ShardLimits limits;
  limits.port_buffers = 40'000;
  EXPECT_LE(BufferPoolBudget::whole(limits, 32'768), Bytes(BufferPoolBudget::payload_per_buffer));
}

TEST(Flow, ADistanceOfMoreThanTwoGibibytesIsHandled) {
  proxy::Flow flow;
  flow.initiator = proxy::Side::radio;
  flow.handshake.initiator_isn = tcp::SeqNum(0xffffffff);
  flow.handshake.responder_isn = tcp::SeqNum(999);
  EXPECT_EQ(flow.sent_from(proxy::Side::radio, tcp::SeqNum(3U << 30U)), Bytes(std::int64_t{3} << 30U));
  EXPECT_EQ(flow.sent_from(proxy::Side::core, tcp::SeqNum(1000)), Bytes(0));
  EXPECT_EQ(flow.sent_from(proxy::Side::core, tcp::SeqNum(999)), Bytes(0xffffffff));
}

TEST(ReceiveBufferDemand, StaysAheadOfASenderInSlowStart) {
  ReceiveBufferDemand demand(tcp::SeqNum(0), start);
  std::uint32_t delivered = 0;
  for (std::uint32_t i = 1, sent = 50'000; i <= 6; ++i, sent *= 2) {
    delivered += sent;
    demand.follow(tcp::SeqNum(delivered), std::chrono::milliseconds(100), start + i * std::chrono::milliseconds(100));
    // The data that arrives now was sent an RTT ago; a larger window takes effect in the next one.
    if (i > 1) {
      EXPECT_EQ(demand.bytes(), Bytes(3 * sent));
    }
  }
}

TEST(ReceiveBufferDemand, IsAtMostWhatSlowStartUses) {
  ReceiveBufferDemand demand(tcp::SeqNum(0), start);
  demand.follow(tcp::SeqNum(100'000), std::chrono::milliseconds(100), start + std::chrono::milliseconds(100));
  demand.follow(tcp::SeqNum(1'100'000), std::chrono::milliseconds(100), start + std::chrono::milliseconds(200));
  EXPECT_EQ(demand.bytes(), Bytes(2'000'000 + 2 * 100'000));
}

// Of thousands of connections in a small pool none may keep what it does not need.
TEST(ReceiveBufferDemand, ASlowConnectionReturnsUnusedBuffer) {
  ReceiveBufferDemand demand(tcp::SeqNum(0), start);
  EXPECT_EQ(demand.bytes(), ReceiveBufferDemand::first);
  for (std::uint32_t i = 1; i <= 40; ++i) {
    demand.follow(tcp::SeqNum(i * 2000), std::chrono::milliseconds(20), start + i * std::chrono::milliseconds(20));
  }
  EXPECT_EQ(demand.bytes(), ReceiveBufferDemand::least);
}

TEST(ReceiveBufferDemand, FollowsARisingRateAndFallsSlowly) {
  ReceiveBufferDemand demand(tcp::SeqNum(0), start);
  // 1 Gb/s over 100 ms.
  demand.follow(tcp::SeqNum(12'500'000), std::chrono::milliseconds(100), start + std::chrono::milliseconds(100));
  EXPECT_EQ(demand.bytes(), Bytes(25'000'000));
  demand.follow(tcp::SeqNum(12'500'100), std::chrono::milliseconds(100), start + std::chrono::milliseconds(200));
  EXPECT_EQ(demand.bytes(), Bytes(21'875'000));
  // What comes sooner than a round trip is not looked at.
  demand.follow(tcp::SeqNum(90'000'000), std::chrono::milliseconds(100), start + std::chrono::milliseconds(210));
  EXPECT_EQ(demand.bytes(), Bytes(21'875'000));
}

TEST(ReceiveBufferDemand, MayRiseOnceDeliveredBytesAreOldEnoughToBeMeasured) {
  ReceiveBufferDemand demand(tcp::SeqNum(1000), start);
  EXPECT_FALSE(demand.may_rise(tcp::SeqNum(1000), start + std::chrono::seconds(1)));
  EXPECT_FALSE(demand.may_rise(tcp::SeqNum(5000), start + std::chrono::milliseconds(9)));
  EXPECT_TRUE(demand.may_rise(tcp::SeqNum(5000), start + std::chrono::milliseconds(10)));
  demand.follow(tcp::SeqNum(5000), std::chrono::milliseconds(5), start + std::chrono::milliseconds(10));
  EXPECT_FALSE(demand.may_rise(tcp::SeqNum(5000), start + std::chrono::seconds(1)));
}

}  // namespace
}  // namespace sluice::test
