#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/dpdk/address_hash.hpp"
#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/port.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ip_address.hpp"

struct rte_ring;

namespace sluice::dpdk {

class RssSteering;

/// Access of one shard (a poll thread with its own UEs) to the two ports: receives the packets of the shard's UEs,
/// whichever queue they arrived on. Thread: the shard's.
class ShardPorts {
 public:
  /// Fills the front of `out` with packets of this shard's UEs that arrived on the port facing `from`; returns their
  /// number. Also transmits packets of other shards that have no transmit queue of their own and use a queue of this
  /// shard. Must be called for both sides in every round of the shard's poll loop.
  std::size_t receive(Facing from, std::span<packet::Packet> out) noexcept;
  /// Sends every packet of the burst to the port facing `to`; the handles are empty afterwards.
  void transmit(Facing to, std::span<packet::Packet> burst) noexcept;

  /// Makes `policy` watch every port that this shard (a poll thread) polls. Other shards then wake this shard's thread
  /// when they pass packets to it. The policy must outlive the last call of any shard. Called before the threads start.
  void watch_with(PollPolicy& policy);
  /// True if this shard has passed packets to other shards, or transmitted packets for them, since the last call. The
  /// result of receive() does not count these packets.
  [[nodiscard]] bool exchanged_packets() noexcept { return std::exchange(exchanged_packets_, false); }

  /// Returns the number of packets passed to other shards. dropped() counts the packets that were lost because a shard
  /// was overloaded.
  [[nodiscard]] std::uint64_t handed_over() const noexcept { return handed_over_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  friend class RssSteering;
  ShardPorts(RssSteering& steering, unsigned self) : steering_(&steering), self_(self) {}
  std::size_t poll_device(Facing from, std::span<packet::Packet> out) noexcept;
  std::size_t dequeue_from_shards(Facing from, std::span<packet::Packet> out) noexcept;
  void relay_transmissions(Facing to) noexcept;
  /// Received packet that must be passed to another shard, which owns the packet's UE.
  struct Foreign {
    rte_mbuf* buffer;
    unsigned owner;
  };
  std::size_t dispatch_to_shards(Facing from, std::span<packet::Packet> polled, std::span<packet::Packet> out) noexcept;
  void hand_over(Facing from, std::span<Foreign> packets) noexcept;
  void enqueue(rte_ring* ring, std::span<rte_mbuf*> burst) noexcept;
  void wake(unsigned peer) noexcept;

  RssSteering* steering_;
  unsigned self_;
  /// Number of the shard from whose ring packets are taken first the next time; it rotates over all shards.
  unsigned next_peer_ = 0;
  bool exchanged_packets_ = false;
  PollPolicy* policy_ = nullptr;  ///< poll policy of this shard; other shards wake it
  std::atomic<std::uint64_t> handed_over_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

/// Passes every packet to the shard (a poll thread) that owns the packet's UE. Each receive queue is polled by one
/// shard. Packets of UEs that another shard owns are passed to that shard through single-producer single-consumer
/// rings. A shard without a transmit queue sends through such rings as well. If devices distribute by the UE's address
/// (RSS), packets arrive at the right shard and the rings stay empty.
class RssSteering {
 public:
  static constexpr std::uint32_t default_ring_size = 4096;

  /// Creates the rings between `shards` shards. `ports` is indexed by Facing. The ports and this object must outlive
  /// the threads. Throws std::runtime_error if there is no memory for the rings. Throws std::invalid_argument if
  /// `shards` is 0 or more than 128.
  RssSteering(std::array<Port*, 2> ports, unsigned shards, std::uint32_t ring_size = default_ring_size);
  ~RssSteering();
  RssSteering(const RssSteering&) = delete;
  RssSteering& operator=(const RssSteering&) = delete;

  /// Returns the bytes of DPDK memory that rings of the default size take for this number of shards (poll threads).
  [[nodiscard]] static std::uint64_t footprint(unsigned shards) noexcept;

  [[nodiscard]] ShardPorts& shard(unsigned index) noexcept { return *shards_[index]; }
  [[nodiscard]] unsigned shards() const noexcept { return static_cast<unsigned>(shards_.size()); }
  /// Returns the shard (a poll thread) that processes all packets of a UE.
  [[nodiscard]] unsigned owner(const IpAddress& ue) const noexcept { return owner_of_hash(address_hash(ue)); }

 private:
  friend class ShardPorts;
  using Ring = std::unique_ptr<rte_ring, void (*)(rte_ring*)>;

  [[nodiscard]] unsigned owner_of_hash(std::uint32_t hash) const noexcept {
    return hash % rss_table_size % static_cast<unsigned>(shards_.size());
  }
  /// Returns the shard (a poll thread) that polls receive queue `queue` of the port on this side.
  [[nodiscard]] unsigned poller(Facing side, std::uint16_t queue) const noexcept;
  /// Returns the shard whose thread transmits the packets of `shard` on this side. This is `shard` itself, unless the
  /// port has fewer transmit queues than there are shards. transmit_queue() returns the queue used.
  [[nodiscard]] unsigned sender(Facing side, unsigned shard) const noexcept;
  [[nodiscard]] std::uint16_t transmit_queue(Facing side, unsigned shard) const noexcept;
  [[nodiscard]] std::size_t ring_index(Facing side, unsigned from, unsigned to) const noexcept {
    return (static_cast<std::size_t>(side) * shards() + from) * shards() + to;
  }

  std::array<Port*, 2> ports_;
  std::vector<std::unique_ptr<ShardPorts>> shards_;
  /// Rings with packets that one shard (poll thread) received and another shard owns, by ring_index().
  std::vector<Ring> received_;
  /// Rings with packets that one shard (poll thread) transmits for another shard, by ring_index().
  std::vector<Ring> transmitted_;
};

}  // namespace sluice::dpdk
