// Declares the keys that concern the machine: DPDK's environment, the two ports and the poll threads.
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "dataplane/dpdk/device_arguments.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/describe_parts.hpp"

namespace sluice::proxy {
namespace {

using config::Choice;
using config::Section;
using namespace std::chrono_literals;

constexpr Choice<dpdk::PollMode> poll_modes[] = {
    {"busy", dpdk::PollMode::busy, "never sleeps; occupies a whole processor"},
    {"adaptive", dpdk::PollMode::adaptive,
     "sleeps when idle: until a port signals frames, or for short intervals if the port cannot signal"}};
constexpr Choice<PartialChecksums> partial_checksums[] = {
    {"auto", PartialChecksums::by_driver,
     "`accept` for a port that receives frames from a kernel of this machine (net_af_packet, net_af_xdp, net_tap, live "
     "net_pcap, virtio), `refuse` for any other port and for the interface of a physical device"},
    {"accept", PartialChecksums::accept,
     "accepted from a host whose SYN had such a checksum, and completed in segments that are forwarded unsplit"},
    {"refuse", PartialChecksums::refuse, "dropped and counted"}};

bool accepts_partial_checksums(const PortSettings& port, PartialChecksums setting) {
  if (setting != PartialChecksums::by_driver) return setting == PartialChecksums::accept;
  return dpdk::carries_partial_checksums(port.device);
}

/// Refuses commas in an interface name. A comma would end the driver's argument, and the rest would be read as the next
/// argument.
void check_interface_name(Section& s, const PortSettings& port) {
  if (!dpdk::driver_traits(port.device).kernel_interface) return;
  std::string_view rest = port.device;
  for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
    rest.remove_prefix(comma + 1);
    const std::string_view argument = rest.substr(0, rest.find(','));
    s.check(argument.find('=') != std::string_view::npos, "device",
            "key=value behind each comma, and an interface whose name has none (ip link set dev NAME name OTHER)",
            "\"" + std::string(argument) + "\"");
  }
}

}  // namespace

void describe(Section& s, EalSettings& eal) {
  s.value("hugepages", eal.hugepages, "huge pages instead of ordinary memory, which needs no setup");
  s.value("pci", eal.pci, "probe for physical devices at start; needed for NICs named by their PCI address");
  s.value("memory", eal.memory, {Bytes(16 << 20), Bytes(std::int64_t{64} << 30)},
          "memory for packet buffers; computed from pool.buffers when not set");
  s.list("arguments", eal.arguments, {0, 64}, "further EAL arguments, one word each");
}

void describe(Section& s, PortSettings& port) {
  s.required().value("device", port.device,
                     "DPDK device arguments (`net_af_packet0,iface=veth0`) or a PCI address (`0000:03:00.0`)");
  s.value("mtu", port.mtu, {68, 9000}, "longest IP packet in bytes");
  s.value("fix_offloads", port.fix_offloads,
          "corrects a kernel interface (GRO and LRO off, link up, MTU) instead of refusing to start, and makes the "
          "host at the other end of a veth segment in software");
  s.value("promiscuous", port.promiscuous, "receives frames for every MAC address; required for a bump in the wire");
  s.value("receive_descriptors", port.receive_descriptors, {64, 8192}, "size of the receive ring in frames");
  s.value("transmit_descriptors", port.transmit_descriptors, {64, 8192}, "size of the transmit ring in frames");
  s.check(!port.device.empty(), "device", "DPDK device arguments", "nothing");
  const bool is_named = dpdk::is_pci_address(port.device) || dpdk::is_virtual_device(port.device);
  s.check(port.device.empty() || is_named, "device",
          "net_af_packet0,iface=NAME for a Linux interface, another virtual device (net_af_xdp, net_tap, net_memif, "
          "net_pcap, net_ring, net_null), or a PCI address (0000:03:00.0)",
          "\"" + port.device + "\"");
  s.check(!dpdk::driver_traits(port.device).kernel_interface || dpdk::device_argument(port.device, "iface"), "device",
          "iface=NAME behind the comma: the Linux interface that this device takes frames from",
          "\"" + port.device + "\"");
  check_interface_name(s, port);
}

void describe(Section& s, PortsSettings& ports) {
  s.required().section("radio", ports.radio, "the port towards the Node-B and the UEs");
  s.required().section("core", ports.core, "the port towards the servers");
  s.choice("partial_checksums", ports.partial_checksums, partial_checksums,
           "handling of segments whose TCP checksum the sending kernel left unfinished");
  const auto interface = dpdk::served_interface(ports.radio.device);
  s.check(!interface || interface != dpdk::served_interface(ports.core.device), "core",
          "another interface than that of radio, because each frame would return to its source",
          interface.value_or("") + " twice");
  const auto name = [](const std::string& device) { return device.substr(0, device.find(',')); };
  s.check(name(ports.radio.device) != name(ports.core.device), "core", "another device than that of radio",
          "\"" + name(ports.core.device) + "\" twice");
}

void describe_priority(Section& s, dpdk::PollMode poll, dpdk::ThreadPriority& priority) {
  constexpr Choice<dpdk::ThreadPriority> priorities[] = {
      {"normal", dpdk::ThreadPriority::normal, "ordinary scheduling class"},
      {"real-time", dpdk::ThreadPriority::real_time, "real-time scheduling class; needs CAP_SYS_NICE"}};
  s.choice("priority", priority, priorities, "scheduling priority of a poll thread that has work");
  s.check(poll == dpdk::PollMode::adaptive || priority == dpdk::ThreadPriority::normal, "priority",
          "normal with poll: busy (the system stops a real-time thread that never sleeps for 50 ms of every second)",
          "real-time");
}

void describe(Section& s, ShardsSettings& shards) {
  s.value("count", shards.count, {1, 64}, "poll threads; each UE belongs to one");
  s.choice("poll", shards.poll, poll_modes, "polling policy when no frames arrive");
  s.value("longest_sleep", shards.longest_sleep, {10us, 10ms},
          "longest sleep of a poll thread whose port cannot wake it (net_memif, net_ring): the first packet after an "
          "idle period may wait this long; longer sleeps use less processor time");
  describe_priority(s, shards.poll, shards.priority);
  s.list("cpus", shards.cpus, {0, 64}, {0, 1023}, "processor of each shard; empty: not pinned");
  s.value("burst", shards.burst, {1, 256}, "packets received from a port in one burst");
  s.check(shards.cpus.empty() || shards.cpus.size() == shards.count, "cpus",
          "as many as shards.count, " + std::to_string(shards.count), std::to_string(shards.cpus.size()));
  const std::set<std::uint16_t> distinct(shards.cpus.begin(), shards.cpus.end());
  s.advise(distinct.size() == shards.cpus.size(), "cpus", "each processor once", "a processor that is listed twice");
}

std::array<bool, 2> accepted_partial_checksums(const PortsSettings& ports) {
  return {accepts_partial_checksums(ports.radio, ports.partial_checksums),
          accepts_partial_checksums(ports.core, ports.partial_checksums)};
}

}  // namespace sluice::proxy
