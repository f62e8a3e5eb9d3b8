// Tests of joining payloads into one buffer, with their checksums.
#include "dataplane/packet/join.hpp"

#include <gtest/gtest.h>

#include <string>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/pool.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {
namespace {

/// A packet that holds `payload` behind `header` bytes of something else.
packet::Packet packet_of(const std::string& payload, std::uint16_t header = 0) {
  packet::Packet packet = pool().allocate();
  std::fill_n(packet.append(header), header, std::uint8_t{0xee});
  std::copy(payload.begin(), payload.end(), packet.append(static_cast<std::uint16_t>(payload.size())));
  packet.note().payload_len = static_cast<std::uint16_t>(payload.size());
  packet.note().payload_sum = packet::ones_complement_sum(packet.bytes().last(payload.size()));
  return packet;
}

std::string payload_of(const packet::Packet& packet) {
  const auto bytes = packet.bytes().last(packet.note().payload_len);
  return {bytes.begin(), bytes.end()};
}

void expect_sum_is_right(const packet::Packet& packet) {
  const auto bytes = packet.bytes().last(packet.note().payload_len);
  const auto zero = [](std::uint16_t sum) { return sum == 0xffff ? std::uint16_t{0} : sum; };
  EXPECT_EQ(zero(packet.note().payload_sum), zero(packet::ones_complement_sum(bytes)));
}

TEST(Join, JoinsPayloadsOfAllLengthsAndTheirChecksums) {
  for (std::size_t first = 1; first < 8; ++first) {
    for (std::size_t second = 1; second < 8; ++second) {
      packet::Packet front = packet_of(std::string(first, 'a'), 5);
      const packet::Packet back = packet_of(std::string(second, '\xf1'), 3);
      ASSERT_TRUE(packet::join(front, back, 1460));
      EXPECT_EQ(payload_of(front), std::string(first, 'a') + std::string(second, '\xf1'));
      expect_sum_is_right(front);
      EXPECT_EQ(payload_of(back).size(), second);
    }
  }
}

TEST(Join, DoesNotExceedTheWantedLength) {
  packet::Packet front = packet_of("1234567");
  EXPECT_FALSE(packet::join(front, packet_of("89"), 8));
  EXPECT_EQ(payload_of(front), "1234567");
}

TEST(Join, DoesNotExceedTheBuffer) {
  packet::Packet front = packet_of(std::string(1000, 'x'));
  const std::string rest(front.tailroom() - 1U, 'y');
  packet::Packet fits = packet_of(rest);
  EXPECT_FALSE(packet::join(front, packet_of(rest + "zz"), 100'000));
  EXPECT_TRUE(packet::join(front, fits, 100'000));
  expect_sum_is_right(front);
}

TEST(Join, DataAtTheEndOfTheBufferIsMoved) {
  packet::Packet front = packet_of(std::string(1000, 'x'));
  front.move_to(static_cast<std::uint16_t>(front.capacity() - front.size()));
  ASSERT_TRUE(packet::join(front, packet_of("yy"), 1460));
  EXPECT_EQ(payload_of(front), std::string(1000, 'x').append("yy"));
  EXPECT_GE(front.headroom(), RTE_PKTMBUF_HEADROOM);
  expect_sum_is_right(front);
}

TEST(Join, PrependsUntilTheBufferIsFull) {
  packet::Packet back = packet_of("z");
  back.note().seq = 1000;
  std::string expected = "z";
  for (std::uint32_t i = 0; expected.size() < 2000; ++i) {
    packet::Packet front = packet_of(std::string(1 + i % 5, static_cast<char>('a' + i % 20)));
    front.note().seq = back.note().seq - front.note().payload_len;
    expected.insert(0, payload_of(front));
    ASSERT_TRUE(packet::join_front(front, back, 2048));
    ASSERT_EQ(payload_of(back), expected);
    ASSERT_EQ(back.note().seq, 1001U - static_cast<std::uint32_t>(expected.size()));
    ASSERT_GE(back.headroom(), RTE_PKTMBUF_HEADROOM);
    expect_sum_is_right(back);
  }
  EXPECT_FALSE(packet::join_front(packet_of("of many"), back, 2000));
  EXPECT_FALSE(packet::join_front(packet_of(std::string(100, 'q')), back, 4000));
  EXPECT_EQ(payload_of(back), expected);
}

TEST(Join, DoesNotChangeASharedBuffer) {
  packet::Packet front = packet_of("one");
  const packet::Packet reader = front.share();
  EXPECT_FALSE(packet::join(front, packet_of("two"), 1460));
  EXPECT_EQ(reader.size(), 3);
}

}  // namespace
}  // namespace sluice::test
