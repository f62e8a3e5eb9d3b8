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
#include "proxy/engine/base/side.hpp"
#include "proxy/ops/capture/decision.hpp"
#include "proxy/ops/capture/program.hpp"

namespace sluice::capture {

/// Port and direction of a frame: one interface of the capture.
struct Wire {
  proxy::Side side = proxy::Side::radio;
  bool sent = false;  ///< true if the proxy sent the frame on that side, false if it received the frame

  [[nodiscard]] constexpr std::size_t index() const { return 2 * static_cast<std::size_t>(side) + (sent ? 1 : 0); }
  /// True if frames of this wire go towards the UE, so that the UE's address is their destination.
  [[nodiscard]] constexpr bool towards_ue() const { return (side == proxy::Side::radio) == sent; }
};
/// Frame to be captured, with the result of parse().
struct Frame {
  Wire wire;
  Instant at;
  std::span<const std::uint8_t> bytes;
  packet::ParseResult result{};
  const packet::Parsed& parsed;
};

/// Returns the length of the headers that hold no user data, at most the frame's length. Headers are Ethernet, IP,
/// TCP with options, UDP, ICMP, or a whole ARP message.
[[nodiscard]] std::size_t header_bytes(const Frame& frame);

/// Filter of a capture: which frames are captured, and how many bytes of each.
struct Filter {
  std::optional<IpAddress> ue;
  std::optional<std::uint16_t> port;  ///< TCP or UDP port that either end of a selected frame must have; any if not set
  std::optional<proxy::Side> leg;
  Decisions decisions = Decisions::all();

  /// maximum number of bytes captured of a frame; if not set, only the headers
  std::optional<std::uint16_t> snap_length{};
  Program program;  ///< libpcap filter, applied only to the bytes that are captured

  /// Returns how many bytes of the frame are captured.
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const;
  /// True if the frame meets all criteria of the filter except the decision, which is not known yet.
  [[nodiscard]] bool takes(const Frame& frame) const;
};

}  // namespace sluice::capture
