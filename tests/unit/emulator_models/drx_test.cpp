// Tests of discontinuous reception: when a UE receives, and how its sleep delays packets.
#include "emulator/cell/drx.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "emulator/cell/scheduled_uplink.hpp"
#include "emulator/channel/constant.hpp"
#include "tests/unit/emulator_models/one_cell.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using test::at_ms;
using test::frame_from;
using test::OneCell;
using test::Recorder;

TEST(Drx, ListensAtTheStartOfEveryCycleAndAfterActivity) {
  Drx drx({milliseconds(100), milliseconds(10), milliseconds(320)}, milliseconds(5));
  EXPECT_FALSE(drx.awake(at_ms(4)));
  EXPECT_EQ(drx.next_awake(at_ms(0)), at_ms(5));
  EXPECT_TRUE(drx.awake(at_ms(14)));
  EXPECT_FALSE(drx.awake(at_ms(15)));
  EXPECT_EQ(drx.next_awake(at_ms(15)), at_ms(325));
  drx.active(at_ms(200));
  EXPECT_TRUE(drx.awake(at_ms(299)));
  EXPECT_EQ(drx.next_awake(at_ms(300)), at_ms(325));
}

TEST(Drx, RefusesInvalidParameters) {
  EXPECT_THROW(Drx({milliseconds(-1), milliseconds(10), milliseconds(20)}), std::invalid_argument);
  EXPECT_THROW(Drx({milliseconds(1), milliseconds(0), milliseconds(20)}), std::invalid_argument);
  EXPECT_THROW(Drx({milliseconds(1), milliseconds(30), milliseconds(20)}), std::invalid_argument);
  EXPECT_THROW(Drx({}, milliseconds(-1)), std::invalid_argument);
  EXPECT_THROW(Drx({}, milliseconds(321)), std::invalid_argument);
  EXPECT_NO_THROW(Drx({milliseconds(0), milliseconds(20), milliseconds(20)}, milliseconds(20)));
  EXPECT_NO_THROW(Drx({milliseconds(0), milliseconds(1), milliseconds(1)}, milliseconds(0)));
}

std::unique_ptr<Channel> constant(double bytes_per_ms) {
  return std::make_unique<ConstantChannel>(Rate::bytes_per_second(bytes_per_ms * 1000), milliseconds(1));
}

/// A UE that sleeps in 310 of 320 ms, and 100 ms after it was given a TTI.
class SleepingUe : public testing::Test, protected OneCell {
 protected:
  SleepingUe() : OneCell(milliseconds(1)) {
    UeConfig config;
    config.address = the_ue;
    config.queue = {Bytes(0), BufferUnit::packets, 0};
    config.channel = constant(1000);
    config.drx = &drx_;
    cell.add_ue(std::move(config));
  }
  void send_at(double ms) {
    loop.run_until(at_ms(ms));
    send(the_ue, 1, 1000);
  }
  Drx drx_{{milliseconds(100), milliseconds(10), milliseconds(320)}};
};

TEST_F(SleepingUe, TheFirstDownlinkPacketWaitsForTheOnDuration) {
  send_at(50);     // asleep since 10 ms
  send_at(400.5);  // awake until 420 ms
  send_at(450);    // awake until 501 ms
  send_at(600);    // asleep since 551 ms
  loop.run_until(at_ms(1000));
  EXPECT_EQ(arrivals(), std::vector<double>({320, 401, 451, 640}));
}

TEST_F(SleepingUe, ItsOwnSchedulingRequestWakesIt) {
  Recorder core;
  ScheduledUplink uplink(loop, milliseconds(1), {}, core);
  UplinkUeConfig config;
  config.addresses = {the_ue};
  config.queue = {Bytes(0), BufferUnit::packets, 0};
  config.channel = constant(2500);
  config.drx = &drx_;
  uplink.add_ue(std::move(config));
  send_at(102.5);
  loop.run_until(at_ms(103.5));
  uplink.receive(frame_from(the_ue, 52), loop.now());
  loop.run_until(at_ms(200));
  EXPECT_EQ(arrivals(), std::vector<double>({111})) << "it asks at 110 ms";
  ASSERT_EQ(core.entries.size(), 1U);
  EXPECT_EQ(core.entries[0].at, at_ms(119));
}

}  // namespace
}  // namespace sluice::emulator
