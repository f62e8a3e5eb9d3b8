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
  static constexpr std::size_t v4_bytes = 16;  ///< that a key of IPv4 takes

  /// Throws std::bad_alloc when the address space is not there.
  explicit KeyStore(std::uint32_t capacity)
      : short_(capacity), long_(capacity), is_long_((capacity + word_bits - 1) / word_bits) {}

  /// The index has this key from now on. Requires index < capacity, as everything below.
  void put(std::uint32_t index, const FlowKey& key) noexcept {
    const auto words = key.words();
    std::uint64_t& kinds = is_long_[index / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << (index % word_bits);
    if (is_v4(words)) [[likely]] {
      short_[index] = shorten(words);
      if ((kinds & bit) != 0) kinds &= ~bit;  // where there are none, no memory is touched for them
    } else {
      long_[index] = key;
      kinds |= bit;
    }
  }
  /// The key that the index was given last. Requires that there was one.
  [[nodiscard]] FlowKey get(std::uint32_t index) const noexcept {
    if (is_long(index)) return long_[index];
    const ShortKey& known = short_[index];
    FlowKey key{IpAddress::v4(0, 0, 0, 0), IpAddress::v4(0, 0, 0, 0)};
    constexpr std::size_t v4_at = 12;
    std::memcpy(key.ue.octets.data() + v4_at, known.bytes.data(), 4);
    std::memcpy(key.server.octets.data() + v4_at, known.bytes.data() + 4, 4);
    std::memcpy(&key.ue_port, known.bytes.data() + ports_at, sizeof key.ue_port);
    std::memcpy(&key.server_port, known.bytes.data() + ports_at + 2, sizeof key.server_port);
    std::memcpy(key.vlan.data(), known.bytes.data() + ports_at + 4, sizeof key.vlan);
    return key;
  }
  /// Whether the index has that key. `long_one`: it was given one that is not of IPv4, which whoever asks knows.
  [[nodiscard]] bool has(std::uint32_t index, bool long_one, const FlowKey& key) const noexcept {
    const auto words = key.words();
    if (is_v4(words)) [[likely]]
      return !long_one && short_[index] == shorten(words);
    return long_one && long_[index] == key;
  }
  /// Requires that its key is of that IP version.
  [[nodiscard]] KeyView view(std::uint32_t index, std::uint8_t ip_version) const noexcept {
    assert(is_long(index) == (ip_version != 4));
    if (ip_version == 4) [[likely]] {
      const std::uint8_t* const at = short_[index].bytes.data();
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

  /// Addresses, ports and VLAN tags of an IPv4 key, UE first.
  struct ShortKey {
    alignas(8) std::array<std::uint8_t, v4_bytes> bytes;

    friend bool operator==(const ShortKey& a, const ShortKey& b) noexcept {
      std::array<std::uint64_t, 2> x;
      std::array<std::uint64_t, 2> y;
      std::memcpy(x.data(), a.bytes.data(), sizeof x);
      std::memcpy(y.data(), b.bytes.data(), sizeof y);
      return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
    }
  };

  static ShortKey shorten(const std::array<std::uint64_t, 5>& words) noexcept {
    const std::array parts{words[1] >> 32U | (words[3] >> 32U << 32U), words[4]};
    ShortKey key;
    std::memcpy(key.bytes.data(), parts.data(), sizeof parts);
    return key;
  }
  [[nodiscard]] bool is_long(std::uint32_t index) const noexcept {
    return (is_long_[index / word_bits] >> (index % word_bits) & 1U) != 0;
  }

  LazyArray<ShortKey> short_;
  LazyArray<FlowKey> long_;
  LazyArray<std::uint64_t> is_long_;  ///< a bit for each index
};

}  // namespace sluice::flow
