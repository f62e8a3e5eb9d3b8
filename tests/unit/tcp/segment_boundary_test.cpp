// Boundaries of segments that are moved, so that a peer which acknowledges data before it arrives is found.

#include <algorithm>
#include <set>

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t mss = Script::mss;

/// A sender of full segments that always has some more of them waiting.
class Sender : public Script {
 public:
  explicit Sender(std::uint64_t secret = 1) { config.boundary_secret = secret; }

  /// Sends what the windows allow. Notes the ends of the segments, which must carry the stream in order.
  void send() {
    while (endpoint.unsent() < Bytes(20 * mss)) write_segments(10);
    emit();
    while (sent() > 0) {
      const SentSegment next = wire.next();
      EXPECT_LE(next.segment.payload_len, mss);
      if (next.segment.payload_len == 0) continue;
      EXPECT_EQ(next.segment.seq - our_base, static_cast<std::int32_t>(end)) << "neither reordered nor sent again";
      EXPECT_EQ(next.bytes, stream_bytes(end, next.segment.payload_len));
      end += next.segment.payload_len;
      ends.insert(end);
    }
  }
  /// Acknowledges everything that was sent, `bytes` in all, as an honest peer does.
  void transfer(std::uint32_t bytes) {
    for (const std::uint32_t until = end + bytes; end < until;) {
      send();
      pass(1ms);
      receive_ack(end);
    }
  }
  /// Acknowledges ends of full segments, which an honest peer would do if no boundary was moved.
  void acknowledge_ahead(std::uint32_t bytes) {
    for (const std::uint32_t until = end + bytes; end < until && !endpoint.suspects_optimistic_acks();) {
      send();
      pass(1ms);
      for (std::uint32_t at = acked + mss; at <= end; at += mss) receive_ack(acked = at);
    }
  }
  /// Sends what the windows allow, retransmissions too. Notes the ends of the segments.
  void send_with_losses() {
    while (endpoint.unsent() < Bytes(20 * mss)) write_segments(10);
    emit();
    while (sent() > 0) {
      const SentSegment next = wire.next();
      const auto until = static_cast<std::uint32_t>(next.segment.seq - our_base) + next.segment.payload_len;
      ends.insert(until);
      end = std::max(end, until);
    }
  }
  /// Sends `bytes`, or less if the peer is not trusted any more. If a moved boundary is in flight, the peer first
  /// reports what lies behind the first segment as received out of order. An honest peer reports up to ends of
  /// segments, and another one up to ends of full segments.
  void report_by_sack(std::uint32_t bytes, bool is_honest) {
    for (const std::uint32_t until = end + bytes; end < until && !endpoint.suspects_optimistic_acks();) {
      send_with_losses();
      pass(1ms);
      const std::uint32_t hole = *ends.upper_bound(acked);
      bool is_moved = false;
      for (std::uint32_t at = (hole / mss + 1) * mss; at < end; at += mss) is_moved = is_moved || !ends.contains(at);
      for (std::uint32_t at = hole + 1; at <= end && is_moved; ++at) {
        if (is_honest ? ends.contains(at) : at % mss == 0) receive_sack(acked, {{hole, at}});
      }
      send_with_losses();
      receive_ack(acked = end);
    }
  }
  /// Ends of full segments at which no segment ends.
  [[nodiscard]] std::uint32_t hidden() const {
    std::uint32_t count = 0;
    for (std::uint32_t at = mss; at < end; at += mss) count += ends.contains(at) ? 0U : 1U;
    return count;
  }

  std::uint32_t end = 0;
  std::uint32_t acked = 0;
  std::set<std::uint32_t> ends;
};

