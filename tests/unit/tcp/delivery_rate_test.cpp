// Tests of delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation).
#include "dataplane/tcp/delivery_rate.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

using tcp::DeliveryRate;
using tcp::RateSample;

/// Segments of 1000 bytes and a clock in ticks of 1.024 us, so that everything can be worked out by hand.
class RateSamples : public testing::Test {
 protected:
  static Instant at(std::int64_t ticks) { return Instant(1h) + Duration(ticks << 10); }

  void send(std::uint32_t number, std::int64_t ticks, bool idle = false, std::uint32_t in_flight = 0) {
    packet::PacketNote& note = notes[number];
    note.seq = number * 1000;
    note.payload_len = 1000;
    rate.on_sent(note, at(ticks), in_flight, idle);
    note.sent = at(ticks);
    ++note.transmissions;
  }
  void deliver(std::uint32_t number) { rate.on_delivered(notes.at(number)); }
  RateSample take(std::int64_t ticks, std::int64_t min_rtt = 1) {
    return rate.take(at(ticks), Duration(min_rtt << 10));
  }

  DeliveryRate rate;
  std::map<std::uint32_t, packet::PacketNote> notes;
};

TEST_F(RateSamples, OneSegmentPerRttIsMeasured) {
  send(0, 0, true);
  deliver(0);
  const RateSample sample = take(100);
  EXPECT_EQ(sample.delivered, 1000U);
  EXPECT_EQ(sample.interval, 100U) << "from when the flight began to its acknowledgement";
  EXPECT_EQ(sample.prior_delivered, 0U);
  EXPECT_EQ(sample.newly, 1000U);
  EXPECT_FALSE(sample.app_limited);
  EXPECT_NEAR(sample.rate().bytes_per_second(), 1000 / 102.4e-6, 1);
}

