// Toeplitz hash of UE addresses, equal to the hash that a network card computes for RSS with rss_key(). RssSteering
// calls it for every packet whose owner must be found; fanout_program.cpp builds the same function for the kernel. The
// hash is linear, so two table lookups compute it for a folded address.

#include "dataplane/dpdk/address_hash.hpp"

#include "dataplane/packet/encapsulation.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::dpdk {
namespace {

constexpr std::array<std::uint8_t, 64> make_key() {
  std::array<std::uint8_t, 64> key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<std::uint8_t>(i % 2 == 0 ? rss_key_word >> 8 : rss_key_word & 0xff);
  }
  return key;
}
constexpr std::array<std::uint8_t, 64> key_bytes = make_key();

/// Returns the Toeplitz hash of two bytes. Each bit that is set contributes the 32 bits of the key from the bit's
/// position on; the contributions are combined by exclusive or.
constexpr std::uint32_t toeplitz16(std::uint16_t word) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < 8; ++i) key = key << 8 | key_bytes[i];
  std::uint32_t hash = 0;
  for (unsigned bit = 0; bit < 16; ++bit) {
    if ((word >> (15 - bit) & 1) != 0) hash ^= static_cast<std::uint32_t>(key >> (32 - bit));
  }
  return hash;
}

/// Returns two tables with the hashes of all values of the high byte and of the low byte. The hash is linear, so the
/// hash of both bytes is the exclusive or of two entries.
constexpr std::array<std::array<std::uint32_t, 256>, 2> make_tables() {
  std::array<std::array<std::uint32_t, 256>, 2> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    tables[0][byte] = toeplitz16(static_cast<std::uint16_t>(byte << 8));
    tables[1][byte] = toeplitz16(static_cast<std::uint16_t>(byte));
  }
  return tables;
}
constexpr std::array<std::array<std::uint32_t, 256>, 2> tables = make_tables();

/// Returns the hash of an address; `folded` is the exclusive or of the address's words of 32 or 64 bits, in memory
/// order. The key repeats every 16 bits. So the hash depends only on the exclusive or of the address's 16-bit words.
std::uint32_t hash_of_words(std::uint64_t folded) {
  folded ^= folded >> 32;
  folded ^= folded >> 16;
  return tables[0][folded & 0xffU] ^ tables[1][folded >> 8 & 0xffU];
}

std::uint32_t hash_v4(const std::uint8_t* address) {
  return hash_of_words(packet::load32(address));
}
std::uint32_t hash_v6(const std::uint8_t* address) {
  return hash_of_words(packet::load64(address) ^ packet::load64(address + 8));
}

}  // namespace

const std::array<std::uint8_t, 64>& rss_key() noexcept {
  return key_bytes;
}

std::uint32_t address_hash(const IpAddress& address) noexcept {
  return address.is_v4() ? hash_v4(address.octets.data() + 12) : hash_v6(address.octets.data());
}

std::uint32_t ue_address_hash(const packet::Packet& frame, Facing facing) noexcept {
  namespace ethertype = packet::ethertype;
  packet::OuterHeaders outer;
  if (packet::read_outer_headers(frame.bytes(), outer) != packet::OuterResult::complete) return 0;
  const std::uint8_t* const ip = frame.data() + outer.length;
  const std::size_t size = outer.end - outer.length;
  const bool source = facing == Facing::radio;
  if (outer.type == ethertype::ipv4 && size >= packet::ipv4_length) return hash_v4(ip + (source ? 12 : 16));
  if (outer.type == ethertype::ipv6 && size >= packet::ipv6_length) return hash_v6(ip + (source ? 8 : 24));
  return 0;
}

}  // namespace sluice::dpdk
