// Hash table from connections to flows: linear probing, backward-shift deletion, and lookup in bursts with prefetching.
// Used by the flow registries of the proxy, once per burst of packets. No key is more than longest_probe slots away
// from its preferred slot, so every operation takes bounded time whatever keys an attacker chooses.

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

/// Returns the number of slots: twice the capacity, rounded up to a power of two, at least 64.
std::uint32_t slot_count(std::uint32_t capacity) {
  return std::bit_ceil(std::max(2 * checked(capacity), 64U));
}

}  // namespace

FlowTable::FlowTable(std::uint32_t capacity, const HashKey& secret)
    : capacity_(checked(capacity)),
      mask_(slot_count(capacity) - 1),
      hash_(secret),
      slots_(slot_count(capacity)),
      keys_(capacity) {}

FlowIndex FlowTable::find(const FlowKey& key, KeyTag tag) const noexcept {
  const std::uint32_t at = slot_of(key, static_cast<std::uint32_t>(tag));
  return at != no_slot ? slots_[at].index() : no_flow;
}

/// Returns the slot of the key, or no_slot. Searches for an IPv4 key in its short form, in which the table stores it.
inline std::uint32_t FlowTable::slot_of(const FlowKey& key, std::uint32_t tag) const noexcept {
  const auto words = key.words();
  return is_v4(words) ? probe(ShortKey::of(words), tag) : probe(key, tag);
}

/// Returns the slot that holds the key, or no_slot, by linear probing.
template <typename Key>
inline std::uint32_t FlowTable::probe(const Key& key, std::uint32_t tag) const noexcept {
  for (std::uint32_t step = 0; step < longest_probe; ++step) {
    const std::uint32_t at = (tag + step) & mask_;
    const Slot slot = slots_[at];
    if (slot.index_plus == 0) return no_slot;
    if (slot.tag == tag && holds(slot, key)) [[likely]]
      return at;
  }
  return no_slot;
}

/// Finds a key that is not in its preferred slot, by linear probing from there. Returns its flow, or no_flow.
FlowIndex FlowTable::probe_from_preferred_slot(const ShortKey& key, KeyTag tag) const noexcept {
  const std::uint32_t at = probe(key, static_cast<std::uint32_t>(tag));
  return at != no_slot ? slots_[at].index() : no_flow;
}

/// Looks up a burst of keys in three passes: slots, keys, comparison. Each pass prefetches the data that the next one
/// needs; a burst of one key is compared without prefetching. No probing is needed if the key is in its preferred slot,
/// as nearly all keys are, or if that slot is empty.
void FlowTable::lookup_burst(const KeyBurst& keys, std::span<FlowIndex> out,
                             std::span<std::uint32_t> tags) const noexcept {
  const std::size_t count = keys.size();
  assert(out.size() >= count && tags.size() >= count);
  const Slot* const slots = slots_.data();
  const std::uint32_t mask = mask_;
  hash_.burst(keys, tags.data());
  if (count > 1) fetch(tags.first(count));
  for (std::size_t i = 0; i < count; ++i) {
    const Slot slot = slots[tags[i] & mask];
    if (slot.tag == tags[i] && !keys.is_long(i) && holds(slot, keys.short_key(i))) [[likely]] {
      out[i] = slot.index();
    } else {
      out[i] = slot.index_plus == 0 ? no_flow : find_of(keys, i, tags[i]);
    }
  }
}

/// Prefetches the slots of keys with these tags (hashes), then the keys that the slots refer to.
inline void FlowTable::fetch(std::span<const std::uint32_t> tags) const noexcept {
  const Slot* const slots = slots_.data();
  for (const std::uint32_t tag : tags) __builtin_prefetch(slots + (tag & mask_));
  for (const std::uint32_t tag : tags) {
    const Slot slot = slots[tag & mask_];
    if (slot.is_short()) {
      keys_.prefetch(slot.index(), false);
    } else if (slot.is_long()) {
      keys_.prefetch(slot.index(), true);
    }
  }
}

/// Finds the key with index `at` of a burst by linear probing, because it is not in its preferred slot. Returns its
/// flow, or no_flow.
FlowIndex FlowTable::find_of(const KeyBurst& keys, std::size_t at, std::uint32_t tag) const noexcept {
  const std::uint32_t place = slot_of(keys.key(at), tag);
  return place != no_slot ? slots_[place].index() : no_flow;
}

/// Stores a key and fills the slot with number `at`.
inline void FlowTable::put(std::uint32_t at, const FlowKey& key, std::uint32_t tag, FlowIndex index) noexcept {
  const bool is_short = keys_.put(index, key);
  slots_[at] = Slot{tag, (index + 1) | (is_short ? 0 : long_key)};
  ++changes_;
}

bool FlowTable::insert(const FlowKey& key, FlowIndex index, KeyTag tag) noexcept {
  assert(index < capacity_);
  if (size_ == capacity_) return false;
  const auto wanted = static_cast<std::uint32_t>(tag);
  for (std::uint32_t step = 0; step < longest_probe; ++step) {
    const std::uint32_t at = (wanted + step) & mask_;
    const Slot& slot = slots_[at];
    if (slot.index_plus == 0) {
      put(at, key, wanted, index);
      ++size_;
      return true;
    }
    if (slot.tag == wanted && holds(slot, key)) return false;
  }
  return false;
}

bool FlowTable::reassign(const FlowKey& key, FlowIndex index) noexcept {
  assert(index < capacity_);
  const std::uint32_t at = slot_of(key, hash_(key));
  if (at == no_slot) return false;
  put(at, key, slots_[at].tag, index);
  ++removals_;
  return true;
}

FlowIndex FlowTable::erase(const FlowKey& key, KeyTag tag) noexcept {
  const std::uint32_t at = slot_of(key, static_cast<std::uint32_t>(tag));
  if (at == no_slot) return no_flow;
  const FlowIndex erased = slots_[at].index();
  clear_slot(at);
  return erased;
}

void FlowTable::erase_flow(FlowIndex index) noexcept {
  erase_flow(index, KeyTag{keys_.is_long(index) ? hash_(keys_.get(index)) : hash_(keys_.short_key(index))});
}

/// Removes the connection last inserted for this flow. Compares indices instead of keys, because no two slots have the
/// same index.
void FlowTable::erase_flow(FlowIndex index, KeyTag tag) noexcept {
  for (std::uint32_t step = 0; step < longest_probe; ++step) {
    const std::uint32_t at = (static_cast<std::uint32_t>(tag) + step) & mask_;
    if (slots_[at].index_plus == 0) return;
    if (slots_[at].index() == index) return clear_slot(at);
  }
}

/// Empties a slot and closes the gap: keys that a collision had displaced past this slot move back (Knuth, The Art of
/// Computer Programming, 6.4 algorithm R). The search ends longest_probe slots after the gap, because no key is that
/// far from its preferred slot.
inline void FlowTable::clear_slot(std::uint32_t hole) noexcept {
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
  ++removals_;
}

}  // namespace sluice::flow
