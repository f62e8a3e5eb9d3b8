// Internet checksum (RFC 1071) with AVX2 or SSE4 on x86-64, and word by word elsewhere. ones_complement_sum() is called
// for every payload whose checksum the device has not tested. The kernel is chosen once, when the program starts. All
// kernels return the same sums for every length and alignment.

#include "dataplane/packet/checksum.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

/// Largest number of bytes that is summed in one call of the vectorised functions add_block_…().
constexpr std::size_t block = 1U << 16;

#if defined(__x86_64__)

// Both kernels flip the top bit of each word, which makes it the signed number w - 32768. They multiply-add pairs by
// one into 32-bit lanes and add 32768 per word at the end: three instructions per vector. A block has 2^15 words of at
// most 2^15 with either sign, so neither a lane nor the total exceeds 2^30.
/// Number of bytes that the functions add_block_…() sum per step (a piece). The remaining bytes are added word by word.
constexpr std::size_t piece = 32;
constexpr std::int64_t flipped = 32768;

/// Returns the sum of the words of `length` bytes from the lanes of a vector. The top bit of each word was flipped
/// before, because the instructions add signed words. That has reduced the sum by a fixed amount per word, which is
/// added back.
std::uint64_t unflip(__m128i lanes, std::size_t length) noexcept {
  lanes = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, 0x4e));
  lanes = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, 0xb1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si32(lanes) + static_cast<std::int64_t>(length / 2) * flipped);
}

/// Returns `sum` plus the ones' complement sum of the last bytes of the data. They begin at `at`; `length` is their
/// number, below 32.
std::uint64_t add_tail(std::uint64_t sum, const std::uint8_t* at, std::size_t length) noexcept {
  if ((length & 16U) != 0) {
    sum = add_wide(add_wide(sum, load64(at)), load64(at + 8));
    at += 16;
  }
  if ((length & 8U) != 0) {
    sum = add_wide(sum, load64(at));
    at += 8;
  }
  return add_words(sum, at, length & 7U);
}

#define SLUICE_WITH_AVX2 __attribute__((target("avx2"), always_inline))

/// Vector constants of the AVX2 functions. `flip` flips the top bits of words. `ones` contains the factor 1 for every
/// word, with which a multiply-add instruction only adds adjacent words.
struct Avx2Constants {
  __m256i flip;
  __m256i ones;
};

/// Adds adjacent pairs of 16-bit words, and sums these pairs lane by lane over `pieces` consecutive pieces of 32 bytes;
/// `pieces` is a power of two.
template <std::size_t pieces>
SLUICE_WITH_AVX2 inline __m256i pairs_avx2(const std::uint8_t* at, const Avx2Constants& constants) noexcept {
  if constexpr (pieces == 1) {
    __m256i words;
    std::memcpy(&words, at, sizeof words);
    return _mm256_madd_epi16(_mm256_xor_si256(words, constants.flip), constants.ones);
  } else {
    return _mm256_add_epi32(pairs_avx2<pieces / 2>(at, constants),
                            pairs_avx2<pieces / 2>(at + pieces / 2 * piece, constants));
  }
}

/// Returns the sum of the 16-bit words of `length` bytes, at most 64 KiB. Sums pieces of 32 bytes: first one, two and
/// four pieces as the length requires, then eight at a time. The bytes after the last whole piece are added word by
/// word.
__attribute__((target("avx2"))) std::uint64_t add_block_avx2(const std::uint8_t* at, std::size_t length) noexcept {
  Avx2Constants constants{_mm256_set1_epi16(-32768), _mm256_set1_epi16(1)};
  asm("" : "+x"(constants.flip), "+x"(constants.ones));  // keeps both in registers
  const std::size_t rest = length % piece;
  const std::uint8_t* const end = at + (length - rest);
  __m256i sums = _mm256_setzero_si256();
  if ((length & piece) != 0) {
    sums = pairs_avx2<1>(at, constants);
    at += piece;
  }
  if ((length & 2 * piece) != 0) {
    sums = _mm256_add_epi32(sums, pairs_avx2<2>(at, constants));
    at += 2 * piece;
  }
  if ((length & 4 * piece) != 0) {
    sums = _mm256_add_epi32(sums, pairs_avx2<4>(at, constants));
    at += 4 * piece;
  }
  for (; at != end; at += 8 * piece) sums = _mm256_add_epi32(sums, pairs_avx2<8>(at, constants));
  const __m128i lanes = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  return add_tail(unflip(lanes, length - rest), end, rest);
}

