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
  unsigned index = 0;
  unsigned link_type = 0;   ///< ARPHRD_…: what its frames begin with
  std::string master;       ///< the interface that takes its frames: a bridge, bond, …; empty without one
  std::string master_kind;  ///< "bridge", "bond", "team", "openvswitch", "vrf"
  std::string device;       ///< what the hardware is called ("0000:03:00.0"); empty for what the kernel has made itself
};

/// Asks the kernel by ethtool and rtnetlink. Nothing when there is no such interface in this network namespace.
[[nodiscard]] std::optional<InterfaceState> interface_state(const std::string& name);

/// Returns whether frames with unfinished checksums can come in on the interface: not from the wire of a physical
/// device, but from a device of the hypervisor (virtio, Xen), and from whatever the kernel has made itself.
[[nodiscard]] bool carries_partial_checksums(const InterfaceState& state);

/// Returns why the interface cannot be a port, whatever its settings are: it has no Ethernet frames, or the kernel
/// hands its frames on as well. `standby`: a bridge may, because it is kept shut meanwhile. Empty when it can be one.
[[nodiscard]] std::vector<std::string> interface_obstacles(const InterfaceState& state, bool standby);

/// What keeps the interface from carrying packets one to one; each entry says what is wrong and ends with the command
/// that repairs it. Empty when all is well.
[[nodiscard]] std::vector<std::string> interface_problems(const std::string& name, std::uint16_t mtu);

/// Repairs what interface_problems() names: merging off, interface up, MTU at least `mtu`. Needs CAP_NET_ADMIN. Returns
/// the problems that are left.
std::vector<std::string> repair_interface(const std::string& name, std::uint16_t mtu);

/// Repairs if asked, then throws std::runtime_error listing every problem that is left.
void require_usable_interface(const std::string& name, std::uint16_t mtu, bool repair);

}  // namespace sluice::dpdk
