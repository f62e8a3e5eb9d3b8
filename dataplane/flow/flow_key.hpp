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

  /// Of words().
  [[nodiscard]] static FlowKey of(const std::array<std::uint64_t, 5>& words) noexcept {
    return std::bit_cast<FlowKey>(words);
  }
  /// The key's 40 bytes as numbers, to be compared and hashed.
  [[nodiscard]] std::array<std::uint64_t, 5> words() const noexcept {
    // Each by itself: an array that is filled at once is kept in memory.
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

/// Of FlowKey::words(): both addresses are IPv4 (::ffff:0:0/96).
[[nodiscard]] inline bool is_v4(const std::array<std::uint64_t, 5>& words) noexcept {
  constexpr std::uint32_t mapped = 0xffff0000U;  // the second half of the prefix, in memory order
  const auto prefix = [&](std::size_t at) { return words[at] | (static_cast<std::uint32_t>(words[at + 1]) ^ mapped); };
  return (prefix(0) | prefix(2)) == 0;
}

/// What a key of IPv4 comes to without the prefix that all such addresses have: both addresses, the UE's first, in one
/// word, ports and VLAN tags in the other, each as it lies in a FlowKey. Tables keep, hash and compare this.
struct ShortKey {
  std::array<std::uint64_t, 2> words;

  /// Of FlowKey::words(). Requires is_v4().
  [[nodiscard]] static ShortKey of(const std::array<std::uint64_t, 5>& words) noexcept {
    return {{words[1] >> 32U | (words[3] >> 32U << 32U), words[4]}};
  }
  // Of an IPv4 packet without options and VLAN tags. `addresses`: where these stand in its header, ports behind them.
  [[nodiscard]] static ShortKey from_ue(const std::uint8_t* addresses) noexcept {
    return {{packet::load64(addresses), std::rotl(packet::load_be32(addresses + 8), 16)}};
  }
  [[nodiscard]] static ShortKey from_server(const std::uint8_t* addresses) noexcept {
    return {{std::rotl(packet::load64(addresses), 32), packet::load_be32(addresses + 8)}};
  }
  /// What no packet without VLAN tags has.
  [[nodiscard]] static constexpr ShortKey of_none() noexcept { return {{0, UINT64_MAX}}; }
  [[nodiscard]] FlowKey whole() const noexcept {
    constexpr std::uint64_t prefix = 0xffff0000U;
    return FlowKey::of({0, words[0] << 32U | prefix, 0, (words[0] >> 32U << 32U) | prefix, words[1]});
  }
  /// Its bytes: addresses first.
  [[nodiscard]] const std::uint8_t* octets() const noexcept {
    return reinterpret_cast<const std::uint8_t*>(words.data());
  }
  friend bool operator==(const ShortKey& a, const ShortKey& b) noexcept {
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1])) == 0;
  }
};
static_assert(sizeof(ShortKey) == 16);

/// SipHash-1-3 of the key: without `secret` nobody can choose connections that collide (README.md says why). Where both
/// addresses are IPv4 the message is two words, else five; the length is part of it, so that the two never coincide but
/// by chance.
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
