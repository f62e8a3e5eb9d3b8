#pragma once

#include <cstdint>
#include <span>

#include "dataplane/flow/key_burst.hpp"
#include "dataplane/flow/key_store.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/flow/tag_hash.hpp"

namespace sluice::flow {

/// Index of a flow in its slab; `no_flow` where there is none.
using FlowIndex = std::uint32_t;
inline constexpr FlowIndex no_flow = 0xffffffffU;

/// Where a key goes: the same in all tables of one secret, so whoever looks into several reckons it once.
enum class KeyTag : std::uint32_t {};

/// From connection to flow. Open addressing with linear probing over 8-byte slots at most half full, keys beside them;
/// all address space is reserved at construction. Whatever the keys, none lies farther than `longest_probe` slots from
/// the one it would like: so many steps a lookup takes at most, and a key for which there is no place is refused. By
/// chance that happens to one of a million keys less than once in 10^4 times (README.md). Thread: one.
class FlowTable {
 public:
  static constexpr std::uint32_t longest_probe = 128;

  /// `capacity`: most flows at a time, 1 … 2^30, and the bound of their indices. `secret` keeps outsiders from choosing
  /// connections that collide, see TagHash. Throws std::invalid_argument, std::bad_alloc.
  FlowTable(std::uint32_t capacity, const HashKey& secret);

  [[nodiscard]] KeyTag tag_of(const FlowKey& key) const noexcept { return KeyTag{hash_(key)}; }
  [[nodiscard]] KeyTag tag_of(const ShortKey& key) const noexcept { return KeyTag{hash_(key)}; }

  // Who knows the key's tag gives it, of this table's secret.

  /// The flow of a connection, or no_flow.
  [[nodiscard]] FlowIndex find(const FlowKey& key) const noexcept { return find(key, tag_of(key)); }
  [[nodiscard, gnu::noinline]] FlowIndex find(const FlowKey& key, KeyTag tag) const noexcept;
  [[nodiscard]] FlowIndex find(const ShortKey& key) const noexcept { return find(key, tag_of(key)); }
  /// What is in the slot it would like (nearly all are), and what is nowhere since that one is empty, is found at once.
  [[nodiscard]] FlowIndex find(const ShortKey& key, KeyTag tag) const noexcept {
    const Slot slot = slots_[static_cast<std::uint32_t>(tag) & mask_];
    if (slot.tag == static_cast<std::uint32_t>(tag) && holds(slot, key)) [[likely]]
      return slot.index();
    return slot.index_plus == 0 ? no_flow : find_behind(key, tag);
  }
  /// The same for many at once, their memory fetched ahead, and where they go. `out` and `tags` are at least as long as
  /// `keys`; they may be one.
  void lookup_burst(const KeyBurst& keys, std::span<FlowIndex> out, std::span<std::uint32_t> tags) const noexcept;
  void lookup_burst(const KeyBurst& keys, std::span<FlowIndex> out) const noexcept { lookup_burst(keys, out, out); }
  /// Enters a flow. False when the key is there already or there is no place for it. Requires index < capacity(), and
  /// that no other key has this index.
  bool insert(const FlowKey& key, FlowIndex index) noexcept { return insert(key, index, tag_of(key)); }
  bool insert(const FlowKey& key, FlowIndex index, KeyTag tag) noexcept;
  /// Another flow is found by a key that is there; false when it is not. Requires what insert() does.
  bool reassign(const FlowKey& key, FlowIndex index) noexcept;
  /// Takes a connection out; returns its flow, or no_flow when it was not there.
  FlowIndex erase(const FlowKey& key) noexcept { return erase(key, tag_of(key)); }
  FlowIndex erase(const FlowKey& key, KeyTag tag) noexcept;
  /// The same of the connection that was entered for this flow, where it has not been taken out since.
  void erase_flow(FlowIndex index) noexcept;
  void erase_flow(FlowIndex index, KeyTag tag) noexcept;

  /// The connection that was last entered for this flow.
  [[nodiscard]] FlowKey key_of(FlowIndex index) const noexcept { return keys_.get(index); }
  /// The same for who writes it into a packet. Requires that it is a key of that IP version.
  [[nodiscard]] KeyView view_of(FlowIndex index, std::uint8_t ip_version) const noexcept {
    return keys_.view(index, ip_version);
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// How often something was entered, taken out or given another index, modulo 2^32: what was found is still so while
  /// this stands.
  [[nodiscard]] std::uint32_t changes() const noexcept { return changes_; }
  /// The same without what was entered: while this stands, whatever was found is still there.
  [[nodiscard]] std::uint32_t removals() const noexcept { return removals_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  /// An empty slot is all zero.
  struct Slot {
    std::uint32_t tag = 0;         ///< hash of the key; its low bits are the slot it would like
    std::uint32_t index_plus = 0;  ///< the flow's index + 1, and long_key

    [[nodiscard]] FlowIndex index() const noexcept { return (index_plus & ~long_key) - 1; }
    [[nodiscard]] bool is_long() const noexcept { return (index_plus & long_key) != 0; }
    /// Its key is one of IPv4; false where it is empty, too.
    [[nodiscard]] bool is_short() const noexcept { return static_cast<std::int32_t>(index_plus) > 0; }
  };

  static constexpr std::uint32_t no_slot = 0xffffffffU;
  static constexpr std::uint32_t long_key = 0x80000000U;  ///< the key is one of IPv6

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
  [[nodiscard, gnu::noinline]] FlowIndex find_behind(const ShortKey& key, KeyTag tag) const noexcept;
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
