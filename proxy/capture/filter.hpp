#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dataplane/packet/parse.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/capture/decision.hpp"
#include "proxy/capture/program.hpp"
#include "proxy/shard/side.hpp"

namespace sluice::capture {

/// A leg and a direction: an interface of the capture.
struct Wire {
  proxy::Side side = proxy::Side::radio;
  bool sent = false;  ///< by the proxy; else it was received there

  [[nodiscard]] constexpr std::size_t index() const { return 2 * static_cast<std::size_t>(side) + (sent ? 1 : 0); }
  /// The UE's address is the destination of what goes to the radio.
  [[nodiscard]] constexpr bool towards_ue() const { return (side == proxy::Side::radio) == sent; }
};
/// A frame that went by.
struct Frame {
  Wire wire;
  Instant at;
  std::span<const std::uint8_t> bytes;
  packet::ParseResult result{};
  const packet::Parsed& parsed;
};

/// Bytes of the frame that are headers, and no user's: of Ethernet, IP, TCP with its options, UDP, ICMP; an ARP
/// message. Not more than the frame has.
[[nodiscard]] std::size_t header_bytes(const Frame& frame);

/// Which frames somebody wants to see, and how much of each.
struct Filter {
  std::optional<IpAddress> ue;
  std::optional<std::uint16_t> port;  ///< TCP or UDP, of either end
  std::optional<proxy::Side> leg;
  Decisions decisions = Decisions::all();
  std::optional<std::uint16_t> snap_length{};  ///< bytes of a frame at most; its headers when not set
  Program program;                             ///< sees what is shown of a frame, and no more

  /// How much of the frame is shown.
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const;
  /// Whether the frame is wanted, whatever becomes of it.
  [[nodiscard]] bool takes(const Frame& frame) const;
};

}  // namespace sluice::capture
