// Table of the largest flows that pass without control, for `sluicectl flows --passing`. Forwarder calls count() for
// each frame that it forwards, CrossTrafficSender count_bytes() for each one that it sends. Invariant: work and memory
// are constant, whatever addresses the frames have.
#include "proxy/engine/flow_table/passing_traffic.hpp"

#include <algorithm>
#include <utility>

namespace sluice::proxy {
namespace {

/// Returns the key of a frame's flow, with the UE as first host. The ports are 0 if the frame has no TCP or UDP header.
flow::FlowKey flow_of(const RxPacket& rx) {
  flow::FlowKey key = rx.key();
  if (!rx.is_tcp() && !rx.is_signed() && rx.result != packet::ParseResult::udp) key.ue_port = key.server_port = 0;
  return key;
}

/// Returns the index of the set of eight table entries that a flow may use: a number below `end`, which is a power of
/// two. The index depends on all bits of the flow. No secret is needed, because collisions only affect a display.
std::size_t set_of(const flow::FlowKey& key, std::uint8_t protocol, std::size_t end) {
  constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = protocol;
  for (const std::uint64_t word : key.words()) mixed = (mixed ^ word) * golden_ratio;
  return (mixed >> 32U) % end;
}

}  // namespace

void PassingTraffic::sample(const RxPacket& rx, Counter reason) {
  const std::int64_t steps = (-until_sample_ - 1) / step_ + 1;
  const std::int64_t bytes = steps * step_;
  // The place of the sample within its step varies, so that traffic with a period is not always sampled at one phase.
  phase_ = phase_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
  const auto offset = static_cast<std::int64_t>((phase_ >> 33U) % static_cast<std::uint64_t>(step_));
  until_sample_ += bytes + offset - std::exchange(offset_, offset);
  sampled_ += static_cast<std::uint64_t>(bytes);
  step_ = std::clamp(static_cast<std::int64_t>(sampled_ / 64), min_step, max_step);
  if (rx.parsed.ip_version == 0) return;
  const flow::FlowKey key = flow_of(rx);
  Entry& entry = entry_for(key, rx.parsed.protocol, rx.now);
  if (!(entry.key == key) || entry.protocol != rx.parsed.protocol || entry.bytes == 0) {
    entry = {key, entry.bytes, entry.bytes, rx.now, rx.now, reason, rx.parsed.protocol};
  }
  entry.bytes += static_cast<std::uint64_t>(bytes);
  entry.last = rx.now;
  entry.reason = reason;
}

PassingTraffic::Entry& PassingTraffic::entry_for(const flow::FlowKey& key, std::uint8_t protocol, Instant now) {
  std::array<Entry, set_size>& set = sets_[set_of(key, protocol, sets_.size())];
  Entry* smallest = &set.front();
  for (Entry& entry : set) {
    if (entry.bytes != 0 && now - entry.last > keep) entry.bytes = 0;
    if (entry.bytes != 0 && entry.key == key && entry.protocol == protocol) return entry;
    if (entry.bytes < smallest->bytes) smallest = &entry;
  }
  return *smallest;
}

void PassingTraffic::describe(std::vector<PassingInfo>& out, Instant now) const {
  for (std::size_t i = 0; i < capacity; ++i) {
    const Entry& entry = sets_[i / set_size][i % set_size];
    if (entry.bytes == 0 || now - entry.last > keep) continue;
    out.push_back({.ue = entry.key.ue,
                   .server = entry.key.server,
                   .ue_port = entry.key.ue_port,
                   .server_port = entry.key.server_port,
                   .protocol = entry.protocol,
                   .reason = counter_text(static_cast<std::size_t>(entry.reason)).name.data(),
                   .bytes = entry.bytes,
                   .uncertain = entry.inherited,
                   .first = entry.first,
                   .last = entry.last});
  }
}

}  // namespace sluice::proxy
