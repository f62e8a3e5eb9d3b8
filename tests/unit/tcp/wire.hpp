#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/output.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {

/// A payload packet as a parser hands it over: nothing but the bytes, checksum noted.
[[nodiscard]] inline packet::Packet payload_packet(std::span<const std::uint8_t> bytes) {
  packet::Packet packet = pool().allocate();
  EXPECT_TRUE(packet) << "the test's packet pool is exhausted";
  std::copy(bytes.begin(), bytes.end(), packet.append(static_cast<std::uint16_t>(bytes.size())));
  packet.note().payload_len = static_cast<std::uint16_t>(bytes.size());
  packet.note().payload_sum = packet::ones_complement_sum(packet.bytes());
  packet.note().scratch64_b = 0xdead;  // what an earlier holder may have left
  packet.note().flags = 0xff;
  return packet;
}

/// One segment that left an endpoint.
struct SentSegment {
  tcp::Segment segment;
  std::vector<std::uint8_t> bytes;
  Instant at{};
};

/// An output that keeps what it is given. It treats payload as the real one does: headers go in front of the last
/// payload_len bytes, over those of an earlier transmission, and stay there.
class Wire final : public tcp::Output {
 public:
  static constexpr std::uint16_t header_size = 54;

  std::uint32_t transmit(const tcp::Segment& segment, packet::Packet* payload, Instant now) override {
    if (blocked || full_after == 0) return 0;
    --full_after;
    SentSegment sent{segment, {}, now};
    EXPECT_EQ(payload != nullptr, segment.payload_len != 0);
    if (payload != nullptr) sent.bytes = take(segment, *payload);
    segments.push_back(std::move(sent));
    return wire_size(segment.payload_len) + (segment.sack_count != 0 ? 4U + 8U * segment.sack_count : 0U);
  }
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override { return 40 + payload_len; }

  [[nodiscard]] bool grant_cut(bool only) override {
    if (cuts == 0) return only;
    --cuts;
    return true;
  }

  /// The oldest segment not looked at yet; there must be one.
  SentSegment next() {
    EXPECT_FALSE(segments.empty()) << "expected a segment to have been sent";
    if (segments.empty()) return {};
    SentSegment first = std::move(segments.front());
    segments.pop_front();
    return first;
  }

  std::deque<SentSegment> segments;
  bool blocked = false;                   ///< no segment can be sent
  std::uint64_t full_after = UINT64_MAX;  ///< segments that can still be sent
  std::uint64_t cuts = UINT64_MAX;        ///< packets that may still be cut

 private:
  static std::vector<std::uint8_t> take(const tcp::Segment& segment, packet::Packet& payload) {
    packet::PacketNote& note = payload.note();
    EXPECT_EQ(payload.size(), note.header_len + note.payload_len);
    EXPECT_EQ(segment.payload_len, note.payload_len);
    EXPECT_EQ(segment.seq.raw(), note.seq);
    const auto data = payload.bytes().last(segment.payload_len);
    std::vector<std::uint8_t> bytes(data.begin(), data.end());
    // 0x0000 and 0xffff are the same sum.
    EXPECT_EQ(packet::ones_complement_sum(bytes) % 0xffff, note.payload_sum % 0xffff) << "payload_sum does not match";
    payload.trim_front(static_cast<std::uint16_t>(payload.size() - segment.payload_len));
    std::fill_n(payload.prepend(header_size), header_size, std::uint8_t{0xee});
    note.header_len = header_size;
    return bytes;
  }
};

}  // namespace sluice::test
