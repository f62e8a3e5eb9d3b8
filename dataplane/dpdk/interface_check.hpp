#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::dpdk {

/// State of a network interface as the kernel reports it.
struct InterfaceState {
  std::string name;
  std::string driver;  ///< name of the driver, such as "veth" or "ixgbe"; may be empty
  bool up = false;
  bool gro = false;  ///< true if generic receive offload is on: the kernel merges packets before they are received
  bool lro = false;  ///< true if large receive offload is on: the device merges packets
  bool receive_vlan_stripping = false;
  std::uint32_t mtu = 0;
  unsigned index = 0;
  unsigned link_type = 0;  ///< type of the interface's frames (ARPHRD_…)
  /// Name of the master interface to which this interface belongs, such as a bridge or a bond; empty if none.
  std::string master;
  /// Kind of the master interface to which this interface belongs: "bridge", "bond", "team", "openvswitch", "vrf".
  std::string master_kind;
  std::string device;  ///< bus address of the hardware, such as "0000:03:00.0"; empty for virtual interfaces
};

/// Reads the state by ethtool and rtnetlink. Returns nothing if there is no such interface in this network namespace.
[[nodiscard]] std::optional<InterfaceState> interface_state(const std::string& name);

/// True if frames with partial checksums can arrive on the interface. Devices of a hypervisor (virtio, Xen) and virtual
/// interfaces deliver them; the link of a physical device does not.
[[nodiscard]] bool carries_partial_checksums(const InterfaceState& state);

/// Returns why the interface cannot be a port with any settings: its frames are no Ethernet frames, or the kernel also
/// forwards them (bridge, bond). If `standby` is true, the interface may be a member of a bridge that forwards nothing
/// while the port is in use. Empty if the interface can be a port.
[[nodiscard]] std::vector<std::string> interface_obstacles(const InterfaceState& state, bool standby);

/// Returns what prevents the interface from carrying IP packets of up to `mtu` bytes unchanged. Each entry states a
/// problem and ends with the command that repairs it. Empty if there is none.
[[nodiscard]] std::vector<std::string> interface_problems(const std::string& name, std::uint16_t mtu);

/// Repairs the problems that interface_problems() finds: switches merging (GRO, LRO) off and the interface up, and
/// raises the MTU to at least `mtu`. Needs CAP_NET_ADMIN. Returns the problems that remain.
std::vector<std::string> repair_interface(const std::string& name, std::uint16_t mtu);

/// Repairs the problems of the interface if `repair` is true. Then throws std::runtime_error that lists every remaining
/// problem.
void require_usable_interface(const std::string& name, std::uint16_t mtu, bool repair);

}  // namespace sluice::dpdk