TEST(SegmentBoundary, IsMovedNowAndThen) {
  const std::uint32_t buffers = pool().in_use();
  {
    Sender s;
    s.open();
    s.transfer(10'000'000);
    EXPECT_GE(s.hidden(), 20U);
    EXPECT_LE(s.hidden(), 60U) << "at most one in 128 KiB";
    EXPECT_LE(s.ends.size(), 10'100U) << "one segment more for each";
    EXPECT_EQ(s.endpoint.misplaced_acks(), 0);
    EXPECT_EQ(s.endpoint.counters().retransmitted, 0U);
  }
  EXPECT_EQ(pool().in_use(), buffers);
}

TEST(SegmentBoundary, StaysWithoutASecret) {
  Sender s(0);
  s.open();
  s.transfer(200'000'000);
  EXPECT_EQ(s.hidden(), 0U);
}

TEST(SegmentBoundary, DependsOnTheSecret) {
  Sender one(1);
  Sender other(2);
  for (Sender* const s : {&one, &other}) {
    s->open();
    s->transfer(2'000'000);
  }
  EXPECT_NE(one.ends, other.ends);
}

TEST(SegmentBoundary, StaysWithoutABuffer) {
  Sender s;
  s.open();
  s.wire.cuts = 0;
  s.transfer(2'000'000);
  EXPECT_EQ(s.hidden(), 0U);
}

TEST(SegmentBoundary, IsMovedWithinThePeersWindow) {
  Sender s;
  s.open(5 * mss);
  s.transfer(3'000'000);
  EXPECT_GE(s.hidden(), 4U);
}

TEST(SegmentBoundary, StaysWhileLittleIsInFlight) {
  Sender s;
  s.open(2 * mss - 1);
  s.transfer(2'000'000);
  EXPECT_EQ(s.hidden(), 0U);
}

TEST(SegmentBoundary, APeerThatAcknowledgesAheadIsFound) {
  Sender s;
  s.open();
  s.acknowledge_ahead(10'000'000);
  EXPECT_TRUE(s.endpoint.suspects_optimistic_acks());
  EXPECT_FALSE(s.endpoint.on_fast_path());
  EXPECT_EQ(s.endpoint.misplaced_acks(), 16);
  EXPECT_GE(s.end, 16U << 17U) << "each move reveals one acknowledgement";
}

TEST(SegmentBoundary, AcksInsideASegmentOfSuchAPeerAreIgnored) {
  Sender s;
  s.open();
  s.acknowledge_ahead(10'000'000);
  s.receive_ack(s.end);
  const std::uint32_t begin = s.end;
  s.send();
  s.ends.erase(begin);
  ASSERT_GT(s.ends.size(), 2U);
  for (std::uint32_t at = begin + 1; at < s.end; at += 7) {
    if (s.ends.contains(at)) continue;
    s.receive_ack(at);
    ASSERT_EQ(s.endpoint.snd_una() - s.our_base, static_cast<std::int32_t>(begin)) << at;
  }
  EXPECT_GT(s.endpoint.misplaced_acks(), 16);
  const std::uint32_t first = *s.ends.upper_bound(begin);
  s.receive_ack(first);
  EXPECT_EQ(s.endpoint.snd_una() - s.our_base, static_cast<std::int32_t>(first)) << "this one may be honest";
  s.receive_ack(s.end);
  EXPECT_EQ(s.endpoint.unacknowledged(), Bytes(0));
}

TEST(SegmentBoundary, SackBlocksOfAnHonestPeerEndAtBoundaries) {
  Sender s;
  s.use_sack();
  s.open();
  s.report_by_sack(10'000'000, true);
  EXPECT_GT(s.hidden(), 4U);
  EXPECT_EQ(s.endpoint.misplaced_acks(), 0);
}

/// A router on the way may split one segment. Its receiver then repeats the odd block behind the first one.
TEST(SegmentBoundary, AnOddBlockThatIsRepeatedIsNoLie) {
  Sender s;
  s.use_sack();
  s.open();
  s.transfer(100 * mss);
  s.acked = s.end;
  s.send();
  s.send();
  auto at = s.ends.upper_bound(s.acked);
  const std::uint32_t begin = *at;
  const std::uint32_t odd = begin + mss / 2;
  at = std::next(at, 3);
  const std::uint32_t left = *at;
  int acks = 0;
  for (++at; at != s.ends.end(); ++at, ++acks) s.receive_sack(s.acked, {{left, *at}, {begin, odd}});
  EXPECT_GE(acks, 16) << "so many misplaced ACKs would be too many";
  EXPECT_EQ(s.endpoint.misplaced_acks(), 0);
  EXPECT_FALSE(s.endpoint.suspects_optimistic_acks());
}

TEST(SegmentBoundary, APeerThatReportsAheadBySackIsFound) {
  Sender s;
  s.use_sack();
  s.open();
  s.report_by_sack(10'000'000, false);
  ASSERT_TRUE(s.endpoint.suspects_optimistic_acks());
  s.send_with_losses();
  const Bytes in_flight = s.endpoint.in_flight();
  s.receive_sack(s.acked, {{*s.ends.upper_bound(s.acked), s.end}});
  EXPECT_EQ(s.endpoint.in_flight(), in_flight) << "its reports are ignored";
}

/// The peer cannot avoid the check by acknowledgements of every second, or of later segments only.
TEST(SegmentBoundary, AllBoundariesOfSuchAPeerAreMoved) {
  Sender s;
  s.open();
  s.acknowledge_ahead(10'000'000);
  s.receive_ack(s.end);
  s.transfer(50 * mss);
  const std::uint32_t hidden = s.hidden();
  const std::uint32_t end = s.end;
  s.transfer(1000 * mss);
  EXPECT_GE(s.hidden() - hidden, (s.end - end) / mss * 17 / 20);
}

TEST(SegmentBoundary, AnAckAtTheEdgeOfTheWindowIsNoLie) {
  Sender s;
  s.open(3 * mss);
  s.send();
  s.set_peer_window(2 * mss + 500);
  s.receive_ack(0);  // the window shrinks, so the peer keeps a part of the last segment
  s.receive_ack(2 * mss + 500);
  EXPECT_EQ(s.endpoint.misplaced_acks(), 0);
  s.send();
  s.receive_ack(2 * mss + 600);
  EXPECT_EQ(s.endpoint.misplaced_acks(), 1);
}

TEST(SegmentBoundary, TheNextConnectionIsTrusted) {
  Sender s;
  s.open();
  s.acknowledge_ahead(10'000'000);
  ASSERT_TRUE(s.endpoint.suspects_optimistic_acks());
  s.open();
  EXPECT_EQ(s.endpoint.misplaced_acks(), 0);
  EXPECT_FALSE(s.endpoint.suspects_optimistic_acks());
}

}  // namespace
}  // namespace sluice::test
