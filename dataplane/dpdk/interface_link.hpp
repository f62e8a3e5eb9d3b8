#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::dpdk {

/// Link state of an interface as the kernel reports it.
enum class Link : std::uint8_t {
  up,     ///< the interface is administratively up and has a carrier
  down,   ///< the interface is administratively down or has no carrier (of a veth: its other end is down)
  absent  ///< the network namespace has no such interface
};

/// Returns the state as text, such as "up".
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

/// Returns the link state of an interface; makes system calls.
[[nodiscard]] Link interface_link(const std::string& name) noexcept;
/// Returns the interface's MTU in bytes; nothing if there is no such interface.
[[nodiscard]] std::optional<std::uint16_t> interface_mtu(const std::string& name) noexcept;
/// Returns the interface's index; 0 if there is no such interface. The index changes when the interface is removed and
/// created again.
[[nodiscard]] unsigned interface_index(const std::string& name) noexcept;

/// Binds packet sockets (AF_PACKET) to an interface that was removed and created again; the rings of the sockets are
/// kept. Returns the error, empty if there is none.
[[nodiscard]] std::string rebind(std::span<const int> sockets, unsigned index);

/// Makes the packet sockets ignore packets that this machine sends on the interface: its own frames, and frames that a
/// bridge forwards. Kernels before 4.20 do not support this, so the sockets then also receive such packets.
void receive_only_incoming(std::span<const int> sockets) noexcept;

}  // namespace sluice::dpdk
