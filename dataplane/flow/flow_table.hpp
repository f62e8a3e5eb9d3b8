#pragma once

#include <cstdint>
#include <span>

#include "dataplane/flow/key_burst.hpp"
#include "dataplane/flow/key_store.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/flow/tag_hash.hpp"

namespace sluice::flow {

/// Index of a flow in the Slab that stores the flows. The value no_flow stands for no flow.
using FlowIndex = std::uint32_t;
inline constexpr FlowIndex no_flow = 0xffffffffU;

/// Hash of a key that determines its slot in a FlowTable. Tables with the same secret compute the same tag for a key.
/// So a caller that searches several such tables computes the tag once.
enum class KeyTag : std::uint32_t {};

/// Hash table from connections to flows. It uses open addressing with linear probing over 8-byte slots, at most half of
/// them full, and stores keys in a separate array. All address space is reserved at construction. No key lies more than
/// 128 slots (longest_probe) from its preferred slot, so a lookup takes at most 128 steps. A key for which no such slot
/// is free is refused. With random keys, one of a million keys is refused in less than one of 10^4 runs (README.md).
/// Thread: one.
class FlowTable {
 public:
  static constexpr std::uint32_t longest_probe = 128;

  /// Creates a table. `capacity` is the largest number of flows, 1 to 2^30; flow indices are below it. `secret`
  /// prevents an attacker from choosing connections that collide, see TagHash. Throws std::invalid_argument,
  /// std::bad_alloc.
  FlowTable(std::uint32_t capacity, const HashKey& secret);

  [[nodiscard]] KeyTag tag_of(const FlowKey& key) const noexcept { return KeyTag{hash_(key)}; }
  [[nodiscard]] KeyTag tag_of(const ShortKey& key) const noexcept { return KeyTag{hash_(key)}; }

  // --- a `tag` argument is the key's tag under this table's secret ---

  /// Returns the flow of a connection, or no_flow.
  [[nodiscard]] FlowIndex find(const FlowKey& key) const noexcept { return find(key, tag_of(key)); }
  [[nodiscard, gnu::noinline]] FlowIndex find(const FlowKey& key, KeyTag tag) const noexcept;
  [[nodiscard]] FlowIndex find(const ShortKey& key) const noexcept { return find(key, tag_of(key)); }
  /// Returns the flow of an IPv4 connection, or no_flow. Nearly all keys are in their preferred slot. Probing is needed
  /// only if that slot has another key.
  [[nodiscard]] FlowIndex find(const ShortKey& key, KeyTag tag) const noexcept {
    const Slot slot = slots_[static_cast<std::uint32_t>(tag) & mask_];
    if (slot.tag == static_cast<std::uint32_t>(tag) && holds(slot, key)) [[likely]]
      return slot.index();
    return slot.index_plus == 0 ? no_flow : probe_from_preferred_slot(key, tag);
  }
  /// Looks up many keys at once with prefetching. Stores the flows in `out` and the tags in `tags`. Both are at least
  /// as long as `keys`; they may be the same span.
  void lookup_burst(const KeyBurst& keys, std::span<FlowIndex> out, std::span<std::uint32_t> tags) const noexcept;
  void lookup_burst(const KeyBurst& keys, std::span<FlowIndex> out) const noexcept { lookup_burst(keys, out, out); }
  /// Inserts a flow for a key. Returns false if the key exists already, the table is full, or each of the longest_probe
  /// slots from the preferred one on is occupied. Requires index < capacity(), and that the index is assigned to no
  /// other key.
  bool insert(const FlowKey& key, FlowIndex index) noexcept { return insert(key, index, tag_of(key)); }
  bool insert(const FlowKey& key, FlowIndex index, KeyTag tag) noexcept;
  /// Assigns another flow to a key; returns false if the key is not in the table. Requires index < capacity(), and that
  /// the index is assigned to no other key.
  bool reassign(const FlowKey& key, FlowIndex index) noexcept;
  /// Removes a connection; returns its flow, or no_flow if it was not in the table.
  FlowIndex erase(const FlowKey& key) noexcept { return erase(key, tag_of(key)); }
  FlowIndex erase(const FlowKey& key, KeyTag tag) noexcept;
  /// Removes the connection that was last inserted for this flow, unless it has been removed since.
  void erase_flow(FlowIndex index) noexcept;
  void erase_flow(FlowIndex index, KeyTag tag) noexcept;

  /// Returns the key that was last inserted for this flow.
  [[nodiscard]] FlowKey key_of(FlowIndex index) const noexcept { return keys_.get(index); }
  /// Returns a view of the flow's key for writing it into a packet. Requires that the key's IP version is `ip_version`.
  [[nodiscard]] KeyView view_of(FlowIndex index, std::uint8_t ip_version) const noexcept {
    return keys_.view(index, ip_version);
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Returns the number of insertions, removals and reassignments, modulo 2^32. A lookup result stays valid while this
  /// number is unchanged.
  [[nodiscard]] std::uint32_t changes() const noexcept { return changes_; }
  /// Returns the number of removals and reassignments, modulo 2^32. While this number is unchanged, every key found is
  /// still in the table.
  [[nodiscard]] std::uint32_t removals() const noexcept { return removals_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  /// Slot of the table; all zero if empty.
  struct Slot {
    std::uint32_t tag = 0;         ///< hash of the key; its low bits are the preferred slot
    std::uint32_t index_plus = 0;  ///< index of the flow + 1; the highest bit is set if the key is IPv6

    [[nodiscard]] FlowIndex index() const noexcept { return (index_plus & ~long_key) - 1; }
    [[nodiscard]] bool is_long() const noexcept { return (index_plus & long_key) != 0; }
    /// True if the slot holds an IPv4 key; false if it is empty or holds an IPv6 key.
    [[nodiscard]] bool is_short() const noexcept { return static_cast<std::int32_t>(index_plus) > 0; }
  };

  static constexpr std::uint32_t no_slot = 0xffffffffU;
  /// Highest bit of Slot::index_plus, which is set if the key is IPv6.
  static constexpr std::uint32_t long_key = 0x80000000U;

  [[nodiscard]] std::uint32_t slot_of(const FlowKey& key, std::uint32_t tag) const noexcept;
  template <typename Key>
  [[nodiscard]] std::uint32_t probe(const Key& key, std::uint32_t tag) const noexcept;
  [[nodiscard]] bool holds(const Slot& slot, const FlowKey& key) const noexcept {
    return keys_.has(slot.index(), slot.is_long(), key);
  }
  [[nodiscard]] bool holds(const Slot& slot, const ShortKey& key) const noexcept {
    return slot.is_short() && keys_.has(slot.index(), key);
  }
  void fetch(std::span<const std::uint32_t> tags) const noexcept;
  [[nodiscard, gnu::noinline]] FlowIndex probe_from_preferred_slot(const ShortKey& key, KeyTag tag) const noexcept;
  [[nodiscard, gnu::noinline]] FlowIndex find_of(const KeyBurst& keys, std::size_t at,
                                                 std::uint32_t tag) const noexcept;
  void put(std::uint32_t at, const FlowKey& key, std::uint32_t tag, FlowIndex index) noexcept;
  void clear_slot(std::uint32_t hole) noexcept;

  std::uint32_t capacity_;
  std::uint32_t mask_;
  std::uint32_t size_ = 0;
  std::uint32_t changes_ = 0;
  std::uint32_t removals_ = 0;
  TagHash hash_;
  LazyArray<Slot> slots_;
  KeyStore keys_;
};

}  // namespace sluice::flow
