// AES-128 by processor instructions and the keyed hash of flow keys built on it. FlowTable calls burst() for every
// burst of packets. Code with AES instructions is compiled for that target and called only if the processor has them.
// Without them SipHash-1-3 is used.

#include "dataplane/flow/tag_hash.hpp"

#include <cstring>

#include "dataplane/flow/aes_block.hpp"

namespace sluice::flow {
namespace {

using aes::block_of;
using aes::cipher;
using aes::exclusive_or;
using aes::first_word;
using aes::next_key;

SLUICE_WITH_AES void expand(const Aes128::Block& key, Aes128::RoundKeys& out) noexcept {
  aes::Vector round;
  std::memcpy(&round, key.data(), sizeof round);
  const auto store = [&](std::size_t at) { std::memcpy(out.at(at).data(), &round, sizeof round); };
  store(0);
  store((round = next_key<0x01>(round), 1));
  store((round = next_key<0x02>(round), 2));
  store((round = next_key<0x04>(round), 3));
  store((round = next_key<0x08>(round), 4));
  store((round = next_key<0x10>(round), 5));
  store((round = next_key<0x20>(round), 6));
  store((round = next_key<0x40>(round), 7));
  store((round = next_key<0x80>(round), 8));
  store((round = next_key<0x1b>(round), 9));
  store((round = next_key<0x36>(round), 10));
}

/// Derives the AES key with the number `number` from the secret by SipHash-2-4; different numbers give independent
/// keys. To anyone without the secret, both halves of the key look like random numbers.
Aes128::Block derived(const HashKey& secret, std::uint64_t number) noexcept {
  Aes128::Block key;
  const std::array halves{sip_hash<2, 4>(secret, std::array{2 * number}),
                          sip_hash<2, 4>(secret, std::array{2 * number + 1})};
  std::memcpy(key.data(), halves.data(), key.size());
  return key;
}

SLUICE_WITH_AES inline std::uint32_t tag_of(const ShortKey& key, const Aes128::RoundKeys& v4) noexcept {
  return first_word(cipher(v4, block_of(key.words[0], key.words[1])));
}

SLUICE_WITH_AES inline std::uint32_t tag_of(const std::array<std::uint64_t, 5>& words,
                                            const Aes128::RoundKeys& v6) noexcept {
  aes::Vector block = cipher(v6, block_of(words[0], words[1]));
  block = cipher(v6, exclusive_or(block, block_of(words[2], words[3])));
  block = cipher(v6, exclusive_or(block, block_of(words[4], 0)));
  return first_word(block);
}

SLUICE_WITH_AES std::uint32_t aes_tag(const FlowKey& key, const Aes128& v4, const Aes128& v6) noexcept {
  const auto words = key.words();
  return is_v4(words) ? tag_of(ShortKey::of(words), v4.round_keys()) : tag_of(words, v6.round_keys());
}

SLUICE_WITH_AES std::uint32_t aes_tag(const ShortKey& key, const Aes128& v4) noexcept {
  return tag_of(key, v4.round_keys());
}

SLUICE_WITH_AES void aes_burst(const KeyBurst& keys, std::uint32_t* tags, const Aes128& v4, const Aes128& v6) noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tags[i] =
        keys.is_long(i) ? tag_of(keys.long_words(i), v6.round_keys()) : tag_of(keys.short_key(i), v4.round_keys());
  }
}

SLUICE_WITH_AES Aes128::Block encrypt_block(const Aes128::RoundKeys& keys, const Aes128::Block& plain) noexcept {
  aes::Vector block;
  std::memcpy(&block, plain.data(), sizeof block);
  block = cipher(keys, block);
  Aes128::Block out;
  std::memcpy(out.data(), &block, sizeof block);
  return out;
}

}  // namespace

Aes128::Aes128(const Block& key) noexcept {
  expand(key, rounds_);
}

Aes128::Block Aes128::encrypt(const Block& plain) const noexcept {
  return encrypt_block(rounds_, plain);
}

bool Aes128::is_available() noexcept {
  return aes::are_available();
}

TagHash::TagHash(const HashKey& secret, bool with_aes) : secret_(secret), aes_(with_aes) {
  if (!aes_) return;
  v4_ = Aes128(derived(secret, 0));
  v6_ = Aes128(derived(secret, 1));
}

std::uint32_t TagHash::operator()(const FlowKey& key) const noexcept {
  return aes_ ? aes_tag(key, v4_, v6_) : static_cast<std::uint32_t>(hash(key, secret_));
}

std::uint32_t TagHash::operator()(const ShortKey& key) const noexcept {
  return aes_ ? aes_tag(key, v4_) : static_cast<std::uint32_t>(hash(key, secret_));
}

void TagHash::burst(const KeyBurst& keys, std::uint32_t* tags) const noexcept {
  if (aes_) [[likely]] {
    aes_burst(keys, tags, v4_, v6_);
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tags[i] = static_cast<std::uint32_t>(keys.is_long(i) ? sip_hash<1, 3>(secret_, keys.long_words(i))
                                                         : hash(keys.short_key(i), secret_));
  }
}

}  // namespace sluice::flow
