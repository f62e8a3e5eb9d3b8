// AES-256-GMAC with a key per session (NIST SP 800-38D, RFC 5869), with the OpenSSL library. Called by Authenticator
// for keys of this algorithm. No nonce is used twice with one key: the nonce is the sequence number, and sign() refuses
// numbers that do not increase. Only keys of sessions with a valid tag are cached, so forged datagrams cost no memory.

#include "control/feedback/gmac.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "control/feedback/authenticator.hpp"
#include "control/feedback/codec.hpp"
#include "control/feedback/wire.hpp"

namespace sluice::control::feedback {

struct FreeCipherContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

namespace {

struct FreeCipher {
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
};
struct FreeKdf {
  void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
};
struct FreeKdfContext {
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

using CipherKey = std::array<std::uint8_t, 32>;

/// First bytes of the `info` input of HKDF; they state the purpose of the derived key (RFC 5869 section 3.2).
constexpr std::string_view purpose = "sluice feedback 1 AES-256-GMAC";

// Offsets of the header fields from which the key and the nonce are derived (decode.cpp reads the same).
constexpr std::size_t type_at = 5;
constexpr std::size_t key_id_at = 8;
constexpr std::size_t length_at = 14;
constexpr std::size_t sender_at = 16;
constexpr std::size_t epoch_at = 24;
constexpr std::size_t sequence_at = 32;
constexpr std::size_t session_at = header_size;

const EVP_CIPHER* aes_256_gcm() {
  static const std::unique_ptr<EVP_CIPHER, FreeCipher> cipher(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr));
  return cipher.get();
}

/// Returns the session key that HKDF-SHA-256 (RFC 5869) derives from its inputs `secret`, `salt` and `info`; nothing if
/// the library fails.
std::optional<CipherKey> hkdf(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> salt,
                              std::span<const std::uint8_t> info) {
  const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_HKDF, nullptr));
  if (kdf == nullptr) return std::nullopt;
  const std::unique_ptr<EVP_KDF_CTX, FreeKdfContext> context(EVP_KDF_CTX_new(kdf.get()));
  const auto octets = [](const char* name, std::span<const std::uint8_t> value) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(value.data()), value.size());
  };
  std::string digest = "SHA256";
  const std::array parameters{OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
                              octets(OSSL_KDF_PARAM_KEY, secret), octets(OSSL_KDF_PARAM_SALT, salt),
                              octets(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
  CipherKey key{};
  if (context == nullptr || EVP_KDF_derive(context.get(), key.data(), key.size(), parameters.data()) != 1) {
    return std::nullopt;
  }
  return key;
}

}  // namespace

/// Computes AES-256-GMAC tags with the key of one session.
class GmacSessions::Cipher {
 public:
  /// Returns a cipher for this session key; null if the library fails.
  static std::unique_ptr<Cipher> with(const CipherKey& key) {
    auto cipher = std::unique_ptr<Cipher>(new Cipher);
    if (cipher->context_ == nullptr || aes_256_gcm() == nullptr ||
        EVP_EncryptInit_ex(cipher->context_.get(), aes_256_gcm(), nullptr, key.data(), nullptr) != 1) {
      return nullptr;
    }
    return cipher;
  }
  /// Returns the tag of a datagram; nothing if the library fails.
  [[nodiscard]] std::optional<Tag> tag(std::span<const std::uint8_t> datagram) {
    std::array<std::uint8_t, 12> nonce{};
    std::copy_n(datagram.begin() + sequence_at, sizeof(std::uint64_t), nonce.begin() + 4);
    std::array<std::uint8_t, tag_size> nothing{};  // there is nothing to encrypt
    Tag result{};
    int length = 0;
    EVP_CIPHER_CTX* const context = context_.get();
    if (EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) != 1 ||
        EVP_EncryptUpdate(context, nullptr, &length, datagram.data(), static_cast<int>(datagram.size())) != 1 ||
        EVP_EncryptFinal_ex(context, nothing.data(), &length) != 1 ||
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(result.size()), result.data()) != 1) {
      return std::nullopt;
    }
    return result;
  }

 private:
  Cipher() = default;
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipherContext> context_{EVP_CIPHER_CTX_new()};
};

