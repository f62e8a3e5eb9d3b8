#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sluice::dpdk {

/// Returns the MTU in bytes of the other end of a veth pair, which drops longer frames. The other end may be in another
/// network namespace. Returns nothing if the interface is no veth, or if this process has no CAP_NET_ADMIN in that
/// namespace. Makes several system calls; thread: the control thread.
[[nodiscard]] std::optional<std::uint16_t> veth_peer_mtu(const std::string& name) noexcept;

}  // namespace sluice::dpdk
