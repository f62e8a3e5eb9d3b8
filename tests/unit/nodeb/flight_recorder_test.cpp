// Tests of the recorder that measures delays of segments between points of a path.
#include "emulator/report/flight_recorder.hpp"

#include <gtest/gtest.h>

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using tcp::SeqNum;

const FlowId flow{IpAddress::v4(192, 0, 2, 1), IpAddress::v4(10, 45, 0, 2), 80, 4000};

Instant at(int ms) {
  return Instant(milliseconds(ms));
}

/// A recorder for hops of 20 ms and 10 ms that counts from the start.
FlightRecorder recorder() {
  return FlightRecorder({milliseconds(20), milliseconds(10)}, Instant{});
}

TEST(FlightRecorder, DelayIsTheTimeBetweenPointsLessPropagation) {
  FlightRecorder flights = recorder();
  flights.data(FlightPoint::server_out, flow, SeqNum(1460), 1460, at(0));
  flights.data(FlightPoint::proxy_out, flow, SeqNum(1460), 1460, at(25));
  flights.data(FlightPoint::ue_in, flow, SeqNum(1460), 1460, at(42));
  EXPECT_EQ(flights.proxy_to_ue().count(), 1U);
  EXPECT_EQ(flights.proxy_to_ue().max(), milliseconds(7));
  EXPECT_EQ(flights.server_to_ue().max(), milliseconds(12));
  EXPECT_EQ(flights.unmatched(), 0U);
}

TEST(FlightRecorder, ARetransmittedSegmentCountsFromItsFirstCopyToItsFirstArrival) {
  FlightRecorder flights = recorder();
  flights.data(FlightPoint::server_out, flow, SeqNum(1000), 1000, at(0));
  flights.data(FlightPoint::proxy_out, flow, SeqNum(1000), 1000, at(20));  // lost on the air
  flights.data(FlightPoint::proxy_out, flow, SeqNum(1000), 1000, at(220));
  flights.data(FlightPoint::ue_in, flow, SeqNum(1000), 1000, at(230));
  flights.data(FlightPoint::ue_in, flow, SeqNum(1000), 1000, at(400));  // a third copy
  EXPECT_EQ(flights.proxy_to_ue().count(), 1U);
  EXPECT_EQ(flights.proxy_to_ue().max(), milliseconds(200));
  EXPECT_EQ(flights.proxy_retransmissions(), 1U);
  EXPECT_EQ(flights.server_retransmissions(), 0U);
}

TEST(FlightRecorder, SegmentsThatArriveOutOfOrderAreEachMatched) {
  FlightRecorder flights = recorder();
  for (std::uint32_t i = 1; i <= 3; ++i) {
    flights.data(FlightPoint::server_out, flow, SeqNum(i * 100), 100, at(0));
    flights.data(FlightPoint::proxy_out, flow, SeqNum(i * 100), 100, at(20));
  }
  flights.data(FlightPoint::ue_in, flow, SeqNum(300), 100, at(31));
  flights.data(FlightPoint::ue_in, flow, SeqNum(100), 100, at(32));
  flights.data(FlightPoint::ue_in, flow, SeqNum(200), 100, at(33));
  EXPECT_EQ(flights.proxy_to_ue().count(), 3U);
  EXPECT_EQ(flights.proxy_to_ue().max(), milliseconds(3));
  EXPECT_EQ(flights.unmatched(), 0U);
}

TEST(FlightRecorder, DataBehindAHoleHasArrivedAndIsUnacknowledged) {
  FlightRecorder flights = recorder();
  for (std::uint32_t i = 1; i <= 4; ++i) {
    flights.data(FlightPoint::server_out, flow, SeqNum(i * 100), 100, at(0));
    flights.data(FlightPoint::proxy_out, flow, SeqNum(i * 100), 100, at(20));
  }
  EXPECT_EQ(flights.unacknowledged_arrivals().at(flow.destination), 0U);
  flights.data(FlightPoint::ue_in, flow, SeqNum(100), 100, at(31));
  flights.data(FlightPoint::ue_in, flow, SeqNum(300), 100, at(32));
  flights.data(FlightPoint::ue_in, flow, SeqNum(400), 100, at(33));
  flights.data(FlightPoint::ue_in, flow, SeqNum(400), 100, at(34));  // a second copy
  EXPECT_EQ(flights.unacknowledged_arrivals().at(flow.destination), 300U);
  flights.acknowledged(flow, SeqNum(100), at(35));
  EXPECT_EQ(flights.unacknowledged_arrivals().at(flow.destination), 200U);
  flights.data(FlightPoint::ue_in, flow, SeqNum(200), 100, at(36));
  flights.acknowledged(flow, SeqNum(400), at(40));
  EXPECT_EQ(flights.unacknowledged_arrivals().at(flow.destination), 0U);
  EXPECT_EQ(flights.delivered().at(flow.destination), 400U);
}

TEST(FlightRecorder, ACoalescedSegmentIsMatchedByItsEnd) {
  FlightRecorder flights = recorder();
  flights.data(FlightPoint::server_out, flow, SeqNum(100), 100, at(0));
  flights.data(FlightPoint::server_out, flow, SeqNum(200), 100, at(4));
  flights.data(FlightPoint::proxy_out, flow, SeqNum(200), 200, at(26));
  flights.data(FlightPoint::ue_in, flow, SeqNum(200), 200, at(40));
  EXPECT_EQ(flights.server_to_ue().count(), 1U);
  EXPECT_EQ(flights.server_to_ue().max(), milliseconds(6));
}

