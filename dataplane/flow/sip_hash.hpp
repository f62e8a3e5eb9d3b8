#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice::flow {

/// Secret of a keyed hash: 128 bits, from the system's random source if the hashed keys come from outside.
struct HashKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

/// Returns SipHash-c-d of a message of whole 64-bit words (J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast
/// short-input PRF", 2012). The result is that of the published function for the words' bytes, least significant byte
/// first. This function appends the final word with the message length, so `message` does not contain it.
template <int c, int d, std::size_t count>
[[nodiscard]] constexpr std::uint64_t sip_hash(const HashKey& key,
                                               const std::array<std::uint64_t, count>& message) noexcept {
  std::uint64_t v0 = key.first ^ 0x736f6d6570736575U;
  std::uint64_t v1 = key.second ^ 0x646f72616e646f6dU;
  std::uint64_t v2 = key.first ^ 0x6c7967656e657261U;
  std::uint64_t v3 = key.second ^ 0x7465646279746573U;
  const auto rounds = [&](int number) {
    for (int i = 0; i < number; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32) + v3;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  };
  const auto take = [&](std::uint64_t word) {
    v3 ^= word;
    rounds(c);
    v0 ^= word;
  };
  for (const std::uint64_t word : message) take(word);
  take(std::uint64_t{count * sizeof(std::uint64_t)} << 56U);
  v2 ^= 0xffU;
  rounds(d);
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace sluice::flow
