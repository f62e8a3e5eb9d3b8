#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow/key_burst.hpp"

namespace sluice::flow {

/// AES-128 (FIPS 197): the eleven round keys of one key, and encryption of one block. Bytes are in memory order.
/// Requires a processor with AES instructions, see is_available().
class Aes128 {
 public:
  using Block = std::array<std::uint8_t, 16>;

  Aes128() = default;
  explicit Aes128(const Block& key) noexcept;
  [[nodiscard]] Block encrypt(const Block& plain) const noexcept;
  /// True if the processor has AES instructions.
  [[nodiscard]] static bool is_available() noexcept;

  using RoundKeys = std::array<Block, 11>;
  [[nodiscard]] const RoundKeys& round_keys() const noexcept { return rounds_; }

 private:
  alignas(16) RoundKeys rounds_{};
};

/// Hash that determines the slot of a key in a FlowTable: 32 bits of a keyed pseudorandom function. Without the secret
/// an attacker cannot choose connections that collide (see README.md). If the processor has AES instructions, the tag
/// of an IPv4 key is one block of AES-128. The tag of an IPv6 key is then a CBC-MAC of three blocks, with another AES
/// key that is used for this length only. On other processors the tag is the function hash() of the flow key, a
/// SipHash. The tags of IPv4 and IPv6 keys are unrelated, and no tag leaves the process. Thread: any.
class TagHash {
 public:
  /// Creates the hash. By default it uses AES if the processor has AES instructions. If `with_aes` is false, it uses
  /// the function hash() of the flow key, a SipHash.
  explicit TagHash(const HashKey& secret, bool with_aes = Aes128::is_available());

  [[nodiscard]] std::uint32_t operator()(const FlowKey& key) const noexcept;
  [[nodiscard]] std::uint32_t operator()(const ShortKey& key) const noexcept;
  /// Computes the tags of many keys; `tags` has space for `keys.size()` elements.
  void burst(const KeyBurst& keys, std::uint32_t* tags) const noexcept;

 private:
  HashKey secret_;
  bool aes_;
  Aes128 v4_;
  Aes128 v6_;
};

}  // namespace sluice::flow
