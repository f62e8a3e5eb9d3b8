#pragma once

#include <rte_ethdev.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/interface_claim.hpp"
#include "dataplane/dpdk/interface_link.hpp"
#include "dataplane/dpdk/peer_segmentation.hpp"
#include "dataplane/dpdk/transmit_sendto_workaround.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::dpdk {

/// Side of the proxy to which a port is connected. The values equal those of proxy::Side.
enum class Facing : std::uint8_t {
  radio = 0,  ///< port towards the UEs: packets received there have the UE as source
  core = 1    ///< port towards the servers: packets received there have the UE as destination
};

struct PortConfig {
  /// DPDK device arguments ("net_af_packet0,iface=veth0", "net_memif0,role=server,socket=/run/x.sock") or a PCI
  /// address. Missing arguments that the driver needs are added, see complete_device_arguments().
  std::string device;
  Facing facing = Facing::radio;
  /// Requested number of queues; receive_queues() and transmit_queues() return the actual numbers.
  std::uint16_t queues = 1;
  std::uint16_t mtu = 1500;  ///< largest IP packet in bytes, 68 to 9000
  bool promiscuous = true;
  /// True if settings of a kernel interface that prevent its use as a port are corrected; otherwise the interface is
  /// refused. For a veth pair, also makes the host at the other end divide its data into segments itself.
  bool fix_offloads = false;
  std::uint16_t receive_descriptors = 1024;
  std::uint16_t transmit_descriptors = 1024;
  /// True if a kernel interface may be a member of a bridge that forwards nothing while the port is in use (the
  /// configuration key fail_open).
  bool standby = false;
};

/// Counters of one queue. Written by the queue's thread, read by any thread.
struct alignas(64) QueueCounters {
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> received_bytes{0};
  /// Number of received frames that are longer than the MTU permits. Such a frame is dropped if it takes several
  /// buffers.
  std::atomic<std::uint64_t> oversized{0};
  std::atomic<std::uint64_t> transmitted{0};
  std::atomic<std::uint64_t> transmitted_bytes{0};
  /// Number of packets that the device did not accept. Packets that the kernel refused after the driver had accepted
  /// them are counted per port only (PortCounters).
  std::atomic<std::uint64_t> transmit_dropped{0};
  std::atomic<std::uint64_t> copy_failed{0};  ///< shared packets dropped because no buffer was left for a copy
};

/// Counters of a port: the sums of its QueueCounters. In addition, transmit_dropped counts packets that the kernel
/// refused after the driver had accepted them.
struct PortCounters {
  std::uint64_t received = 0, received_bytes = 0, oversized = 0, transmitted = 0, transmitted_bytes = 0,
                transmit_dropped = 0, copy_failed = 0;
};

/// Started network device. Threads: the control thread constructs and destroys it, while no other thread uses it. Each
/// queue has one thread for receive() and one for transmit(). For net_memif, whose peer may end at any time, both must
/// be the same thread.
class Port {
 public:
  /// Plugs in, configures and starts the device. Received packets are allocated from `pool`, which outlives the port.
  /// Throws std::runtime_error with the problem and, if there is one, the command that repairs it.
  Port(const PortConfig& config, packet::PacketPool& pool);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// Fills the front of `out` with up to 64 received packets and returns their number. Their metadata (PacketNote) is
  /// cleared. Returns 0 while a peer is absent; reconnection is tried a few times per second.
  std::size_t receive(std::uint16_t queue, std::span<packet::Packet> out) noexcept;
  /// Sends every packet of the burst in order; the handles are empty afterwards. Packets that the device does not
  /// accept after a few tries are dropped and counted. Shared packets are copied if the driver would pass the buffer
  /// itself to a peer.
  void transmit(std::uint16_t queue, std::span<packet::Packet> burst) noexcept;

  /// Returns the number of receive queues; more than one only if receive_by_address() is true.
  [[nodiscard]] std::uint16_t receive_queues() const noexcept { return receive_queues_; }
  [[nodiscard]] std::uint16_t transmit_queues() const noexcept { return transmit_queues_; }
  /// True if the device distributes packets over its queues by the UE's address alone, as address_hash() computes it.
  [[nodiscard]] bool receive_by_address() const noexcept { return receive_by_address_; }
  /// True if the device checks TCP checksums and reports the result per packet.
  [[nodiscard]] bool checks_checksums() const noexcept { return checks_checksums_; }
  /// True if received packets may have partial checksums, see carries_partial_checksums() of the device and of its
  /// interface.
  [[nodiscard]] bool partial_checksums() const noexcept { return partial_checksums_; }

