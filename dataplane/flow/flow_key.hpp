#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "dataplane/flow/sip_hash.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::flow {

/// Key of a connection: addresses, ports (host order) and VLANs. The UE and the server have fixed members, so packets
/// of both directions have the same key.
struct FlowKey {
  IpAddress ue;
  IpAddress server;
  std::uint16_t ue_port = 0;
  std::uint16_t server_port = 0;
  packet::Networks networks{};

  /// Returns the key of a packet that the UE sent.
  [[nodiscard]] static FlowKey from_ue(const packet::Parsed& parsed) noexcept {
    return {parsed.src, parsed.dst, parsed.src_port, parsed.dst_port, parsed.networks};
  }
  /// Returns the key of a packet that the server sent.
  [[nodiscard]] static FlowKey from_server(const packet::Parsed& parsed) noexcept {
    return {parsed.dst, parsed.src, parsed.dst_port, parsed.src_port, parsed.networks};
  }

  /// Returns the key for which words() has returned `words`.
  [[nodiscard]] static FlowKey of(const std::array<std::uint64_t, 5>& words) noexcept {
    return std::bit_cast<FlowKey>(words);
  }
  /// Returns the key's 40 bytes as five 64-bit numbers in memory order, for comparison and hashing.
  [[nodiscard]] std::array<std::uint64_t, 5> words() const noexcept {
    // Each word is loaded by itself, because compilers keep an array that is filled by one copy in memory.
    const auto* const at = reinterpret_cast<const std::uint8_t*>(this);
    return {packet::load64(at), packet::load64(at + 8), packet::load64(at + 16), packet::load64(at + 24),
            packet::load64(at + 32)};
  }
  friend bool operator==(const FlowKey& a, const FlowKey& b) noexcept {
    const auto x = a.words();
    const auto y = b.words();
    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4])) == 0;
  }
};
static_assert(sizeof(FlowKey) == 40, "no padding: compared and hashed as bytes");

/// True if both addresses of a key, given as FlowKey::words(), are IPv4 (::ffff:0:0/96).
[[nodiscard]] inline bool is_v4(const std::array<std::uint64_t, 5>& words) noexcept {
  constexpr std::uint32_t mapped = 0xffff0000U;  // second half of the prefix, in memory order
  const auto prefix = [&](std::size_t at) { return words[at] | (static_cast<std::uint32_t>(words[at + 1]) ^ mapped); };
  return (prefix(0) | prefix(2)) == 0;
}

/// Short form of an IPv4 key, without the constant prefix of IPv4-mapped addresses. The first word contains both
/// addresses, the UE's first; the second contains ports and networks (VLANs). Flow tables store, hash and compare IPv4
/// keys in this form.
struct ShortKey {
  std::array<std::uint64_t, 2> words;

  /// Returns the short form of FlowKey::words(). Requires is_v4().
  [[nodiscard]] static ShortKey of(const std::array<std::uint64_t, 5>& words) noexcept {
    return {{words[1] >> 32U | (words[3] >> 32U << 32U), words[4]}};
  }
  // Read the key of an IPv4 packet without options whose outer headers name no network. `addresses` points to the
  // addresses in its header; the ports follow them.
  [[nodiscard]] static ShortKey from_ue(const std::uint8_t* addresses) noexcept {
    return {{packet::load64(addresses), std::rotl(packet::load_be32(addresses + 8), 16)}};
  }
  [[nodiscard]] static ShortKey from_server(const std::uint8_t* addresses) noexcept {
    return {{std::rotl(packet::load64(addresses), 32), packet::load_be32(addresses + 8)}};
  }
  /// Returns a key that no packet has.
  [[nodiscard]] static constexpr ShortKey of_none() noexcept { return {{0, UINT64_MAX}}; }
  /// Returns the full form of the key.
  [[nodiscard]] FlowKey whole() const noexcept {
    constexpr std::uint64_t prefix = 0xffff0000U;
    return FlowKey::of({0, words[0] << 32U | prefix, 0, (words[0] >> 32U << 32U) | prefix, words[1]});
  }
  /// Returns the key's bytes, addresses first.
  [[nodiscard]] const std::uint8_t* octets() const noexcept {
    return reinterpret_cast<const std::uint8_t*>(words.data());
  }
  friend bool operator==(const ShortKey& a, const ShortKey& b) noexcept {
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1])) == 0;
  }
};
static_assert(sizeof(ShortKey) == 16);

/// Returns SipHash-1-3 of the key. Without `secret` an attacker cannot choose connections that collide (see README.md).
/// The message has two words for IPv4 and five otherwise. The length is part of the hash, so the hashes of both forms
/// are equal only by chance.
[[nodiscard]] inline std::uint64_t hash(const ShortKey& key, const HashKey& secret) noexcept {
  return sip_hash<1, 3>(secret, key.words);
}
[[nodiscard]] inline std::uint64_t hash(const FlowKey& key, const HashKey& secret) noexcept {
  const auto words = key.words();
  if (is_v4(words)) [[likely]]
    return hash(ShortKey::of(words), secret);
  return sip_hash<1, 3>(secret, words);
}

}  // namespace sluice::flow
