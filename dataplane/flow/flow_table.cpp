#include "dataplane/flow/flow_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <stdexcept>

namespace sluice::flow {
namespace {

std::uint32_t checked(std::uint32_t capacity) {
  if (capacity == 0 || capacity > (1U << 30)) throw std::invalid_argument("flow table: capacity must be 1 to 2^30");
  return capacity;
}

/// Twice the capacity, a power of two, 64 at least.
std::uint32_t slot_count(std::uint32_t capacity) {
  return std::bit_ceil(std::max(2 * checked(capacity), 64U));
}

}  // namespace

FlowTable::FlowTable(std::uint32_t capacity, const HashKey& secret)
    : capacity_(checked(capacity)),
      mask_(slot_count(capacity) - 1),
      tag_of_(secret),
      slots_(slot_count(capacity)),
      keys_(capacity) {}

FlowIndex FlowTable::find(const FlowKey& key, std::uint32_t tag) const noexcept {
  const std::uint32_t at = slot_of(key, tag);
  return at != no_slot ? slots_[at].index_plus - 1 : no_flow;
}

/// The slot that holds the key, or no_slot.
inline std::uint32_t FlowTable::slot_of(const FlowKey& key, std::uint32_t tag) const noexcept {
  for (std::uint32_t step = 0; step < longest_probe; ++step) {
    const std::uint32_t at = (tag + step) & mask_;
    const Slot slot = slots_[at];
    if (slot.index_plus == 0) return no_slot;
    if (slot.tag == tag && keys_[slot.index_plus - 1] == key) [[likely]]
      return at;
  }
  return no_slot;
}

FlowIndex FlowTable::find(const FlowKey& key) const noexcept {
  return find(key, tag_of_(key));
}

void FlowTable::lookup_burst(std::span<const FlowKey> keys, std::span<FlowIndex> out) const noexcept {
  assert(out.size() >= keys.size());
  constexpr std::size_t batch = 32;
  for (std::size_t start = 0; start < keys.size(); start += batch) {
    const std::size_t count = std::min(batch, keys.size() - start);
    lookup_batch(keys.data() + start, out.data() + start, count);
  }
}

/// Three rounds, so that each finds in the cache what the one before has asked for: slots, keys, comparison. What is in
/// the slot it would like (nearly all are) is found without a loop. Segments of a connection come in trains, which are
/// hashed once.
inline void FlowTable::lookup_batch(const FlowKey* keys, FlowIndex* out, std::size_t count) const noexcept {
  const Slot* const slots = slots_.data();
  const FlowKey* const known = keys_.data();
  tag_of_.burst({keys, count}, out);
  for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(slots + (out[i] & mask_));
  std::array<FlowIndex, 32> candidates;
  for (std::size_t i = 0; i < count; ++i) {
    const Slot slot = slots[out[i] & mask_];
    candidates[i] = slot.tag == out[i] && slot.index_plus != 0 ? slot.index_plus - 1 : no_flow;
    __builtin_prefetch(known + (candidates[i] != no_flow ? candidates[i] : 0));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const FlowIndex candidate = candidates[i];
    out[i] = candidate != no_flow && known[candidate] == keys[i] ? candidate : find(keys[i], out[i]);
  }
}

bool FlowTable::insert(const FlowKey& key, FlowIndex index) noexcept {
  assert(index < capacity_);
  if (size_ == capacity_) return false;
  const std::uint32_t tag = tag_of_(key);
  for (std::uint32_t step = 0; step < longest_probe; ++step) {
    Slot& slot = slots_[(tag + step) & mask_];
    if (slot.index_plus == 0) {
      slot = Slot{tag, index + 1};
      keys_[index] = key;
      ++size_;
      ++changes_;
      return true;
    }
    if (slot.tag == tag && keys_[slot.index_plus - 1] == key) return false;
  }
  return false;
}

bool FlowTable::reassign(const FlowKey& key, FlowIndex index) noexcept {
  assert(index < capacity_);
  const std::uint32_t at = slot_of(key, tag_of_(key));
  if (at == no_slot) return false;
  slots_[at].index_plus = index + 1;
  keys_[index] = key;
  ++changes_;
  return true;
}

FlowIndex FlowTable::erase(const FlowKey& key) noexcept {
  std::uint32_t hole = slot_of(key, tag_of_(key));
  if (hole == no_slot) return no_flow;
  const FlowIndex erased = slots_[hole].index_plus - 1;
  // Close the gap: whoever was pushed past the hole by a collision moves back (Knuth, 6.4 algorithm R). What lies
  // farther from the hole than keys are pushed stays.
  for (std::uint32_t at = (hole + 1) & mask_; slots_[at].index_plus != 0; at = (at + 1) & mask_) {
    const std::uint32_t distance = (at - hole) & mask_;
    if (distance >= longest_probe) break;
    if (((at - slots_[at].tag) & mask_) < distance) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = Slot{};
  --size_;
  ++changes_;
  return erased;
}

}  // namespace sluice::flow
