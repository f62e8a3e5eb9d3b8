// Distribution of packets to the shards that own their UEs. Poll threads call ShardPorts in every round; RssSteering is
// shared by them and constant after construction. Packets of other shards pass through single-producer single-consumer
// rings, so no lock is needed. A full ring drops packets instead of blocking.

#include "dataplane/dpdk/rss.hpp"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace sluice::dpdk {
namespace {

constexpr std::size_t burst_limit = 64;

void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

}  // namespace

RssSteering::RssSteering(std::array<Port*, 2> ports, unsigned shards, std::uint32_t ring_size) : ports_(ports) {
  if (shards == 0 || shards > rss_table_size) {
    throw std::invalid_argument("steering: 1 to " + std::to_string(rss_table_size) + " shards");
  }
  for (unsigned i = 0; i < shards; ++i) shards_.push_back(std::unique_ptr<ShardPorts>(new ShardPorts(*this, i)));
  if (shards == 1) return;
  static std::atomic<unsigned> instances{0};
  const unsigned instance = instances++;
  for (std::size_t i = 0; i < 2U * shards * shards; ++i) {
    for (auto* const rings : {&received_, &transmitted_}) {
      const std::string name =
          "steer" + std::to_string(instance) + (rings == &received_ ? "r" : "t") + std::to_string(i);
      Ring ring(rte_ring_create(name.c_str(), ring_size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ), rte_ring_free);
      if (!ring) throw std::runtime_error("steering: no ring between shards: " + std::string(rte_strerror(rte_errno)));
      rings->push_back(std::move(ring));
    }
  }
}

RssSteering::~RssSteering() {
  for (auto* const rings : {&received_, &transmitted_}) {
    for (const Ring& ring : *rings) {
      void* packet = nullptr;
      while (rte_ring_dequeue(ring.get(), &packet) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(packet));
    }
  }
}

std::uint64_t RssSteering::footprint(unsigned shards) noexcept {
  if (shards == 1) return 0;
  const std::uint64_t rings = std::uint64_t{4} * shards * shards;  // two sides, received and transmitted
  return rings * static_cast<std::uint64_t>(rte_ring_get_memsize(default_ring_size));
}

unsigned RssSteering::poller(Facing side, std::uint16_t queue) const noexcept {
  // Different shards poll the two ports with a single queue each, so that one thread does not poll both.
  const Port& port = *ports_[static_cast<std::size_t>(side)];
  if (port.receive_queues() > 1) return queue % shards();
  return (queue + static_cast<unsigned>(side)) % shards();
}

unsigned RssSteering::sender(Facing side, unsigned shard) const noexcept {
  // With fewer transmit queues than shards, queue q belongs to the shard that polls queue q.
  const Port& port = *ports_[static_cast<std::size_t>(side)];
  const unsigned queues = port.transmit_queues();
  return queues >= shards() ? shard : poller(side, static_cast<std::uint16_t>(shard % queues));
}

std::uint16_t RssSteering::transmit_queue(Facing side, unsigned shard) const noexcept {
  return static_cast<std::uint16_t>(shard % ports_[static_cast<std::size_t>(side)]->transmit_queues());
}

std::size_t ShardPorts::receive(Facing from, std::span<packet::Packet> out) noexcept {
  if (steering_->shards() == 1) return steering_->ports_[static_cast<std::size_t>(from)]->receive(0, out);
  relay_transmissions(from);
  // Packets from rings fill at most half of `out`, so the device is polled every time: other shards wait for their
  // packets in its queue.
  const std::size_t handed = dequeue_from_shards(from, out.first((out.size() + 1) / 2));
  return handed + poll_device(from, out.subspan(handed));
}

/// Polls the receive queues of this shard (a poll thread) on the port facing `from`. Returns the number of packets for
/// this shard's UEs.
std::size_t ShardPorts::poll_device(Facing from, std::span<packet::Packet> out) noexcept {
  Port& port = *steering_->ports_[static_cast<std::size_t>(from)];
  std::size_t own = 0;
  for (std::uint16_t queue = 0; queue < port.receive_queues(); ++queue) {
    if (steering_->poller(from, queue) != self_) continue;
    std::array<packet::Packet, burst_limit> polled;
    // Packets of other shards leave space in `out`; it is used in the next round.
    const std::size_t room = std::min(polled.size(), out.size() - own);
    const std::size_t count = port.receive(queue, std::span(polled).first(room));
    own += dispatch_to_shards(from, std::span(polled).first(count), out.subspan(own));
  }
  return own;
}

/// Distributes the packets `polled`, which arrived on the port facing `from`. Packets of this shard (a poll thread)
/// fill the front of `out`; the others are passed to the shards that own their UEs. Returns the number of packets in
/// `out`.
std::size_t ShardPorts::dispatch_to_shards(Facing from, std::span<packet::Packet> polled,
                                           std::span<packet::Packet> out) noexcept {
  std::array<Foreign, burst_limit> foreign;
  std::size_t own = 0;
  std::size_t others = 0;
  for (packet::Packet& packet : polled) {
    const unsigned owner = steering_->owner_of_hash(ue_address_hash(packet, from));
    if (owner == self_) {
      out[own++] = std::move(packet);
    } else {
      foreign[others++] = {packet.release(), owner};
    }
  }
  if (others != 0) hand_over(from, std::span(foreign).first(others));
  return own;
}

