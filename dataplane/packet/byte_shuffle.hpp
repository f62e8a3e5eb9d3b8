#pragma once

#include <array>
#include <cstdint>
#include <cstring>

// Vectors of 16 bytes whose bytes one instruction moves: SSSE3 on x86-64, Advanced SIMD on AArch64. Only parse.cpp
// includes this file.

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#else
#error "byte shuffles are known for x86-64 and AArch64"
#endif

namespace sluice::packet {

/// Index with which byte_shuffle() writes a byte of zeros.
inline constexpr int zero_byte = -1;

#if defined(__x86_64__)

using ByteVector = __m128i;

/// Returns the vector of 16 bytes, the first of which is at the lowest address.
template <typename... Bytes>
[[nodiscard, gnu::always_inline]] inline ByteVector byte_vector(Bytes... bytes) noexcept {
  static_assert(sizeof...(bytes) == 16);
  return _mm_setr_epi8(static_cast<char>(bytes)...);
}

/// Returns a vector whose byte i is the byte of `from` with the index order[i].
[[nodiscard, gnu::always_inline]] inline ByteVector byte_shuffle(ByteVector from, ByteVector order) noexcept {
  return _mm_shuffle_epi8(from, order);
}

/// Returns the vector with bytes 10 and 11 replaced by a word in host order.
[[nodiscard, gnu::always_inline]] inline ByteVector with_word_at_10(ByteVector vector, std::uint16_t word) noexcept {
  return _mm_insert_epi16(vector, static_cast<std::int16_t>(word), 5);
}

[[nodiscard, gnu::always_inline]] inline ByteVector bitwise_or(ByteVector a, ByteVector b) noexcept {
  return _mm_or_si128(a, b);
}

#else

using ByteVector = uint8x16_t;

/// Returns the vector of 16 bytes, the first of which is at the lowest address.
template <typename... Bytes>
[[nodiscard, gnu::always_inline]] inline ByteVector byte_vector(Bytes... bytes) noexcept {
  const std::array<std::uint8_t, 16> list{static_cast<std::uint8_t>(bytes)...};
  static_assert(sizeof...(bytes) == 16);
  return vld1q_u8(list.data());
}

/// Returns a vector whose byte i is the byte of `from` with the index order[i].
[[nodiscard, gnu::always_inline]] inline ByteVector byte_shuffle(ByteVector from, ByteVector order) noexcept {
  return vqtbl1q_u8(from, order);
}

/// Returns the vector with bytes 10 and 11 replaced by a word in host order.
[[nodiscard, gnu::always_inline]] inline ByteVector with_word_at_10(ByteVector vector, std::uint16_t word) noexcept {
  return vreinterpretq_u8_u16(vsetq_lane_u16(word, vreinterpretq_u16_u8(vector), 5));
}

[[nodiscard, gnu::always_inline]] inline ByteVector bitwise_or(ByteVector a, ByteVector b) noexcept {
  return vorrq_u8(a, b);
}

#endif

}  // namespace sluice::packet
