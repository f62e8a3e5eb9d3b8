#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/lazy_array.hpp"

namespace sluice::flow {

/// View of the addresses and ports of a stored key, for writing them into a packet. An address is given by the pointer
/// after its last octet: 4 octets precede it for IPv4, 16 for IPv6. Valid until another key is assigned to the index of
/// this one.
struct KeyView {
  const std::uint8_t* ue_end;
  const std::uint8_t* server_end;
  std::uint16_t ue_port;
  std::uint16_t server_port;
};

/// Array of keys by index: 16 bytes each if both addresses are IPv4, because their prefix is constant, otherwise 40
/// bytes. Memory is used page by page as indices are first assigned. Thread: one.
class KeyStore {
 public:
  static constexpr std::size_t v4_bytes = sizeof(ShortKey);  ///< bytes that an IPv4 key takes

  /// Creates the store. Throws std::bad_alloc if the address space cannot be reserved.
  explicit KeyStore(std::uint32_t capacity)
      : short_(capacity), long_(capacity), is_long_((capacity + word_bits - 1) / word_bits) {}

  /// Assigns a key to the index; returns true if it is IPv4. Every function of this class requires index < capacity.
  bool put(std::uint32_t index, const FlowKey& key) noexcept {
    const auto words = key.words();
    std::uint64_t& kinds = is_long_[index / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << (index % word_bits);
    if (!is_v4(words)) [[unlikely]] {
      long_[index] = key;
      kinds |= bit;
      return false;
    }
    short_[index] = ShortKey::of(words);
    if ((kinds & bit) != 0) kinds &= ~bit;  // a page without IPv6 keys is only read, so it takes no memory
    return true;
  }
  /// Returns the key that was last assigned to the index. Requires that one was assigned.
  [[nodiscard]] FlowKey get(std::uint32_t index) const noexcept {
    return is_long(index) ? long_[index] : short_[index].whole();
  }
  /// True if the key that was last assigned to the index is not IPv4.
  [[nodiscard]] bool is_long(std::uint32_t index) const noexcept {
    return (is_long_[index / word_bits] >> (index % word_bits) & 1U) != 0;
  }
  /// Returns the short form of the key at this index. Requires that the key is IPv4.
  [[nodiscard]] const ShortKey& short_key(std::uint32_t index) const noexcept { return short_[index]; }
  /// True if `key` is the key at this index. `long_one` must equal is_long(index): true if the stored key is not IPv4.
  [[nodiscard]] bool has(std::uint32_t index, bool long_one, const FlowKey& key) const noexcept {
    const auto words = key.words();
    if (is_v4(words)) [[likely]]
      return !long_one && short_[index] == ShortKey::of(words);
    return long_one && long_[index] == key;
  }
  /// True if `key` is the key at this index. Requires that the key at this index is IPv4.
  [[nodiscard]] bool has(std::uint32_t index, const ShortKey& key) const noexcept { return short_[index] == key; }
  /// Returns a view of the key. Requires that the key's IP version is `ip_version`.
  [[nodiscard]] KeyView view(std::uint32_t index, std::uint8_t ip_version) const noexcept {
    assert(is_long(index) == (ip_version != 4));
    if (ip_version == 4) [[likely]] {
      const std::uint8_t* const at = short_[index].octets();
      KeyView view{at + 4, at + 8, 0, 0};
      std::memcpy(&view.ue_port, at + ports_at, sizeof view.ue_port);
      std::memcpy(&view.server_port, at + ports_at + 2, sizeof view.server_port);
      return view;
    }
    const FlowKey& key = long_[index];
    return {key.ue.octets.data() + 16, key.server.octets.data() + 16, key.ue_port, key.server_port};
  }
  /// Prefetches the memory that has() reads for this index. `long_one` must equal is_long(index): true if the stored
  /// key is not IPv4.
  void prefetch(std::uint32_t index, bool long_one) const noexcept {
    __builtin_prefetch(long_one ? static_cast<const void*>(long_.data() + index) : short_.data() + index);
  }

 private:
  static constexpr std::uint32_t word_bits = 64;
  static constexpr std::size_t ports_at = 8;  ///< offset of the ports in a ShortKey, bytes

  LazyArray<ShortKey> short_;
  LazyArray<FlowKey> long_;
  LazyArray<std::uint64_t> is_long_;  ///< bit per index, set if its key is not IPv4
};

}  // namespace sluice::flow
