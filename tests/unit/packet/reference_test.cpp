// The parser against a second one, written to be obviously right: one byte at a time, every access checked.
#include <gmock/gmock.h>

#include <optional>
#include <random>
#include <vector>

#include "dataplane/packet/parse.hpp"
#include "tests/unit/packet/frame.hpp"

namespace sluice::packet {
namespace {

using namespace test;

struct Reading {
  ParseResult result = ParseResult::runt;
  IpAddress src, dst;
  unsigned src_port = 0, dst_port = 0;
  std::uint32_t seq = 0, ack = 0;
  std::size_t payload_begin = 0, payload_end = 0;
  bool timestamps = false;
  std::uint32_t ts_value = 0;
  unsigned sack_count = 0, mss = 536;
};

class SlowParser {
 public:
  explicit SlowParser(const Bytes& frame) : frame_(frame) {}

  Reading run() {
    reading_.result = link();
    return reading_;
  }

 private:
  [[nodiscard]] std::uint32_t big(std::size_t at, std::size_t width) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value = value << 8 | frame_.at(at + i);
    return value;
  }

  ParseResult link() {
    if (frame_.size() < 14) return ParseResult::runt;
    std::size_t at = 12;
    int tags = 0;
    while (big(at, 2) == 0x8100 || big(at, 2) == 0x88a8 || big(at, 2) == 0x9100) {
      if (++tags == 3) return ParseResult::vlan_depth;
      if (frame_.size() < at + 6) return ParseResult::runt;
      at += 4;
    }
    switch (big(at, 2)) {
      case 0x0800:
        return v4(at + 2);
      case 0x86dd:
        return v6(at + 2);
      case 0x0806:
        return ParseResult::arp;
      case 0x8847:
      case 0x8848:
        return ParseResult::mpls;
      default:
        return ParseResult::not_ip;
    }
  }

  ParseResult v4(std::size_t ip) {
    if (frame_.size() < ip + 20) return ParseResult::truncated;
    const std::size_t header = (frame_[ip] & 15U) * 4U;
    const std::size_t total = big(ip + 2, 2);
    if (frame_[ip] >> 4 != 4 || header < 20 || total < header) return ParseResult::bad_ip_header;
    if (ip + total > frame_.size()) return ParseResult::truncated;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < header; i += 2) sum += big(ip + i, 2);
    while (sum > 0xffff) sum = (sum >> 16) + (sum & 0xffff);
    if (sum != 0xffff) return ParseResult::bad_ip_checksum;
    for (std::size_t i = 0; i < 4; ++i) {
      reading_.src.octets[12 + i] = frame_.at(ip + 12 + i);
      reading_.dst.octets[12 + i] = frame_.at(ip + 16 + i);
    }
    for (IpAddress* address : {&reading_.src, &reading_.dst}) address->octets[10] = address->octets[11] = 0xff;
    if ((big(ip + 6, 2) & 0x3fff) != 0) return ParseResult::ip_fragment;
    if (header > 20) return ParseResult::ip_options;
    return transport(frame_[ip + 9], ip + header, ip + total, false);
  }

  ParseResult v6(std::size_t ip) {
    if (frame_.size() < ip + 40) return ParseResult::truncated;
    if (frame_[ip] >> 4 != 6) return ParseResult::bad_ip_header;
    const std::size_t total = 40 + big(ip + 4, 2);
    if (ip + total > frame_.size()) return ParseResult::truncated;
    for (std::size_t i = 0; i < 16; ++i) {
      reading_.src.octets[i] = frame_.at(ip + 8 + i);
      reading_.dst.octets[i] = frame_.at(ip + 24 + i);
    }
    if (reading_.src.is_v4() || reading_.dst.is_v4()) return ParseResult::ipv6_mapped;
    const std::uint8_t next = frame_[ip + 6];
    if (next == 44) return ParseResult::ip_fragment;
    for (const int extension : {0, 43, 51, 60, 135, 139, 140}) {
      if (next == extension) return ParseResult::ipv6_extension;
    }
    return transport(next, ip + 40, ip + total, true);
  }

