// Construction and destruction of a port: checks the configuration and the kernel interface, plugs in the device, and
// configures queues, RSS and offloads. Called by the control thread. If a step fails, the device is unplugged and the
// exception states the remedy. port.cpp has the packet path.
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>

#include "dataplane/dpdk/address_hash.hpp"
#include "dataplane/dpdk/descriptors.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/dpdk/fanout_program.hpp"
#include "dataplane/dpdk/fanout_setsockopt_workaround.hpp"
#include "dataplane/dpdk/fault_guard.hpp"
#include "dataplane/dpdk/interface_check.hpp"
#include "dataplane/dpdk/memif_sendmsg_workaround.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/dpdk/veth_peer.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/pool_memory.hpp"

namespace sluice::dpdk {
namespace {

[[noreturn]] void fail(const std::string& device, const std::string& what, int error = 0) {
  std::string text = "port " + device + ": " + what;
  if (error != 0) text += ": " + std::string(rte_strerror(error < 0 ? -error : error));
  throw std::runtime_error(text);
}

/// Returns what this driver needs, such as privileges, as the end of an error message.
std::string hint(const std::string& device) {
  if (device.starts_with("net_af_packet")) {
    return "; this driver needs CAP_NET_RAW, CAP_NET_ADMIN, and memory that may be locked: CAP_IPC_LOCK or "
           "ulimit -l (run as root)";
  }
  if (device.starts_with("net_tap")) return "; this driver needs CAP_NET_RAW and CAP_NET_ADMIN (run as root)";
  if (device.starts_with("net_af_xdp")) {
    return "; this driver needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF (run as root) and a kernel with AF_XDP";
  }
  if (device.starts_with("net_memif")) return "; the directory of the socket must exist and be writable";
  if (is_pci_address(device))
    return "; the device must be bound to vfio-pci: dpdk-devbind.py --bind=vfio-pci " + device;
  return "";
}

/// Returns the MTU to configure for a virtual device. Some virtual drivers report the limit of Ethernet although they
/// carry larger frames, so DPDK refuses a larger MTU. The kernel interface, if there is one, sets the actual limit.
std::uint32_t accepted_mtu(std::uint16_t mtu, const rte_eth_dev_info& device) {
  constexpr std::uint32_t link = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  return device.max_rx_pktlen > link ? std::min<std::uint32_t>(mtu, device.max_rx_pktlen - link) : mtu;
}

/// Throws std::runtime_error if the configuration or the pool is unsuitable for the port.
void check_config(const PortConfig& config, const packet::PacketPool& pool) {
  const std::string name(device_name(config.device));
  if (!is_virtual_device(name) && !is_pci_address(name)) {
    fail(config.device,
         "is neither a PCI address (0000:03:00.0) nor a virtual device such as net_af_packet0,iface=eth0; also known: "
         "net_af_xdp, net_tap, net_memif, net_pcap, net_ring, net_null");
  }
  if (config.mtu < 68 || config.mtu > 9000) fail(config.device, "the MTU must be 68 to 9000");
  if (config.queues == 0) fail(config.device, "at least one queue is needed");
  const unsigned room = rte_pktmbuf_data_room_size(pool.handle()) - RTE_PKTMBUF_HEADROOM;
  if (room < buffer_room(config.mtu)) {
    fail(config.device, "an MTU of " + std::to_string(config.mtu) + " needs packet buffers of " +
                            std::to_string(buffer_room(config.mtu)) + " bytes, these have " + std::to_string(room));
  }
  // The kernel refuses buffers outside the registered memory one by one, until no packet arrives any more.
  if (driver_traits(config.device).contiguous_pool && !packet::is_contiguous(pool)) {
    fail(config.device,
         "needs all packet buffers in one piece of memory without gaps; run without huge pages, or with enough of them "
         "on one NUMA node and with EAL's arguments --iova-mode va");
  }
}

/// Throws std::runtime_error if the interface cannot be a port. Returns true if frames with partial checksums can
/// arrive on it, or if it does not exist (which is reported later).
bool refuse_obstacles(const PortConfig& config, const std::string& interface) {
  const std::optional<InterfaceState> state = interface_state(interface);
  if (!state) return true;  // reported later by the code that needs the interface
  const std::vector<std::string> obstacles = interface_obstacles(*state, config.standby);
  if (!obstacles.empty()) fail(config.device, obstacles.front());
  return carries_partial_checksums(*state);
}

InterfaceClaim claim(const PortConfig& config, const std::string& interface) {
  try {
    return InterfaceClaim(interface);
  } catch (const std::runtime_error& error) {
    fail(config.device, error.what());
  }
}

}  // namespace

Port::Port(const PortConfig& config, packet::PacketPool& pool)
    : pool_(pool),
      traits_(&driver_traits(config.device)),
      name_(device_name(config.device)),
      facing_(config.facing),
      longest_frame_(static_cast<std::uint16_t>(config.mtu + packet::max_beyond_mtu)),
      config_(config),
      oversized_remedy_("the device merges packets, or ports of a larger mtu are on this wire") {
  partial_checksums_ = carries_partial_checksums(config.device);
  check_config(config, pool);
  if (const auto served = served_interface(config.device)) {
    partial_checksums_ = refuse_obstacles(config, *served) && partial_checksums_;
    claim_ = claim(config, *served);
  }
  if (traits_->kernel_interface) {
    const auto interface = device_argument(config.device, "iface");
    if (!interface) fail(config.device, "iface= is missing");
    prepare_interface(config, *interface);
    interface_ = *interface;
    interface_index_ = interface_index(interface_);
  }
  const std::vector<int> open_before = open_descriptors();
  attach_device(config);
  try {
    configure(config);
    start(config);
    find_sockets(open_before);
  } catch (...) {
    unplug();
    throw;
  }
}

Port::~Port() {
  transmit_rings_.reset();
  if (traits_->peer_may_disconnect) let_interrupt_thread_finish();
  if (started_) rte_eth_dev_stop(id_);
  unplug();
  if (traits_->peer_may_disconnect) let_interrupt_thread_finish();
}

/// Finds the file descriptors that the driver has opened, and configures its packet sockets. `open_before` lists the
/// descriptors that were open before the device was added to DPDK.
void Port::find_sockets(const std::vector<int>& open_before) {
  readiness_descriptor_ = new_packet_descriptor(open_before);
  sockets_ = new_packet_sockets(open_before);  // the driver opens one socket per queue, in the order of the queues
  receive_only_incoming(sockets_);
  find_transmit_rings();
  if (!traits_->fanout || receive_queues_ == 1) return;
  const std::string problem = spread_by_address(sockets_, facing_, receive_queues_);
  if (!problem.empty()) fail(config_.device, "cannot spread packets by address: " + problem + "; give it qpairs=1");
}

/// Enables TransmitRings for the packet sockets: a frame that the kernel never accepts is dropped, so that the frames
/// behind it are sent. Does nothing if the driver has no packet sockets.
void Port::find_transmit_rings() {
  const std::string device = complete_device_arguments(config_.device, config_.mtu, config_.queues);
  const auto number = [&](std::string_view key) {
    const std::string text = device_argument(device, key).value_or("");
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
  };
  if (!sockets_.empty()) transmit_rings_.emplace(sockets_, number("framesz"), number("framecnt"));
}

void Port::rebind_interface() {
  const unsigned present = interface_index(interface_);
  static_cast<void>(refuse_obstacles(config_, interface_));
  prepare_interface(config_, interface_);
  if (sockets_.empty()) fail(config_.device, "this driver cannot attach to an interface that was recreated; restart");
  if (sockets_.size() > 1)
    fail(config_.device,
         "its queues are a group of sockets, which the kernel does not bind to a recreated interface; restart, or give "
         "the device qpairs=1");
  const std::string problem = rebind(sockets_, present);
  if (!problem.empty()) fail(config_.device, "cannot be bound to the recreated interface: " + problem);
  interface_index_ = present;
  if (!config_.promiscuous) return;
  rte_eth_promiscuous_disable(id_);  // the driver assumes that it is still on
  if (rte_eth_promiscuous_enable(id_) != 0) fail(config_.device, "cannot enable promiscuous mode again");
}

/// Checks the kernel interface and, if configured, repairs its settings.
void Port::prepare_interface(const PortConfig& config, const std::string& interface) {
  warning_.clear();
  const bool veth = interface_state(interface).value_or(InterfaceState{}).driver == "veth";
  if (veth) {
    oversized_remedy_ = "the host at the other end of " + interface +
                        " leaves segmentation to a device (TSO, GSO); set fix_offloads: true, or run there: ethtool -K "
                        "INTERFACE tso off gso off";
  }
  // The driver of net_af_xdp attaches its own program. An XDP program enables GRO on a veth, which is switched off
  // below.
  if (veth && config.fix_offloads && !traits_->attaches_xdp_program) {
    try {
      peer_segmentation_ = PeerSegmentation(interface);
    } catch (const std::runtime_error& error) {
      warning_ = std::string(error.what()) +
                 ": if the host at its other end leaves segmentation to a device, its frames are lost; run there: "
                 "ethtool -K INTERFACE tso off gso off";
    }
  }
  if (const auto peer = veth_peer_mtu(interface); peer && *peer < config.mtu) {
    warning_ += (warning_.empty() ? "" : "; ") + std::string("the other end of ") + interface + " has an MTU of " +
                std::to_string(*peer) + " and drops longer frames; run there: ip link set dev INTERFACE mtu " +
                std::to_string(config.mtu);
  }
  try {
    require_usable_interface(interface, config.mtu, config.fix_offloads);
  } catch (const std::runtime_error& error) {
    fail(config.device, error.what());
  }
}

/// Adds the device to DPDK unless EAL arguments have created it.
void Port::attach_device(const PortConfig& config) {
  const std::string device = complete_device_arguments(config.device, config.mtu, config.queues);
  if (traits_->kernel_interface) override_fanout(device_argument(device, "qpairs").value_or("1") != "1");
  if (traits_->peer_may_disconnect) {
    FaultGuard::install();
    tolerate_early_disconnects();
    const bool server = device_argument(device, "role").value_or("client") == "server";
    const auto socket = device_argument(device, "socket");
    if (server && socket) remove_stale_socket(*socket);
    reconnects_ = !server;
    // A client that waits for its server would log an error several times per second.
    if (reconnects_) rte_log_set_level_pattern("pmd.net.memif*", RTE_LOG_CRIT);
  }
  if (rte_eth_dev_get_port_by_name(name_.c_str(), &id_) == 0) return;  // created by EAL arguments
  const std::size_t comma = device.find(',');
  const std::string arguments = comma == std::string::npos ? "" : device.substr(comma + 1);
  const char* const bus = is_pci_address(name_) ? "pci" : "vdev";
  const int result = rte_eal_hotplug_add(bus, name_.c_str(), arguments.c_str());
  if (result < 0) fail(config.device, "cannot be added" + hint(config.device), result);
  plugged_by_us_ = true;
  if (rte_eth_dev_get_port_by_name(name_.c_str(), &id_) != 0) {
    unplug();
    fail(config.device, "no driver took this device" + hint(config.device));
  }
}

void Port::unplug() noexcept {
  if (!plugged_by_us_) return;
  plugged_by_us_ = false;
  rte_eal_hotplug_remove(is_pci_address(name_) ? "pci" : "vdev", name_.c_str());
}

void Port::configure(const PortConfig& config) {
  rte_eth_dev_info device{};
  int result = rte_eth_dev_info_get(id_, &device);
  if (result != 0) fail(config.device, "does not report its capabilities", result);

  if (config.mtu > device.max_mtu) {
    fail(config.device, "carries an MTU of " + std::to_string(device.max_mtu) + " at most, " +
                            std::to_string(config.mtu) + " is wanted");
  }
  rte_eth_conf settings{};
  settings.rxmode.mtu = is_virtual_device(name_) ? accepted_mtu(config.mtu, device) : config.mtu;
  constexpr std::uint64_t checksums = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
  if (!traits_->software_offloads) settings.rxmode.offloads = device.rx_offload_capa & checksums;
  checks_checksums_ = (settings.rxmode.offloads & RTE_ETH_RX_OFFLOAD_TCP_CKSUM) != 0;

  const bool by_program = traits_->fanout && config.queues > 1 && device.max_rx_queues > 1;
  receive_by_address_ = by_program || configure_rss(config, settings, device);
  receive_queues_ = receive_by_address_ ? std::min(config.queues, device.max_rx_queues) : std::uint16_t{1};
  transmit_queues_ = std::min(config.queues, std::max<std::uint16_t>(device.max_tx_queues, 1));
  result = rte_eth_dev_configure(id_, receive_queues_, transmit_queues_, &settings);
  if (result != 0) fail(config.device, "refuses an MTU of " + std::to_string(config.mtu), result);
  set_up_queues(config, device);
}

/// Requests RSS by the UE's address; returns false if the device does not support it.
bool Port::configure_rss(const PortConfig& config, rte_eth_conf& settings, const rte_eth_dev_info& device) const {
  // RSS is used only if the device hashes the UE's address alone, through a table of known size.
  const std::uint64_t side = config.facing == Facing::radio ? RTE_ETH_RSS_L3_SRC_ONLY : RTE_ETH_RSS_L3_DST_ONLY;
  const std::uint64_t wanted = (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP) & device.flow_type_rss_offloads;
  const bool able = (device.flow_type_rss_offloads & side) != 0 && (wanted & RTE_ETH_RSS_IP) != 0 &&
                    device.max_rx_queues >= config.queues && device.reta_size != 0 &&
                    device.reta_size % rss_table_size == 0;
  if (config.queues < 2 || !able) return false;
  settings.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
  settings.rx_adv_conf.rss_conf.rss_key = const_cast<std::uint8_t*>(rss_key().data());  // the driver only reads it
  settings.rx_adv_conf.rss_conf.rss_key_len = std::min<std::uint8_t>(
      device.hash_key_size == 0 ? std::uint8_t{40} : device.hash_key_size, static_cast<std::uint8_t>(rss_key().size()));
  settings.rx_adv_conf.rss_conf.rss_hf = wanted | side;
  return true;
}

/// Fills the device's redirection table, which maps hashes to queues. If the device has more entries than
/// rss_table_size, the first rss_table_size entries are repeated. Returns false if the device refuses the table.
bool Port::fill_rss_table(const rte_eth_dev_info& device) const {
  std::vector<rte_eth_rss_reta_entry64> table((device.reta_size + 63U) / 64U);
  for (std::uint16_t i = 0; i < device.reta_size; ++i) {
    rte_eth_rss_reta_entry64& group = table[i / 64U];
    group.mask |= std::uint64_t{1} << (i % 64U);
    group.reta[i % 64U] = static_cast<std::uint16_t>(i % rss_table_size % receive_queues_);
  }
  return rte_eth_dev_rss_reta_update(id_, table.data(), device.reta_size) == 0;
}

void Port::set_up_queues(const PortConfig& config, const rte_eth_dev_info& device) {
  std::uint16_t receive = config.receive_descriptors;
  std::uint16_t transmit = config.transmit_descriptors;
  int result = rte_eth_dev_adjust_nb_rx_tx_desc(id_, &receive, &transmit);
  if (result != 0) fail(config.device, "cannot size its queues", result);
  const int socket = rte_eth_dev_socket_id(id_);
  const unsigned memory = socket < 0 ? 0U : static_cast<unsigned>(socket);
  for (std::uint16_t i = 0; i < receive_queues_; ++i) {
    result = rte_eth_rx_queue_setup(id_, i, receive, memory, nullptr, pool_.handle());
    if (result != 0) fail(config.device, "cannot set up receive queue " + std::to_string(i), result);
  }
  rte_eth_txconf transmit_settings = device.default_txconf;
  // Payload is shared until it is acknowledged, so buffers must be released one by one by reference count.
  transmit_settings.offloads = 0;
  for (std::uint16_t i = 0; i < transmit_queues_; ++i) {
    result = rte_eth_tx_queue_setup(id_, i, transmit, memory, &transmit_settings);
    if (result != 0) fail(config.device, "cannot set up transmit queue " + std::to_string(i), result);
  }
  queues_ = std::make_unique<QueueCounters[]>(std::max(receive_queues_, transmit_queues_));
}

void Port::start(const PortConfig& config) {
  const int result = rte_eth_dev_start(id_);
  started_ = result == 0;
  if (!started_ && !reconnects_) fail(config.device, "does not start" + hint(config.device), result);
  if (receive_by_address_ && !traits_->fanout) {
    rte_eth_dev_info device{};
    if (rte_eth_dev_info_get(id_, &device) != 0 || !fill_rss_table(device)) {
      fail(config.device, "refuses the table that spreads packets by address; configure one queue");
    }
  }
  if (config.promiscuous) {
    const int promiscuous = rte_eth_promiscuous_enable(id_);
    if (promiscuous != 0 && promiscuous != -ENOTSUP) {
      fail(config.device, "cannot enable promiscuous mode", promiscuous);
    }
  }
  // The driver creates its socket before it binds it to the interface. Frames of all other interfaces that arrived in
  // between are in its ring and would be forwarded. Frames of the right interface received by then are lost with them.
  if (config.device.starts_with("net_af_packet")) drop_received();
}

void Port::drop_received() noexcept {
  constexpr int most = 1 << 16;  // more than any ring holds; bounds the loop during a flood
  std::array<rte_mbuf*, 64> buffers;
  for (std::uint16_t queue = 0; queue < receive_queues_; ++queue) {
    for (int dropped = 0; dropped < most;) {
      const std::uint16_t count = rte_eth_rx_burst(id_, queue, buffers.data(), buffers.size());
      if (count == 0) break;
      rte_pktmbuf_free_bulk(buffers.data(), count);
      dropped += count;
    }
  }
  pool_.release_cached();  // the poll thread needs these buffers
}

}  // namespace sluice::dpdk
