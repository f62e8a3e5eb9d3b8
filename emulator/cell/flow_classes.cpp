#include "emulator/cell/flow_classes.hpp"

#include "emulator/net/flow_key.hpp"

namespace sluice::emulator {

bool FlowClasses::is_short(std::span<const std::uint8_t> frame, Bytes length, Instant now) {
  const auto key = read_flow_key(frame);
  if (!key) return true;
  if (flows_.size() >= max_flows) forget_idle(now);
  const auto [at, fresh] = flows_.try_emplace(key->hash());
  Flow& flow = at->second;
  if (!fresh && now - flow.last >= parameters_.reset && flow.long_waiting == 0) flow.sent = Bytes(0);
  flow.last = now;
  const bool is_short = flow.sent < parameters_.short_limit;
  flow.sent += length;
  if (!is_short) ++flow.long_waiting;
  return is_short;
}

void FlowClasses::on_long_removed(std::span<const std::uint8_t> frame) {
  const auto key = read_flow_key(frame);
  if (!key) return;
  const auto at = flows_.find(key->hash());
  if (at != flows_.end() && at->second.long_waiting > 0) --at->second.long_waiting;
}

void FlowClasses::forget_idle(Instant now) {
  std::erase_if(flows_, [&](const auto& entry) {
    return entry.second.long_waiting == 0 && now - entry.second.last >= parameters_.reset;
  });
}

}  // namespace sluice::emulator