inline __m128i pairs_sse4(const std::uint8_t* at) noexcept {
  __m128i words;
  std::memcpy(&words, at, sizeof words);
  return _mm_madd_epi16(_mm_xor_si128(words, _mm_set1_epi16(-32768)), _mm_set1_epi16(1));
}

std::uint64_t add_block_sse4(const std::uint8_t* at, std::size_t length) noexcept {
  const std::size_t whole = length & ~(piece - 1);
  const std::uint8_t* const end = at + whole;
  __m128i even = _mm_setzero_si128();
  __m128i odd = _mm_setzero_si128();
  for (; at != end; at += piece) {
    even = _mm_add_epi32(even, pairs_sse4(at));
    odd = _mm_add_epi32(odd, pairs_sse4(at + 16));
  }
  return add_tail(unflip(_mm_add_epi32(even, odd), whole), end, length - whole);
}

bool have_avx2() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}

#else

/// Returns the ones' complement sum of `length` bytes. Sums eight bytes at a time, with end-around carry.
std::uint64_t add_block_words(const std::uint8_t* at, std::size_t length) noexcept {
  std::uint64_t sum = 0;
  for (; length >= 32; at += 32, length -= 32) sum = add_four_wide(sum, at);
  return add_words(sum, at, length);
}

#endif

using AddBlock = std::uint64_t (*)(const std::uint8_t*, std::size_t) noexcept;

#if defined(__x86_64__)
const AddBlock add_block = have_avx2() ? add_block_avx2 : add_block_sse4;
constexpr AddBlock narrow_block = add_block_sse4;
#else
constexpr AddBlock add_block = add_block_words;
constexpr AddBlock narrow_block = add_block_words;
#endif

/// Returns the ones' complement sum of data of any length. Calls `kernel` for at most 64 KiB at a time, because its
/// sums could overflow with more.
std::uint16_t sum_with(AddBlock kernel, std::span<const std::uint8_t> data) noexcept {
  if (data.size() <= block) [[likely]]
    return fold(kernel(data.data(), data.size()));
  std::uint64_t sum = 0;
  for (; data.size() > block; data = data.subspan(block)) sum = add_wide(sum, kernel(data.data(), block));
  return fold(add_wide(sum, kernel(data.data(), data.size())));
}

}  // namespace

std::uint16_t ones_complement_sum(std::span<const std::uint8_t> data) noexcept {
  return sum_with(add_block, data);
}

std::uint16_t ones_complement_sum_sse4(std::span<const std::uint8_t> data) noexcept {
  return sum_with(narrow_block, data);
}

const char* checksum_kernel() noexcept {
#if defined(__x86_64__)
  return add_block == add_block_avx2 ? "avx2" : "sse4";
#else
  return "words";
#endif
}

std::uint16_t pseudo_header_sum(const IpAddress& source, const IpAddress& destination, std::uint8_t protocol,
                                std::uint16_t length) noexcept {
  std::array<std::uint8_t, 32> addresses;
  const std::size_t size = source.is_v4() ? 4 : 16;
  std::memcpy(addresses.data(), source.octets.data() + 16 - size, size);
  std::memcpy(addresses.data() + size, destination.octets.data() + 16 - size, size);
  return fold(source.is_v4() ? pseudo_header_v4(addresses.data(), protocol, length)
                             : pseudo_header_v6(addresses.data(), protocol, length));
}

}  // namespace sluice::packet
