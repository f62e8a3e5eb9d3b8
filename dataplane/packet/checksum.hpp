#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "dataplane/packet/headers.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::packet {

// Internet checksum arithmetic (RFC 1071). A *sum* here is the 16-bit ones' complement sum of the bytes, not inverted.
// The bytes are taken as 16-bit words in memory order (the first byte is the low one on this machine). An odd last byte
// is followed by a zero. A sum is stored to the wire with store16(), never byte-swapped. 0x0000 and 0xffff both mean
// zero.

/// Returns the ones' complement sum of `data`, of any alignment and length. Uses AVX2 on x86-64 if the processor has
/// it, else SSE4. On other processors it adds word by word.
[[nodiscard]] std::uint16_t ones_complement_sum(std::span<const std::uint8_t> data) noexcept;

/// Returns the ones' complement sum of `data` without AVX2, even if the processor has it.
[[nodiscard]] std::uint16_t ones_complement_sum_sse4(std::span<const std::uint8_t> data) noexcept;

/// Returns the instruction set that ones_complement_sum() uses on this machine: "avx2" or "sse4", or "words" where
/// neither exists.
[[nodiscard]] const char* checksum_kernel() noexcept;

/// Adds 64 bits of data to a 64-bit ones' complement sum, with end-around carry. Modulo 65535 the result is the sum of
/// the 16-bit words.
[[nodiscard]] constexpr std::uint64_t add_wide(std::uint64_t sum, std::uint64_t words) noexcept {
  if (std::is_constant_evaluated()) return __builtin_add_overflow(sum, words, &sum) ? sum + 1 : sum;
#if defined(__x86_64__)
  // Two instructions, whereas compilers generate five, seven times per packet.
  asm("add %1, %0\n\tadc $0, %0" : "+r"(sum) : "rm"(words) : "cc");
  return sum;
#else
  return __builtin_add_overflow(sum, words, &sum) ? sum + 1 : sum;
#endif
}

/// Adds the four consecutive 64-bit words at `at` to a 64-bit ones' complement sum, with end-around carry.
[[nodiscard]] inline std::uint64_t add_four_wide(std::uint64_t sum, const std::uint8_t* at) noexcept {
#if defined(__x86_64__)
  // Each addition includes the carry of the one before, which compilers do not generate.
  asm("add %1, %0\n\tadc %2, %0\n\tadc %3, %0\n\tadc %4, %0\n\tadc $0, %0"
      : "+&r"(sum)
      : "rm"(load64(at)), "rm"(load64(at + 8)), "rm"(load64(at + 16)), "rm"(load64(at + 24))
      : "cc");
  return sum;
#else
  return add_wide(add_wide(add_wide(add_wide(sum, load64(at)), load64(at + 8)), load64(at + 16)), load64(at + 24));
#endif
}

/// Reduces a 64-bit ones' complement sum to 16 bits, with end-around carry.
[[nodiscard]] constexpr std::uint16_t fold(std::uint64_t sum) noexcept {
  // The sum plus its rotation has the sum of both halves, carry included, in the upper half.
  sum += std::rotl(sum, 32);
  auto half = static_cast<std::uint32_t>(sum >> 32);
  half += std::rotl(half, 16);
  return static_cast<std::uint16_t>(half >> 16);
}

/// True if a 64-bit ones' complement sum folds to 0xffff, as the sum of undamaged bytes and their checksum does.
/// Requires that the sum is not 0. Needs half the instructions of fold().
[[nodiscard]] constexpr bool sums_to_ones(std::uint64_t sum) noexcept {
  return sum % 0xffff == 0;
}

/// Returns the 64-bit ones' complement sum `sum` plus the sum of the `length` bytes at `at`. Intended for a few bytes
/// at the end of data.
[[nodiscard]] inline std::uint64_t add_words(std::uint64_t sum, const std::uint8_t* at, std::size_t length) noexcept {
  for (; length >= 8; at += 8, length -= 8) sum = add_wide(sum, load64(at));
  if (length == 0) return sum;
  std::uint64_t rest = 0;
  if ((length & 4U) != 0) {
    rest = load32(at);
    at += 4;
  }
  if ((length & 2U) != 0) {
    rest += load16(at);
    at += 2;
  }
  if ((length & 1U) != 0) rest += *at;
  return add_wide(sum, rest);
}

