#include "emulator/runtime/proxy_node.hpp"

#include <algorithm>
#include <utility>

namespace sluice::emulator {
namespace {

/// Shortest time between two events that run the shard's timers. Without it, virtual time would not advance while the
/// shard keeps a deadline that is already due.
constexpr Duration round_time = std::chrono::microseconds(1);

}  // namespace

ProxyNode::ProxyNode(EventLoop& loop, packet::PacketPool& pool, const proxy::ShardConfig& config, std::uint64_t seed)
    : loop_(loop),
      pool_(pool),
      radio_(*this, proxy::Side::radio),
      core_(*this, proxy::Side::core),
      shard_(config, pool, *this, {seed, ~seed}, loop.now()) {}

void ProxyNode::connect(Element& towards_radio, Element& towards_core) {
  towards_radio_ = &towards_radio;
  towards_core_ = &towards_core;
}

void ProxyNode::receive(proxy::Side side, packet::Packet packet, Instant now) {
  shard_.receive(side, std::span(&packet, 1), now);
  advance_shard(now);
}

void ProxyNode::on_reports(std::span<proxy::ReportArrival> reports, Instant now) {
  shard_.on_reports(reports, now);
  advance_shard(now);
}

void ProxyNode::on_event(std::uint64_t /*tag*/, Instant now) {
  if (now < alarm_) return;
  alarm_ = never;
  advance_shard(now);
}

void ProxyNode::advance_shard(Instant now) {
  if (shard_.next_deadline() <= now) shard_.advance(now);
  const Instant deadline = shard_.next_deadline();
  if (deadline >= alarm_) return;
  alarm_ = std::max(deadline, now + round_time);
  loop_.at(alarm_, *this);
}

void ProxyNode::transmit(proxy::Side out, std::span<packet::Packet> burst, Instant now) {
  Element& wire = out == proxy::Side::radio ? *towards_radio_ : *towards_core_;
  for (packet::Packet& packet : burst) {
    packet::Packet frame = packet.shared() ? pool_.copy(packet) : std::move(packet);
    packet.reset();
    if (frame) {
      wire.receive(std::move(frame), now);
    } else {
      ++copies_failed_;
    }
  }
}

}  // namespace sluice::emulator
