#include "dataplane/packet/checksum.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

/// A wide sum of fewer than 64 bytes or so: 32-bit halves into 64 bits, an odd tail padded with zeros.
inline std::uint64_t add_short(const std::uint8_t* at, std::size_t length, std::uint64_t sum) noexcept {
  for (; length >= 8; at += 8, length -= 8) {
    const std::uint64_t word = load64(at);
    sum += (word & 0xffffffffU) + (word >> 32);
  }
  if ((length & 4U) != 0) {
    sum += load32(at);
    at += 4;
  }
  if ((length & 2U) != 0) {
    sum += load16(at);
    at += 2;
  }
  return (length & 1U) != 0 ? sum + *at : sum;
}

// Both kernels: flip each word's top bit, which makes it the signed number w - 32768; multiply-add pairs by one into
// 32-bit lanes; put 32768 per word back at the end. Three instructions per vector. A lane takes 32767 rounds before it
// could overflow, so longer data comes in blocks.
constexpr std::size_t block = 1U << 18;

/// Adds whole 64-byte pieces of one block; `length` is a multiple of 64.
__attribute__((target("avx2"))) std::uint64_t add_block_avx2(const std::uint8_t* at, std::size_t length) noexcept {
  const __m256i flip = _mm256_set1_epi16(-32768);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i low = _mm256_setzero_si256();
  __m256i high = _mm256_setzero_si256();
  for (std::size_t done = 0; done < length; done += 64) {
    __m256i first;
    __m256i second;
    std::memcpy(&first, at + done, sizeof first);
    std::memcpy(&second, at + done + 32, sizeof second);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_xor_si256(first, flip), ones));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_xor_si256(second, flip), ones));
  }
  // Widen to 64 bits, signed, and add up.
  __m256i wide = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(low)),
                                  _mm256_cvtepi32_epi64(_mm256_extracti128_si256(low, 1)));
  wide = _mm256_add_epi64(wide, _mm256_cvtepi32_epi64(_mm256_castsi256_si128(high)));
  wide = _mm256_add_epi64(wide, _mm256_cvtepi32_epi64(_mm256_extracti128_si256(high, 1)));
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
  const std::int64_t sum = _mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1);
  return static_cast<std::uint64_t>(sum + static_cast<std::int64_t>(length / 2) * 32768);
}

std::uint64_t add_block_sse4(const std::uint8_t* at, std::size_t length) noexcept {
  const __m128i flip = _mm_set1_epi16(-32768);
  const __m128i ones = _mm_set1_epi16(1);
  __m128i low = _mm_setzero_si128();
  __m128i high = _mm_setzero_si128();
  for (std::size_t done = 0; done < length; done += 32) {
    __m128i first;
    __m128i second;
    std::memcpy(&first, at + done, sizeof first);
    std::memcpy(&second, at + done + 16, sizeof second);
    low = _mm_add_epi32(low, _mm_madd_epi16(_mm_xor_si128(first, flip), ones));
    high = _mm_add_epi32(high, _mm_madd_epi16(_mm_xor_si128(second, flip), ones));
  }
  __m128i wide = _mm_add_epi64(_mm_cvtepi32_epi64(low), _mm_cvtepi32_epi64(_mm_srli_si128(low, 8)));
  wide = _mm_add_epi64(wide, _mm_cvtepi32_epi64(high));
  wide = _mm_add_epi64(wide, _mm_cvtepi32_epi64(_mm_srli_si128(high, 8)));
  const std::int64_t sum = _mm_cvtsi128_si64(wide) + _mm_extract_epi64(wide, 1);
  return static_cast<std::uint64_t>(sum + static_cast<std::int64_t>(length / 2) * 32768);
}

using AddBlock = std::uint64_t (*)(const std::uint8_t*, std::size_t) noexcept;

bool have_avx2() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}

const AddBlock add_block = have_avx2() ? add_block_avx2 : add_block_sse4;

std::uint16_t sum_with(AddBlock kernel, std::span<const std::uint8_t> data) noexcept {
  const std::uint8_t* at = data.data();
  std::size_t left = data.size();
  std::uint64_t sum = 0;
  while (left >= 64) {
    const std::size_t length = std::min(left, block) & ~std::size_t{63};
    sum += kernel(at, length);
    at += length;
    left -= length;
  }
  return fold(add_short(at, left, sum));
}

}  // namespace

std::uint16_t ones_complement_sum(std::span<const std::uint8_t> data) noexcept {
  if (data.size() < 64) return fold(add_short(data.data(), data.size(), 0));
  return sum_with(add_block, data);
}

std::uint16_t ones_complement_sum_sse4(std::span<const std::uint8_t> data) noexcept {
  return sum_with(add_block_sse4, data);
}

const char* checksum_kernel() noexcept {
  return add_block == add_block_avx2 ? "avx2" : "sse4";
}

std::uint16_t pseudo_header_sum_v4(const std::uint8_t* source, const std::uint8_t* destination, std::uint8_t protocol,
                                   std::uint16_t length) noexcept {
  return fold(std::uint64_t{load32(source)} + load32(destination) + (std::uint32_t{protocol} << 8) +
              __builtin_bswap16(length));
}

std::uint16_t pseudo_header_sum_v6(const std::uint8_t* source, const std::uint8_t* destination, std::uint8_t protocol,
                                   std::uint32_t length) noexcept {
  std::uint64_t sum = (std::uint32_t{protocol} << 8) + std::uint64_t{__builtin_bswap32(length)};
  sum = add_short(source, 16, sum);
  return fold(add_short(destination, 16, sum));
}

std::uint16_t pseudo_header_sum(const IpAddress& source, const IpAddress& destination, std::uint8_t protocol,
                                std::uint16_t length) noexcept {
  if (source.is_v4()) {
    return pseudo_header_sum_v4(source.octets.data() + 12, destination.octets.data() + 12, protocol, length);
  }
  return pseudo_header_sum_v6(source.octets.data(), destination.octets.data(), protocol, length);
}

}  // namespace sluice::packet
