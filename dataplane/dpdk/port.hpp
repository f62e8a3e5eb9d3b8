#pragma once

#include <rte_ethdev.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/interface_claim.hpp"
#include "dataplane/dpdk/interface_link.hpp"
#include "dataplane/dpdk/peer_segmentation.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::dpdk {

/// Where a port of the bump in the wire looks; values as proxy::Side.
enum class Facing : std::uint8_t {
  radio = 0,  ///< towards the UEs: what comes in has the UE as its source
  core = 1    ///< towards the servers: what comes in has the UE as its destination
};

struct PortConfig {
  /// DPDK device arguments ("net_af_packet0,iface=veth0", "net_memif0,role=server,socket=/run/x.sock") or a PCI
  /// address. What the driver needs and the text lacks is filled in, see complete_device_arguments().
  std::string device;
  Facing facing = Facing::radio;
  std::uint16_t queues = 1;  ///< wanted; see receive_queues() and transmit_queues() for what it became
  std::uint16_t mtu = 1500;  ///< bytes of IP packet, 68 … 9000
  bool promiscuous = true;
  /// Repair a kernel interface's settings instead of refusing it, and have the other end of a veth segment for itself.
  bool fix_offloads = false;
  std::uint16_t receive_descriptors = 1024;
  std::uint16_t transmit_descriptors = 1024;
  /// A kernel interface may be a member of a bridge, which is kept shut as long as the port is served (fail_open).
  bool standby = false;
};

/// Counters of one queue. Written by the queue's thread, read by any.
struct alignas(64) QueueCounters {
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> received_bytes{0};
  std::atomic<std::uint64_t> oversized{0};  ///< frames longer than the MTU allows; those of several buffers are dropped
  std::atomic<std::uint64_t> transmitted{0};
  std::atomic<std::uint64_t> transmitted_bytes{0};
  std::atomic<std::uint64_t> transmit_dropped{0};  ///< the device did not take them
  std::atomic<std::uint64_t> copy_failed{0};       ///< shared packets dropped for want of a buffer to copy them to
};

/// A sum of QueueCounters.
struct PortCounters {
  std::uint64_t received = 0, received_bytes = 0, oversized = 0, transmitted = 0, transmitted_bytes = 0,
                transmit_dropped = 0, copy_failed = 0;
};

/// A started network device. Construction and destruction: the control thread; receive() and transmit(): for each queue
/// one thread, the same one for both where the peer may leave (net_memif), none at construction and destruction.
class Port {
 public:
  /// Plugs the device in, configures and starts it. Received packets live in `pool`, which outlives the port. Throws
  /// std::runtime_error saying what is wrong and, where there is one, which command repairs it.
  Port(const PortConfig& config, packet::PacketPool& pool);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// Fills the front of `out` with what has arrived, at most 64, notes cleared; returns how many. 0 as long as a peer
  /// is absent; it is looked for again a few times a second.
  std::size_t receive(std::uint16_t queue, std::span<packet::Packet> out) noexcept;
  /// Sends every packet of the burst, in order; the handles are empty afterwards. What the device does not take after a
  /// few tries is dropped and counted. Shared packets are copied where the driver would hand our buffer to somebody
  /// else.
  void transmit(std::uint16_t queue, std::span<packet::Packet> burst) noexcept;

  /// More than one only when receive_by_address() is true.
  [[nodiscard]] std::uint16_t receive_queues() const noexcept { return receive_queues_; }
  [[nodiscard]] std::uint16_t transmit_queues() const noexcept { return transmit_queues_; }
  /// The device spreads packets over its queues by the UE's address alone, as address_hash() computes it.
  [[nodiscard]] bool receive_by_address() const noexcept { return receive_by_address_; }
  /// The device checks TCP checksums and says so per packet.
  [[nodiscard]] bool checks_checksums() const noexcept { return checks_checksums_; }
  /// See carries_partial_checksums(), of the device and of its interface.
  [[nodiscard]] bool partial_checksums() const noexcept { return partial_checksums_; }