// Segments leave every 10 ticks, round trip 100: the eleventh leaves when the first is acknowledged.
TEST_F(RateSamples, ASteadyStreamShowsItsRate) {
  for (std::uint32_t i = 0; i < 10; ++i) send(i, 10 * i, i == 0);
  for (std::uint32_t i = 0; i < 30; ++i) {
    deliver(i);
    const RateSample sample = take(100 + 10 * i);
    if (i >= 10) {
      EXPECT_EQ(sample.delivered, 10'000U) << i;
      EXPECT_EQ(sample.interval, 100U) << i;
      EXPECT_EQ(sample.prior_delivered, (i - 9) * 1000) << i;
    }
    send(i + 10, 100 + 10 * i);
  }
}

// ACKs that are held back and released together must not look like a fast path.
TEST_F(RateSamples, CompressedAcksDoNotRaiseTheRate) {
  for (std::uint32_t i = 0; i < 4; ++i) send(i, 50 * i, i == 0);
  for (std::uint32_t i = 0; i < 4; ++i) deliver(i);
  EXPECT_EQ(take(300).interval, 300U);
  for (std::uint32_t i = 4; i < 8; ++i) send(i, 100 + 50 * i);  // 300 … 450
  for (std::uint32_t i = 4; i < 8; ++i) deliver(i);
  const RateSample sample = take(460);
  EXPECT_EQ(sample.delivered, 4000U);
  EXPECT_EQ(sample.interval, 300U) << "sending took from 150 to 450, acknowledging only from 300 to 460";
}

// A burst that the path then spreads out: acknowledging took longer.
TEST_F(RateSamples, SegmentsSentInABurstDoNotRaiseTheRate) {
  for (std::uint32_t i = 0; i < 4; ++i) send(i, 0, i == 0);
  for (std::uint32_t i = 0; i < 3; ++i) {
    deliver(i);
    EXPECT_EQ(take(100 + 20 * i).interval, 100 + 20 * i);
  }
  deliver(3);
  const RateSample sample = take(160);
  EXPECT_EQ(sample.delivered, 4000U);
  EXPECT_EQ(sample.interval, 160U);
}

TEST_F(RateSamples, AnIntervalBelowTheMinRttIsNoSample) {
  send(0, 0, true);
  send(1, 5);
  deliver(1);
  EXPECT_TRUE(take(100, 100).valid());
  deliver(0);
  const RateSample sample = take(101, 102);
  EXPECT_FALSE(sample.valid());
  EXPECT_EQ(sample.newly, 1000U) << "it was delivered all the same";
}

TEST_F(RateSamples, TheNewestDeliveredSegmentDeterminesTheSample) {
  send(0, 0, true);
  send(1, 10);
  deliver(0);
  EXPECT_TRUE(take(100).valid());
  send(2, 100);
  deliver(2);  // SACK: 2 before 1
  deliver(1);
  const RateSample sample = take(200);
  EXPECT_EQ(sample.prior_delivered, 1000U) << "as of 2, though 1 was told of last";
  EXPECT_EQ(sample.delivered, 2000U);
  EXPECT_EQ(sample.interval, 100U);
}

TEST_F(RateSamples, ARetransmissionCountsFromItsOwnTransmission) {
  send(0, 0, true);
  send(1, 0);
  deliver(1);
  EXPECT_EQ(take(100).interval, 100U);
  send(0, 120);
  deliver(0);
  const RateSample sample = take(220);
  EXPECT_TRUE(sample.retransmitted);
  EXPECT_EQ(sample.delivered, 1000U);
  EXPECT_EQ(sample.interval, 120U) << "sent at 120, the flight having begun at 0; acknowledged at 220 after 100";
}

TEST_F(RateSamples, AppLimitedSamplesAreMarked) {
  send(0, 0, true);
  rate.limit_by_application(1000);
  send(1, 10);
  deliver(0);
  EXPECT_FALSE(take(100).app_limited) << "sent before";
  EXPECT_TRUE(rate.limited_by_application()) << "what was in flight then has been delivered, but no more";
  deliver(1);
  EXPECT_TRUE(take(110).app_limited);
  EXPECT_FALSE(rate.limited_by_application());
  send(2, 110);
  deliver(2);
  EXPECT_FALSE(take(210).app_limited);
}

TEST_F(RateSamples, APauseBeginsANewInterval) {
  send(0, 0, true);
  deliver(0);
  EXPECT_TRUE(take(100).valid());
  send(1, 5000, true);
  deliver(1);
  EXPECT_EQ(take(5100).interval, 100U);
}

TEST_F(RateSamples, PartsOfSegmentsAreCounted) {
  send(0, 0, true);
  rate.on_part_delivered(400);
  const RateSample sample = take(100);
  EXPECT_EQ(sample.newly, 400U);
  EXPECT_FALSE(sample.valid()) << "no whole segment tells when";
  EXPECT_EQ(rate.delivered(), 400U);
}

TEST_F(RateSamples, SamplesCarryTheFlightAndTheLossesSince) {
  for (std::uint32_t i = 0; i < 4; ++i) send(i, 0, i == 0, i * 1000);
  rate.on_lost(notes.at(0));
  rate.on_lost(notes.at(1));
  deliver(3);
  const RateSample sample = take(100);
  EXPECT_EQ(sample.tx_in_flight, 4000U) << "with itself";
  EXPECT_EQ(sample.lost, 2000U);
  EXPECT_EQ(sample.newly_lost, 2000U);
  EXPECT_EQ(sample.lost_runs, 1U) << "side by side";
  send(4, 110, false, 1000);
  deliver(4);
  EXPECT_EQ(take(210).lost, 0U) << "nothing since it was sent";
}

TEST_F(RateSamples, ExcessIsFoundAtTheSegmentThatExceededTheToleratedLoss) {
  rate.set_tolerated_loss(0.02F);
  for (std::uint32_t i = 0; i < 100; ++i) send(i, 0, i == 0, i * 1000);
  rate.on_lost(notes.at(60));
  deliver(0);
  const RateSample first = take(100);
  EXPECT_FALSE(first.excess.found) << "one of 61";
  rate.on_lost(notes.at(62));
  deliver(1);
  const RateSample second = take(100);
  EXPECT_EQ(second.lost_runs, 1U);
  ASSERT_TRUE(second.excess.found) << "two of 63";
  // 62 kB were in flight before it, of which one was lost: 62 + (0.02 * 62 - 1) / 0.98.
  EXPECT_NEAR(second.excess.in_flight, 62'245, 2);
  EXPECT_FALSE(second.excess.app_limited);
  deliver(2);
  EXPECT_FALSE(take(101).excess.found) << "it was told of once";
}

TEST_F(RateSamples, SpuriousLossesAreNotReported) {
  rate.set_tolerated_loss(0);
  send(0, 0, true);
  send(1, 0, false, 1000);
  rate.on_lost(notes.at(0));
  rate.forgive_losses();
  deliver(1);
  const RateSample sample = take(100);
  EXPECT_EQ(sample.newly_lost, 0U);
  EXPECT_FALSE(sample.excess.found);
}

TEST_F(RateSamples, ALostRetransmissionIsNoExcess) {
  rate.set_tolerated_loss(0);
  send(0, 0, true);
  send(0, 100);
  rate.on_lost(notes.at(0));
  send(1, 100);
  deliver(1);
  const RateSample sample = take(200);
  EXPECT_EQ(sample.newly_lost, 1000U);
  EXPECT_FALSE(sample.excess.found);
}

TEST_F(RateSamples, NothingDeliveredIsNoSample) {
  EXPECT_FALSE(take(100).valid());
}

// A smaller path: what is lost is cut before it is sent again, and a report of the whole may still come.
TEST_F(RateSamples, PiecesKeepTheFlightOfTheirSegment) {
  const std::vector<std::uint8_t> bytes(1000);
  packet::Packet whole = payload_packet(bytes);
  whole.note().seq = 0;
  tcp::RecoveryState recovery_state;
  tcp::SendQueue queue;
  queue.set_recovery_state(&recovery_state);
  queue.push(std::move(whole));
  rate.on_sent(queue.front().note(), at(0), 3000, true);
  queue.sent(at(0));
  tcp::AckEvent event;
  queue.mark_front_lost(event, &rate);
  ASSERT_TRUE(queue.cut(queue.front(), 400));
  rate.on_delivered(queue.front().note());
  EXPECT_EQ(take(100).tx_in_flight, 4000U);
  queue.clear();
}

// The endpoint fills the same: two segments sacked behind a hole, then the hole is filled.
TEST(EndpointSamples, RateSamplesCountEveryByteOnce) {
  Script s;
  s.use_sack();
  s.config.pacing = true;
  s.open();
  s.write_segments(4);
  s.emit();
  s.pass(100ms);
  s.receive_sack(0, {{1000, 2000}});
  EXPECT_EQ(s.paced.sender.delivery.delivered(), 1000U);
  s.receive_sack(0, {{1000, 3000}});
  EXPECT_EQ(s.paced.sender.delivery.delivered(), 2000U);
  s.receive_sack(0, {{1000, 3000}});
  EXPECT_EQ(s.paced.sender.delivery.delivered(), 2000U) << "nothing new";
  s.receive_ack(3500);
  EXPECT_EQ(s.paced.sender.delivery.delivered(), 3500U) << "the hole, and half a segment";
  s.receive_ack(4000);
  EXPECT_EQ(s.paced.sender.delivery.delivered(), 4000U);
}

}  // namespace
}  // namespace sluice::test