/// Returns some bytes of the session id as hash. Only session ids from holders of the secret are cached, so attackers
/// cannot choose ids that collide.
std::size_t GmacSessions::HashOfIdentity::operator()(const Identity& identity) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, identity.data() + identity.size() - sizeof hash, sizeof hash);
  return hash;
}

GmacSessions::GmacSessions(const Key& key) : secret_(key.secret) {
  if (derive(Identity{}) == nullptr) throw std::runtime_error("the cryptographic library has no AES-256-GCM or HKDF");
}

GmacSessions::~GmacSessions() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

/// Returns the header fields that select a session key. Returns nothing if the datagram is shorter than its header
/// states, or has no session id.
std::optional<GmacSessions::Identity> GmacSessions::identity_of(std::span<const std::uint8_t> datagram) {
  constexpr std::size_t least = session_at + sizeof(SessionId);
  if (datagram.size() < least || read_number<std::uint16_t>(datagram.subspan(length_at)) < least) return std::nullopt;
  Identity identity{};
  auto out = identity.begin();
  const auto add = [&](std::size_t at, std::size_t size) {
    out = std::copy_n(datagram.begin() + static_cast<std::ptrdiff_t>(at), size, out);
  };
  add(type_at, 1);
  add(key_id_at, 4);
  add(sender_at, 8);
  add(epoch_at, 8);
  add(session_at, sizeof(SessionId));
  return identity;
}

/// Derives the key of a session from the secret; returns null if the library fails.
std::unique_ptr<GmacSessions::Cipher> GmacSessions::derive(const Identity& identity) const {
  const auto session = std::span(identity).last<sizeof(SessionId)>();
  const auto says = std::span(identity).first<sizeof(Identity) - sizeof(SessionId)>();
  std::vector<std::uint8_t> info(purpose.begin(), purpose.end());
  info.insert(info.end(), says.begin(), says.end());
  std::optional<CipherKey> key = hkdf(secret_, session, info);
  if (!key) return nullptr;
  auto cipher = Cipher::with(*key);
  OPENSSL_cleanse(key->data(), key->size());
  return cipher;
}

std::optional<Tag> GmacSessions::sign(std::span<const std::uint8_t> datagram) {
  const auto identity = identity_of(datagram);
  if (!identity) return std::nullopt;
  const auto sequence = read_number<std::uint64_t>(datagram.subspan(sequence_at));
  if (sequence <= signed_) return std::nullopt;
  if (own_ != identity) own_cipher_ = derive(*identity);
  if (own_cipher_ == nullptr) {
    own_.reset();
    return std::nullopt;
  }
  own_ = identity;
  signed_ = sequence;
  return own_cipher_->tag(datagram);
}

bool GmacSessions::verify(std::span<const std::uint8_t> datagram, std::span<const std::uint8_t, tag_size> tag) {
  const auto identity = identity_of(datagram);
  if (!identity) return false;
  const auto is_right = [&](Cipher& cipher) {
    const std::optional<Tag> expected = cipher.tag(datagram);
    return expected && CRYPTO_memcmp(expected->data(), tag.data(), tag_size) == 0;
  };
  if (const auto known = sessions_.find(*identity); known != sessions_.end()) {
    if (!is_right(*known->second.cipher)) return false;
    known->second.at = ++use_count_;
    return true;
  }
  auto cipher = derive(*identity);
  if (cipher == nullptr || !is_right(*cipher)) return false;
  keep(*identity, std::move(cipher));
  return true;
}

/// Caches the key of a session and evicts the least recently used one if the cache is full.
void GmacSessions::keep(const Identity& identity, std::unique_ptr<Cipher> cipher) {
  if (sessions_.size() >= max_kept) {
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(),
                                     [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
  }
  sessions_[identity] = {std::move(cipher), ++use_count_};
}

}  // namespace sluice::control::feedback
