// Knowledge about DPDK drivers: their properties, the arguments they need, and the buffers they hold. Used by Port, by
// the check of the configuration and by the calculation of memory. The table known_drivers has one line per driver; the
// last one matches physical devices.

#include "dataplane/dpdk/device_arguments.hpp"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <numeric>

#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/pool.hpp"

namespace sluice::dpdk {
namespace {

constexpr std::array<DriverTraits, 10> known_drivers = {{
    {.prefix = "net_af_packet", .kernel_interface = true, .partial_checksums = true, .fanout = true},
    {.prefix = "net_af_xdp",
     .kernel_interface = true,
     .partial_checksums = true,
     .contiguous_pool = true,
     .attaches_xdp_program = true},
    {.prefix = "net_tap", .partial_checksums = true, .software_offloads = true},
    {.prefix = "net_memif", .peer_may_disconnect = true},
    {.prefix = "net_pcap"},
    {.prefix = "net_ring", .hands_over_buffers = true},
    {.prefix = "net_null"},
    {.prefix = "net_virtio_user", .partial_checksums = true},
    {.prefix = "net_vhost", .partial_checksums = true},
    {.prefix = ""},  // physical devices; matches everything
}};

/// Device arguments under construction: "key=value" pairs are added if the key is missing.
class Completion {
 public:
  explicit Completion(const std::string& device) : device_(device) {}
  void add(std::string_view key, const std::string& value) {
    if (!device_argument(device_, key)) device_ += "," + std::string(key) + "=" + value;
  }
  [[nodiscard]] const std::string& text() const { return device_; }

 private:
  std::string device_;
};

/// Adds the arguments of the driver af_packet for rings of about 4096 frames of 2 KiB. With an MTU above 1500 bytes,
/// the rings have about 1024 frames. The driver requires blocks of whole frames, and the kernel requires blocks of
/// whole pages.
void complete_af_packet(Completion& device, std::uint16_t mtu, std::uint16_t queues) {
  constexpr std::uint16_t max_queues = 16;  // limit of the driver
  constexpr std::uint32_t page = 4096;
  const std::uint32_t frame = buffer_room(mtu);
  const std::uint32_t smallest = std::lcm(frame, page);
  const std::uint32_t block = smallest * std::max(65536U / smallest, 1U);
  const std::uint32_t per_block = block / frame;
  const std::uint32_t wanted = mtu > 1500 ? 1024 : 4096;
  device.add("qdisc_bypass", "1");
  if (queues > 1) device.add("qpairs", std::to_string(std::min(queues, max_queues)));
  device.add("blocksz", std::to_string(block));
  device.add("framesz", std::to_string(frame));
  device.add("framecnt", std::to_string((wanted + per_block - 1) / per_block * per_block));
}

}  // namespace

const DriverTraits& driver_traits(std::string_view device) noexcept {
  return *std::ranges::find_if(known_drivers, [&](const DriverTraits& t) { return device.starts_with(t.prefix); });
}

bool is_pci_address(std::string_view device) noexcept {
  const std::string_view name = device_name(device);
  return std::ranges::count(name, ':') >= 1 && std::ranges::count(name, '.') == 1 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isxdigit(c) != 0 || c == ':' || c == '.'; });
}

bool is_virtual_device(std::string_view device) noexcept {
  return device.starts_with("net_") || device.starts_with("eth_");
}

std::string_view device_name(std::string_view device) noexcept {
  return device.substr(0, device.find(','));
}

std::optional<std::string> served_interface(std::string_view device) {
  if (driver_traits(device).kernel_interface) return device_argument(device, "iface");
  if (!device_name(device).starts_with("net_pcap")) return std::nullopt;
  constexpr std::array<std::string_view, 3> live = {"iface", "rx_iface", "rx_iface_in"};
  for (const std::string_view key : live) {
    if (auto interface = device_argument(device, key)) return interface;
  }
  return std::nullopt;
}

bool carries_partial_checksums(std::string_view device) noexcept {
  // A capture file contains only what was captured, whereas a live interface delivers packets of this kernel.
  if (device_name(device).starts_with("net_pcap")) return served_interface(device).has_value();
  return driver_traits(device).partial_checksums;
}

std::optional<std::string> device_argument(std::string_view device, std::string_view key) {
  std::size_t comma = device.find(',');
  while (comma != std::string_view::npos) {
    device.remove_prefix(comma + 1);
    comma = device.find(',');
    const std::string_view argument = device.substr(0, comma);
    const std::size_t equals = argument.find('=');
    if (argument.substr(0, equals) != key) continue;
    return std::string(equals == std::string_view::npos ? std::string_view{} : argument.substr(equals + 1));
  }
  return std::nullopt;
}

bool peer_maps_memory(std::string_view device) {
  if (device.starts_with("net_virtio_user") || device.starts_with("virtio_user")) return true;
  return device.starts_with("net_memif") && device_argument(device, "zero-copy") == "yes";
}

std::uint32_t buffers_held(std::string_view device, std::uint16_t descriptors) noexcept {
  constexpr std::uint32_t fill_ring = 2048;
  return driver_traits(device).contiguous_pool ? std::max<std::uint32_t>(descriptors, fill_ring) : descriptors;
}

std::uint16_t buffer_room(std::uint16_t mtu) noexcept {
  constexpr std::size_t ring_header = 64;  // header of a frame in the ring of net_af_packet
  const std::size_t needed = (mtu + packet::max_beyond_mtu + ring_header + 1023) / 1024 * 1024;
  return static_cast<std::uint16_t>(std::max<std::size_t>(needed, packet::PacketPool::default_room));
}

std::string complete_device_arguments(const std::string& device, std::uint16_t mtu, std::uint16_t queues) {
  Completion completed(device);
  if (device.starts_with("net_af_packet")) {
    complete_af_packet(completed, mtu, queues);
  } else if (device.starts_with("net_af_xdp")) {
    completed.add("busy_budget", "0");
  } else if (device.starts_with("net_memif")) {
    if (device_argument(device, "socket")) completed.add("socket-abstract", "no");
    if (mtu > 1500) completed.add("bsize", std::to_string(buffer_room(mtu)));
  }
  return completed.text();
}

void remove_stale_socket(const std::string& path) {
  struct stat status {};
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path || lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (probe < 0) return;
  const bool refused =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno == ECONNREFUSED;
  close(probe);
  if (refused) unlink(path.c_str());
}

}  // namespace sluice::dpdk