  /// Drops what has come in and was not received yet. While nobody receives.
  void drop_received() noexcept;

  /// Something to wait on until a packet comes in on a queue: readable when there is one. -1 when the driver has
  /// nothing of the kind.
  [[nodiscard]] int readiness_descriptor(std::uint16_t queue) const noexcept {
    return receive_queues_ > 1 && queue < sockets_.size() ? sockets_[queue] : readiness_descriptor_;
  }

  /// Of a kernel interface what the kernel says, for its drivers say that all is well whatever happens; otherwise the
  /// driver's word. A system call or two.
  [[nodiscard]] Link link() const noexcept;
  [[nodiscard]] bool link_up() const noexcept { return link() == Link::up; }
  /// How long the frames are that the device carries now: by the MTU of a kernel interface or a physical device, at
  /// most by that of the configuration, for which the buffers are made. A system call or two.
  [[nodiscard]] packet::LinkLimit limit() const noexcept;
  /// The kernel interface was removed and made again under its name; the driver does not notice.
  [[nodiscard]] bool interface_replaced() const noexcept;
  /// Goes on with the one that is there now. While packets are received and sent; thread: the control thread. Throws
  /// std::runtime_error saying why it cannot be.
  void rebind_interface();

  /// What could not be repaired and may do harm; empty when all is well.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
  /// What ends frames longer than the MTU on this port, as a sentence for a log.
  [[nodiscard]] const std::string& oversized_remedy() const noexcept { return oversized_remedy_; }
  [[nodiscard]] std::uint16_t id() const noexcept { return id_; }
  /// The device's name, "net_af_packet0".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Facing facing() const noexcept { return facing_; }
  [[nodiscard]] PortCounters counters() const noexcept;
  [[nodiscard]] const QueueCounters& counters(std::uint16_t queue) const noexcept { return queues_[queue]; }
  /// The driver's own statistics by name; empty when it has none.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> extended_statistics() const;

 private:
  void prepare_interface(const PortConfig& config, const std::string& interface);
  void plug_in(const PortConfig& config);
  void configure(const PortConfig& config);
  bool configure_rss(const PortConfig& config, rte_eth_conf& settings, const rte_eth_dev_info& device) const;
  bool fill_rss_table(const rte_eth_dev_info& device) const;
  void set_up_queues(const PortConfig& config, const rte_eth_dev_info& device);
  void start(const PortConfig& config);
  void find_sockets(const std::vector<int>& open_before);
  void unplug() noexcept;
  std::uint16_t receive_burst(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  std::uint16_t transmit_burst(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  std::uint16_t guarded_receive(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  std::uint16_t guarded_transmit(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept;
  void look_for_peer() noexcept;
  std::uint16_t unshare(rte_mbuf** buffers, std::uint16_t count, QueueCounters& counters) noexcept;

  packet::PacketPool& pool_;
  const DriverTraits* traits_;
  std::string name_;
  Facing facing_;
  std::uint16_t longest_frame_;  ///< bytes of a frame with an IP packet of the MTU and two VLAN tags
  std::uint16_t id_ = 0;
  std::uint16_t receive_queues_ = 1;
  std::uint16_t transmit_queues_ = 1;
  bool receive_by_address_ = false;
  bool checks_checksums_ = false;
  bool partial_checksums_ = false;
  int readiness_descriptor_ = -1;  ///< the driver's
  PortConfig config_;
  std::string interface_;  ///< of the kernel; empty where there is none
  unsigned interface_index_ = 0;
  std::vector<int> sockets_;  ///< the driver's packet sockets, where it has some, by queue
  bool plugged_by_us_ = false;
  bool reconnects_ = false;  ///< the driver must be restarted to find its peer again
  bool started_ = false;
  Instant look_again_{};  ///< when to see next whether the peer is there
  Instant down_since_ = never;
  std::unique_ptr<QueueCounters[]> queues_;
  InterfaceClaim claim_;
  PeerSegmentation peer_segmentation_;
  std::string warning_;
  std::string oversized_remedy_;
};

}  // namespace sluice::dpdk
