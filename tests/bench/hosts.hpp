#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/transmitter.hpp"

namespace sluice::bench {

inline constexpr std::size_t burst_size = 32;
inline constexpr std::uint16_t payload_size = 1448;
inline constexpr std::uint8_t window_scale = 8;

/// The first bytes of a frame, which its headers are in.
using Head = std::array<std::uint8_t, 64>;

/// Where the shard's packets end. What it sent is given back to the pool together, as a driver does once a burst is on
/// the wire; the heads of it stay until they are taken.
class Sink final : public proxy::Transmitter {
 public:
  Sink() {
    for (std::vector<Head>& heads : heads_) heads.reserve(65'536);
  }
  void transmit(proxy::Side out, std::span<packet::Packet> burst, Instant) override {
    sent_[static_cast<std::size_t>(out)] += burst.size();
    std::array<rte_mbuf*, 64> sent;
    while (!burst.empty()) {
      const auto count = std::min(burst.size(), sent.size());
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(heads_[static_cast<std::size_t>(out)].emplace_back().data(), burst[i].data(), sizeof(Head));
        sent[i] = burst[i].release();
      }
      rte_pktmbuf_free_bulk(sent.data(), static_cast<unsigned>(count));
      burst = burst.subspan(count);
    }
  }
  [[nodiscard]] std::uint64_t sent(proxy::Side side) const { return sent_[static_cast<std::size_t>(side)]; }
  /// Calls visit(segment, host) for what was sent to that side since the last call; the host is the UE's number.
  template <typename Visit>
  void take(proxy::Side side, Visit&& visit) {
    for (const Head& head : heads_[static_cast<std::size_t>(side)]) {
      const std::uint8_t* const ue = head.data() + packet::ethernet_length + (side == proxy::Side::radio ? 16 : 12);
      const std::uint32_t number = (ue[1] - 45U) << 16 | std::uint32_t{ue[2]} << 8 | ue[3];
      visit(segment_of(head), number);
    }
    heads_[static_cast<std::size_t>(side)].clear();
  }

