#pragma once

#include <cstdint>
#include <span>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/flow/tag_hash.hpp"

namespace sluice::flow {

/// Index of a flow in its slab; `no_flow` where there is none.
using FlowIndex = std::uint32_t;
inline constexpr FlowIndex no_flow = 0xffffffffU;

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

  /// The flow of a connection, or no_flow.
  [[nodiscard]] FlowIndex find(const FlowKey& key) const noexcept;
  /// The same for many at once, their memory fetched ahead. `out` is at least as long as `keys`.
  void lookup_burst(std::span<const FlowKey> keys, std::span<FlowIndex> out) const noexcept;
  /// Enters a flow. False when the key is there already or there is no place for it. Requires index < capacity(), and
  /// that no other key has this index.
  bool insert(const FlowKey& key, FlowIndex index) noexcept;
  /// Another flow is found by a key that is there; false when it is not. Requires what insert() does.
  bool reassign(const FlowKey& key, FlowIndex index) noexcept;
  /// Takes a connection out; returns its flow, or no_flow when it was not there.
  FlowIndex erase(const FlowKey& key) noexcept;

  /// The connection that was last entered for this flow.
  [[nodiscard]] const FlowKey& key_of(FlowIndex index) const noexcept { return keys_[index]; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// How often something was entered, taken out or given another index, modulo 2^32: what was found is still so while
  /// this stands.
  [[nodiscard]] std::uint32_t changes() const noexcept { return changes_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  /// An empty slot is all zero.
  struct Slot {
    std::uint32_t tag = 0;         ///< hash of the key; its low bits are the slot it would like
    std::uint32_t index_plus = 0;  ///< the flow's index + 1
  };

  static constexpr std::uint32_t no_slot = 0xffffffffU;

  [[nodiscard]] std::uint32_t slot_of(const FlowKey& key, std::uint32_t tag) const noexcept;
  [[nodiscard, gnu::noinline]] FlowIndex find(const FlowKey& key, std::uint32_t tag) const noexcept;
  void lookup_batch(const FlowKey* keys, FlowIndex* out, std::size_t count) const noexcept;

  std::uint32_t capacity_;
  std::uint32_t mask_;
  std::uint32_t size_ = 0;
  std::uint32_t changes_ = 0;
  TagHash tag_of_;
  LazyArray<Slot> slots_;
  LazyArray<FlowKey> keys_;
};

}  // namespace sluice::flow
