#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/packet/build_datagram.hpp"
#include "proxy/engine/base/report_arrival.hpp"
#include "tests/fuzz/shard/lab.hpp"

namespace sluice::proxy::fuzz {

using tcp::fuzz::Input;

/// A number near `base`, or any.
inline tcp::SeqNum near(Input& input, tcp::SeqNum base) {
  const std::uint8_t how = input.byte();
  if (how == 0xff) return tcp::SeqNum(input.word());
  const auto steps = static_cast<std::int32_t>(static_cast<std::int8_t>(input.byte()));
  constexpr std::array<std::int32_t, 4> units{1, 64, 1448, 1 << 16};
  return how < 0x80 ? base : base + static_cast<std::uint32_t>(steps * units[how % units.size()]);
}

/// A segment such as a host of the connection might send, or a forger who knows more or less of it.
inline tcp::Segment forge_segment(Input& input, const End& end, Instant now) {
  tcp::Segment segment;
  const std::uint8_t what = input.byte();
  segment.seq = near(input, end.endpoint.snd_nxt());
  segment.ack = near(input, end.endpoint.rcv_nxt());
  segment.flags.bits = (what & 1) != 0 ? input.byte() : std::uint8_t{tcp::Flags::ack_bit};
  segment.window = (what & 2) != 0 ? static_cast<std::uint16_t>(input.word()) : std::uint16_t{1000};
  if ((what & 4) != 0) segment.payload_len = static_cast<std::uint16_t>(1 + input.byte() * 5);
  segment.has_timestamps = (what & 8) != 0;
  segment.ts_value = static_cast<std::uint32_t>(now.time_since_epoch() / std::chrono::milliseconds(1));
  if ((what & 16) != 0) segment.ts_value += input.word();
  segment.ts_echo = segment.ts_value - input.byte();
  if ((what & 32) != 0) {
    segment.sack_count = static_cast<std::uint8_t>(input.byte() % 4);
    for (tcp::SackBlock& block : segment.sack_blocks) {
      block.left = segment.ack + input.byte() * 128U;
      block.right = block.left + input.byte() * 64U;
    }
  }
  if ((what & 64) != 0) segment.urgent = static_cast<std::uint16_t>(input.word());
  segment.ecn = static_cast<std::uint8_t>(what >> 7U);
  segment.syn = end.options();
  return segment;
}

/// The frame of a segment with zeros for its payload.
inline Frame frame_of(packet::PacketPool& pool, const End& end, const tcp::Segment& segment) {
  packet::Packet packet = pool.allocate();
  if (!packet) return {};
  std::fill_n(packet.append(segment.payload_len), segment.payload_len, std::uint8_t{0});
  packet::write_headers(packet, end.headers(), end.addresses(), segment, 0, 7);
  return bytes_of(packet);
}

/// Puts a byte into the TCP header of a frame without IP options and makes the checksum right again: options that are
/// unknown, malformed or something else than they were.
inline void bend_options(Frame& frame, std::uint8_t at, std::uint8_t value) {
  const bool v4 = is_v4(frame);
  const std::size_t tcp = ip_at + (v4 ? packet::ipv4_length : packet::ipv6_length);
  if ((!v4 && !is_v6(frame)) || frame.size() <= tcp + packet::tcp_length) return;
  const std::size_t position = tcp + packet::tcp_length + at % (frame.size() - tcp - packet::tcp_length);
  const std::size_t even = position - (position - tcp) % 2;
  if (even + 1 >= frame.size()) return;
  const std::uint16_t before = packet::load16(&frame[even]);
  frame[position] = value;
  packet::store16(&frame[tcp + 16],
                  packet::update_checksum(packet::load16(&frame[tcp + 16]), before, packet::load16(&frame[even])));
}

/// A router's word on a frame that the proxy has sent to `to`.
inline Frame router_error(packet::PacketPool& pool, Input& input, const Frame& quoted, const End& end) {
  packet::Packet packet = pool.allocate();
  if (!packet || quoted.size() <= ip_at) return {};
  const std::size_t most = quoted.size() - ip_at;
  const std::size_t length = std::min<std::size_t>(most, 28 + input.byte() % 64);
  std::copy_n(quoted.begin() + ip_at, length, packet.append(static_cast<std::uint16_t>(length)));
  const bool v4 = is_v4(quoted);
  const std::uint8_t what = input.byte();
  packet::IcmpHeader icmp;
  icmp.type = (what & 1) != 0 ? std::uint8_t(v4 ? 3 : 2) : std::uint8_t(what >> 1U);
  icmp.code = (what & 1) != 0 ? std::uint8_t(v4 ? 4 : 0) : std::uint8_t(what >> 5U);
  icmp.rest = (what & 2) != 0 ? input.byte() * 8U : input.word();
  packet::write_icmp_headers(packet, end.headers(), end.addresses(), icmp, 9);
  return bytes_of(packet);
}

inline Frame datagram(packet::PacketPool& pool, Input& input, const End& end) {
  packet::Packet packet = pool.allocate();
  if (!packet) return {};
  const auto length = static_cast<std::uint16_t>(input.byte() * 5);
  std::fill_n(packet.append(length), length, std::uint8_t{0x55});
  packet::write_udp_headers(packet, end.headers(), end.addresses(), 11);
  return bytes_of(packet);
}

/// What a Node-B may say of a UE, sane or not.
inline ReportArrival report(Input& input, const IpAddress& ue, Instant now, std::uint64_t sequence) {
  ReportArrival arrival;
  arrival.bearer.ue = ue;
  const std::uint8_t what = input.byte();
  const auto amount = [&] { return std::uint64_t{input.byte()} << ((what & 1) != 0 ? input.byte() % 56U : 8U); };
  arrival.bearer.state = static_cast<control::feedback::RadioState>((what & 2) != 0 ? input.byte() % 4U : 0U);
  arrival.bearer.buffer = Bytes(static_cast<std::int64_t>(amount()));
  arrival.bearer.queue = Bytes(static_cast<std::int64_t>(amount()));
  arrival.bearer.arrived = amount();
  arrival.bearer.transmitted = amount();
  arrival.bearer.service_rate = arrival.bearer.mean_service_rate = Rate::bits_per_second(static_cast<double>(amount()));
  arrival.bearer.active_flows = input.byte();
  arrival.bearer.active_users = input.byte();
  if ((what & 4) != 0) arrival.bearer.allowance = Bytes(static_cast<std::int64_t>(amount()));
  if ((what & 8) != 0) arrival.bearer.gwa_window = Bytes(static_cast<std::int64_t>(amount()));
  if ((what & 16) != 0) {
    arrival.bearer.clamp = {Bytes(static_cast<std::int64_t>(amount())), std::chrono::microseconds(input.word() / 2)};
  }
  control::feedback::bound(arrival.bearer);
  arrival.sender = 1U + (what >> 7U);
  arrival.epoch = 1U + (what >> 6U) % 2U;
  arrival.sequence = sequence;
  arrival.period = std::chrono::milliseconds(1 + input.byte());
  arrival.sender_time = now.time_since_epoch();
  return arrival;
}

/// … and of those that its reports leave out.
inline OmissionNotice omission(Input& input, Instant now, std::uint64_t sequence) {
  const std::uint8_t what = input.byte();
  OmissionNotice notice;
  notice.sender = 1U + (what >> 7U);
  notice.epoch = 1U + (what >> 6U) % 2U;
  notice.sequence = sequence;
  notice.since = sequence - std::min<std::uint64_t>(what % 8U, sequence);
  notice.sender_time = now.time_since_epoch() + std::chrono::milliseconds(what & 8U);
  notice.period = std::chrono::milliseconds(1 + input.byte());
  notice.refresh = std::chrono::nanoseconds(1) + std::chrono::milliseconds(input.byte() * (what & 16U));
  return notice;
}

}  // namespace sluice::proxy::fuzz