/// Returns the 64-bit ones' complement sum `sum` plus the sum of the TCP header at `at`; `length` is a multiple of 4,
/// at least 20.
[[nodiscard]] inline std::uint64_t add_header(std::uint64_t sum, const std::uint8_t* at, std::size_t length) noexcept {
  if (length < 32) return add_words(sum, at, length);
  return add_words(add_four_wide(sum, at), at + 32, length - 32);  // nearly all headers have 32 bytes, with timestamps
}

/// Returns the ones' complement sum that some bytes have at an offset of the other parity: odd instead of even, or even
/// instead of odd (RFC 1071 section 2 (B)). `sum` is the sum of these bytes at their present offset.
[[nodiscard]] constexpr std::uint16_t swap_sum(std::uint16_t sum) noexcept {
  return static_cast<std::uint16_t>(sum << 8 | sum >> 8);
}

/// Returns the ones' complement sum of bytes A, given the sum `whole` of A followed by B and the sum `second` of B.
/// `first_length` is the length of A in bytes.
[[nodiscard]] constexpr std::uint16_t subtract_suffix(std::uint16_t whole, std::uint16_t second,
                                                      std::size_t first_length) noexcept {
  const std::uint16_t moved = first_length % 2 != 0 ? swap_sum(second) : second;
  const std::uint32_t sum = std::uint32_t{whole} + static_cast<std::uint16_t>(~moved);
  return static_cast<std::uint16_t>((sum & 0xffffU) + (sum >> 16));
}

/// Returns the ones' complement sum of bytes A followed by B, given their sums `first` and `second`. `first_length` is
/// the length of A in bytes.
[[nodiscard]] constexpr std::uint16_t append_suffix(std::uint16_t first, std::uint16_t second,
                                                    std::size_t first_length) noexcept {
  const std::uint16_t moved = first_length % 2 != 0 ? swap_sum(second) : second;
  const std::uint32_t sum = std::uint32_t{first} + moved;
  return static_cast<std::uint16_t>((sum & 0xffffU) + (sum >> 16));
}

/// Returns a checksum field after one of the 16-bit words it covers changed from `before` to `after` (RFC 1624 equation
/// 3, HC' = ~(~HC + ~m + m')). All three are in memory order.
[[nodiscard]] constexpr std::uint16_t update_checksum(std::uint16_t checksum, std::uint16_t before,
                                                      std::uint16_t after) noexcept {
  const std::uint32_t sum =
      std::uint32_t{static_cast<std::uint16_t>(~checksum)} + std::uint32_t{static_cast<std::uint16_t>(~before)} + after;
  return static_cast<std::uint16_t>(~fold(sum));
}

/// Returns the 64-bit ones' complement sum of the pseudo-header of an upper-layer packet (IPv4: RFC 9293 section 3.1;
/// IPv6: RFC 8200 section 8.1). `addresses` points to the source address in the IP header, which the destination
/// address follows. `length` is the bytes of upper-layer header plus payload.
[[nodiscard]] inline std::uint64_t pseudo_header_v4(const std::uint8_t* addresses, std::uint8_t protocol,
                                                    std::uint16_t length) noexcept {
  const std::uint64_t rest = (std::uint32_t{protocol} << 8) + std::uint64_t{__builtin_bswap16(length)};
  return add_wide(load64(addresses), rest);
}
[[nodiscard]] inline std::uint64_t pseudo_header_v6(const std::uint8_t* addresses, std::uint8_t protocol,
                                                    std::uint32_t length) noexcept {
  const std::uint64_t rest = (std::uint32_t{protocol} << 8) + std::uint64_t{__builtin_bswap32(length)};
  return add_words(rest, addresses, 32);
}
/// Returns the folded sum of the pseudo-header for address values. Both addresses are of one family, and the family of
/// the source selects the format. `length` is the bytes of upper-layer header plus payload.
[[nodiscard]] std::uint16_t pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                                              std::uint8_t protocol, std::uint16_t length) noexcept;

}  // namespace sluice::packet
