// Tests of simple uplinks with a rate and a queue for each UE, including recorded ones.
#include "emulator/cell/uplink_radio.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "emulator/channel/constant.hpp"
#include "emulator/channel/trace.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::address;
using test::at_ms;
using test::frame_from;
using test::Recorder;

UplinkConfig config(const std::string& ue, std::unique_ptr<Channel> channel, std::uint64_t packets = 0) {
  UplinkConfig result;
  result.addresses = {address(ue)};
  result.queue = {Bytes(0), BufferUnit::packets, packets};
  result.channel = std::move(channel);
  return result;
}

std::unique_ptr<Channel> constant(double bytes_per_ms) {
  return std::make_unique<ConstantChannel>(Rate::bytes_per_second(bytes_per_ms * 1000), milliseconds(1));
}

class Uplinks : public testing::Test {
 protected:
  EventLoop loop_;
  Recorder core_;
  UplinkRadio radio_{loop_, milliseconds(1), core_};
};

TEST_F(Uplinks, EachUeHasItsOwnRateAndQueue) {
  radio_.add_ue(config("10.45.0.2", constant(1000)));
  radio_.add_ue(config("10.45.0.3", constant(100)));
  for (int i = 0; i < 5; ++i) {
    radio_.receive(frame_from(address("10.45.0.2"), 1000, 2), loop_.now());
    radio_.receive(frame_from(address("10.45.0.3"), 1000, 3), loop_.now());
  }
  loop_.run_until(at_ms(10));
  EXPECT_EQ(radio_.queue(0).counters().delivered_packets, 5U) << "one a TTI";
  EXPECT_EQ(radio_.queue(1).counters().delivered_packets, 1U) << "one in ten";
  ASSERT_EQ(core_.entries.size(), 6U);
  EXPECT_EQ(core_.entries.front().at, at_ms(1));
  loop_.run_until(at_ms(50));
  EXPECT_EQ(core_.entries.size(), 10U);
  EXPECT_EQ(core_.entries.back().at, at_ms(50));
  EXPECT_EQ(core_.entries.back().mark, 3);
}

TEST_F(Uplinks, ARecordedUplinkIsReplayedToTheMillisecond) {
  const auto trace = std::make_shared<const CapacityTrace>(std::vector<std::uint32_t>{3, 3, 7, 20});
  radio_.add_ue(config("10.45.0.2", std::make_unique<TraceChannel>(trace, milliseconds(1))));
  for (int i = 0; i < 5; ++i) radio_.receive(frame_from(address("10.45.0.2"), 1500), loop_.now());
  loop_.run_until(at_ms(40));
  std::vector<Instant> at;
  for (const Recorder::Entry& entry : core_.entries) at.push_back(entry.at);
  EXPECT_EQ(at, (std::vector<Instant>{at_ms(3), at_ms(3), at_ms(7), at_ms(20), at_ms(23)}));
}

/// Every other block is lost.
class Flaky final : public SteppedChannel {
 protected:
  LinkGrant step(std::uint64_t tti) override {
    LinkGrant grant;
    grant.capacity = Bytes(1000);
    grant.received = tti % 2 == 0;
    return grant;
  }
};

TEST_F(Uplinks, BytesOfALostBlockAreSentInTheNextTti) {
  radio_.add_ue(config("10.45.0.2", std::make_unique<Flaky>()));
  for (int i = 0; i < 3; ++i) radio_.receive(frame_from(address("10.45.0.2"), 1000), loop_.now());
  loop_.run_until(at_ms(10));
  ASSERT_EQ(core_.entries.size(), 3U);
  EXPECT_EQ(core_.entries[0].at, at_ms(2));
  EXPECT_EQ(core_.entries[2].at, at_ms(6));
}

TEST_F(Uplinks, AFullQueueDoesNotDelayAnotherUe) {
  class Drops final : public CellObserver {
   public:
    void on_departure(UeIndex, const packet::Packet&, Bytes, Duration queueing, Instant) override { last = queueing; }
    void on_drop(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason, Instant) override {
      EXPECT_EQ(ue, 0U);
      EXPECT_EQ(packet.size(), length.count() + 14);
      ++count;
    }
    int count = 0;
    Duration last{};
  } drops;
  radio_.set_observer(&drops);
  radio_.add_ue(config("10.45.0.2", constant(1000), 2));
  for (int i = 0; i < 5; ++i) radio_.receive(frame_from(address("10.45.0.2"), 1000), loop_.now());
  EXPECT_EQ(drops.count, 3);
  radio_.receive(frame_from(address("10.45.0.9"), 1000), loop_.now());
  EXPECT_EQ(core_.entries.size(), 1U) << "a UE without an uplink of its own passes at once";
  loop_.run_until(at_ms(10));
  EXPECT_EQ(core_.entries.size(), 3U);
  EXPECT_EQ(drops.last, milliseconds(2));
}

TEST_F(Uplinks, InvalidParametersAreRefused) {
  EXPECT_THROW(radio_.add_ue(config("10.45.0.2", nullptr)), std::invalid_argument);
  radio_.add_ue(config("10.45.0.2", constant(1)));
  EXPECT_THROW(radio_.add_ue(config("10.45.0.2", constant(1))), std::invalid_argument);
  UplinkConfig nobody = config("10.45.0.3", constant(1));
  nobody.addresses.clear();
  EXPECT_THROW(radio_.add_ue(std::move(nobody)), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
