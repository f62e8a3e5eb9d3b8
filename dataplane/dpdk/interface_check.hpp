#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::dpdk {

/// What the kernel says about a network interface.
struct InterfaceState {
  std::string name;
  std::string driver;  ///< "veth", "tun", "ixgbe"; empty when the driver does not say
  bool up = false;
  bool gro = false;  ///< generic receive offload: packets are merged before we see them
  bool lro = false;  ///< the same by the device
  bool receive_vlan_stripping = false;
  std::uint32_t mtu = 0;
};

/// Asks the kernel by ethtool. Nothing when there is no such interface in this network namespace.
[[nodiscard]] std::optional<InterfaceState> interface_state(const std::string& name);

/// What keeps the interface from carrying packets one to one; each entry says what is wrong and ends with the command
/// that repairs it. Empty when all is well.
[[nodiscard]] std::vector<std::string> interface_problems(const std::string& name, std::uint16_t mtu);

/// Repairs what interface_problems() names: merging off, interface up, MTU at least `mtu`. Needs CAP_NET_ADMIN. Returns
/// the problems that are left.
std::vector<std::string> repair_interface(const std::string& name, std::uint16_t mtu);

/// Repairs if asked, then throws std::runtime_error listing every problem that is left.
void require_usable_interface(const std::string& name, std::uint16_t mtu, bool repair);

}  // namespace sluice::dpdk
