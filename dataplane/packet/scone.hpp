#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/units/rate.hpp"

namespace sluice::packet {

/// Value of SCONE's rate signal that advises no rate.
inline constexpr std::uint8_t no_scone_advice = 127;

/// Returns the largest rate signal of SCONE (draft-ietf-scone-protocol-07) whose rate does not exceed `rate`. The
/// signal 0 stands for 100 kb/s, and each increase by 20 for ten times the rate. Rates below 100 kb/s give 0, and 126
/// is the largest result.
[[nodiscard]] std::uint8_t scone_signal_of(Rate rate);

/// States whether the payload of a UDP datagram begins with a SCONE packet.
enum class SconeFormat : std::uint8_t {
  none,       ///< the payload begins with no SCONE packet
  unmatched,  ///< the payload begins like a SCONE packet, but no QUIC packet of the same connection follows
  packet      ///< the payload begins with a SCONE packet
};
/// Returns how the payload of a UDP datagram begins. A SCONE packet has one of two versions. A QUIC packet with the
/// same connection IDs must follow it in the datagram, because other protocols over UDP may have the same first bytes.
[[nodiscard]] SconeFormat scone_format(std::span<const std::uint8_t> payload);

/// Returns the rate signal of a SCONE packet, 0 to 127. Requires scone_format(payload) == SconeFormat::packet.
[[nodiscard]] std::uint8_t scone_signal(std::span<const std::uint8_t> payload);

/// Sets the rate signal of a SCONE packet. `udp` is the UDP datagram with its header, whose checksum is updated; a
/// checksum of zero stays (IPv4 without a checksum). Requires that the payload has SconeFormat::packet and that
/// `signal` is below 128.
void set_scone_signal(std::span<std::uint8_t> udp, std::uint8_t signal);

}  // namespace sluice::packet