  ParseResult transport(std::uint8_t protocol, std::size_t begin, std::size_t end, bool ipv6) {
    if (protocol == 17) {
      if (end >= begin + 8) {
        reading_.src_port = big(begin, 2);
        reading_.dst_port = big(begin + 2, 2);
      }
      return ParseResult::udp;
    }
    if (protocol == 1 || protocol == 58) return ParseResult::icmp;
    if (protocol != 6) return ParseResult::not_tcp;
    if (end - begin < 20) return ParseResult::bad_tcp_header;
    const std::size_t header = (frame_.at(begin + 12) >> 4U) * 4U;
    if (header < 20 || begin + header > end) return ParseResult::bad_tcp_header;
    reading_.src_port = big(begin, 2);
    reading_.dst_port = big(begin + 2, 2);
    reading_.seq = big(begin + 4, 4);
    reading_.ack = big(begin + 8, 4);
    reading_.payload_begin = begin + header;
    reading_.payload_end = end;
    const bool syn = (frame_.at(begin + 13) & 2) != 0;
    if (syn && ipv6) reading_.mss = 1220;
    const bool strange = options(begin + 20, begin + header, syn);
    return syn && strange ? ParseResult::tcp_options_unknown : ParseResult::tcp;
  }

  bool options(std::size_t at, std::size_t end, bool syn) {
    bool strange = false;
    while (at < end && frame_.at(at) != 0) {
      if (frame_.at(at) == 1) {
        ++at;
        continue;
      }
      if (at + 1 >= end || frame_.at(at + 1) < 2 || at + frame_.at(at + 1) > end) return true;
      const std::size_t length = frame_.at(at + 1);
      if (!option(at, length, syn)) strange = true;
      at += length;
    }
    return strange;
  }

  bool option(std::size_t at, std::size_t length, bool syn) {
    switch (frame_.at(at)) {
      case 2:
        if (syn && length == 4) reading_.mss = big(at + 2, 2);
        return length == 4;
      case 3:
        return length == 3;
      case 4:
        return length == 2;
      case 5:
        if (length != 10 && length != 18 && length != 26 && length != 34) return false;
        reading_.sack_count = static_cast<unsigned>(length / 8);
        return true;
      case 8:
        if (length != 10) return false;
        reading_.timestamps = true;
        reading_.ts_value = big(at + 2, 4);
        return true;
      default:
        return false;
    }
  }

  const Bytes& frame_;
  Reading reading_;
};

/// Frames worth mutating: every kind of header there is.
std::vector<Bytes> seeds() {
  const Bytes syn_options = {2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7};
  const Bytes sack = {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 10, 0, 0, 1, 0, 0, 0, 2, 0};
  const Bytes timestamps = {1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<Bytes> frames = {
      tcp_over_v4(syn_flag, syn_options),
      tcp_over_v6(syn_flag, syn_options),
      tcp_over_v4(ack_flag, timestamps, Bytes(40, 3)),
      tcp_over_v6(ack_flag, timestamps, Bytes(40, 3)),
      tcp_over_v4(ack_flag, sack),
      tcp_over_v6(ack_flag, sack, Bytes(5, 1)),
      tcp_over_v4(syn_flag, {30, 12, 0, 0x81, 1, 2, 3, 4, 5, 6, 7, 8}),
      ethernet(0x0800, ipv4(17, Bytes(20, 4))),
      ethernet(0x0800, ipv4(6, tcp(ack_flag), {1, 1, 1, 0})),
      ethernet(0x86dd, ipv6(44, Bytes(40, 1))),
      ethernet(0x0806, Bytes(46, 0)),
  };
  const std::size_t plain = frames.size();
  for (std::size_t i = 0; i < plain; ++i) {
    frames.push_back(tagged(frames[i], 0x8100, 5));
    frames.push_back(tagged(frames.back(), 0x88a8, 6));
  }
  return frames;
}

/// Sets the IPv4 header checksum right where there is an untagged IPv4 header, so that mutations get past it.
void repair_checksum(Bytes& frame) {
  for (const std::size_t ip : {14U, 18U, 22U}) {
    if (frame.size() < ip + 20 || frame[ip - 2] != 8 || frame[ip - 1] != 0) continue;
    const std::size_t header = (frame[ip] & 15U) * 4U;
    if (header < 20 || frame.size() < ip + header) return;
    const auto begin = frame.begin() + static_cast<std::ptrdiff_t>(ip);
    Bytes bytes(begin, begin + static_cast<std::ptrdiff_t>(header));
    put_checksum(bytes, 10);
    std::copy(bytes.begin(), bytes.end(), begin);
    return;
  }
}

void mutate(Bytes& frame, std::mt19937& random) {
  const unsigned changes = random() % 4;
  for (unsigned i = 0; i < changes && !frame.empty(); ++i) {
    const std::size_t at = random() % std::min<std::size_t>(frame.size(), 90);
    frame[at] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : frame[at] ^ (1U << (random() % 8)));
  }
  if (random() % 8 == 0) frame.resize(random() % (frame.size() + 1));
  if (random() % 8 == 0) frame.resize(frame.size() + random() % 20, 0xaa);
  if (random() % 4 != 0) repair_checksum(frame);
}

