#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::dpdk {

/// What the kernel says of an interface's link.
enum class Link : std::uint8_t {
  up,     ///< it is up and has a carrier
  down,   ///< it is switched off, or nothing is plugged in (of a veth: its other end is down)
  absent  ///< there is no such interface, or not in this network namespace
};

/// "up".
[[nodiscard]] constexpr std::string_view to_string(Link link) {
  switch (link) {
    case Link::up:
      return "up";
    case Link::down:
      return "down";
    case Link::absent:
      return "absent";
  }
  return "?";
}

/// Asks the kernel; system calls.
[[nodiscard]] Link interface_link(const std::string& name) noexcept;
/// The interface's MTU; nothing where there is no such interface.
[[nodiscard]] std::optional<std::uint16_t> interface_mtu(const std::string& name) noexcept;
/// The interface's number, which is another one when it was removed and made again; 0 where there is none.
[[nodiscard]] unsigned interface_index(const std::string& name) noexcept;

/// Binds packet sockets (AF_PACKET) to an interface that was removed and made again; their rings stay. Empty, or what
/// went wrong.
[[nodiscard]] std::string rebind(std::span<const int> sockets, unsigned index);

/// Has packet sockets not hear what this machine itself sends on their interface: a host's own frames, and those that a
/// bridge over it carries, did not come in by the wire. A kernel older than 4.20 cannot, and goes on.
void hear_only_what_comes_in(std::span<const int> sockets) noexcept;

}  // namespace sluice::dpdk
