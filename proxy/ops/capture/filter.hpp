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

/// Side and direction of a frame. Each combination is one interface of the capture file.
struct Wire {
  proxy::Side side = proxy::Side::radio;
  bool sent = false;  ///< true if the proxy sent the frame, false if the proxy received it

  [[nodiscard]] constexpr std::size_t index() const { return 2 * static_cast<std::size_t>(side) + (sent ? 1 : 0); }
  /// True if frames with this side and direction go to the UE, so that the UE's address is their destination.
  [[nodiscard]] constexpr bool towards_ue() const { return (side == proxy::Side::radio) == sent; }
};
/// Frame that may be captured, and the result of packet::parse() for it.
struct Frame {
  Wire wire;
  Instant at;
  std::span<const std::uint8_t> bytes;
  packet::ParseResult result{};
  const packet::Parsed& parsed;
};

/// Returns the number of bytes of the frame's headers, which contain no user data. Headers are Ethernet, IP, TCP with
/// options, UDP and ICMP, or a whole ARP message. The result is at most the length of the frame.
[[nodiscard]] std::size_t header_bytes(const Frame& frame);

/// Filter of a capture. Selects which frames are captured, and how many bytes of each.
struct Filter {
  std::optional<IpAddress> ue;
  /// TCP or UDP port that the source or destination of a selected frame must have; not set if any port is selected
  std::optional<std::uint16_t> port;
  std::optional<proxy::Side> leg;
  Decisions decisions = Decisions::all();

  /// maximum number of bytes captured of a frame; if not set, only headers are captured
  std::optional<std::uint16_t> snap_length{};
  Program program;  ///< libpcap filter; it can test only the bytes that are captured

  /// Returns how many bytes of the frame the capture stores.
  [[nodiscard]] std::size_t shown_bytes(const Frame& frame) const;
  /// True if the frame meets all criteria of the filter except those on its decision. The decision (outcome of the
  /// frame) is known only after the frame was processed.
  [[nodiscard]] bool takes(const Frame& frame) const;
};

}  // namespace sluice::capture