  /// Drops packets that have arrived at the device and were not received yet. Must not run while another thread
  /// receives.
  void drop_received() noexcept;

  /// Returns a descriptor that becomes readable when a packet arrives on a queue, for poll(). Returns -1 if the driver
  /// has none.
  [[nodiscard]] int readiness_descriptor(std::uint16_t queue) const noexcept {
    return receive_queues_ > 1 && queue < sockets_.size() ? sockets_[queue] : readiness_descriptor_;
  }

  /// Returns the link state. For a kernel interface the kernel reports it, because drivers of such interfaces always
  /// report "up"; otherwise the driver reports it. Takes one or two system calls.
  [[nodiscard]] Link link() const noexcept;
  [[nodiscard]] bool link_up() const noexcept { return link() == Link::up; }
  /// Returns the largest frame that the device can send now. For a kernel interface or physical device it follows the
  /// device's current MTU, and for a veth also the MTU of its peer. It is never above the configured MTU, for which the
  /// buffers are sized. Takes a few system calls.
  [[nodiscard]] packet::LinkLimit limit() const noexcept;
  /// True if the kernel interface was removed and created again with the same name. The driver does not detect that.
  [[nodiscard]] bool interface_replaced() const noexcept;
  /// Makes the port use the interface that now has the configured name. May run while packets are received and sent;
  /// thread: the control thread. Throws std::runtime_error with the reason if that is not possible.
  void rebind_interface();

  /// Returns a problem that could not be corrected and that may lose packets; empty if there is none.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
  /// Returns how to prevent frames longer than the MTU on this port, as a sentence for a log.
  [[nodiscard]] const std::string& oversized_remedy() const noexcept { return oversized_remedy_; }
  [[nodiscard]] std::uint16_t id() const noexcept { return id_; }
  /// Returns the device's name, such as "net_af_packet0".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Facing facing() const noexcept { return facing_; }
  [[nodiscard]] PortCounters counters() const noexcept;
  [[nodiscard]] const QueueCounters& counters(std::uint16_t queue) const noexcept { return queues_[queue]; }
  /// Returns the driver's own statistics by name; empty if it has none.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> extended_statistics() const;

 private:
  void prepare_interface(const PortConfig& config, const std::string& interface);
  void attach_device(const PortConfig& config);
  void configure(const PortConfig& config);
  bool configure_rss(const PortConfig& config, rte_eth_conf& settings, const rte_eth_dev_info& device) const;
  bool fill_rss_table(const rte_eth_dev_info& device) const;
  void set_up_queues(const PortConfig& config, const rte_eth_dev_info& device);
  void start(const PortConfig& config);
  void find_sockets(const std::vector<int>& open_before);
  void find_transmit_rings();
  void unplug() noexcept;
  std::uint16_t receive_burst(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  std::uint16_t transmit_burst(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  std::uint16_t guarded_receive(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  std::uint16_t guarded_transmit(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  void reconnect_if_absent() noexcept;
  std::uint16_t unshare(rte_mbuf** buffers, std::uint16_t count, QueueCounters& counters) noexcept;

  packet::PacketPool& pool_;
  const DriverTraits* traits_;
  std::string name_;
  Facing facing_;
  std::uint16_t longest_frame_;  ///< bytes of the longest frame, which has an IP packet of MTU size and two VLAN tags
  std::uint16_t id_ = 0;
  std::uint16_t receive_queues_ = 1;
  std::uint16_t transmit_queues_ = 1;
  bool receive_by_address_ = false;
  bool checks_checksums_ = false;
  bool partial_checksums_ = false;
  int readiness_descriptor_ = -1;  ///< descriptor that becomes readable when the driver has packets; -1 if none
  PortConfig config_;
  std::string interface_;  ///< name of the kernel interface; empty if there is none
  unsigned interface_index_ = 0;
  std::vector<int> sockets_;  ///< packet sockets of the driver by queue, if it has some
  bool plugged_by_us_ = false;
  /// True if the driver must be restarted to connect to a peer process that has ended and started again.
  bool reconnects_ = false;
  bool started_ = false;
  Instant next_peer_check_{};  ///< time of the next check whether the peer process is connected
  Instant down_since_ = never;
  std::unique_ptr<QueueCounters[]> queues_;
  InterfaceClaim claim_;
  PeerSegmentation peer_segmentation_;
  /// Enables a workaround for the transmit rings of `sockets_`: a frame that the kernel keeps refusing is dropped, so
  /// that the frames behind it are sent. Empty if the driver has no packet sockets.
  std::optional<TransmitRings> transmit_rings_;
  std::string warning_;
  std::string oversized_remedy_;
};

}  // namespace sluice::dpdk
