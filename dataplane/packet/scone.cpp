// SCONE packets: the rate that a network advises to the sender of a QUIC connection (draft-ietf-scone-protocol-07).
// SconeAdvisor calls it for datagrams to UEs. Invariant: nothing is read or written outside the payload, whatever bytes
// it has.
#include "dataplane/packet/scone.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

constexpr std::uint8_t long_header = 0x80;
constexpr std::uint8_t upper_bits_of_signal = 0x3f;
/// Bits of a SCONE packet's first byte that a network must not change. The other six bits are part of the rate signal.
constexpr std::uint8_t form_bits = 0xc0;
/// Highest bit of the version field of a SCONE packet. This bit is the lowest bit of the rate signal.
constexpr std::uint8_t lowest_bit_of_signal = 0x80;
/// Lower seven bits of the first byte of a SCONE packet's version field, which do not belong to the rate signal.
constexpr std::uint8_t upper_bits_of_version = 0x7f;
/// Version of a SCONE packet without its highest bit, which belongs to the rate signal. The two versions are 0x6f7dc0fd
/// and 0xef7dc0fd.
constexpr std::uint32_t version = 0x6f7dc0fd;
constexpr std::uint32_t version_mask = 0x7fffffff;
/// Offset in bytes of the two connection IDs in a long header (RFC 8999 section 5.1). Each ID is preceded by its
/// length.
constexpr std::size_t connection_ids_at = 5;
/// Longest connection ID of QUIC version 1 (RFC 9000 section 17.2) and version 2.
constexpr std::uint8_t max_connection_id = 20;
/// Smallest number of bytes in a QUIC packet after its connection IDs, because header protection needs them (RFC 9001
/// section 5.4.2).
constexpr std::size_t min_rest = 20;

/// Returns the connection IDs of a long header, each preceded by its length. Returns an empty span if they exceed the
/// packet, or if one is longer than 20 bytes.
std::span<const std::uint8_t> connection_ids(std::span<const std::uint8_t> packet) {
  std::size_t end = connection_ids_at;
  for (int i = 0; i < 2; ++i) {
    if (packet.size() <= end || packet[end] > max_connection_id) return {};
    end += std::size_t{1} + packet[end];
  }
  return end <= packet.size() ? packet.subspan(connection_ids_at, end - connection_ids_at)
                              : std::span<const std::uint8_t>();
}

/// True if `packet` begins with a QUIC packet that has the connection IDs `ids`, each preceded by its length. A short
/// header has only the ID of the destination, without its length. The source ID in `ids` must then be empty (section 5
/// of the draft). Some senders (picoquic) write their own ID, which no receiver must reject. Such a packet counts only
/// if a destination ID matches.
bool belongs_to(std::span<const std::uint8_t> packet, std::span<const std::uint8_t> ids) {
  if (packet.empty()) return false;
  if ((packet[0] & long_header) != 0) {
    return packet.size() >= connection_ids_at + ids.size() + min_rest &&
           std::ranges::equal(packet.subspan(connection_ids_at, ids.size()), ids);
  }
  const std::span<const std::uint8_t> destination = ids.subspan(1, ids[0]);
  constexpr std::size_t both_lengths = 2;
  if (destination.empty() && ids.size() > both_lengths) return false;
  return packet.size() >= 1 + destination.size() + min_rest &&
         std::ranges::equal(packet.subspan(1, destination.size()), destination);
}

}  // namespace

std::uint8_t scone_signal_of(Rate rate) {
  constexpr double lowest_bps = 100e3;
  constexpr double signals_per_decade = 20;
  if (rate.bps() <= lowest_bps) return 0;
  const double exact = signals_per_decade * std::log10(rate.bps() / lowest_bps);
  constexpr double tolerance = 1e-9;  // 1 Mb/s is the signal 20, although the logarithm may be a little smaller
  return static_cast<std::uint8_t>(std::min<double>(std::floor(exact + tolerance), no_scone_advice - 1));
}

SconeFormat scone_format(std::span<const std::uint8_t> payload) {
  if (payload.size() <= connection_ids_at || (payload[0] & long_header) == 0 ||
      (load_be32(payload.data() + 1) & version_mask) != version)
    return SconeFormat::none;
  const std::span<const std::uint8_t> ids = connection_ids(payload);
  if (ids.empty()) return SconeFormat::unmatched;
  const bool is_matched = belongs_to(payload.subspan(connection_ids_at + ids.size()), ids);
  return is_matched ? SconeFormat::packet : SconeFormat::unmatched;
}

std::uint8_t scone_signal(std::span<const std::uint8_t> payload) {
  const auto upper = static_cast<std::uint8_t>((payload[0] & upper_bits_of_signal) << 1);
  return (payload[1] & lowest_bit_of_signal) != 0 ? upper | 1U : upper;
}

void set_scone_signal(std::span<std::uint8_t> udp, std::uint8_t signal) {
  std::uint8_t* const at = udp.data() + udp_length;
  const std::uint16_t before = load16(at);
  at[0] = static_cast<std::uint8_t>((at[0] & form_bits) | signal >> 1U);
  at[1] = static_cast<std::uint8_t>((at[1] & upper_bits_of_version) | (signal & 1U) << 7U);
  constexpr std::size_t checksum_at = 6;
  std::uint8_t* const checksum = udp.data() + checksum_at;
  if (load16(checksum) == 0) return;
  const std::uint16_t updated = update_checksum(load16(checksum), before, load16(at));
  store16(checksum, updated == 0 ? 0xffff : updated);  // zero means that there is no checksum (RFC 768)
}

}  // namespace sluice::packet
