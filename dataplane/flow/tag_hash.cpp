// AES-128 by processor instructions and the keyed hash of flow keys built on it. FlowTable calls burst() for every
// burst of packets. Code with AES instructions is compiled for that target and called only if the processor has them.
// Without them SipHash-1-3 is used.

#include "dataplane/flow/tag_hash.hpp"

#include <immintrin.h>

#include <cstring>

namespace sluice::flow {
namespace {

#define SLUICE_WITH_AES __attribute__((target("aes,sse4.1")))

SLUICE_WITH_AES inline __m128i load(const Aes128::Block& block) noexcept {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(block.data()));
}

SLUICE_WITH_AES inline __m128i block_of(std::uint64_t low, std::uint64_t high) noexcept {
  return _mm_set_epi64x(static_cast<std::int64_t>(high), static_cast<std::int64_t>(low));
}

SLUICE_WITH_AES inline __m128i cipher(const Aes128::RoundKeys& keys, __m128i block) noexcept {
  block = _mm_xor_si128(block, load(keys[0]));
#pragma GCC unroll 9
  for (std::size_t round = 1; round < 10; ++round) block = _mm_aesenc_si128(block, load(keys[round]));
  return _mm_aesenclast_si128(block, load(keys[10]));
}

/// Returns the next round key (FIPS 197 section 5.2). The round constant is an immediate operand of the instruction.
template <int constant>
SLUICE_WITH_AES __m128i next_key(__m128i key) noexcept {
  const __m128i word = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(key, constant), 0xff);
  key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
  return _mm_xor_si128(key, word);
}

SLUICE_WITH_AES void expand(const Aes128::Block& key, Aes128::RoundKeys& out) noexcept {
  __m128i round;
  std::memcpy(&round, key.data(), sizeof round);
  const auto store = [&](std::size_t at) { std::memcpy(out.at(at).data(), &round, sizeof round); };
  store(0);
  store((round = next_key<0x01>(round), 1));
  store((round = next_key<0x02>(round), 2));
  store((round = next_key<0x04>(round), 3));
  store((round = next_key<0x08>(round), 4));
  store((round = next_key<0x10>(round), 5));
  store((round = next_key<0x20>(round), 6));
  store((round = next_key<0x40>(round), 7));
  store((round = next_key<0x80>(round), 8));
  store((round = next_key<0x1b>(round), 9));
  store((round = next_key<0x36>(round), 10));
}

/// Derives an AES key from the secret by SipHash-2-4. Without the secret both halves are indistinguishable from random
/// numbers.
Aes128::Block derived(const HashKey& secret, std::uint64_t number) noexcept {
  Aes128::Block key;
  const std::array halves{sip_hash<2, 4>(secret, std::array{2 * number}),
                          sip_hash<2, 4>(secret, std::array{2 * number + 1})};
  std::memcpy(key.data(), halves.data(), key.size());
  return key;
}

SLUICE_WITH_AES inline std::uint32_t tag_of(const ShortKey& key, const Aes128::RoundKeys& v4) noexcept {
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(cipher(v4, block_of(key.words[0], key.words[1]))));
}

SLUICE_WITH_AES inline std::uint32_t tag_of(const std::array<std::uint64_t, 5>& words,
                                            const Aes128::RoundKeys& v6) noexcept {
  __m128i block = cipher(v6, block_of(words[0], words[1]));
  block = cipher(v6, _mm_xor_si128(block, block_of(words[2], words[3])));
  block = cipher(v6, _mm_xor_si128(block, block_of(words[4], 0)));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(block));
}

SLUICE_WITH_AES std::uint32_t aes_tag(const FlowKey& key, const Aes128& v4, const Aes128& v6) noexcept {
  const auto words = key.words();
  return is_v4(words) ? tag_of(ShortKey::of(words), v4.round_keys()) : tag_of(words, v6.round_keys());
}

SLUICE_WITH_AES std::uint32_t aes_tag(const ShortKey& key, const Aes128& v4) noexcept {
  return tag_of(key, v4.round_keys());
}

SLUICE_WITH_AES void aes_burst(const KeyBurst& keys, std::uint32_t* tags, const Aes128& v4, const Aes128& v6) noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tags[i] =
        keys.is_long(i) ? tag_of(keys.long_words(i), v6.round_keys()) : tag_of(keys.short_key(i), v4.round_keys());
  }
}

SLUICE_WITH_AES Aes128::Block encrypt_block(const Aes128::RoundKeys& keys, const Aes128::Block& plain) noexcept {
  __m128i block;
  std::memcpy(&block, plain.data(), sizeof block);
  block = cipher(keys, block);
  Aes128::Block out;
  std::memcpy(out.data(), &block, sizeof block);
  return out;
}

}  // namespace

Aes128::Aes128(const Block& key) noexcept {
  expand(key, rounds_);
}

Aes128::Block Aes128::encrypt(const Block& plain) const noexcept {
  return encrypt_block(rounds_, plain);
}

bool Aes128::is_available() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

TagHash::TagHash(const HashKey& secret, bool with_aes) : secret_(secret), aes_(with_aes) {
  if (!aes_) return;
  v4_ = Aes128(derived(secret, 0));
  v6_ = Aes128(derived(secret, 1));
}

std::uint32_t TagHash::operator()(const FlowKey& key) const noexcept {
  return aes_ ? aes_tag(key, v4_, v6_) : static_cast<std::uint32_t>(hash(key, secret_));
}

std::uint32_t TagHash::operator()(const ShortKey& key) const noexcept {
  return aes_ ? aes_tag(key, v4_) : static_cast<std::uint32_t>(hash(key, secret_));
}

void TagHash::burst(const KeyBurst& keys, std::uint32_t* tags) const noexcept {
  if (aes_) [[likely]] {
    aes_burst(keys, tags, v4_, v6_);
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tags[i] = static_cast<std::uint32_t>(keys.is_long(i) ? sip_hash<1, 3>(secret_, keys.long_words(i))
                                                         : hash(keys.short_key(i), secret_));
  }
}

}  // namespace sluice::flow
