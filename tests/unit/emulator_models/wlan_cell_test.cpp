// Tests of the WLAN cell: airtime, turns of the stations, and the access point's shared buffer.
#include "emulator/cell/wlan_cell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using test::address;
using test::at_ms;
using test::frame;
using test::Recorder;

IpAddress mobile(int i) {
  return address("10.45.0." + std::to_string(i + 2));
}

/// A frame from a mobile to a server.
packet::Packet from_mobile(int i, std::size_t length) {
  std::vector<std::uint8_t> bytes = test::frame_bytes(address("192.0.2.1"), length);
  const IpAddress source = mobile(i);
  std::copy_n(source.octets.begin() + 12, 4, bytes.begin() + 14 + 12);
  return test::packet_of(bytes);
}

class WlanTest : public testing::Test {
 protected:
  void make(int mobiles, WlanParameters parameters = {}) {
    cell_ = std::make_unique<WlanCell>(loop_, parameters, Random(1), ues_, core_);
    for (int i = 0; i < mobiles; ++i) cell_->add_ue(mobile(i));
  }
  /// Keeps the access point (for mobile 0) and the first `senders` mobiles backlogged with `length` bytes.
  void saturate(int senders, std::size_t length, Duration time) {
    const Instant end = loop_.now() + time;
    for (; loop_.now() < end; loop_.run_until(loop_.now() + std::chrono::milliseconds(20))) {
      for (int k = 0; k < 50; ++k) {
        if (cell_->backlog().frames < 50) cell_->receive(frame(mobile(0), length), loop_.now());
        for (int i = 0; i < senders; ++i) {
          if (waiting(i) >= 50) continue;
          cell_->uplink().receive(from_mobile(i, length), loop_.now());
          ++given_.at(i);
        }
      }
    }
  }
  [[nodiscard]] std::uint64_t waiting(int i) {
    return given_.at(i) - cell_->sent(static_cast<std::size_t>(i) + 1).all();
  }

  EventLoop loop_;
  Recorder ues_;
  Recorder core_;
  std::unique_ptr<WlanCell> cell_;
  std::map<int, std::uint64_t> given_{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}};
};

TEST(Wlan, AirtimeEqualsTheStandard) {
  EXPECT_NEAR(to_milliseconds(wlan_airtime({}, Bytes(1500))), 1.93, 0.005);
  EXPECT_NEAR(to_milliseconds(wlan_airtime({}, Bytes(40))), 0.87, 0.005);
}

TEST_F(WlanTest, OnePacketIsSentAtATimeInOrder) {
  make(2);
  cell_->receive(frame(mobile(0), 1500), loop_.now());
  cell_->receive(frame(mobile(1), 1500), loop_.now());
  loop_.run_until(at_ms(100));
  ASSERT_EQ(ues_.entries.size(), 2U);
  EXPECT_NEAR(to_milliseconds(ues_.entries[0].at.time_since_epoch()), 1.927, 0.01);
  EXPECT_NEAR(to_milliseconds(ues_.entries[1].at.time_since_epoch()), 3.853, 0.01);
  EXPECT_NEAR(cell_->use(at_ms(100)).utilisation(), 0.0385, 0.001);
}

TEST_F(WlanTest, StationsAndTheAccessPointGetEqualTurns) {
  make(4);
  saturate(3, 1000, std::chrono::seconds(100));
  double total = 0;
  for (std::size_t station = 0; station < 4; ++station) total += static_cast<double>(cell_->sent(station).all());
  for (std::size_t station = 0; station < 4; ++station) {
    EXPECT_NEAR(static_cast<double>(cell_->sent(station).all()) / total, 0.25, 0.01) << station;
  }
  EXPECT_GT(cell_->use(loop_.now()).utilisation(), 0.99);
  EXPECT_EQ(cell_->sent(4).all(), 0U);
}

TEST_F(WlanTest, AllMobilesShareTheAccessPointsBuffer) {
  make(2, {.buffer = 5});
  for (int i = 0; i < 10; ++i) cell_->receive(frame(mobile(i % 2), 1500), loop_.now());
  EXPECT_EQ(cell_->dropped(0).all(), 4U);  // five wait, one is on the air
  EXPECT_EQ(cell_->backlog().frames, 5);
  loop_.run_until(at_ms(100));
  EXPECT_EQ(ues_.entries.size(), 6U);
}

/// Returns a TCP segment with `payload` bytes to the first mobile, or from it.
packet::Packet tcp_segment(bool up, std::size_t payload) {
  std::vector<std::uint8_t> bytes = test::frame_bytes(up ? address("192.0.2.1") : mobile(0), 40 + payload);
  const IpAddress source = up ? mobile(0) : address("192.0.2.1");
  std::copy_n(source.octets.begin() + 12, 4, bytes.begin() + 14 + 12);
  bytes[14 + 8] = 64;       // TTL
  bytes[14 + 9] = 6;        // TCP
  bytes[14 + 32] = 5 << 4;  // a header of 20 bytes
  bytes[14 + 33] = 1 << 4;  // ACK
  std::uint32_t sum = 0;
  for (std::size_t at = 14; at < 34; at += 2) sum += static_cast<std::uint32_t>(bytes[at] << 8 | bytes[at + 1]);
  sum = ~((sum & 0xffff) + (sum >> 16));
  bytes[14 + 10] = static_cast<std::uint8_t>(sum >> 8);
  bytes[14 + 11] = static_cast<std::uint8_t>(sum);
  return test::packet_of(bytes);
}

TEST_F(WlanTest, AcksAndDataAreCountedApart) {
  make(1, {.buffer = 3, .station_buffer = 1});
  for (const std::size_t payload : {1000U, 0U, 1000U, 0U, 1000U, 0U})
    cell_->receive(tcp_segment(false, payload), loop_.now());
  for (const std::size_t payload : {0U, 500U, 0U}) cell_->uplink().receive(tcp_segment(true, payload), loop_.now());
  EXPECT_EQ(cell_->dropped(0).data, 1U) << "one is on the air, three wait";
  EXPECT_EQ(cell_->dropped(0).acks, 1U);
  loop_.run_until(at_ms(100));
  EXPECT_EQ(cell_->sent(0).data, 2U);
  EXPECT_EQ(cell_->sent(0).acks, 2U);
  EXPECT_EQ(cell_->sent(1).acks, 1U);
  EXPECT_EQ(cell_->sent(1).data, 0U);
  EXPECT_EQ(cell_->dropped(1).data, 1U);
  EXPECT_EQ(cell_->dropped(1).acks, 1U);
}

TEST_F(WlanTest, NonTcpPacketsCountAsData) {
  make(1);
  cell_->receive(frame(mobile(0), 40), loop_.now());
  loop_.run_until(at_ms(100));
  EXPECT_EQ(cell_->sent(0).data, 1U);
  EXPECT_EQ(cell_->sent(0).acks, 0U);
}

TEST_F(WlanTest, FramesOfUnknownAddressesPass) {
  make(1);
  cell_->receive(frame(address("10.45.0.99"), 100), loop_.now());
  EXPECT_EQ(ues_.entries.size(), 1U);
  EXPECT_THROW(cell_->add_ue(mobile(0)), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
