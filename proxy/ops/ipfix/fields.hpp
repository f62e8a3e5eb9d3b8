#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::ipfix {

/// Private enterprise number under which RFC 5103 defines elements for the reverse direction.
inline constexpr std::uint32_t reverse_enterprise = 29305;
/// Private enterprise number that IANA has reserved for documentation (RFC 5612). It is the default for elements that
/// IANA has not registered.
inline constexpr std::uint32_t documentation_enterprise = 32473;
/// Length that a template states for a field of variable length, whose records contain the actual length (RFC 7011
/// section 7).
inline constexpr std::uint16_t variable_length = 65535;

/// Registry that has assigned the number of an information element.
enum class Space : std::uint8_t {
  iana,  ///< IANA's registry of IPFIX information elements
  /// IANA's registry; the element describes the reverse direction, from the responder to the initiator (RFC 5103).
  reverse,
  own  ///< registry of this project, for elements that IANA has not registered
};

/// Table of the fields of a data record in order: X(name, element, space, length, text). The fields of the addresses
/// precede them, and differ between the templates for IPv4 and IPv6.
#define SLUICE_IPFIX_FIELDS(X)                                                                             \
  X(sourceTransportPort, 7, iana, 2, "port of the initiator")                                              \
  X(destinationTransportPort, 11, iana, 2, "port of the responder")                                        \
  X(protocolIdentifier, 4, iana, 1, "6, for TCP")                                                          \
  X(flowStartMilliseconds, 152, iana, 8, "when the connection was split, or tracked if it passes")         \
  X(flowEndMilliseconds, 153, iana, 8, "when the last segment of a host was received")                     \
  X(octetDeltaCount, 1, iana, 8, "IP bytes received from the initiator after the handshake")               \
  X(packetDeltaCount, 2, iana, 8, "segments received from the initiator after the handshake")              \
  X(reverseOctetDeltaCount, 1, reverse, 8, "IP bytes received from the responder")                         \
  X(reversePacketDeltaCount, 2, reverse, 8, "segments received from the responder")                        \
  X(biflowDirection, 239, iana, 1, "1: the source is the initiator")                                       \
  X(flowEndReason, 136, iana, 1, "1 idle, 3 closed or reset by a host, 4 ended here, 5 lack of resources") \
  X(initiatedByUe, 1, own, 1, "1 if the UE is the initiator, else 0")                                      \
  X(ueRoundTripMicroseconds, 2, own, 4, "round trip between here and the UE; 0 if unknown")                \
  X(serverRoundTripMicroseconds, 3, own, 4, "round trip between here and the server; 0 if unknown")        \
  X(queueingDelayMicroseconds, 4, own, 4, "round trip to the UE less the smallest one; 0 if unknown")      \
  X(ueRetransmissions, 5, own, 4, "segments retransmitted to the UE")                                      \
  X(serverRetransmissions, 6, own, 4, "segments retransmitted to the server")                              \
  X(handling, 7, own, variable_length, "split, or end to end")                                             \
  X(endReason, 8, own, variable_length, "closed, reset, idle, split, or a released_ or reset_ reason")

struct Field {
  std::string_view name;
  std::uint16_t element = 0;
  Space space = Space::iana;
  std::uint16_t length = 0;
  std::string_view text;
};
/// Fields of a data record in order, after the address fields.
inline constexpr std::array field_table = {
#define X(name, element, space, length, text) Field{#name, element, Space::space, length, text},
    SLUICE_IPFIX_FIELDS(X)
#undef X
};
/// Address fields of a data record: initiator and responder. This array is for IPv4, address_fields_v6 for IPv6.
inline constexpr std::array address_fields_v4 = {
    Field{"sourceIPv4Address", 8, Space::iana, 4, "address of the initiator"},
    Field{"destinationIPv4Address", 12, Space::iana, 4, "address of the responder"}};
inline constexpr std::array address_fields_v6 = {
    Field{"sourceIPv6Address", 27, Space::iana, 16, "address of the initiator"},
    Field{"destinationIPv6Address", 28, Space::iana, 16, "address of the responder"}};

}  // namespace sluice::ipfix
