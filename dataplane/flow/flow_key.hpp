#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "dataplane/packet/parse.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::flow {

/// The identity of a connection, seen from the UE; the same for packets of both directions. Ports in host order.
struct FlowKey {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;
  std::array<packet::VlanTag, 2> vlan{};

  /// Of a packet that the UE sent.
  [[nodiscard]] static FlowKey from_ue(const packet::Parsed& parsed) noexcept {
    return {parsed.src, parsed.dst, parsed.src_port, parsed.dst_port, parsed.vlan};
  }
  /// Of a packet that the server sent.
  [[nodiscard]] static FlowKey from_server(const packet::Parsed& parsed) noexcept {
    return {parsed.dst, parsed.src, parsed.dst_port, parsed.src_port, parsed.vlan};
  }

  /// The key's 40 bytes as numbers, to be compared and hashed.
  [[nodiscard]] std::array<std::uint64_t, 5> words() const noexcept {
    std::array<std::uint64_t, 5> words;
    std::memcpy(words.data(), this, sizeof words);
    return words;
  }
  friend bool operator==(const FlowKey& a, const FlowKey& b) noexcept {
    const auto x = a.words();
    const auto y = b.words();
    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4])) == 0;
  }
};
static_assert(sizeof(FlowKey) == 40, "no padding: compared and hashed as bytes");

/// 64 well-mixed bits of the key. `seed` is secret where keys come from outside: without it nobody can choose
/// connections that collide. (Multiply-and-fold of 64-bit words; five words, three multiplications.)
[[nodiscard]] inline std::uint64_t hash(const FlowKey& key, std::uint64_t seed) noexcept {
  const auto words = key.words();
  const auto mix = [](std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const std::uint64_t first = mix(words[0] ^ seed ^ 0xa0761d6478bd642fU, words[1] ^ 0x9e3779b97f4a7c15U);
  const std::uint64_t second = mix(words[2] ^ 0xc2b2ae3d27d4eb4fU, words[3] ^ (seed + 0x165667b19e3779f9U));
  return mix(words[4] ^ first ^ 0xd6e8feb86659fd93U, second ^ (seed + 0xe7037ed1a0b428dbU));
}

}  // namespace sluice::flow
