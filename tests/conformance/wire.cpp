// Frames octet by octet, as RFC 791, 8200, 9293 and IEEE 802.1Q lay them out.

#include "tests/conformance/wire.hpp"

#include <algorithm>
#include <array>

namespace sluice::conformance {
namespace {

constexpr std::array<std::uint8_t, 6> ue_mac = {2, 0, 0, 0, 0, 1};
constexpr std::array<std::uint8_t, 6> core_mac = {2, 0, 0, 0, 0, 2};
constexpr std::uint16_t ipv4_type = 0x0800, ipv6_type = 0x86dd;
constexpr std::size_t tcp_header = 20;

void append(Octets& to, const Octets& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Sum of 16-bit words, RFC 1071 section 1, not inverted.
std::uint32_t sum_of(const Octets& octets, std::size_t from, std::uint32_t sum = 0) {
  for (std::size_t at = from; at < octets.size(); ++at)
    sum += std::uint32_t{octets[at]} << ((at - from) % 2 == 0 ? 8U : 0U);
  while (sum > 0xffffU) sum = (sum >> 16U) + (sum & 0xffffU);
  return sum;
}

std::uint32_t pseudo_header(const Wire& wire, std::size_t length) {
  Octets header = wire.source;
  append(header, wire.destination);
  append_big_endian(header, static_cast<std::uint32_t>(length), 4);
  append_big_endian(header, 6, 4);
  return sum_of(header, 0);
}

void store(Octets& octets, std::size_t at, std::uint32_t value) {
  octets[at] = static_cast<std::uint8_t>(value >> 8U);
  octets[at + 1] = static_cast<std::uint8_t>(value);
}

Octets tcp_part(const Wire& wire, Sum sum) {
  Octets tcp;
  append_big_endian(tcp, wire.source_port, 2);
  append_big_endian(tcp, wire.destination_port, 2);
  append_big_endian(tcp, wire.seq, 4);
  append_big_endian(tcp, wire.ack, 4);
  const auto words = static_cast<std::uint32_t>((tcp_header + wire.options.size()) / 4);
  append_big_endian(tcp, words << 12U | wire.flags, 2);
  append_big_endian(tcp, wire.window, 2);
  append_big_endian(tcp, 0, 2);
  append_big_endian(tcp, wire.urgent, 2);
  append(tcp, wire.options);
  append(tcp, wire.payload);
  const std::uint32_t pseudo = pseudo_header(wire, tcp.size());
  const std::uint32_t good = ~sum_of(tcp, 0, pseudo) & 0xffffU;
  if (sum == Sum::good) store(tcp, 16, good);
  if (sum == Sum::bad) store(tcp, 16, good ^ 0x5a5aU);
  if (sum == Sum::partial) store(tcp, 16, pseudo);
  return tcp;
}

void append_ipv4(Octets& frame, const Wire& wire, std::size_t length, bool good_sum) {
  const std::size_t start = frame.size();
  const auto words = static_cast<std::uint32_t>(5 + wire.between.size() / 4);
  append_big_endian(frame, 4U << 12U | words << 8U | wire.tos, 2);
  append_big_endian(frame, static_cast<std::uint32_t>(words * 4 + length), 2);
  append_big_endian(frame, 99, 2);
  append_big_endian(frame, (wire.dont_fragment ? 0x4000U : 0U) | (wire.more_fragments ? 0x2000U : 0U) | wire.offset, 2);
  append_big_endian(frame, std::uint32_t{wire.hops} << 8U | 6U, 2);
  append_big_endian(frame, 0, 2);
  append(frame, wire.source);
  append(frame, wire.destination);
  append(frame, wire.between);
  const std::uint32_t sum = ~sum_of(frame, start) & 0xffffU;
  store(frame, start + 10, good_sum ? sum : sum ^ 0x5a5aU);
}

void append_ipv6(Octets& frame, const Wire& wire, std::size_t length) {
  append_big_endian(frame, 6U << 28U | std::uint32_t{wire.tos} << 20U, 4);
  append_big_endian(frame, static_cast<std::uint32_t>(wire.between.size() + length), 2);
  append_big_endian(frame, std::uint32_t{wire.first_header} << 8U | wire.hops, 2);
  append(frame, wire.source);
  append(frame, wire.destination);
  append(frame, wire.between);
}

bool is_tag(std::uint32_t type) {
  return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

Octets slice(const Octets& octets, std::size_t from, std::size_t count) {
  const auto begin = octets.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// Reads the IP header at `at`; returns where the TCP header begins and the packet ends, or nothing.
std::optional<std::pair<std::size_t, std::size_t>> read_ip(const Octets& frame, std::size_t at, Read& out) {
  Wire& wire = out.wire;
  if (wire.family == 4) {
    if (frame.size() < at + 20 || frame[at] >> 4U != 4) return std::nullopt;
    const std::size_t header = (frame[at] & 15U) * 4U;
    const std::size_t end = at + big_endian(frame, at + 2, 2);
    if (header < 20 || end > frame.size() || end < at + header || frame[at + 9] != 6) return std::nullopt;
    wire.tos = frame[at + 1];
    const std::uint32_t fragment = big_endian(frame, at + 6, 2);
    wire.dont_fragment = (fragment & 0x4000U) != 0;
    wire.more_fragments = (fragment & 0x2000U) != 0;
    wire.offset = fragment & 0x1fffU;
    wire.hops = frame[at + 8];
    wire.source = slice(frame, at + 12, 4);
    wire.destination = slice(frame, at + 16, 4);
    wire.between = slice(frame, at + 20, header - 20);
    out.good_ip_sum = sum_of(slice(frame, at, header), 0) == 0xffffU;
    return std::pair{at + header, end};
  }
  if (frame.size() < at + 40 || frame[at] >> 4U != 6) return std::nullopt;
  const std::size_t end = at + 40 + big_endian(frame, at + 4, 2);
  if (end > frame.size() || frame[at + 6] != 6) return std::nullopt;
  wire.tos = static_cast<std::uint8_t>(big_endian(frame, at, 2) >> 4U);
  wire.hops = frame[at + 7];
  wire.source = slice(frame, at + 8, 16);
  wire.destination = slice(frame, at + 24, 16);
  out.good_ip_sum = true;  // there is none
  return std::pair{at + 40, end};
}

}  // namespace

Octets write(const Wire& wire, Sum tcp_sum, bool good_ip_sum) {
  const bool from_ue = wire.source_port > wire.destination_port;
  Octets frame;
  frame.insert(frame.end(), from_ue ? core_mac.begin() : ue_mac.begin(), from_ue ? core_mac.end() : ue_mac.end());
  frame.insert(frame.end(), from_ue ? ue_mac.begin() : core_mac.begin(), from_ue ? ue_mac.end() : core_mac.end());
  for (const Tag& tag : wire.tags) append_big_endian(frame, std::uint32_t{tag.type} << 16U | tag.control, 4);
  append_big_endian(frame, wire.family == 4 ? ipv4_type : ipv6_type, 2);
  const Octets tcp = tcp_part(wire, tcp_sum);
  if (wire.family == 4) {
    append_ipv4(frame, wire, tcp.size(), good_ip_sum);
  } else {
    append_ipv6(frame, wire, tcp.size());
  }
  append(frame, tcp);
  return frame;
}

std::optional<Read> read(const Octets& frame) {
  Read result;
  Wire& wire = result.wire;
  std::size_t at = 12;
  while (frame.size() >= at + 4 && is_tag(big_endian(frame, at, 2))) {
    wire.tags.push_back({static_cast<std::uint16_t>(big_endian(frame, at, 2)),
                         static_cast<std::uint16_t>(big_endian(frame, at + 2, 2))});
    at += 4;
  }
  if (frame.size() < at + 2) return std::nullopt;
  const std::uint32_t type = big_endian(frame, at, 2);
  if (type != ipv4_type && type != ipv6_type) return std::nullopt;
  wire.family = type == ipv4_type ? 4 : 6;
  const auto place = read_ip(frame, at + 2, result);
  if (!place || wire.offset != 0) return std::nullopt;
  const auto [tcp, end] = *place;
  if (end < tcp + tcp_header) return std::nullopt;
  const std::size_t header = (frame[tcp + 12] >> 4U) * 4U;
  if (header < tcp_header || tcp + header > end) return std::nullopt;
  wire.source_port = static_cast<std::uint16_t>(big_endian(frame, tcp, 2));
  wire.destination_port = static_cast<std::uint16_t>(big_endian(frame, tcp + 2, 2));
  wire.seq = big_endian(frame, tcp + 4, 4);
  wire.ack = big_endian(frame, tcp + 8, 4);
  wire.flags = big_endian(frame, tcp + 12, 2) & 0x1ffU;
  wire.window = static_cast<std::uint16_t>(big_endian(frame, tcp + 14, 2));
  wire.urgent = static_cast<std::uint16_t>(big_endian(frame, tcp + 18, 2));
  wire.options = slice(frame, tcp + tcp_header, header - tcp_header);
  wire.payload = slice(frame, tcp + header, end - tcp - header);
  const Octets segment = slice(frame, tcp, end - tcp);
  result.good_tcp_sum = sum_of(segment, 0, pseudo_header(wire, segment.size())) == 0xffffU;
  return result;
}

std::map<std::uint8_t, Octets> options_of(const Wire& wire) {
  std::map<std::uint8_t, Octets> found;
  const Octets& all = wire.options;
  for (std::size_t at = 0; at < all.size() && all[at] != kind::end;) {
    if (all[at] == kind::nop) {
      ++at;
      continue;
    }
    if (at + 1 >= all.size() || all[at + 1] < 2 || at + all[at + 1] > all.size()) break;
    found[all[at]] = slice(all, at + 2, all[at + 1] - 2U);
    at += all[at + 1];
  }
  return found;
}

}  // namespace sluice::conformance
