// Receiving and transmitting on a started port, its link state and its counters. Called by poll threads through
// ShardPorts; port_setup.cpp constructs and destroys ports. Each counter has one writer, so no addition is locked.
// Bursts on net_memif run under FaultGuard, because the peer may unmap the shared memory at any time.

#include "dataplane/dpdk/port.hpp"

#include <rte_ethdev.h>

#include <algorithm>
#include <array>

#include "dataplane/dpdk/clock.hpp"
#include "dataplane/dpdk/fault_guard.hpp"
#include "dataplane/dpdk/veth_peer.hpp"

namespace sluice::dpdk {
namespace {

constexpr std::uint16_t burst_limit = 64;
/// Number of times that transmit() offers packets to a device whose queue is full. The queue empties at line rate, and
/// more tries would delay all other packets of this thread.
constexpr int transmit_tries = 4;

void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
  // The counter has one writer, so a plain addition suffices.
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

std::uint64_t get(const std::atomic<std::uint64_t>& counter) noexcept {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace

std::size_t Port::receive(std::uint16_t queue, std::span<packet::Packet> out) noexcept {
  std::array<rte_mbuf*, burst_limit> buffers;
  const auto limit = static_cast<std::uint16_t>(std::min<std::size_t>(out.size(), burst_limit));
  const std::uint16_t count = receive_burst(queue, buffers.data(), limit);
  if (count == 0) return 0;
  for (std::uint16_t i = 0; i < count; ++i) {
    __builtin_prefetch(rte_pktmbuf_mtod(buffers[i], const void*));
    __builtin_prefetch(rte_mbuf_to_priv(buffers[i]), 1);
  }
  QueueCounters& counters = queues_[queue];
  std::size_t kept = 0;
  std::uint64_t bytes = 0;
  for (std::uint16_t i = 0; i < count; ++i) {
    if (buffers[i]->nb_segs != 1) [[unlikely]] {
      rte_pktmbuf_free(buffers[i]);
      add(counters.oversized, 1);
      continue;
    }
    if (buffers[i]->data_len > longest_frame_) [[unlikely]]
      add(counters.oversized, 1);
    packet::Packet packet(buffers[i]);
    packet.note() = packet::PacketNote{};
    bytes += packet.size();
    out[kept++] = std::move(packet);
  }
  add(counters.received, kept);
  add(counters.received_bytes, bytes);
  return kept;
}

/// Receives a burst from the driver; returns the number of packets. Uses FaultGuard if the peer process may end and
/// take shared memory with it.
std::uint16_t Port::receive_burst(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept {
  if (!traits_->peer_may_disconnect) [[likely]]
    return rte_eth_rx_burst(id_, queue, buffers, count);
  const std::uint16_t received = started_ ? guarded_receive(queue, buffers, count) : std::uint16_t{0};
  if (received == 0) reconnect_if_absent();
  return received;
}

/// Passes a burst to the driver; returns the number of packets accepted. A driver whose queue is full is tried four
/// times, but only once if its peer process may end.
std::uint16_t Port::transmit_burst(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept {
  if (traits_->peer_may_disconnect) [[unlikely]]
    return started_ ? guarded_transmit(queue, buffers, count) : std::uint16_t{0};
  std::uint16_t sent = 0;
  for (int tries = 0; tries < transmit_tries && sent < count; ++tries) {
    sent = static_cast<std::uint16_t>(
        sent + rte_eth_tx_burst(id_, queue, buffers + sent, static_cast<std::uint16_t>(count - sent)));
  }
  return sent;
}

/// Receives under FaultGuard; a fault frees the buffers that were received and returns 0.
std::uint16_t Port::guarded_receive(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept {
  std::uint16_t received = 0;
  std::fill_n(buffers, count, nullptr);
  if (FaultGuard::run([&] { received = rte_eth_rx_burst(id_, queue, buffers, count); })) return received;
  for (std::uint16_t i = 0; i < count; ++i) rte_pktmbuf_free(buffers[i]);  // complete ones; null is skipped
  return 0;
}

/// Transmits under FaultGuard; returns the number of packets sent. After a fault all packets count as sent, and no
/// buffer leaks.
std::uint16_t Port::guarded_transmit(std::uint16_t queue, rte_mbuf** buffers, std::uint16_t count) noexcept {
  // Takes a second reference to each buffer. After a fault the reference count shows which ones the driver has
  // released.
  std::array<std::uint16_t, burst_limit> references;
  for (std::uint16_t i = 0; i < count; ++i) references[i] = rte_mbuf_refcnt_update(buffers[i], 1);
  std::uint16_t sent = 0;
  const bool complete = FaultGuard::run([&] { sent = rte_eth_tx_burst(id_, queue, buffers, count); });
  for (std::uint16_t i = 0; i < count; ++i) {
    const bool kept_by_driver = !complete && rte_mbuf_refcnt_read(buffers[i]) == references[i];
    rte_pktmbuf_free(buffers[i]);
    if (kept_by_driver) rte_pktmbuf_free(buffers[i]);
  }
  return complete ? sent : count;
}

/// Checks at most every 50 ms whether the peer (the process at the other end of the device) is connected. If the link
/// has been down for 300 ms and `reconnects_` is set, restarts the driver, which connects only when it is started.
void Port::reconnect_if_absent() noexcept {
  // The driver connects only when it is started, so it is stopped and started again. It handles the departure of a peer
  // in DPDK's interrupt thread without notice when that is done, hence the waiting time.
  constexpr Duration interval = std::chrono::milliseconds(50);
  constexpr Duration reconnect_delay = std::chrono::milliseconds(300);
  const Instant present = now();
  if (present < next_peer_check_) return;
  next_peer_check_ = present + interval;
  if (started_) {
    if (link_up()) {
      down_since_ = never;
      return;
    }
    down_since_ = std::min(down_since_, present);
    if (!reconnects_ || present - down_since_ < reconnect_delay) return;
    rte_eth_dev_stop(id_);
  }
  started_ = rte_eth_dev_start(id_) == 0;
  down_since_ = never;
  if (!started_) next_peer_check_ = present + reconnect_delay;
}

/// Replaces shared packets by copies, because the driver passes buffers to a peer that may write to them. Drops packets
/// for which no buffer is free. Returns how many packets remain.
std::uint16_t Port::unshare(rte_mbuf** buffers, std::uint16_t count, QueueCounters& counters) noexcept {
  std::uint16_t kept = 0;
  for (std::uint16_t i = 0; i < count; ++i) {
    packet::Packet packet(buffers[i]);
    if (packet.shared()) packet = pool_.copy(packet);
    if (packet) {
      buffers[kept++] = packet.release();
    } else {
      add(counters.copy_failed, 1);
    }
  }
  return kept;
}

void Port::transmit(std::uint16_t queue, std::span<packet::Packet> burst) noexcept {
  QueueCounters& counters = queues_[queue];
  while (!burst.empty()) {
    std::array<rte_mbuf*, burst_limit> buffers;
    auto count = static_cast<std::uint16_t>(std::min<std::size_t>(burst.size(), burst_limit));
    for (std::uint16_t i = 0; i < count; ++i) buffers[i] = burst[i].release();
    burst = burst.subspan(count);
    if (traits_->hands_over_buffers) [[unlikely]]
      count = unshare(buffers.data(), count, counters);
    std::array<std::uint16_t, burst_limit> sizes;  // read before the driver frees the packets
    for (std::uint16_t i = 0; i < count; ++i) sizes[i] = buffers[i]->data_len;
    const std::uint16_t sent = transmit_burst(queue, buffers.data(), count);
    std::uint64_t bytes = 0;
    for (std::uint16_t i = 0; i < sent; ++i) bytes += sizes[i];
    add(counters.transmitted, sent);
    add(counters.transmitted_bytes, bytes);
    if (sent == count) continue;
    add(counters.transmit_dropped, static_cast<std::uint64_t>(count - sent));
    rte_pktmbuf_free_bulk(buffers.data() + sent, static_cast<unsigned>(count - sent));
  }
}

Link Port::link() const noexcept {
  if (!interface_.empty()) return interface_link(interface_);
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP ? Link::up : Link::down;
}

packet::LinkLimit Port::limit() const noexcept {
  std::uint16_t mtu = config_.mtu;
  std::optional<std::uint16_t> peer_mtu;
  if (!interface_.empty()) {
    mtu = interface_mtu(interface_).value_or(mtu);
    peer_mtu = veth_peer_mtu(interface_);
  } else if (traits_->prefix.empty() && rte_eth_dev_get_mtu(id_, &mtu) != 0) {
    mtu = config_.mtu;
  }
  // An XDP socket passes frames to the driver without the kernel's check, which a packet socket and a veth apply.
  const bool tags_count = traits_->kernel_interface && (!traits_->attaches_xdp_program || peer_mtu);
  return {std::min({mtu, peer_mtu.value_or(mtu), config_.mtu}), tags_count};
}

bool Port::interface_replaced() const noexcept {
  if (interface_.empty()) return false;
  const unsigned present = interface_index(interface_);
  return present != 0 && present != interface_index_;
}

PortCounters Port::counters() const noexcept {
  PortCounters sum;
  for (std::uint16_t i = 0; i < std::max(receive_queues_, transmit_queues_); ++i) {
    const QueueCounters& queue = queues_[i];
    sum.received += get(queue.received);
    sum.received_bytes += get(queue.received_bytes);
    sum.oversized += get(queue.oversized);
    sum.transmitted += get(queue.transmitted);
    sum.transmitted_bytes += get(queue.transmitted_bytes);
    sum.transmit_dropped += get(queue.transmit_dropped);
    sum.copy_failed += get(queue.copy_failed);
  }
  if (transmit_rings_) sum.transmit_dropped += transmit_rings_->dropped();
  return sum;
}

std::vector<std::pair<std::string, std::uint64_t>> Port::extended_statistics() const {
  const int count = rte_eth_xstats_get_names(id_, nullptr, 0);
  if (count <= 0) return {};
  std::vector<rte_eth_xstat_name> names(static_cast<std::size_t>(count));
  std::vector<rte_eth_xstat> values(static_cast<std::size_t>(count));
  const int named = rte_eth_xstats_get_names(id_, names.data(), static_cast<unsigned>(count));
  const int valued = rte_eth_xstats_get(id_, values.data(), static_cast<unsigned>(count));
  if (named != count || valued != count) return {};
  std::vector<std::pair<std::string, std::uint64_t>> result;
  for (const rte_eth_xstat& value : values) {
    if (value.id < names.size()) result.emplace_back(names[value.id].name, value.value);
  }
  return result;
}

}  // namespace sluice::dpdk
