#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "control/feedback/gmac.hpp"

namespace sluice::control::feedback {

/// Algorithm of the authentication tag. The algorithm is a property of the key. A datagram that names a key is checked
/// with the key's algorithm only, so an attacker cannot force a weaker one.
enum class TagAlgorithm : std::uint8_t {
  hmac_sha_256,  ///< tag by HMAC-SHA-256, truncated to 128 bits
  aes_256_gmac   ///< tag by AES-256-GMAC with a key per session; the header must contain a session id
};

/// Shared secret with a key id, so that keys can be rotated. To rotate keys, configure the new key on both sides,
/// switch the senders to it, then remove the old key.
struct Key {
  std::uint32_t id = 0;
  std::vector<std::uint8_t> secret;  ///< bytes of the shared secret: at least 16, 32 recommended
  TagAlgorithm algorithm = TagAlgorithm::hmac_sha_256;

  /// Makes the key with the id `id` from a secret in hexadecimal digits (an even number, at least 32). Returns nothing
  /// if they are malformed or too few.
  [[nodiscard]] static std::optional<Key> from_hex(std::uint32_t id, std::string_view digits);
};

/// Computes and verifies the authentication tags of datagrams with a set of keys. The MAC state of each key is prepared
/// once, in the constructor. Not thread-safe.
class Authenticator {
 public:
  /// Prepares the keys. Throws std::invalid_argument if there is no key, an id repeats, or a secret is too short.
  /// Throws it also if a secret is used with two algorithms. Throws std::runtime_error if the cryptographic library
  /// fails.
  explicit Authenticator(std::span<const Key> keys);
  ~Authenticator();
  Authenticator(Authenticator&&) noexcept;
  Authenticator& operator=(Authenticator&&) noexcept;

  [[nodiscard]] bool knows(std::uint32_t key_id) const;
  /// Returns the tag of `data`, a datagram without its tag, under the key with the id `key_id`. Returns nothing if the
  /// key is unknown or must not sign this datagram (see GmacSessions::sign()).
  [[nodiscard]] std::optional<Tag> sign(std::uint32_t key_id, std::span<const std::uint8_t> data);
  /// True if `tag` is the tag of `data` under the key with the id `key_id`; compares in constant time. False if the key
  /// is unknown.
  [[nodiscard]] bool verify(std::uint32_t key_id, std::span<const std::uint8_t> data,
                            std::span<const std::uint8_t, tag_size> tag);

 private:
  struct Entry;
  [[nodiscard]] Entry* find(std::uint32_t key_id) const;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace sluice::control::feedback
