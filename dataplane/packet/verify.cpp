// Test and completion of TCP and UDP checksums. verify_tcp_checksum() is called for every TCP segment that the proxy
// processes, complete_partial_checksum() for packets that are forwarded unchanged from virtual devices. The device's
// verdict is used first, because it makes reading the payload unnecessary.

#include <rte_mbuf.h>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::packet {
namespace {

constexpr std::size_t tcp_checksum_offset = 16, udp_checksum_offset = 6;

std::uint64_t pseudo_header(const Packet& packet, const Parsed& parsed, std::uint8_t protocol, std::uint16_t length) {
  const std::uint8_t* const ip = packet.data() + parsed.ip_offset;
  return parsed.ip_version == 4 ? pseudo_header_v4(ip + 12, protocol, length)
                                : pseudo_header_v6(ip + 8, protocol, length);
}

/// Returns the checksum sum over the TCP header and its pseudo-header, without the payload.
std::uint64_t front_sum(const Packet& packet, const Parsed& parsed) {
  const std::uint16_t payload = parsed.segment.payload_len;
  if (parsed.common) [[likely]] {
    const std::uint8_t* const frame = packet.data();
    const auto length = static_cast<std::uint16_t>(common_frame::tcp_header + payload);
    const std::uint64_t pseudo = pseudo_header_v4(frame + common_frame::addresses_at, ip_protocol::tcp, length);
    return add_header(pseudo, frame + common_frame::tcp_at, common_frame::tcp_header);
  }
  const auto header = static_cast<std::uint16_t>(parsed.payload_offset - parsed.l4_offset);
  const auto length = static_cast<std::uint16_t>(header + payload);
  return add_header(pseudo_header(packet, parsed, ip_protocol::tcp, length), packet.data() + parsed.l4_offset, header);
}

/// Returns the state of a checksum field that is wrong: `partial` if it contains the sum of the pseudo-header, else
/// `bad`.
ChecksumState judge_wrong(std::uint16_t field, std::uint64_t pseudo) {
  return field == fold(pseudo) ? ChecksumState::partial : ChecksumState::bad;
}

[[gnu::cold, gnu::noinline]] ChecksumState judge_wrong(const Packet& packet, const Parsed& parsed) {
  const auto length = static_cast<std::uint16_t>(parsed.frame_length() - parsed.l4_offset);
  return judge_wrong(load16(packet.data() + parsed.l4_offset + tcp_checksum_offset),
                     pseudo_header(packet, parsed, ip_protocol::tcp, length));
}

}  // namespace

ChecksumState verify_tcp_checksum(const Packet& packet, const Parsed& parsed) noexcept {
  const std::uint16_t payload = parsed.segment.payload_len;
  PacketNote& note = packet.note();
  note.payload_len = payload;

  const std::uint64_t front = front_sum(packet, parsed);
  const std::uint64_t verdict = packet.buffer()->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
  if (verdict == RTE_MBUF_F_RX_L4_CKSUM_GOOD) {
    // Headers and payload add up to 0xffff, because the device reports a good checksum.
    note.payload_sum = static_cast<std::uint16_t>(~fold(front));
    return ChecksumState::good;
  }
  note.payload_sum =
      payload == 0 ? std::uint16_t{0} : ones_complement_sum({packet.data() + parsed.payload_offset, payload});
  // The device reports correct data, but the field is incomplete (virtio between guests).
  if (verdict == RTE_MBUF_F_RX_L4_CKSUM_NONE) return ChecksumState::partial_verified;
  if (sums_to_ones(add_wide(front, note.payload_sum))) [[likely]]
    return ChecksumState::good;
  return judge_wrong(packet, parsed);
}

bool complete_partial_checksum(Packet& packet, const Parsed& parsed, ParseResult result) noexcept {
  const bool tcp = parsed.protocol == ip_protocol::tcp;
  if (parsed.l4_offset == 0 || (!tcp && parsed.protocol != ip_protocol::udp) ||
      disposition(result) == Disposition::drop) {
    return false;
  }
  const auto length = static_cast<std::uint16_t>(parsed.frame_length() - parsed.l4_offset);
  if (length < (tcp ? tcp_length : udp_length)) return false;
  std::uint8_t* const l4 = packet.data() + parsed.l4_offset;
  std::uint8_t* const field = l4 + (tcp ? tcp_checksum_offset : udp_checksum_offset);
  const std::uint64_t pseudo = pseudo_header(packet, parsed, parsed.protocol, length);
  const std::uint16_t before = load16(field);
  if (before != fold(pseudo) || (before == 0 && !tcp)) return false;  // UDP without checksum stays without (RFC 768)
  const std::uint16_t whole = fold(add_wide(pseudo, ones_complement_sum({l4, length})));
  if (whole == 0xffff || judge_wrong(before, pseudo) != ChecksumState::partial) return false;
  // Field and pseudo-header are equal, so the checksum is the complement of `whole` less one of them.
  const auto checksum = static_cast<std::uint16_t>(~subtract_suffix(whole, before, 0));
  store16(field, !tcp && checksum == 0 ? 0xffff : checksum);
  return true;
}

}  // namespace sluice::packet