void expect_same(const Bytes& frame) {
  const Reading expected = SlowParser(frame).run();
  const Packet packet = packet_of(frame);
  Parsed got;
  ASSERT_EQ(to_string(parse(packet, got)), to_string(expected.result));
  if (disposition(expected.result) != Disposition::drop || expected.result == ParseResult::bad_tcp_header) {
    ASSERT_EQ(got.src, expected.src);
    ASSERT_EQ(got.dst, expected.dst);
    ASSERT_EQ(got.src_port, expected.src_port);
    ASSERT_EQ(got.dst_port, expected.dst_port);
  }
  if (expected.result != ParseResult::tcp && expected.result != ParseResult::tcp_options_unknown) return;
  ASSERT_EQ(got.payload_offset, expected.payload_begin);
  ASSERT_EQ(got.segment.payload_len, expected.payload_end - expected.payload_begin);
  ASSERT_EQ(got.segment.seq.raw(), expected.seq);
  ASSERT_EQ(got.segment.ack.raw(), expected.ack);
  ASSERT_EQ(got.segment.has_timestamps, expected.timestamps);
  ASSERT_EQ(got.segment.ts_value, expected.ts_value);
  ASSERT_EQ(got.segment.sack_count, expected.sack_count);
  ASSERT_EQ(got.segment.syn.mss, expected.mss);
}

TEST(Reference, MutatedFramesAreParsedAlike) {
  const std::vector<Bytes> frames = seeds();
  constexpr unsigned seed = 20240611;
  std::mt19937 random(seed);
  for (int round = 0; round < 200000; ++round) {
    Bytes frame = frames[random() % frames.size()];
    mutate(frame, random);
    ASSERT_NO_FATAL_FAILURE(expect_same(frame)) << "seed " << seed << " round " << round << "\n"
                                                << testing::PrintToString(frame);
  }
}

TEST(Reference, NoiseIsParsedAlike) {
  constexpr unsigned seed = 7;
  std::mt19937 random(seed);
  for (int round = 0; round < 50000; ++round) {
    Bytes frame(random() % 80);
    for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(random());
    if (frame.size() > 14) {
      const Bytes type = big16(random() % 2 == 0 ? 0x0800 : 0x86dd);
      std::copy(type.begin(), type.end(), frame.begin() + 12);
      frame[14] = static_cast<std::uint8_t>(random() % 2 == 0 ? 0x45 : 0x60);
    }
    repair_checksum(frame);
    ASSERT_NO_FATAL_FAILURE(expect_same(frame)) << "seed " << seed << " round " << round;
  }
}

}  // namespace
}  // namespace sluice::packet
