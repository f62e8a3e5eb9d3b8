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

/// How tags are computed. It belongs to the key: a datagram that names the key is judged by this one and no other, so
/// nobody can have a sender or a receiver use a weaker one.
enum class TagAlgorithm : std::uint8_t {
  hmac_sha_256,  ///< truncated to 128 bits
  aes_256_gmac   ///< under a key of each session; needs a session id
};

/// A shared secret, named by a number so that keys can be rotated: give both sides the new key, switch the senders,
/// take the old key away.
struct Key {
  std::uint32_t id = 0;
  std::vector<std::uint8_t> secret;  ///< 16 bytes at least, 32 recommended
  TagAlgorithm algorithm = TagAlgorithm::hmac_sha_256;

  /// Reads hexadecimal digits (an even number, 32 at least). Nothing when malformed or too short.
  [[nodiscard]] static std::optional<Key> from_hex(std::uint32_t id, std::string_view digits);
};

/// Computes and checks tags with a set of keys. The state of each key's MAC is prepared once. Thread: one.
class Authenticator {
 public:
  /// Throws std::invalid_argument when there is no key, a key is shorter than 16 bytes, an id repeats, or a secret is
  /// used with two algorithms;
  /// std::runtime_error when the cryptographic library refuses.
  explicit Authenticator(std::span<const Key> keys);
  ~Authenticator();
  Authenticator(Authenticator&&) noexcept;
  Authenticator& operator=(Authenticator&&) noexcept;

  [[nodiscard]] bool knows(std::uint32_t key_id) const;
  /// The tag over a datagram without its tag; nothing when the key is unknown, or will not sign it
  /// (GmacSessions::sign).
  [[nodiscard]] std::optional<Tag> sign(std::uint32_t key_id, std::span<const std::uint8_t> data);
  /// Compares in constant time. False when the key is unknown.
  [[nodiscard]] bool verify(std::uint32_t key_id, std::span<const std::uint8_t> data,
                            std::span<const std::uint8_t, tag_size> tag);

 private:
  struct Entry;
  [[nodiscard]] Entry* find(std::uint32_t key_id) const;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace sluice::control::feedback