/// Passes packets that arrived on the port facing `from` to the shards (poll threads) that own their UEs. All packets
/// for one shard are passed in one burst, in order of arrival.
void ShardPorts::hand_over(Facing from, std::span<Foreign> packets) noexcept {
  add(handed_over_, packets.size());
  while (!packets.empty()) {
    const unsigned owner = packets.front().owner;
    std::array<rte_mbuf*, burst_limit> piece;
    std::size_t count = 0;
    std::size_t left = 0;
    for (const Foreign& each : packets) {
      if (each.owner == owner) {
        piece[count++] = each.buffer;
      } else {
        packets[left++] = each;
      }
    }
    enqueue(steering_->received_[steering_->ring_index(from, self_, owner)].get(), std::span(piece).first(count));
    wake(owner);
    packets = packets.first(left);
  }
}

/// Wakes the poll thread of shard `peer` if it sleeps.
void ShardPorts::wake(unsigned peer) noexcept {
  exchanged_packets_ = true;
  if (PollPolicy* const policy = steering_->shards_[peer]->policy_; policy != nullptr) policy->wake_if_asleep();
}

void ShardPorts::watch_with(PollPolicy& policy) {
  policy_ = &policy;
  for (const Facing side : {Facing::radio, Facing::core}) {
    const Port& port = *steering_->ports_[static_cast<std::size_t>(side)];
    for (std::uint16_t queue = 0; queue < port.receive_queues(); ++queue) {
      if (steering_->shards() == 1 || steering_->poller(side, queue) == self_)
        policy.watch(port.readiness_descriptor(queue));
    }
  }
}

/// Takes packets that other shards (poll threads) have received on the port facing `from` and passed to this one.
/// Returns their number.
std::size_t ShardPorts::dequeue_from_shards(Facing from, std::span<packet::Packet> out) noexcept {
  std::size_t taken = 0;
  const unsigned shards = steering_->shards();
  for (unsigned step = 0; step < shards && taken < out.size(); ++step) {
    const unsigned peer = (next_peer_ + step) % shards;
    if (peer == self_) continue;
    std::array<void*, burst_limit> packets;
    const std::size_t room = std::min(packets.size(), out.size() - taken);
    rte_ring* const ring = steering_->received_[steering_->ring_index(from, peer, self_)].get();
    const unsigned count = rte_ring_sc_dequeue_burst(ring, packets.data(), static_cast<unsigned>(room), nullptr);
    for (unsigned i = 0; i < count; ++i) out[taken++] = packet::Packet(static_cast<rte_mbuf*>(packets[i]));
  }
  next_peer_ = (next_peer_ + 1) % shards;
  return taken;
}

void ShardPorts::transmit(Facing to, std::span<packet::Packet> burst) noexcept {
  const unsigned sender = steering_->shards() == 1 ? self_ : steering_->sender(to, self_);
  if (sender == self_) {
    steering_->ports_[static_cast<std::size_t>(to)]->transmit(steering_->transmit_queue(to, self_), burst);
  } else {
    while (!burst.empty()) {
      std::array<rte_mbuf*, burst_limit> piece;
      const std::size_t count = std::min(piece.size(), burst.size());
      for (std::size_t i = 0; i < count; ++i) piece[i] = burst[i].release();
      enqueue(steering_->transmitted_[steering_->ring_index(to, self_, sender)].get(), std::span(piece).first(count));
      burst = burst.subspan(count);
    }
    wake(sender);
  }
}

/// Transmits packets on the port facing `to` for other shards (poll threads) that have no transmit queue of their own.
void ShardPorts::relay_transmissions(Facing to) noexcept {
  Port& port = *steering_->ports_[static_cast<std::size_t>(to)];
  for (unsigned peer = 0; peer < steering_->shards(); ++peer) {
    if (peer == self_ || steering_->sender(to, peer) != self_) continue;
    std::array<void*, burst_limit> taken;
    rte_ring* const ring = steering_->transmitted_[steering_->ring_index(to, peer, self_)].get();
    const unsigned count = rte_ring_sc_dequeue_burst(ring, taken.data(), burst_limit, nullptr);
    if (count == 0) continue;
    exchanged_packets_ = true;
    std::array<packet::Packet, burst_limit> packets;
    for (unsigned i = 0; i < count; ++i) packets[i] = packet::Packet(static_cast<rte_mbuf*>(taken[i]));
    port.transmit(steering_->transmit_queue(to, peer), std::span(packets).first(count));
  }
}

/// Puts packets into a ring and drops those that do not fit.
void ShardPorts::enqueue(rte_ring* ring, std::span<rte_mbuf*> burst) noexcept {
  std::array<void*, burst_limit> packets;
  std::ranges::copy(burst, packets.begin());
  const unsigned taken = rte_ring_sp_enqueue_burst(ring, packets.data(), static_cast<unsigned>(burst.size()), nullptr);
  if (taken == burst.size()) return;
  // A full ring means that the other shard is overloaded; waiting for it would stop this one as well.
  add(dropped_, burst.size() - taken);
  rte_pktmbuf_free_bulk(burst.data() + taken, static_cast<unsigned>(burst.size()) - taken);
}

}  // namespace sluice::dpdk
