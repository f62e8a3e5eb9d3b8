#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "dataplane/flow/tag_hash.hpp"

// AES-128 on one block of 128 bits by instructions of the processor: AES-NI on x86-64, the Cryptographic Extension on
// AArch64. Only tag_hash.cpp includes it. Both give the same result for the same key and block (FIPS 197).

#if defined(__x86_64__)

#include <immintrin.h>

/// Attribute of functions that use the AES-NI instructions. Such a function is called only if the processor has these
/// instructions.
#define SLUICE_WITH_AES __attribute__((target("aes,sse4.1")))

namespace sluice::flow::aes {

using Vector = __m128i;

SLUICE_WITH_AES inline Vector load(const Aes128::Block& block) noexcept {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(block.data()));
}

SLUICE_WITH_AES inline Vector block_of(std::uint64_t low, std::uint64_t high) noexcept {
  return _mm_set_epi64x(static_cast<std::int64_t>(high), static_cast<std::int64_t>(low));
}

SLUICE_WITH_AES inline Vector exclusive_or(Vector a, Vector b) noexcept {
  return _mm_xor_si128(a, b);
}

/// Returns the first four bytes of the block.
SLUICE_WITH_AES inline std::uint32_t first_word(Vector block) noexcept {
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(block));
}

SLUICE_WITH_AES inline Vector cipher(const Aes128::RoundKeys& keys, Vector block) noexcept {
  block = _mm_xor_si128(block, load(keys[0]));
#pragma GCC unroll 9
  for (std::size_t round = 1; round < 10; ++round) block = _mm_aesenc_si128(block, load(keys[round]));
  return _mm_aesenclast_si128(block, load(keys[10]));
}

/// Returns the next round key (FIPS 197 section 5.2). The round constant is an immediate operand of the instruction.
template <int constant>
SLUICE_WITH_AES Vector next_key(Vector key) noexcept {
  const __m128i word = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(key, constant), 0xff);
  key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
  return _mm_xor_si128(key, word);
}

/// True if the processor has the AES-NI and SSE4.1 instructions.
inline bool are_available() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

}  // namespace sluice::flow::aes

#elif defined(__aarch64__)

#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

/// Attribute of functions that use the AES instructions of ARMv8. Such a function is called only if the processor has
/// these instructions.
#define SLUICE_WITH_AES __attribute__((target("+crypto")))

namespace sluice::flow::aes {

using Vector = uint8x16_t;

SLUICE_WITH_AES inline Vector load(const Aes128::Block& block) noexcept {
  return vld1q_u8(block.data());
}

SLUICE_WITH_AES inline Vector block_of(std::uint64_t low, std::uint64_t high) noexcept {
  return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
}

SLUICE_WITH_AES inline Vector exclusive_or(Vector a, Vector b) noexcept {
  return veorq_u8(a, b);
}

/// Returns the first four bytes of the block.
SLUICE_WITH_AES inline std::uint32_t first_word(Vector block) noexcept {
  return vgetq_lane_u32(vreinterpretq_u32_u8(block), 0);
}

/// Encrypts a block. The instruction AESE adds the round key before it substitutes bytes, so each round uses the key of
/// the previous one.
SLUICE_WITH_AES inline Vector cipher(const Aes128::RoundKeys& keys, Vector block) noexcept {
#pragma GCC unroll 9
  for (std::size_t round = 0; round < 9; ++round) block = vaesmcq_u8(vaeseq_u8(block, load(keys[round])));
  return veorq_u8(vaeseq_u8(block, load(keys[9])), load(keys[10]));
}

/// Returns the next round key (FIPS 197 section 5.2). The instruction AESE, applied with a key of zeros, substitutes
/// the bytes of the last word. The word is first copied to all four columns, because AESE also shifts rows, which does
/// not change equal columns.
template <std::uint32_t constant>
SLUICE_WITH_AES Vector next_key(Vector key) noexcept {
  std::array<std::uint32_t, 4> words;
  std::memcpy(words.data(), &key, sizeof key);
  const uint8x16_t substituted = vaeseq_u8(vreinterpretq_u8_u32(vdupq_n_u32(words[3])), vdupq_n_u8(0));
  const std::uint32_t word = first_word(substituted);
  words[0] ^= (word >> 8U | word << 24U) ^ constant;
  for (std::size_t i = 1; i < words.size(); ++i) words.at(i) ^= words.at(i - 1);
  std::memcpy(&key, words.data(), sizeof key);
  return key;
}

/// True if the processor has the ARMv8 AES instructions.
inline bool are_available() noexcept {
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
}

}  // namespace sluice::flow::aes

#else
#error "AES instructions are known for x86-64 and AArch64"
#endif
