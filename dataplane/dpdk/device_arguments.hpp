#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::dpdk {

/// What differs between drivers, by the driver's name.
struct DriverTraits {
  std::string_view prefix;          ///< how device names of this driver begin; empty for physical devices
  bool kernel_interface = false;    ///< sits on a Linux interface named by iface=
  bool hands_over_buffers = false;  ///< gives our very buffers to a peer, who may write to them
  bool partial_checksums = false;   ///< see carries_partial_checksums()
  bool peer_may_leave = false;     ///< the other side is a process that comes and goes, and takes shared memory with it
  bool software_offloads = false;  ///< offers checksum verification, but does it in software, slower than we do
  bool contiguous_pool = false;    ///< registers the pool with the kernel as one piece of memory without gaps
  bool brings_xdp_program = false;  ///< puts an XDP program on its interface
  bool fanout = false;              ///< its queues are a fanout group of packet sockets, see fanout_program()
};
[[nodiscard]] const DriverTraits& driver_traits(std::string_view device) noexcept;

/// The device's name: what precedes the first comma.
[[nodiscard]] std::string_view device_name(std::string_view device) noexcept;
/// The value of `key` in "name,key=value,…"; nothing when it is not there.
[[nodiscard]] std::optional<std::string> device_argument(std::string_view device, std::string_view key);

/// The kernel interface whose frames the device takes, where it does not make that itself: of net_af_packet, net_af_xdp
/// and live net_pcap.
[[nodiscard]] std::optional<std::string> served_interface(std::string_view device);

/// What comes in may carry checksums that a kernel on this machine (or of its guests) left to a device that does not
/// exist: veth, TAP and live captures show packets before their checksum is there. A wire never does.
[[nodiscard]] bool carries_partial_checksums(std::string_view device) noexcept;

/// Packet buffers that one receive queue of this device holds at rest, with `descriptors` asked for: net_af_xdp lends
/// the kernel 2048, whatever is asked.
[[nodiscard]] std::uint32_t buffers_held(std::string_view device, std::uint16_t descriptors) noexcept;

/// Bytes that a packet buffer needs behind its headroom for IP packets of `mtu` bytes with two VLAN tags; pools of
/// ports are made with at least this.
[[nodiscard]] std::uint16_t buffer_room(std::uint16_t mtu) noexcept;

/// Device arguments with what the driver needs and the text lacks: queues, rings and frame sizes of net_af_packet for
/// this MTU, qdisc bypass, busy polling off for net_af_xdp, memif's socket kind and buffer size. `queues`: wanted.
[[nodiscard]] std::string complete_device_arguments(const std::string& device, std::uint16_t mtu,
                                                    std::uint16_t queues = 1);

/// Removes the socket file that a memif server left behind when it died: one that nobody listens on. Other files are
/// left alone.
void remove_stale_socket(const std::string& path);

}  // namespace sluice::dpdk
