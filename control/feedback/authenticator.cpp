// The hash's state is a plain value here, so that a key's can be kept and copied. EVP hides it behind contexts whose
// every copy takes memory from the heap: for datagrams of a few hundred bytes that costs as much as the hash.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "control/feedback/authenticator.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace sluice::control::feedback {
namespace {

constexpr std::size_t least_secret = 16;
constexpr std::size_t block = SHA256_CBLOCK;
using Digest = std::array<std::uint8_t, SHA256_DIGEST_LENGTH>;

Digest finished(SHA256_CTX& hash) {
  Digest digest;
  SHA256_Final(digest.data(), &hash);
  return digest;
}

/// The hash of a key's block with `pad` in every byte (RFC 2104 section 2).
SHA256_CTX padded(std::span<const std::uint8_t, block> key, std::uint8_t pad) {
  std::array<std::uint8_t, block> mixed;
  std::transform(key.begin(), key.end(), mixed.begin(),
                 [pad](std::uint8_t byte) { return static_cast<std::uint8_t>(byte ^ pad); });
  SHA256_CTX hash;
  SHA256_Init(&hash);
  SHA256_Update(&hash, mixed.data(), mixed.size());
  OPENSSL_cleanse(mixed.data(), mixed.size());
  return hash;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

/// HMAC-SHA-256 under one key (RFC 2104): both hashes as they are behind the key's blocks.
struct Authenticator::Entry {
  explicit Entry(const Key& key) : id(key.id) {
    std::array<std::uint8_t, block> whole{};
    if (key.secret.size() > block) {
      SHA256(key.secret.data(), key.secret.size(), whole.data());
    } else {
      std::copy(key.secret.begin(), key.secret.end(), whole.begin());
    }
    inner = padded(whole, 0x36);
    outer = padded(whole, 0x5c);
    OPENSSL_cleanse(whole.data(), whole.size());
  }
  ~Entry() {
    OPENSSL_cleanse(&inner, sizeof inner);
    OPENSSL_cleanse(&outer, sizeof outer);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  [[nodiscard]] Tag tag(std::span<const std::uint8_t> data) const {
    SHA256_CTX hash = inner;
    SHA256_Update(&hash, data.data(), data.size());
    const Digest message = finished(hash);
    hash = outer;
    SHA256_Update(&hash, message.data(), message.size());
    const Digest whole = finished(hash);
    Tag result;
    std::copy_n(whole.begin(), result.size(), result.begin());
    return result;
  }

  std::uint32_t id;
  SHA256_CTX inner{};
  SHA256_CTX outer{};
};

std::optional<Key> Key::from_hex(std::uint32_t id, std::string_view digits) {
  if (digits.size() % 2 != 0 || digits.size() < 2 * least_secret) return std::nullopt;
  Key key{id, {}};
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]);
    const int low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key.secret.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return key;
}

Authenticator::Authenticator(std::span<const Key> keys) {
  if (keys.empty()) throw std::invalid_argument("feedback: no key is configured");
  for (const Key& key : keys) {
    if (key.secret.size() < least_secret) {
      throw std::invalid_argument("feedback: key " + std::to_string(key.id) + " is shorter than 16 bytes");
    }
    if (knows(key.id)) throw std::invalid_argument("feedback: key id " + std::to_string(key.id) + " is given twice");
    entries_.push_back(std::make_unique<Entry>(key));
  }
}

Authenticator::~Authenticator() = default;
Authenticator::Authenticator(Authenticator&&) noexcept = default;
Authenticator& Authenticator::operator=(Authenticator&&) noexcept = default;

const Authenticator::Entry* Authenticator::find(std::uint32_t key_id) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry->id == key_id; });
  return found == entries_.end() ? nullptr : found->get();
}

bool Authenticator::knows(std::uint32_t key_id) const {
  return find(key_id) != nullptr;
}

std::optional<Tag> Authenticator::sign(std::uint32_t key_id, std::span<const std::uint8_t> data) const {
  const Entry* const entry = find(key_id);
  if (entry == nullptr) return std::nullopt;
  return entry->tag(data);
}

bool Authenticator::verify(std::uint32_t key_id, std::span<const std::uint8_t> data,
                           std::span<const std::uint8_t, tag_size> tag) const {
  const std::optional<Tag> expected = sign(key_id, data);
  return expected && CRYPTO_memcmp(expected->data(), tag.data(), tag_size) == 0;
}

}  // namespace sluice::control::feedback
