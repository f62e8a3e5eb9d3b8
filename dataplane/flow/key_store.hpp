#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/lazy_array.hpp"

namespace sluice::flow {

/// Where a key has its addresses, and its ports, for who writes them into a packet. An address is given by where it
/// ends: the 4 octets before that are IPv4's, the 16 before it IPv6's. Valid until its index is given another key.
struct KeyView {
  const std::uint8_t* ue_end;
  const std::uint8_t* server_end;
  std::uint16_t ue_port;
  std::uint16_t server_port;
};

/// Keys by index, in 16 bytes where both addresses are IPv4, since the prefix of these is always the same, and in 40
/// otherwise. Memory is used page by page as indices are first given a key of either kind. Thread: one.
class KeyStore {
 public:
  static constexpr std::size_t v4_bytes = sizeof(ShortKey);  ///< that a key of IPv4 takes

  /// Throws std::bad_alloc when the address space is not there.
  explicit KeyStore(std::uint32_t capacity)
      : short_(capacity), long_(capacity), is_long_((capacity + word_bits - 1) / word_bits) {}

  /// The index has this key from now on. Returns whether it is one of IPv4. Requires index < capacity, as everything
  /// below.
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
    if ((kinds & bit) != 0) kinds &= ~bit;  // where there are none, no memory is touched for them
    return true;
  }
  /// The key that the index was given last. Requires that there was one.
  [[nodiscard]] FlowKey get(std::uint32_t index) const noexcept {
    return is_long(index) ? long_[index] : short_[index].whole();
  }
  /// It was given one that is not of IPv4.
  [[nodiscard]] bool is_long(std::uint32_t index) const noexcept {
    return (is_long_[index / word_bits] >> (index % word_bits) & 1U) != 0;
  }
  /// Requires that it was given one of IPv4.
  [[nodiscard]] const ShortKey& short_key(std::uint32_t index) const noexcept { return short_[index]; }
  /// Whether the index has that key. `long_one`: it was given one that is not of IPv4, which whoever asks knows.
  [[nodiscard]] bool has(std::uint32_t index, bool long_one, const FlowKey& key) const noexcept {
    const auto words = key.words();
    if (is_v4(words)) [[likely]]
      return !long_one && short_[index] == ShortKey::of(words);
    return long_one && long_[index] == key;
  }
  /// The same of an index that was given a key of IPv4.
  [[nodiscard]] bool has(std::uint32_t index, const ShortKey& key) const noexcept { return short_[index] == key; }
  /// Requires that its key is of that IP version.
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
  /// Asks the processor to fetch what has() looks at.
  void prefetch(std::uint32_t index, bool long_one) const noexcept {
    __builtin_prefetch(long_one ? static_cast<const void*>(long_.data() + index) : short_.data() + index);
  }

 private:
  static constexpr std::uint32_t word_bits = 64;
  static constexpr std::size_t ports_at = 8;  ///< in a short key, behind both addresses

  LazyArray<ShortKey> short_;
  LazyArray<FlowKey> long_;
  LazyArray<std::uint64_t> is_long_;  ///< a bit for each index
};

}  // namespace sluice::flow
