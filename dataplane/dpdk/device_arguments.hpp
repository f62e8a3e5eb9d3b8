#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::dpdk {

/// Properties of a DPDK driver that this program must know. They are looked up by the driver's name.
struct DriverTraits {
  std::string_view prefix;        ///< start of this driver's device names; empty for physical devices
  bool kernel_interface = false;  ///< true if the driver uses a Linux interface, which the argument iface= names

  /// True if the driver passes packet buffers without a copy to a peer, which may write to them.
  bool hands_over_buffers = false;
  /// True if received packets may have partial checksums: only the sum of the pseudo-header, because a kernel leaves
  /// the rest to the device.
  bool partial_checksums = false;

  /// True if the device's peer is a process that may end at any time. The memory that both processes share is then
  /// unmapped.
  bool peer_may_disconnect = false;
  /// True if the driver offers checksum verification in software, which is slower than this program's.
  bool software_offloads = false;
  /// True if the driver registers the packet pool with the kernel, and requires the pool to be one piece of memory
  /// without gaps.
  bool contiguous_pool = false;
  bool attaches_xdp_program = false;  ///< true if the driver attaches an XDP program to its interface
  bool fanout = false;  ///< true if the driver's queues are a fanout group of packet sockets, see fanout_program()
};
[[nodiscard]] const DriverTraits& driver_traits(std::string_view device) noexcept;

/// True for the name of a physical device, "0000:03:00.0" or "03:00.0", whatever arguments follow.
[[nodiscard]] bool is_pci_address(std::string_view device) noexcept;
/// True for the name of a device that is made by a driver, such as "net_memif0", whatever arguments follow.
[[nodiscard]] bool is_virtual_device(std::string_view device) noexcept;

/// Returns the device's name: the part before the first comma.
[[nodiscard]] std::string_view device_name(std::string_view device) noexcept;
/// Returns the value of `key` in "name,key=value,…"; nothing if it is missing.
[[nodiscard]] std::optional<std::string> device_argument(std::string_view device, std::string_view key);

/// Returns the kernel interface whose frames the device receives. Returns nothing if the driver creates the interface
/// itself. Applies to net_af_packet, net_af_xdp and live net_pcap.
[[nodiscard]] std::optional<std::string> served_interface(std::string_view device);

/// True if received packets may have partial checksums, which the sending kernel leaves to a virtual device to
/// complete. veth, TAP and live captures deliver such packets; a physical link never does.
[[nodiscard]] bool carries_partial_checksums(std::string_view device) noexcept;

/// True if the driver passes the packet memory to another process, which maps it: virtio-user with the socket of a
/// vhost-user backend, and memif without copies.
[[nodiscard]] bool peer_maps_memory(std::string_view device);

/// Returns the number of packet buffers that one receive queue of this device occupies while it waits for packets.
/// `descriptors` is the requested queue length. net_af_xdp gives the kernel at least 2048 buffers.
[[nodiscard]] std::uint32_t buffers_held(std::string_view device, std::uint16_t descriptors) noexcept;

/// Returns the bytes that a packet buffer needs after its headroom, for IP packets of `mtu` bytes with two VLAN tags.
/// Pools of ports have at least this buffer size.
[[nodiscard]] std::uint16_t buffer_room(std::uint16_t mtu) noexcept;

/// Returns the device arguments with missing ones added: queues, rings, frame sizes and qdisc bypass of net_af_packet,
/// busy polling off for net_af_xdp, and memif's socket kind and buffer size. `queues` is the requested number.
[[nodiscard]] std::string complete_device_arguments(const std::string& device, std::uint16_t mtu,
                                                    std::uint16_t queues = 1);

/// Removes the socket file of a memif server that has ended, if no process listens on it. Other files are not touched.
void remove_stale_socket(const std::string& path);

}  // namespace sluice::dpdk
