#include "proxy/engine/shard/unsplit_connections.hpp"

#include <algorithm>

namespace sluice::proxy {

UnsplitConnections::UnsplitConnections(std::uint32_t capacity, Duration keep)
    : sets_((capacity + Set{}.size() - 1) / Set{}.size()), keep_(keep) {}

void UnsplitConnections::record(const flow::FlowKey& key, flow::KeyTag tag, Counter reason, Instant now) {
  Set& set = set_of(tag);
  Entry* place = entry_of(set, key);
  const auto age_first = [](const Entry& a, const Entry& b) {
    if (b.used == never) return false;
    return a.used == never || a.used < b.used;
  };
  if (place == nullptr) place = std::min_element(set.begin(), set.end(), age_first);
  *place = {key, now, reason};
  any_ = true;
}

void UnsplitConnections::forget(const flow::FlowKey& key, flow::KeyTag tag) {
  if (!any_) return;
  if (Entry* const entry = entry_of(set_of(tag), key)) *entry = {};
}

std::optional<Counter> UnsplitConnections::find_noted(const flow::FlowKey& key, flow::KeyTag tag, Instant now) {
  Entry* const entry = entry_of(set_of(tag), key);
  if (entry == nullptr) return std::nullopt;
  if (now - entry->used >= keep_) {
    *entry = {};
    return std::nullopt;
  }
  entry->used = now;
  return entry->reason;
}

UnsplitConnections::Set& UnsplitConnections::set_of(flow::KeyTag tag) {
  return sets_[static_cast<std::uint32_t>(tag) % sets_.size()];
}

UnsplitConnections::Entry* UnsplitConnections::entry_of(Set& set, const flow::FlowKey& key) {
  const auto same = [&key](const Entry& each) { return each.used != never && each.key == key; };
  auto* const at = std::find_if(set.begin(), set.end(), same);
  return at == set.end() ? nullptr : at;
}

}  // namespace sluice::proxy