TEST(FlightRecorder, SequenceNumbersMayWrapManyTimes) {
  FlightRecorder flights = recorder();
  std::uint32_t end = 0xffff0000U;
  std::uint64_t sent = 0;
  for (int i = 0; i < 200'000; ++i) {
    end += 60'000;
    sent += 60'000;
    flights.data(FlightPoint::server_out, flow, SeqNum(end), 60'000, at(i));
    flights.data(FlightPoint::proxy_out, flow, SeqNum(end), 60'000, at(i + 20));
    flights.data(FlightPoint::ue_in, flow, SeqNum(end), 60'000, at(i + 31));
    flights.acknowledged(flow, SeqNum(end), at(i + 41));
  }
  EXPECT_EQ(flights.proxy_to_ue().count(), 200'000U);
  EXPECT_EQ(flights.server_retransmissions(), 0U);
  EXPECT_EQ(flights.delivered().at(flow.destination), sent);
  EXPECT_EQ(flights.outstanding(), 0U);
}

TEST(FlightRecorder, OutstandingBytesAreSentByTheProxyAndUnacknowledged) {
  FlightRecorder flights = recorder();
  for (std::uint32_t i = 1; i <= 5; ++i) {
    flights.data(FlightPoint::server_out, flow, SeqNum(i * 100), 100, at(0));
    if (i <= 3) flights.data(FlightPoint::proxy_out, flow, SeqNum(i * 100), 100, at(20));
  }
  EXPECT_EQ(flights.outstanding(), 300U);
  flights.acknowledged(flow, SeqNum(100), at(50));
  EXPECT_EQ(flights.outstanding(), 200U);
  flights.acknowledged(flow, SeqNum(100), at(50));
  flights.acknowledged(flow, SeqNum(50), at(50));  // an old one
  EXPECT_EQ(flights.outstanding(), 200U);
}

TEST(FlightRecorder, AnAckOfUnsentDataDeliversNothing) {
  FlightRecorder flights = recorder();
  flights.data(FlightPoint::proxy_out, flow, SeqNum(100), 100, at(0));
  flights.acknowledged(flow, SeqNum(5000), at(1));
  EXPECT_EQ(flights.delivered().at(flow.destination), 100U);
  EXPECT_EQ(flights.outstanding(), 0U);
  flights.acknowledged(flow.reversed(), SeqNum(5000), at(1));  // an unknown flow
  EXPECT_EQ(flights.delivered().size(), 1U);
}

TEST(FlightRecorder, DataThatArrivesBeforeTheMeasurementIsNotCounted) {
  FlightRecorder flights({milliseconds(0), milliseconds(0)}, at(100));
  for (std::uint32_t i = 1; i <= 2; ++i) {
    const int start = i == 1 ? 0 : 100;
    flights.data(FlightPoint::proxy_out, flow, SeqNum(i * 100), 100, at(start));
    flights.data(FlightPoint::ue_in, flow, SeqNum(i * 100), 100, at(start + 10));
    flights.acknowledged(flow, SeqNum(i * 100), at(start + 20));
  }
  EXPECT_EQ(flights.proxy_to_ue().count(), 1U);
  EXPECT_EQ(flights.delivered().at(flow.destination), 100U);
}

TEST(FlightRecorder, AFinishedFlowIsRemovedWhenItsDataIsAcknowledged) {
  FlightRecorder flights = recorder();
  flights.data(FlightPoint::proxy_out, flow, SeqNum(100), 100, at(0));
  flights.finished(flow);
  EXPECT_EQ(flights.flows(), 1U);
  flights.acknowledged(flow, SeqNum(101), at(30));  // the FIN's number included
  EXPECT_EQ(flights.flows(), 0U);
  // A new connection at the same addresses and ports, its sequence numbers far away.
  flights.data(FlightPoint::proxy_out, flow, SeqNum(2'000'000'100), 100, at(50));
  flights.data(FlightPoint::ue_in, flow, SeqNum(2'000'000'100), 100, at(65));
  EXPECT_EQ(flights.proxy_to_ue().count(), 1U);
  EXPECT_EQ(flights.proxy_retransmissions(), 0U);
}

TEST(FlightRecorder, MemoryIsBoundedWhenNothingIsAcknowledged) {
  FlightRecorder flights = recorder();
  for (std::uint32_t i = 1; i <= 100'000; ++i) {
    flights.data(FlightPoint::server_out, flow, SeqNum(i * 10), 10, at(0));
  }
  EXPECT_EQ(flights.unmatched(), 100'000U - 65'536U);
}

TEST(FlightRecorder, AnIntervalHoldsTheLargestDelaysSinceTheLast) {
  FlightRecorder flights = recorder();
  flights.data(FlightPoint::proxy_out, flow, SeqNum(100), 100, at(0));
  flights.data(FlightPoint::proxy_out, flow, SeqNum(200), 100, at(0));
  flights.data(FlightPoint::ue_in, flow, SeqNum(100), 100, at(15));
  flights.data(FlightPoint::ue_in, flow, SeqNum(200), 100, at(12));
  EXPECT_EQ(flights.take_interval().proxy_to_ue_max, milliseconds(5));
  EXPECT_EQ(flights.take_interval().proxy_to_ue_max, std::nullopt) << "nothing came since";
}

}  // namespace
}  // namespace sluice::emulator
