// Tags of datagrams by HMAC-SHA-256 (RFC 2104) or AES-256-GMAC, with the OpenSSL library. Called by Session for every
// datagram sent and received. A key has one algorithm, and no secret is used with two. Tags are compared in constant
// time.

#include "control/feedback/authenticator.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace sluice::control::feedback {

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
};
struct FreeMacContext {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMacContext>;

namespace {

constexpr std::size_t min_secret = 16;
constexpr std::size_t whole_tag = 32;  // SHA-256

/// Returns a MAC context keyed for HMAC-SHA-256; throws std::runtime_error if the library fails.
MacContext prepare(const Key& key) {
  const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr));
  if (mac == nullptr) throw std::runtime_error("the cryptographic library has no HMAC");
  MacContext context(EVP_MAC_CTX_new(mac.get()));
  std::string digest = "SHA256";
  const std::array parameters{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                              OSSL_PARAM_construct_end()};
  if (context == nullptr || EVP_MAC_init(context.get(), key.secret.data(), key.secret.size(), parameters.data()) != 1) {
    throw std::runtime_error("the cryptographic library refuses HMAC-SHA-256");
  }
  return context;
}

/// Returns the value of a hexadecimal digit; -1 for any other character.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

struct Authenticator::Entry {
  explicit Entry(const Key& key) : id(key.id) {
    if (key.algorithm == TagAlgorithm::aes_256_gmac) {
      gmac.emplace(key);
    } else {
      context = prepare(key);
    }
  }

  std::uint32_t id = 0;
  std::optional<GmacSessions> gmac;
  MacContext context;  ///< MAC context keyed with the secret; every use starts by resetting it

  [[nodiscard]] std::optional<Tag> hmac(std::span<const std::uint8_t> data) {
    std::array<std::uint8_t, whole_tag> whole{};
    std::size_t length = 0;
    if (EVP_MAC_init(context.get(), nullptr, 0, nullptr) != 1 ||
        EVP_MAC_update(context.get(), data.data(), data.size()) != 1 ||
        EVP_MAC_final(context.get(), whole.data(), &length, whole.size()) != 1 || length != whole.size()) {
      return std::nullopt;  // out of memory inside the library
    }
    Tag result{};
    std::copy_n(whole.begin(), result.size(), result.begin());
    return result;
  }
};

std::optional<Key> Key::from_hex(std::uint32_t id, std::string_view digits) {
  if (digits.size() % 2 != 0 || digits.size() < 2 * min_secret) return std::nullopt;
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
  const auto contradicts = [](const Key& a, const Key& b) {
    return a.secret == b.secret && a.algorithm != b.algorithm;
  };
  for (const Key& key : keys) {
    if (std::any_of(keys.begin(), keys.end(), [&](const Key& other) { return contradicts(key, other); })) {
      throw std::invalid_argument("feedback: the secret of key " + std::to_string(key.id) +
                                  " is used with two algorithms");
    }
  }
  for (const Key& key : keys) {
    if (key.secret.size() < min_secret) {
      throw std::invalid_argument("feedback: key " + std::to_string(key.id) + " is shorter than 16 bytes");
    }
    if (knows(key.id)) throw std::invalid_argument("feedback: key id " + std::to_string(key.id) + " is given twice");
    entries_.push_back(std::make_unique<Entry>(key));
  }
}

Authenticator::~Authenticator() = default;
Authenticator::Authenticator(Authenticator&&) noexcept = default;
Authenticator& Authenticator::operator=(Authenticator&&) noexcept = default;

Authenticator::Entry* Authenticator::find(std::uint32_t key_id) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry->id == key_id; });
  return found == entries_.end() ? nullptr : found->get();
}

bool Authenticator::knows(std::uint32_t key_id) const {
  return find(key_id) != nullptr;
}

std::optional<Tag> Authenticator::sign(std::uint32_t key_id, std::span<const std::uint8_t> data) {
  Entry* const entry = find(key_id);
  if (entry == nullptr) return std::nullopt;
  return entry->gmac ? entry->gmac->sign(data) : entry->hmac(data);
}

bool Authenticator::verify(std::uint32_t key_id, std::span<const std::uint8_t> data,
                           std::span<const std::uint8_t, tag_size> tag) {
  Entry* const entry = find(key_id);
  if (entry == nullptr) return false;
  if (entry->gmac) return entry->gmac->verify(data, tag);
  const std::optional<Tag> expected = entry->hmac(data);
  return expected && CRYPTO_memcmp(expected->data(), tag.data(), tag_size) == 0;
}

}  // namespace sluice::control::feedback
