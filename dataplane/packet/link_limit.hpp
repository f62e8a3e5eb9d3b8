#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/encapsulation.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Largest frame that a port sends.
struct LinkLimit {
  static constexpr std::uint16_t none = UINT16_MAX;

  std::uint16_t mtu = none;  ///< largest IP packet in bytes, in a frame without VLAN tags

  /// True if VLAN tags count against the MTU, except one outer 802.1Q tag, as on a packet socket of Linux. False if up
  /// to two VLAN tags of any kind may exceed the MTU.
  bool tags_count = false;

  constexpr bool operator==(const LinkLimit&) const = default;

  /// True if the port can send this frame.
  [[nodiscard, gnu::always_inline]] bool carries(const Packet& frame) const noexcept {
    return frame.size() <= ethernet_length + mtu || carries_tagged(frame);
  }
  /// Returns the largest MSS of segments with the outer headers of this frame. `header_end` is the offset in the frame
  /// at which the TCP header without options ends.
  [[nodiscard]] std::uint16_t mss(std::span<const std::uint8_t> frame, std::size_t header_end) const noexcept {
    const std::size_t longest = ethernet_length + mtu + bytes_beyond_mtu(frame, tags_count);
    return static_cast<std::uint16_t>(longest > header_end ? std::min<std::size_t>(longest - header_end, none) : 1);
  }
  /// Returns the largest MSS of segments with the headers of a template: the IP packet less IP and TCP headers without
  /// options.
  [[nodiscard]] std::uint16_t mss(const HeaderTemplate& header) const noexcept {
    const std::size_t frame = ethernet_length + mtu + bytes_beyond_mtu(header.outer.used(), tags_count);
    const std::size_t outer = header.outer.length;
    const std::size_t ip = std::min<std::size_t>(frame > outer ? frame - outer : 0, none);
    const std::size_t headers = data_header_in_ip(header, false);
    return static_cast<std::uint16_t>(ip > headers ? ip - headers : 1);
  }

 private:
  [[gnu::cold, gnu::noinline]] bool carries_tagged(const Packet& frame) const noexcept {
    return frame.size() <= ethernet_length + mtu + bytes_beyond_mtu(frame.bytes(), tags_count);
  }
};

}  // namespace sluice::packet
