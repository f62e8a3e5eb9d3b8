#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow/key_burst.hpp"

namespace sluice::flow {

/// AES-128 (FIPS 197): the eleven round keys of one key, and the cipher of one block. Bytes are in memory order.
/// Requires a processor that has it, see is_available().
class Aes128 {
 public:
  using Block = std::array<std::uint8_t, 16>;

  Aes128() = default;
  explicit Aes128(const Block& key) noexcept;
  [[nodiscard]] Block encrypt(const Block& plain) const noexcept;
  /// The processor has instructions for it.
  [[nodiscard]] static bool is_available() noexcept;

  using RoundKeys = std::array<Block, 11>;
  [[nodiscard]] const RoundKeys& round_keys() const noexcept { return rounds_; }

 private:
  alignas(16) RoundKeys rounds_{};
};

/// Where keys go in a FlowTable: 32 bits of a keyed pseudorandom function, so that without the secret nobody can choose
/// connections that collide (README.md says why). Where the processor has AES, an IPv4 key is one block of AES-128, and
/// an IPv6 key three blocks of a CBC-MAC under another key, for messages of that length alone. Elsewhere it is hash().
/// Both functions of one secret have nothing in common, and no value leaves the process. Thread: any.
class TagHash {
 public:
  /// `with_aes`: false for the function that does without, whatever the processor has.
  explicit TagHash(const HashKey& secret, bool with_aes = Aes128::is_available());

  [[nodiscard]] std::uint32_t operator()(const FlowKey& key) const noexcept;
  [[nodiscard]] std::uint32_t operator()(const ShortKey& key) const noexcept;
  /// The same for many; there is room for `keys.size()` tags.
  void burst(const KeyBurst& keys, std::uint32_t* tags) const noexcept;

 private:
  HashKey secret_;
  bool aes_;
  Aes128 v4_;
  Aes128 v6_;
};

}  // namespace sluice::flow