 private:
  /// The numbers, the window, the bytes of payload and a timestamp that stands where kernels put it.
  static tcp::Segment segment_of(const Head& head) {
    const std::uint8_t* const ip = head.data() + packet::ethernet_length;
    const std::uint8_t* const tcp = ip + packet::ipv4_length;
    tcp::Segment segment;
    segment.seq = tcp::SeqNum(packet::load_be32(tcp + 4));
    segment.ack = tcp::SeqNum(packet::load_be32(tcp + 8));
    segment.window = packet::load_be16(tcp + 14);
    segment.payload_len =
        static_cast<std::uint16_t>(packet::load_be16(ip + 2) - packet::ipv4_length - (tcp[12] >> 4) * 4U);
    segment.ts_value = packet::load_be32(tcp + 24);
    return segment;
  }
  std::array<std::vector<Head>, 2> heads_;
  std::array<std::uint64_t, 2> sent_{};
};

/// The two hosts of a connection, as far as the proxy can tell.
struct Connection {
  packet::Addresses to_ue;
  tcp::SeqNum server_next;  ///< what the server sends next
  tcp::SeqNum server_edge;  ///< right edge of the window that it has
  tcp::SeqNum ue_next;
};

/// Frames of hosts on both sides of the proxy, as their kernels make them.
class Hosts {
 public:
  /// `window`: what each host advertises.
  Hosts(packet::PacketPool& pool, Bytes window)
      : pool_(pool),
        window_(static_cast<std::uint16_t>(window.count() >> window_scale)),
        from_server_(packet::make_template(server_mac, ue_mac, 4)),
        from_ue_(packet::make_template(ue_mac, server_mac, 4)) {
    for (std::size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<std::uint8_t>(i * 131U + 7U);
    payload_sum_ = packet::ones_complement_sum(payload_);
  }

  /// The connection of that number before its first SYN; `per_ue` follow each other at one UE.
  [[nodiscard]] static Connection connection(std::uint32_t number, std::uint32_t per_ue) {
    const std::uint32_t ue = number / per_ue;
    Connection connection;
    connection.to_ue.src = IpAddress::v4(198, 51, 100, 1);
    connection.to_ue.dst = IpAddress::v4(10, static_cast<std::uint8_t>(45 + (ue >> 16)),
                                         static_cast<std::uint8_t>(ue >> 8), static_cast<std::uint8_t>(ue));
    connection.to_ue.src_port = 80;
    connection.to_ue.dst_port = static_cast<std::uint16_t>(20000 + number % per_ue);
    connection.server_next = tcp::SeqNum(500'000 + number);
    connection.ue_next = tcp::SeqNum(1000 + number);
    return connection;
  }

  packet::Packet syn(Connection& c, Instant now) {
    tcp::Segment syn = segment(tcp::Flags::syn_bit, c.ue_next, {}, now);
    syn.window = 65535;
    syn.syn = {1460, window_scale, true, true, true};
    c.ue_next += 1;
    return of_ue(c, syn);
  }
  packet::Packet syn_ack(Connection& c, Instant now) {
    tcp::Segment syn_ack = segment(tcp::Flags::syn_bit | tcp::Flags::ack_bit, c.server_next, c.ue_next, now);
    syn_ack.window = 65535;
    syn_ack.syn = {1460, window_scale, true, true, true};
    c.server_next += 1;
    return of_server(c, syn_ack, 0);
  }
  /// Returns a data segment with at most payload_size bytes; `flags` are set besides ACK.
  packet::Packet data_of_server(Connection& c, Instant now, std::uint16_t bytes = payload_size,
                                std::uint8_t flags = 0) {
    tcp::Segment data = segment(static_cast<std::uint8_t>(tcp::Flags::ack_bit | flags), c.server_next, c.ue_next, now);
    data.payload_len = bytes;
    c.server_next += data.length();
    return of_server(c, data, bytes);
  }
  packet::Packet data_of_ue(Connection& c, Instant now, std::uint16_t bytes, std::uint8_t flags = 0) {
    tcp::Segment data = segment(static_cast<std::uint8_t>(tcp::Flags::ack_bit | flags), c.ue_next, c.server_next, now);
    data.payload_len = bytes;
    c.ue_next += data.length();
    return frame(from_ue_, c.to_ue.reversed(), data, bytes);
  }
  packet::Packet ack_of_ue(const Connection& c, Instant now) {
    return of_ue(c, segment(tcp::Flags::ack_bit, c.ue_next, c.server_next, now));
  }
  /// Returns the UE's ACK up to `up_to`. `echo` is the timestamp of the first segment that the ACK covers.
  packet::Packet ack_of_ue(const Connection& c, tcp::SeqNum up_to, std::uint32_t echo, Instant now) {
    tcp::Segment ack = segment(tcp::Flags::ack_bit, c.ue_next, up_to, now);
    ack.ts_echo = echo;
    return of_ue(c, ack);
  }
  packet::Packet ack_of_server(const Connection& c, Instant now) {
    return of_server(c, segment(tcp::Flags::ack_bit, c.server_next, c.ue_next, now), 0);
  }

 private:
  static constexpr std::array<std::uint8_t, 6> ue_mac = {2, 0, 0, 0, 0, 1};
  static constexpr std::array<std::uint8_t, 6> server_mac = {2, 0, 0, 0, 0, 2};

  [[nodiscard]] tcp::Segment segment(std::uint8_t flags, tcp::SeqNum seq, tcp::SeqNum ack, Instant now) const {
    tcp::Segment segment;
    segment.seq = seq;
    segment.ack = ack;
    segment.flags.bits = flags;
    segment.window = window_;
    segment.has_timestamps = true;
    segment.ts_value = static_cast<std::uint32_t>(now.time_since_epoch() / std::chrono::milliseconds(1)) + 1;
    segment.ts_echo = segment.ts_value;
    return segment;
  }
  packet::Packet of_ue(const Connection& c, const tcp::Segment& segment) {
    return frame(from_ue_, c.to_ue.reversed(), segment, 0);
  }
  packet::Packet of_server(const Connection& c, const tcp::Segment& segment, std::uint16_t bytes) {
    return frame(from_server_, c.to_ue, segment, bytes);
  }

  packet::Packet frame(const packet::HeaderTemplate& header, const packet::Addresses& addresses,
                       const tcp::Segment& segment, std::uint16_t bytes) {
    packet::Packet packet = pool_.allocate();
    if (!packet) {
      std::fprintf(stderr, "no packet buffers left\n");
      std::exit(1);
    }
    if (bytes != 0) std::memcpy(packet.append(bytes), payload_.data(), bytes);
    const std::uint16_t sum =
        bytes == payload_size ? payload_sum_ : packet::ones_complement_sum(std::span(payload_).first(bytes));
    packet::write_headers(packet, header, addresses, segment, bytes != 0 ? sum : std::uint16_t{0}, 1);
    return packet;
  }

  packet::PacketPool& pool_;
  std::uint16_t window_;
  packet::HeaderTemplate from_server_;
  packet::HeaderTemplate from_ue_;
  std::array<std::uint8_t, payload_size> payload_{};
  std::uint16_t payload_sum_ = 0;
};

}  // namespace sluice::bench
